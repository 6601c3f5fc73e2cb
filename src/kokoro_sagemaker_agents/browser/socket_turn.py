"""One question and its spoken reply on a page's socket."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from kokoro_sagemaker_agents.events import AudioChunk, Heard

from .reply import aclose
from .telling import ReplyItem, Telling, cut
from .vocabularies import AudioFormat, Message
from .vocabularies.openai import interrupted

if TYPE_CHECKING:
    from .websocket import SpokenReply

_NOTHING_HEARD: Final = Heard(
    text="", spoken="", complete=False, char_end=0, samples=0, played_s=0.0
)


class PageGone(Exception):
    """The page cannot be told anything any more; whoever found out has said so."""


class SocketTurn:
    """Tells the reply, no further ahead than allowed, until it ends or is interrupted.

    Args:
        number: The page's number for it.
        audio: The format that the audio will most likely have.
        ahead_s: How far to send ahead of what was played.
        send: Sends a frame.
    """

    def __init__(
        self,
        number: int,
        audio: AudioFormat,
        ahead_s: float,
        send: Callable[[Message | bytes], Awaitable[None]],
    ) -> None:
        self.number = number
        self.heard: Heard | None = None  # once it is interrupted
        self._telling = Telling("openai", str(number), audio)
        self._ahead_s = ahead_s
        self._send_frame = send
        self._reply: SpokenReply | None = None
        self._sent = 0
        self._played: int | None = None
        self._interrupted = False
        self._moved = asyncio.Event()

    async def tell(self, answer: Callable[[], SpokenReply]) -> None:
        """All of it; errors of the reply are told too, those of the socket end it silently."""
        try:
            await self._send(self._telling.start())
            await self._send(await self._tell_reply(answer))
        except PageGone:
            return
        finally:
            if self._reply is not None:
                await aclose(self._reply)

    async def _tell_reply(self, answer: Callable[[], SpokenReply]) -> list[Message]:
        """What happens; returns how it ended."""
        try:
            self._reply = answer()
            async for item in self._reply:
                if self._interrupted:
                    return []
                await self._tell_item(item)
        except PageGone:
            raise
        except Exception as error:
            return [] if self._interrupted else self._telling.error(error)
        return [] if self._interrupted else self._telling.end()

    async def _tell_item(self, item: ReplyItem) -> None:
        if not isinstance(item, AudioChunk):
            await self._send(self._telling.item(item))
            return
        await self._send(self._telling.format_of(item))
        for piece in cut(item):
            await self._until_near(piece)
            if self._interrupted:
                return
            self._sent = piece.first_sample + piece.samples
            await self._send_frame(piece.pcm)

    async def _until_near(self, piece: AudioChunk) -> None:
        """Wait until the player has come close enough, if it tells how far it is."""
        ahead = round(self._ahead_s * piece.sample_rate)
        while (
            self._played is not None and self._sent - self._played > ahead and not self._interrupted
        ):
            self._moved.clear()
            await self._moved.wait()

    def played(self, samples: int) -> None:
        """The page has played so much of it."""
        self._played = max(samples, self._played or 0)
        if self._reply is not None:
            self._reply.played(self._played)
        self._moved.set()

    async def interrupt(self, played: int | None) -> Heard:
        """Stop the reply; what it is just sending still goes out."""
        self._interrupted = True
        self.heard = _NOTHING_HEARD
        if played is not None:
            self.played(played)
        self._moved.set()
        if self._reply is not None:
            self.heard = await self._reply.cancel()
        return self.heard

    async def tell_interrupted(self, heard: Heard) -> None:
        """`speech.interrupted`: nothing of this turn follows."""
        try:
            await self._send([{**interrupted(heard), "seq": self._telling.next_seq()}])
        except PageGone:
            return

    async def _send(self, messages: list[Message]) -> None:
        for message in messages:
            await self._send_frame({**message, "turn": self.number})
