"""One chunk's way from text to audio with word times.

The way has two parts, because two workers share it: `phonemise` makes pieces of the next section
of the text, `render` makes audio of a piece. A long text has many sections, so that its first words
are heard, and other sessions served, long before its last ones were looked at.

The same request gives the same audio everywhere: nothing here depends on what else was said or on
who is waiting. That is what lets a client resume on another server from a sample it names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kokoro_sagemaker_agents.protocol import SpeechOptions, Word

from .audio import Floats, Resampler, cut_out, sound_range
from .encoders import make_encoder
from .engines.base import (
    MAX_PHONEMES,
    SAMPLE_RATE,
    CancelToken,
    Engine,
)
from .phrases import Cut, PhraseCache, PhraseKey
from .pieces import CALL_PHONEMES, Ending, Piece, split
from .sections import Section, sections_of, sections_of_reply
from .text.directed import Directed, direct, words_of_original
from .text.lexicon import Lexicon
from .text.phonemes import Phonemes
from .text.vocabulary import has_sound
from .voices import Voices
from .word_times import moved, phoneme_starts, word_times

Phonemize: TypeAlias = Callable[[str, str], Phonemes]
"""Text and language to phonemes, as `kokoro_container.text.Phonemizer`."""

LEAD_S: Final = 0.03
"""Kept before the first sound: a consonant begins softly. The model leaves 200 to 300 ms."""

PAUSE_S: Final[dict[Ending, float]] = {"sentence": 0.25, "clause": 0.12, "none": 0.03}
"""Kept behind the last sound, at speed 1.0. The model leaves 100 to 500 ms. With the lead of what
follows these are a speaker's usual pauses; `none` is the last consonant's own end."""

MAX_PAUSES_S: Final = 60.0
"""Of one chunk together: silence costs the model nothing, but it fills the client's buffers."""


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


class Encoded(NamedTuple):
    """A part of a chunk's audio.

    Attributes:
        data: the bytes that are ready.
        samples: how many samples went into the encoder for them, at the request's rate.
    """

    data: bytes
    samples: int


@dataclass(frozen=True, slots=True)
class Rendered:
    """The audio of a piece.

    Attributes:
        audio: encoded; what lies before the request's `from_sample` is left out.
        words: with times in seconds from the chunk's first sample.
        duration_s: of the whole piece.
        elapsed_s: how long it took.
        model_s: the model's part of it; 0 if its audio was kept from before, or is silence.
    """

    audio: Encoded
    words: tuple[Word, ...]
    duration_s: float
    elapsed_s: float
    model_s: float = 0.0

    @property
    def data(self) -> bytes:
        """The bytes of `audio`."""
        return self.audio.data


class Synthesizer:
    """Model, voices and G2P together; what all sessions share. Holds no state of any request.

    Args:
        engine: the model.
        phonemize: the G2P.
        voices: the voices.
        call_phonemes: longest call at speed 1.0.
        lexicon: how words are said where a session doesn't say otherwise.
        trusted: every text may hold pronunciations and pauses; see `text.directed`.
        phrases: keeps finished calls.
        opens: begins with a short piece for one who waits; not worth it where `Engine.quick` is.
    """

    def __init__(
        self,
        engine: Engine,
        phonemize: Phonemize,
        voices: Voices,
        *,
        call_phonemes: int = CALL_PHONEMES,
        lexicon: Lexicon | None = None,
        trusted: bool = False,
        phrases: PhraseCache | None = None,
        opens: bool = True,
    ) -> None:
        self.engine = engine
        self.phonemize = phonemize
        self.voices = voices
        self.phrases = phrases
        self._lexicon = lexicon or Lexicon()
        self._trusted = trusted
        self._call_phonemes = call_phonemes
        self._opens = opens

    def speech(
        self,
        text: str,
        options: SpeechOptions,
        *,
        from_sample: int = 0,
        opening: bool = False,
        raw: bool = False,
        lexicon: Lexicon | None = None,
        keep: bool = False,
    ) -> Speech:
        """A new chunk.

        Args:
            text: what to say.
            options: how; already checked.
            from_sample: leave out this many samples at the start.
            opening: someone waits for its first sound; see `pieces.split`.
            raw: the text is an LLM's whole reply: its markup is not to be said.
            lexicon: the session's own, before the server's.
            keep: it will be said again, so it goes into `phrases`, if there are any, to stay.

        Raises:
            InvalidInput: a voice that is not here.
        """
        language = options.language or self.voices.language(options.voice)
        sections = sections_of_reply(text, language) if raw else sections_of(text, language)
        # Slow speech has longer audio, so it gets shorter calls for the same time on the model.
        limit = min(MAX_PHONEMES, round(self._call_phonemes * options.speed))
        directing = partial(
            direct,
            language=language,
            lexicon=lexicon.over(self._lexicon) if lexicon else self._lexicon,
            inline=self._trusted or options.markup == "inline",
        )
        opening = opening and self._opens
        made = Speech(
            self, sections, options, language, from_sample, limit, opening, directing, keep
        )
        made.chars = len(text)
        return made

    def call(
        self, piece: Piece, options: SpeechOptions, cancel: CancelToken, keep: bool
    ) -> tuple[Cut, float]:
        """A piece's audio without the silence around it: kept from before, or from the model.

        Args:
            piece: what to say.
            options: its voice and speed.
            cancel: stops the model.
            keep: it will be said again.

        Returns:
            The audio, and for how many seconds the model was asked.

        Raises:
            EngineCancelled: `cancel` was used.
            EngineFailed: the model could not say it.
        """
        key = PhraseKey(self.engine.model, piece.phonemes, options.voice, options.speed)
        kept = self.phrases.get(key) if self.phrases is not None else None
        if kept is not None:
            return kept, 0.0
        style = self.voices.style(options.voice, len(piece.phonemes))
        started = time.perf_counter()
        audio = self.engine.synthesize(piece.phonemes, style, options.speed, cancel)
        model_s = time.perf_counter() - started
        starts = phoneme_starts(audio, piece)
        begin, end = speech_range(audio.samples, starts, piece, options.speed)
        cut = Cut(cut_out(audio.samples, begin, end), starts - begin)
        if self.phrases is not None:
            self.phrases.put(key, cut, keep=keep)
        return cut, model_s


class Speech:
    """One chunk on its way.

    `phonemise` and `render` are for worker threads: one of each at a time, of different kinds at
    the same time.

    Attributes:
        options: how it is spoken.
        chars: length of the whole text.
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
        directing: Callable[[str], Directed],
        keep: bool,
    ) -> None:
        self.options = options
        self.chars = 0
        self._sections = sections
        self._next_section: Section | None = None
        self._synthesizer = synthesizer
        self._language = language
        self._limit = limit
        self._opening = opening
        self._directing = directing
        self._keep = keep
        self._pauses_left_s = MAX_PAUSES_S
        self._left_out = from_sample  # samples still to be left out
        # Up to here, in seconds, the client has audio and word times already.
        self._known_s = from_sample / options.sample_rate
        self._resampler = Resampler(options.sample_rate)
        self._encoder = make_encoder(options.encoding, options.sample_rate)
        self._position = 0  # samples of the model's rate made so far

    def phonemise(self) -> Phonemised:
        """Pieces of the next section; only while there is one, and at first there is.

        Raises:
            RuntimeError: the language's data is not installed.
        """
        started = time.perf_counter()
        section = self._next_section or next(self._sections, Section("", 0))
        directed = self._directing(section.text)
        warnings = list(directed.warnings)
        opening = self._opening and section.offset == 0
        pieces: list[Piece] = []
        for part in directed.parts:
            if isinstance(part, float):
                pieces.append(self._pause(part, warnings))
                continue
            spoken = words_of_original(
                self._synthesizer.phonemize(part.text, self._language), part, section.text
            )
            pieces += (
                moved(piece, section.offset)
                for piece in split(spoken, self._limit, opening=opening)
            )
            warnings += spoken.warnings
            opening = False
        self._next_section = next(self._sections, None)
        return Phonemised(
            pieces=tuple(pieces),
            warnings=tuple(warnings),
            more=self._next_section is not None,
            elapsed_s=time.perf_counter() - started,
        )

    def _pause(self, seconds: float, warnings: list[str]) -> Piece:
        if seconds > self._pauses_left_s:
            warnings.append(f"pauses beyond {MAX_PAUSES_S:g} s in one text were left out")
        seconds = min(seconds, self._pauses_left_s)
        self._pauses_left_s -= seconds
        return Piece("", (), "none", seconds)

    def render(self, piece: Piece, cancel: CancelToken) -> Rendered:
        """The audio of the next piece.

        Raises:
            EngineCancelled: `cancel` was used.
            EngineFailed: the model could not say it.
        """
        started = time.perf_counter()
        model_s = 0.0
        if piece.phonemes:
            cut, model_s = self._synthesizer.call(piece, self.options, cancel, self._keep)
            samples, starts = cut.samples, cut.starts
        else:
            samples = np.zeros(round(piece.pause_s * SAMPLE_RATE), np.float32)
            starts = np.zeros(0, np.int64)
        words = word_times(piece, starts, len(samples), self._position, self._known_s)
        self._position += len(samples)
        return Rendered(
            audio=self._encoded(self._resampler(samples)),
            words=words,
            duration_s=len(samples) / SAMPLE_RATE,
            elapsed_s=time.perf_counter() - started,
            model_s=model_s,
        )

    def rest(self) -> Encoded:
        """What resampler and encoder still hold once the last piece is rendered: milliseconds."""
        data, samples = self._encoded(self._resampler(np.zeros(0, np.float32), last=True))
        return Encoded(data + self._encoder.finish(), samples)

    def _encoded(self, samples: Floats) -> Encoded:
        left_out = min(self._left_out, len(samples))
        self._left_out -= left_out
        wanted = samples[left_out:]
        return Encoded(self._encoder.encode(wanted), len(wanted))


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
