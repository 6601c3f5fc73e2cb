"""One reply on its way to a browser: what happens goes in, numbered messages come out. No I/O."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, TypeAlias

from kokoro_sagemaker_agents.errors import InvalidInput, KokoroAgentsError, SpeechFailed
from kokoro_sagemaker_agents.events import AudioChunk, SpeechEvent

from .vocabularies import AudioFormat, Failure, Message, Vocabulary, make_vocabulary

#: What a reply consists of: the agent's text as it is written, and what is spoken of it.
ReplyItem: TypeAlias = str | SpeechEvent

# A page hears nothing of an event until its last byte is there: at 1 Mbit/s these take 70 ms.
_DELTA_MS: Final = 200
_PCM_SAMPLE_BYTES: Final = {"pcm_s16le": 2, "pcm_mulaw": 1, "pcm_alaw": 1}

_log = logging.getLogger(__name__)


class Telling:
    """The messages of one reply, each with its `seq`.

    Args:
        vocabulary: A name from `VOCABULARIES`, or a class of your own.
        reply_id: Names the reply.
        audio: The format that its audio will most likely have.
    """

    def __init__(
        self,
        vocabulary: str | Callable[[str], Vocabulary],
        reply_id: str,
        audio: AudioFormat,
    ) -> None:
        self.vocabulary = make_vocabulary(vocabulary, reply_id)
        self._audio = audio
        self._seq = 0

    def start(self) -> list[Message]:
        """The reply begins."""
        return self._numbered(self.vocabulary.start(self._audio))

    def item(self, item: ReplyItem) -> list[Message]:
        """Something happened.

        Raises:
            InvalidInput: it is neither text nor an event of speech.
        """
        if isinstance(item, str):
            return self._numbered(self.vocabulary.text(item)) if item else []
        if isinstance(item, AudioChunk):
            messages = self.format_of(item)
            for piece in cut(item):
                messages += self._numbered(self.vocabulary.event(piece))
            return messages
        if isinstance(item, SpeechEvent):
            return self._numbered(self.vocabulary.event(item))
        raise InvalidInput(
            f"a reply consists of strings and speech events, not {type(item).__name__}; convert or"
            " leave out other things where you yield them"
        )

    def format_of(self, chunk: AudioChunk) -> list[Message]:
        """What to say before this audio, if it is of another format than was said."""
        audio = AudioFormat(chunk.sample_rate, chunk.encoding)
        if audio == self._audio:
            return []
        self._audio = audio
        return self._numbered(self.vocabulary.format(audio))

    def error(self, error: Exception) -> list[Message]:
        """It ends because of this; what only the server's owner may know is logged instead."""
        return self._numbered(self.vocabulary.error(failure_of(error)))

    def end(self) -> list[Message]:
        """It ended as it should."""
        return self._numbered(self.vocabulary.end())

    def next_seq(self) -> int:
        """The number of a message that somebody else makes."""
        self._seq += 1
        return self._seq - 1

    def _numbered(self, messages: list[Message]) -> list[Message]:
        for message in messages:
            message.setdefault("seq", self.next_seq())
        return messages


def cut(chunk: AudioChunk) -> Iterator[AudioChunk]:
    """The same audio in pieces that arrive quickly; compressed audio is left as it is."""
    sample_bytes = _PCM_SAMPLE_BYTES.get(chunk.encoding)
    if sample_bytes is None:
        yield chunk
        return
    step = chunk.sample_rate * _DELTA_MS // 1000
    for first in range(0, chunk.samples, step):
        pcm = chunk.pcm[first * sample_bytes : (first + step) * sample_bytes]
        yield replace(
            chunk,
            pcm=pcm,
            samples=len(pcm) // sample_bytes,
            first_sample=chunk.first_sample + first,
        )


def failure_of(error: Exception) -> Failure:
    """What to tell a listener of an exception; one that is not ours is logged."""
    match error:
        case SpeechFailed():
            return Failure(error.code, str(error), error.retryable)
        case InvalidInput():
            return Failure(error.code, str(error), False)
        case KokoroAgentsError():
            return Failure("speech_unavailable", "the voice is not there now; ask again", True)
    _log.error("a reply ended with an exception of its own source", exc_info=error)
    return Failure("internal", "the reply could not be finished; ask again", True)
