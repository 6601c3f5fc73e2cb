"""One chunk's way from text to audio with word times.

The way has two parts, because two workers share it: `phonemise` makes pieces of the next section
of the text, `render` makes audio of a piece. A long text has many sections, so that its first words
are heard, and other sessions served, long before its last ones were looked at.

The same request gives the same audio everywhere: nothing here depends on what else was said or on
who is waiting. That is what lets a client resume on another server from a sample it names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kokoro_sagemaker_agents.protocol import SpeechOptions, Word
from kokoro_sagemaker_agents.text import SentenceChunker, TextChunk

from .audio import Floats, Resampler, cut_out, encode_pcm, sound_range
from .engines.base import (
    FRAME_SAMPLES,
    MAX_PHONEMES,
    SAMPLE_RATE,
    CancelToken,
    Engine,
    EngineAudio,
    EngineFailed,
)
from .pieces import CALL_PHONEMES, Ending, Piece, split
from .text.phonemes import Phonemes
from .text.vocabulary import has_sound
from .voices import Voices

Phonemize: TypeAlias = Callable[[str, str], Phonemes]
"""Text and language to phonemes, as `kokoro_container.text.Phonemizer`."""

SECTION_CHARS: Final = 240
"""A section grows to about this many characters: a few sentences, some 10 ms of G2P (measured)."""

WHOLE_CHARS: Final = 400
"""Up to here a text is one section, which is what a sentence from a session's chunker is."""

LEAD_S: Final = 0.03
"""Kept before the first sound: a consonant begins softly. The model leaves 200 to 300 ms."""

SOUND_AHEAD_FRAMES: Final = 3
"""A phoneme is heard this long before its frames: the decoder looks ahead. Measured at the first
sound of six texts: 20 to 115 ms, mostly 65 to 85; `kokoro`'s own word times move by the same three
frames."""

PAUSE_S: Final[dict[Ending, float]] = {"sentence": 0.25, "clause": 0.12, "none": 0.03}
"""Kept behind the last sound, at speed 1.0. The model leaves 100 to 500 ms. With the lead of what
follows these are a speaker's usual pauses; `none` is the last consonant's own end."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a chunk's text, and where in that text it begins."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Phonemised:
    """What became of a section.

    Attributes:
        pieces: in the order they are spoken; none if nothing can be said.
        warnings: what could not be said.
        more: whether there are more sections.
        elapsed_s: how long it took.
    """

    pieces: tuple[Piece, ...]
    warnings: tuple[str, ...]
    more: bool
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Rendered:
    """The audio of a piece.

    Attributes:
        data: encoded; what lies before the request's `from_sample` is left out.
        words: with times in seconds from the chunk's first sample.
        duration_s: of the whole piece.
        elapsed_s: how long it took.
    """

    data: bytes
    words: tuple[Word, ...]
    duration_s: float
    elapsed_s: float


class Synthesizer:
    """Model, voices and G2P together; what all sessions share. Holds no state of any request.

    Args:
        engine: the model.
        phonemize: the G2P.
        voices: the voices.
        call_phonemes: longest call at speed 1.0.
    """

    def __init__(
        self,
        engine: Engine,
        phonemize: Phonemize,
        voices: Voices,
        *,
        call_phonemes: int = CALL_PHONEMES,
    ) -> None:
        self.engine = engine
        self.phonemize = phonemize
        self.voices = voices
        self._call_phonemes = call_phonemes

    def speech(
        self,
        text: str,
        options: SpeechOptions,
        *,
        from_sample: int = 0,
        opening: bool = False,
        raw: bool = False,
    ) -> Speech:
        """A new chunk.

        Args:
            text: what to say.
            options: how; already checked.
            from_sample: leave out this many samples at the start.
            opening: someone waits for its first sound; see `pieces.split`.
            raw: the text is an LLM's whole reply: its markup is not to be said.

        Raises:
            InvalidInput: a voice that is not here.
        """
        language = options.language or self.voices.language(options.voice)
        sections = _sections_of_reply(text, language) if raw else _sections(text, language)
        # Slow speech has longer audio, so it gets shorter calls for the same time on the model.
        limit = min(MAX_PHONEMES, round(self._call_phonemes * options.speed))
        return Speech(self, sections, options, language, from_sample, limit, opening)


class Speech:
    """One chunk on its way.

    `phonemise` and `render` are for worker threads: one of each at a time, of different kinds at
    the same time.

    Attributes:
        options: how it is spoken.
    """

    def __init__(
        self,
        synthesizer: Synthesizer,
        sections: Iterator[Section],
        options: SpeechOptions,
        language: str,
        from_sample: int,
        limit: int,
        opening: bool,
    ) -> None:
        self.options = options
        self._sections = sections
        self._next_section: Section | None = None
        self._synthesizer = synthesizer
        self._language = language
        self._limit = limit
        self._opening = opening
        self._left_out = from_sample  # samples still to be left out
        # Up to here, in seconds, the client has audio and word times already.
        self._known_s = from_sample / options.sample_rate
        self._resampler = Resampler(options.sample_rate)
        self._position = 0  # samples of the model's rate made so far

    def phonemise(self) -> Phonemised:
        """Pieces of the next section; only while there is one, and at first there is.

        Raises:
            RuntimeError: the language's data is not installed.
        """
        started = time.perf_counter()
        section = self._next_section or next(self._sections, Section("", 0))
        spoken = self._synthesizer.phonemize(section.text, self._language)
        opening = self._opening and section.offset == 0
        pieces = [
            _moved(piece, section.offset) for piece in split(spoken, self._limit, opening=opening)
        ]
        self._next_section = next(self._sections, None)
        return Phonemised(
            pieces=tuple(pieces),
            warnings=spoken.warnings,
            more=self._next_section is not None,
            elapsed_s=time.perf_counter() - started,
        )

    def render(self, piece: Piece, cancel: CancelToken) -> Rendered:
        """The audio of the next piece.

        Raises:
            EngineCancelled: `cancel` was used.
            EngineFailed: the model could not say it.
        """
        started = time.perf_counter()
        speed = self.options.speed
        style = self._synthesizer.voices.style(self.options.voice, len(piece.phonemes))
        audio = self._synthesizer.engine.synthesize(piece.phonemes, style, speed, cancel)
        starts = _starts(audio, piece)
        begin, end = speech_range(audio.samples, starts, piece, speed)
        samples = cut_out(audio.samples, begin, end)
        words = _words(piece, starts - begin, len(samples), self._position, self._known_s)
        self._position += len(samples)
        return Rendered(
            data=self._encoded(self._resampler(samples)),
            words=words,
            duration_s=len(samples) / SAMPLE_RATE,
            elapsed_s=time.perf_counter() - started,
        )

    def rest(self) -> bytes:
        """What is still in the resampler once the last piece is rendered; a few milliseconds."""
        return self._encoded(self._resampler(np.zeros(0, np.float32), last=True))

    def _encoded(self, samples: Floats) -> bytes:
        left_out = min(self._left_out, len(samples))
        self._left_out -= left_out
        return encode_pcm(samples[left_out:], self.options.encoding)


def speech_range(
    samples: Floats, starts: NDArray[np.int64], piece: Piece, speed: float
) -> tuple[int, int]:
    """What to keep of a call's audio: the speech with natural pauses around it.

    Loudness finds the edges, and the phonemes' frames guard them: no phoneme is ever cut, however
    softly it is spoken.

    Args:
        samples: the call's audio.
        starts: the sample each phoneme begins at, and behind them the end of the last one.
        piece: what was said.
        speed: shortens the pauses.

    Returns:
        The first sample and the end; the end may lie behind the samples, where silence belongs.
    """
    sounding = [i for i, symbol in enumerate(piece.phonemes) if has_sound(symbol)]
    if not sounding:
        return 0, 0
    first, last = int(starts[sounding[0]]), int(starts[sounding[-1]])
    heard = sound_range(samples)
    begin = min(first, heard[0]) if heard else first
    end = max(last, heard[1]) if heard else int(starts[sounding[-1] + 1])
    pause = round(PAUSE_S[piece.ending] / speed * SAMPLE_RATE)
    return max(0, begin - round(LEAD_S * SAMPLE_RATE)), end + pause


def _starts(audio: EngineAudio, piece: Piece) -> NDArray[np.int64]:
    """The sample from which each phoneme is heard, and where the last one ends.

    Raises:
        EngineFailed: the audio cannot be right.
    """
    if len(audio.frames) != len(piece.phonemes) + 2 or not np.isfinite(audio.samples).all():
        raise EngineFailed(
            f"the model gave {len(audio.frames)} durations for {len(piece.phonemes)} phonemes, or"
            " samples that are no numbers; try again, or say it in other words"
        )
    starts = np.cumsum(audio.frames)[:-1] - SOUND_AHEAD_FRAMES
    return np.maximum(starts, 0) * FRAME_SAMPLES


def _words(
    piece: Piece, starts: NDArray[np.int64], samples: int, position: int, known_s: float
) -> tuple[Word, ...]:
    """The piece's words with their times, those before `known_s` left out."""
    words = []
    for word in piece.words:
        start, end = (
            (position + min(max(int(starts[at]), 0), samples)) / SAMPLE_RATE
            for at in (word.phoneme_start, word.phoneme_end)
        )
        if end > known_s or not known_s:
            words.append(
                Word(
                    text=word.text,
                    start=start,
                    end=end,
                    char_start=word.char_start,
                    char_end=word.char_end,
                )
            )
    return tuple(words)


def _moved(piece: Piece, chars: int) -> Piece:
    if not chars:
        return piece
    words = (
        type(word)(
            word.text,
            word.char_start + chars,
            word.char_end + chars,
            word.phoneme_start,
            word.phoneme_end,
        )
        for word in piece.words
    )
    return Piece(piece.phonemes, tuple(words), piece.ending)


def _sections(text: str, language: str) -> Iterator[Section]:
    """A text to be said as it is: whole, or cut at sentence ends if it is long."""
    if len(text) <= WHOLE_CHARS:
        yield Section(text, 0)
        return
    yield from _joined(chunk.text for chunk in _chunks(text, language))


def _sections_of_reply(text: str, language: str) -> Iterator[Section]:
    """An LLM's reply without its markup. Offsets count what is said, not the source."""
    yield from _joined(chunk.spoken + " " for chunk in _chunks(text, language) if chunk.spoken)


def _chunks(text: str, language: str) -> Iterator[TextChunk]:
    """Fed in parts, so that the first sentence doesn't wait for a look at all of them."""
    chunker = SentenceChunker(language)
    for start in range(0, len(text), WHOLE_CHARS):
        yield from chunker.feed(text[start : start + WHOLE_CHARS])
    yield from chunker.flush()


def _joined(texts: Iterable[str]) -> Iterator[Section]:
    """Short texts together, in order, up to `SECTION_CHARS` unless one alone is longer."""
    together, offset = "", 0
    for text in texts:
        if together and len(together) + len(text) > SECTION_CHARS:
            yield Section(together, offset)
            offset += len(together)
            together = ""
        together += text
    if together:
        yield Section(together, offset)
