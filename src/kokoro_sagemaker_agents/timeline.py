"""One utterance's chunks on its own time line: the server's answers in, the reader's events out.

Without I/O. The server knows chunks, each with its own clock and its own text; the reader knows one
utterance, counted from its first sample and from the first character pushed. Here the one becomes
the other. Chunks are heard in the order in which they were added, so whatever is about a chunk that
has not begun (its words, its failure) waits until it is next.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from . import protocol
from .events import (
    AudioChunk,
    ChunkDone,
    ChunkFailed,
    ChunkStarted,
    ChunkTimings,
    Heard,
    SpeechEvent,
    UtteranceDone,
    WordTime,
    WordTimestamps,
)
from .heard import HeardWord, Passage, heard_of
from .text import TextChunk


@dataclass(slots=True, kw_only=True)
class _Spoken:
    """A chunk that is or will be spoken, and what came of it.

    `base_chars` and `base_samples`: where the present request's text and audio begin in the chunk;
    both 0 unless another model has taken it over midway. `told_chars`: up to where, in the chunk's
    text, its words were told on connections that are lost.
    """

    passage: Passage
    chunk_id: int
    base_chars: int = 0
    base_samples: int = 0
    told_chars: int = 0
    early_words: list[protocol.WordTimestamps] = field(default_factory=list)
    failure: protocol.Error | None = None
    warnings: list[str] = field(default_factory=list)


class Resumption(NamedTuple):
    """Where to go on with a chunk.

    Attributes:
        chars: How many characters of the text that was last asked for are left out.
        from_sample: How many samples of the rest are left out.
    """

    chars: int = 0
    from_sample: int = 0


class Timeline:
    """The chunks of one utterance and how far the server has come with them.

    Args:
        sample_rate: Of the utterance's audio, hertz.
    """

    def __init__(self, sample_rate: int) -> None:
        self._rate = sample_rate
        self._passages: list[Passage] = []
        self._unanswered: dict[int, _Spoken] = {}
        self._begun = False  # whether the first unanswered chunk was announced
        self._length_is_open = False  # whether it has audio that is not counted in `samples` yet
        self._next_id = 0
        self._done = 0
        self._failed = 0
        self._warnings: list[str] = []
        self.samples = 0
        """How many samples have come, altogether."""

    @property
    def chunks(self) -> int:
        """How many chunks were added that are spoken."""
        return self._next_id

    @property
    def unanswered(self) -> int:
        """How many of them have neither been spoken to their end nor failed."""
        return len(self._unanswered)

    def add(self, chunk: TextChunk) -> int | None:
        """Append a chunk; returns its id, None if there is nothing in it to speak."""
        passage = Passage(chunk=chunk)
        self._passages.append(passage)
        if not chunk.spoken:
            return None
        chunk_id = self._next_id
        self._next_id += 1
        self._unanswered[chunk_id] = _Spoken(passage=passage, chunk_id=chunk_id)
        return chunk_id

    def heard(self, played: int, ended: bool) -> Heard:
        """What was heard once `played` samples were.

        Args:
            played: Samples from the utterance's first one.
            ended: Whether no more text comes.
        """
        if not self._length_is_open:
            played = min(played, self.samples)
        return heard_of(self._passages, played, self._rate, ended)

    def done(self) -> UtteranceDone:
        """The event for the end of it all."""
        return UtteranceDone(
            samples=self.samples,
            duration_s=self.samples / self._rate,
            chunks=self._done,
            failed=self._failed,
            warnings=tuple(self._warnings),
        )

    # --- the server's answers ---

    def audio(self, audio: protocol.AudioReceived) -> list[SpeechEvent]:
        """A piece of the audio of the first unanswered chunk."""
        spoken = self._unanswered[audio.chunk_id]
        events = self._begin(spoken)
        if audio.samples is None:
            self._length_is_open = True
        samples = audio.samples or 0
        piece = AudioChunk(
            chunk_id=audio.chunk_id,
            pcm=audio.data,
            sample_rate=audio.sample_rate,
            encoding=audio.encoding,
            first_sample=self.samples,
            samples=samples,
        )
        self.samples += samples
        return [*events, piece]

    def words(self, message: protocol.WordTimestamps) -> list[SpeechEvent]:
        """Word times of any unanswered chunk."""
        spoken = self._unanswered[message.chunk_id]
        if not self._is_first(spoken):
            spoken.early_words.append(message)
            return []
        return [*self._begin(spoken), self._placed(spoken, message)]

    def chunk_done(self, message: protocol.ChunkDone) -> list[SpeechEvent]:
        """The first unanswered chunk is spoken."""
        spoken = self._unanswered[message.chunk_id]
        events = self._begin(spoken)
        if self._length_is_open:
            self.samples += message.samples
        self._answer(spoken)
        spoken.passage.done = True
        self._done += 1
        done = ChunkDone(
            chunk_id=message.chunk_id,
            samples=spoken.base_samples + message.samples,
            duration_s=spoken.base_samples / self._rate + message.duration,
            timings=ChunkTimings(
                queue_ms=message.queue_ms,
                g2p_ms=message.g2p_ms,
                synthesis_ms=message.synthesis_ms,
            ),
            warnings=(*spoken.warnings, *message.warnings),
        )
        return [*events, done, *self._failures_that_are_next()]

    def chunk_failed(self, error: protocol.Error, chunk_id: int) -> list[SpeechEvent]:
        """Any unanswered chunk will not be spoken (to its end)."""
        self._unanswered[chunk_id].failure = error
        return self._failures_that_are_next()

    def resumption(self, same_model: bool) -> Resumption | None:
        """Where another connection is to go on with the first unanswered chunk.

        The same model says the same text with the same samples, so what has come is left out.
        Another one begins again at the word in which the audio broke off.

        Args:
            same_model: Whether the other connection's model is the one that began it.

        Returns:
            None if audio has come that cannot be counted without decoding it (`mp3`, `opus`).
        """
        for spoken in self._unanswered.values():
            spoken.early_words.clear()  # they come again
        if not self._begun:
            return Resumption()
        if self._length_is_open:
            return None
        spoken = next(iter(self._unanswered.values()))
        passage = spoken.passage
        spoken.told_chars = max((word.spoken_end for word in passage.words), default=0)
        came = self.samples - (passage.first_sample or 0)
        begun = [word for word in passage.words if word.first < self.samples]
        if same_model or not begun or not came:
            return Resumption(from_sample=came - spoken.base_samples)
        chars = begun[-1].spoken_start - spoken.base_chars
        spoken.base_chars, spoken.base_samples = begun[-1].spoken_start, came
        return Resumption(chars=chars)

    def warning(self, message: protocol.ServerWarning) -> None:
        """Something worth knowing; told with the end of what it is about."""
        spoken = self._unanswered.get(-1 if message.chunk_id is None else message.chunk_id)
        (spoken.warnings if spoken else self._warnings).append(message.message)

    def _failures_that_are_next(self) -> list[SpeechEvent]:
        events: list[SpeechEvent] = []
        while self._unanswered:
            spoken = next(iter(self._unanswered.values()))
            if spoken.failure is None:
                break
            self._answer(spoken)
            spoken.passage.failed = True
            self._failed += 1
            events.append(
                ChunkFailed(
                    chunk_id=spoken.chunk_id,
                    code=spoken.failure.code,
                    message=spoken.failure.message,
                    retryable=spoken.failure.retryable,
                    text=spoken.passage.chunk.text,
                )
            )
        return events

    def _is_first(self, spoken: _Spoken) -> bool:
        return next(iter(self._unanswered)) == spoken.chunk_id

    def _begin(self, spoken: _Spoken) -> list[SpeechEvent]:
        """Announce the first unanswered chunk, with the words that came early."""
        if self._begun:
            return []
        self._begun = True
        spoken.passage.first_sample = self.samples
        chunk = spoken.passage.chunk
        started = ChunkStarted(
            chunk_id=spoken.chunk_id,
            text=chunk.text,
            spoken=chunk.spoken,
            start=chunk.start,
            end=chunk.end,
            first_sample=self.samples,
        )
        return [started, *(self._placed(spoken, message) for message in spoken.early_words)]

    def _answer(self, spoken: _Spoken) -> None:
        del self._unanswered[spoken.chunk_id]
        self._begun = self._length_is_open = False
        spoken.passage.last_sample = self.samples

    def _placed(self, spoken: _Spoken, message: protocol.WordTimestamps) -> WordTimestamps:
        """The chunk's words, moved to the utterance's clock and to the source's characters.

        A word that was told on a lost connection is not told again.
        """
        offset_s = ((spoken.passage.first_sample or 0) + spoken.base_samples) / self._rate
        words = []
        for word in message.words:
            spoken_start = spoken.base_chars + word.char_start
            spoken_end = spoken.base_chars + word.char_end
            if spoken_start < spoken.told_chars:
                continue
            spoken_start, spoken_end, (start, end) = _source_range(
                spoken.passage.chunk, spoken_start, spoken_end
            )
            start_s, end_s = offset_s + word.start, offset_s + word.end
            words.append(
                WordTime(
                    text=word.text, start_s=start_s, end_s=end_s, char_start=start, char_end=end
                )
            )
            spoken.passage.words.append(
                HeardWord(
                    first=round(start_s * self._rate),
                    middle=round((start_s + end_s) / 2 * self._rate),
                    end=round(end_s * self._rate),
                    spoken_start=spoken_start,
                    spoken_end=spoken_end,
                    char_end=end,
                )
            )
        return WordTimestamps(chunk_id=spoken.chunk_id, words=tuple(words))


def _source_range(chunk: TextChunk, start: int, end: int) -> tuple[int, int, tuple[int, int]]:
    """A word's range in the spoken text, and in the source.

    A position outside the text, which only a faulty server or a chunk without a map would give,
    becomes the nearest one inside, at worst the whole chunk: the audio is right all the same.
    """
    start = min(start, len(chunk.spoken))
    end = min(max(start, end), len(chunk.spoken))
    try:
        return start, end, chunk.source_range(start, end)
    except IndexError:
        return start, end, (chunk.start, chunk.end)
