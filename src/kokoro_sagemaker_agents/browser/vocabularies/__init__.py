"""The names that speech events have on their way to a browser, one small file for each vocabulary.

A vocabulary says the same things in other words; it knows nothing of how they are framed. A new one
is a class that keeps to `Vocabulary`, handed over in place of a name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.events import SpeechEvent

from .aws_sample import AwsSample
from .langchain import LangChain
from .openai import OpenAI
from .parts import AudioFormat, Failure, Message

__all__ = [
    "VOCABULARIES",
    "AudioFormat",
    "Failure",
    "Message",
    "Vocabulary",
    "make_vocabulary",
]


class Vocabulary(Protocol):
    """How one reply is told; made anew for each.

    Every method gives the messages to send, in order, often one and sometimes none. Each has a
    `type`, and gets a `seq` unless it has one.
    """

    named: bool
    """Whether a message's type is also its SSE event name; else all are plain `message` events."""

    def start(self, audio: AudioFormat) -> list[Message]:
        """The reply begins; the audio will most likely be of this format."""
        ...

    def text(self, delta: str) -> list[Message]:
        """More of the agent's text."""
        ...

    def format(self, audio: AudioFormat) -> list[Message]:
        """Audio from here on is of another format than was said last."""
        ...

    def event(self, event: SpeechEvent) -> list[Message]:
        """Something of the speech."""
        ...

    def error(self, failure: Failure) -> list[Message]:
        """The reply ends here, though it is not all."""
        ...

    def end(self) -> list[Message]:
        """The reply ended as it should."""
        ...


VOCABULARIES: Final[dict[str, Callable[[str], Vocabulary]]] = {
    "openai": OpenAI,
    "aws-sample": AwsSample,
    "langchain": LangChain,
}


def make_vocabulary(vocabulary: str | Callable[[str], Vocabulary], reply_id: str) -> Vocabulary:
    """The vocabulary of this name, for one reply.

    Args:
        vocabulary: A name from `VOCABULARIES`, or a class of your own that takes the reply's id.
        reply_id: Names the reply, for vocabularies whose messages say which one they are of.

    Raises:
        InvalidInput: there is none of this name.
    """
    if not isinstance(vocabulary, str):
        return vocabulary(reply_id)
    if vocabulary not in VOCABULARIES:
        raise InvalidInput(
            f"there is no vocabulary {vocabulary!r}; use {', '.join(VOCABULARIES)}, or a class"
        )
    return VOCABULARIES[vocabulary](reply_id)
