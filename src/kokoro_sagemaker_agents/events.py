"""What an utterance tells its reader: typed events, in the order in which they are heard.

    ChunkStarted  (WordTimestamps | AudioChunk)…  ChunkDone | ChunkFailed      for each chunk, then
    UtteranceDone | UtteranceCancelled                                         once, as the last

A chunk is a sentence, mostly. Positions in samples and times in seconds count from the utterance's
first sample; positions in text (`start`, `end`, `char_start`, `char_end`) count characters of
everything pushed into the utterance, markup included, so they point into the LLM's own text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkStarted:
    """A chunk begins: its words and audio follow.

    Args:
        chunk_id: Counts the chunks that are spoken, from 0.
        text: The chunk as it was pushed.
        spoken: What is said of it: `text` without markup.
        start: Where `text` begins in everything pushed.
        end: Where it ends (exclusive).
        first_sample: Where its audio begins in the utterance.
    """

    chunk_id: int
    text: str
    spoken: str
    start: int
    end: int
    first_sample: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioChunk:
    """A piece of audio, to be played after the one before.

    Args:
        chunk_id: The chunk it belongs to.
        pcm: The bytes, in `encoding`.
        sample_rate: Hertz; one channel.
        encoding: `pcm_s16le` and so on. A chunk of `mp3` or `opus` is a stream of its own.
        first_sample: Where it begins in the utterance. `mp3` and `opus` cannot be counted without
            decoding: there it is where the chunk begins.
        samples: How many it holds; 0 for `mp3` and `opus`, whose `ChunkDone` has the number.
    """

    chunk_id: int
    pcm: bytes
    sample_rate: int
    encoding: str
    first_sample: int
    samples: int

    @property
    def duration_s(self) -> float:
        """How long it plays; 0 for `mp3` and `opus`."""
        return self.samples / self.sample_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTime:
    """A word, when it is heard and where it stands in what was pushed.

    Args:
        text: The word.
        start_s: When it begins, in seconds from the utterance's first sample.
        end_s: When it ends.
        char_start: Where it begins in everything pushed.
        char_end: Where it ends (exclusive).
    """

    text: str
    start_s: float
    end_s: float
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WordTimestamps:
    """Words of a chunk, before the audio in which they are heard; a chunk may have several."""

    chunk_id: int
    words: tuple[WordTime, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkTimings:
    """Where the server's time went for one chunk, in milliseconds.

    Args:
        queue_ms: Waiting before the model took it.
        g2p_ms: Turning text into phonemes.
        synthesis_ms: On the model.
    """

    queue_ms: float = 0.0
    g2p_ms: float = 0.0
    synthesis_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDone:
    """A chunk was spoken to its end.

    Args:
        chunk_id: The chunk.
        samples: Its length.
        duration_s: The same in seconds.
        timings: Where the server's time went.
        warnings: What was not speakable and how it was handled.
    """

    chunk_id: int
    samples: int
    duration_s: float
    timings: ChunkTimings = ChunkTimings()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFailed:
    """A chunk was not spoken, or not to its end. The utterance goes on with the next one.

    Args:
        chunk_id: The chunk.
        code: Why, stable snake_case (`protocol.ErrorCode`; a newer server may have more).
        message: The same for people, with what to do.
        retryable: Whether the same text may work later or on another instance.
        text: The chunk as it was pushed.
    """

    chunk_id: int
    code: str
    message: str
    retryable: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceDone:
    """Everything was spoken, or answered by `ChunkFailed`. The last event.

    Args:
        samples: Of the whole utterance.
        duration_s: The same in seconds.
        chunks: How many were spoken to their end.
        failed: How many were not.
        warnings: What the server had to say that concerns no single chunk.
    """

    samples: int
    duration_s: float
    chunks: int
    failed: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a listener heard of an utterance, to the word.

    Args:
        text: What was pushed, up to the last word heard, without white space at its end. This is
            what to keep of the reply in an LLM's history.
        spoken: What was said aloud of it: without markup, and without chunks that failed.
        complete: Whether that was all: the utterance was ended, nothing failed, all was played.
        char_end: Where `text` ends in everything pushed.
        samples: How far it was played.
        played_s: The same in seconds.
    """

    text: str
    spoken: str
    complete: bool
    char_end: int
    samples: int
    played_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UtteranceCancelled:
    """The utterance was cancelled by its owner. The last event; `heard` as `cancel` returned it."""

    heard: Heard


SpeechEvent: TypeAlias = (
    ChunkStarted
    | AudioChunk
    | WordTimestamps
    | ChunkDone
    | ChunkFailed
    | UtteranceDone
    | UtteranceCancelled
)
