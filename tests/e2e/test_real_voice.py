"""The real model through the command line: does it sound as it should, and can it be understood?"""

import json
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pocketsphinx import Decoder

from kokoro_container.engines.base import FRAME_SAMPLES, EngineAudio
from kokoro_container.engines.onnx import OnnxEngine
from kokoro_container.text import Phonemizer
from kokoro_container.voices import Voices

from .conftest import Cli, serving

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]

RATE = 24_000
HEARD_RATE = 16_000  # the recogniser's
PRICE = "It costs $4.50, and Dr. Lee said yes."
# Each with the words that tell it from the others.
WINDOWS = "Seven yellow windows were open in the morning."
WINDOWS_WORDS = {"seven", "yellow", "windows", "open", "morning"}
APPLES = "The doctor paid eleven dollars for a basket of apples."
APPLES_WORDS = {"doctor", "paid", "eleven", "dollars", "basket", "apples"}
GIBBERISH = "Grobble fintik sharn dovuke plimmet, rasp tolbin krey."


@dataclass
class Said:
    """What `say` wrote and printed."""

    samples: NDArray[np.int16]
    params: wave._wave_params
    figures: dict[str, Any]

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serving("onnx") as url:
        yield url


def read(path: Path) -> tuple[NDArray[np.int16], wave._wave_params]:
    with wave.open(str(path)) as wav:
        return np.frombuffer(wav.readframes(wav.getnframes()), "<i2"), wav.getparams()


def say(cli: Cli, server: str, folder: Path, text: str, voice: str = "af_heart") -> Said:
    path = folder / "a.wav"
    done = cli("say", text, "-o", str(path), "--url", server, "--voice", voice, "--json")
    assert done.returncode == 0, done.stderr
    return Said(*read(path), json.loads(done.stdout))


def heard(samples: NDArray[np.int16]) -> set[str]:
    """The words that the recogniser hears."""
    spectrum = np.fft.rfft(samples)
    spectrum[np.fft.rfftfreq(len(samples), 1 / RATE) > 0.95 * HEARD_RATE / 2] = 0
    smooth = np.fft.irfft(spectrum, len(samples))
    at = np.arange(0, len(samples), RATE / HEARD_RATE)
    slower = np.interp(at, np.arange(len(samples)), smooth).astype("<i2")
    decoder = Decoder(samprate=HEARD_RATE, loglevel="FATAL")
    decoder.start_utt()
    decoder.process_raw(slower.tobytes(), full_utt=True)
    decoder.end_utt()
    hypothesis = decoder.hyp()
    return set(hypothesis.hypstr.split()) if hypothesis else set()


def test_say_without_a_server_writes_the_sentence(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.wav"

    done = cli("say", PRICE, "-o", str(path), "--engine", "onnx", timeout_s=150)

    assert done.returncode == 0, done.stderr
    samples, params = read(path)
    assert params[:3] == (1, 2, RATE)
    assert 2.0 < len(samples) / RATE < 6.0
    # As a person says it: the amount in words, no sentence end after the abbreviation.
    assert {"four", "dollars", "fifty", "cents", "lee", "yes"} <= heard(samples)


@pytest.fixture(scope="module")
def predicted() -> EngineAudio:
    """What the model itself makes of the sentence, in one piece."""
    phonemes = Phonemizer()(WINDOWS, "en-us").phonemes
    engine = OnnxEngine.load()
    audio = engine.synthesize(phonemes, Voices().style("af_heart", len(phonemes)), 1.0)
    engine.close()
    return audio


def test_the_audio_is_as_long_as_the_model_predicts(
    cli: Cli, server: str, tmp_path: Path, predicted: EngineAudio
) -> None:
    said = say(cli, server, tmp_path, WINDOWS)

    predicted_s = predicted.frames.sum() * FRAME_SAMPLES / RATE
    assert said.seconds == pytest.approx(predicted_s, rel=0.15)


def test_the_model_gives_finite_samples_in_range(predicted: EngineAudio) -> None:
    assert np.isfinite(predicted.samples).all()
    assert 0.1 < np.abs(predicted.samples).max() < 1.0


def test_the_audio_is_neither_silent_nor_clipped(cli: Cli, server: str, tmp_path: Path) -> None:
    samples = say(cli, server, tmp_path, f"{WINDOWS} {APPLES}").samples.astype(float) / 32_768

    windows = samples[: len(samples) // 480 * 480].reshape(-1, 480)  # 20 ms each
    loudness = np.sqrt((windows**2).mean(axis=1))
    assert (loudness > 0.01).mean() > 0.6
    assert np.abs(samples).max() < 0.999


def test_word_times_rise_and_lie_inside_the_audio(cli: Cli, server: str, tmp_path: Path) -> None:
    said = say(cli, server, tmp_path, f"{WINDOWS} {APPLES}")

    words = said.figures["words"]
    assert [w["text"] for w in words] == f"{WINDOWS} {APPLES}".replace(".", "").split()
    times = [time for word in words for time in (word["start_s"], word["end_s"])]
    assert times == sorted(times)
    assert times[0] >= 0
    assert times[-1] <= said.seconds
    assert all(0.02 < word["end_s"] - word["start_s"] < 1.5 for word in words)


def test_words_are_loud_where_their_times_say(cli: Cli, server: str, tmp_path: Path) -> None:
    said = say(cli, server, tmp_path, "Wait. Stop.")
    wait, stop = said.figures["words"]

    def loudness(start_s: float, end_s: float) -> float:
        part = said.samples[round(start_s * RATE) : round(end_s * RATE)].astype(float)
        return float(np.sqrt((part**2).mean()))

    middle_s = (wait["end_s"] + stop["start_s"]) / 2
    assert wait["start_s"] < middle_s < stop["end_s"]
    assert loudness(wait["start_s"], wait["end_s"]) > 3 * loudness(middle_s - 0.02, middle_s + 0.02)
    assert loudness(stop["start_s"], stop["end_s"]) > 3 * loudness(middle_s - 0.02, middle_s + 0.02)


@pytest.mark.parametrize("voice", ["af_heart", "am_michael"])
def test_a_recogniser_hears_the_words_and_no_others(
    cli: Cli, server: str, tmp_path: Path, voice: str
) -> None:
    windows = heard(say(cli, server, tmp_path, WINDOWS, voice).samples)
    apples = heard(say(cli, server, tmp_path, APPLES, voice).samples)

    assert len(windows & WINDOWS_WORDS) >= 4
    assert len(apples & APPLES_WORDS) >= 5
    assert windows & APPLES_WORDS == set()
    assert apples & WINDOWS_WORDS == set()


def test_a_recogniser_hears_none_of_the_words_in_gibberish(
    cli: Cli, server: str, tmp_path: Path
) -> None:
    words = heard(say(cli, server, tmp_path, GIBBERISH, "bf_emma").samples)

    assert words
    assert words & (WINDOWS_WORDS | APPLES_WORDS) == set()
