"""A reply as server-sent events: a response for Starlette and FastAPI.

    @app.post("/reply")
    async def reply(question: Question) -> SpeechResponse:
        return SpeechResponse(Reply(session, agent_tokens(question.text)))

Each event leaves as one whole part, at once. The first leaves before the agent has said anything,
so that no proxy waits for it. Audio is in base64, a third more than its bytes; `websocket.py` has
it plain.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from kokoro_sagemaker_agents.config import DEFAULT_SAMPLE_RATE

from .reply import aclose, drop
from .sse_decoder import ServerSentEvent, SseDecoder
from .telling import ReplyItem, Telling
from .vocabularies import AudioFormat, Message, Vocabulary

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

__all__ = ["ServerSentEvent", "SpeechResponse", "SseDecoder", "encode_event"]

_log = logging.getLogger(__name__)

# Without `X-Accel-Buffering` nginx holds all events of an HTTPS reply to its end (measured, 1.22);
# `no-transform` keeps others from compressing, which holds them too.
HEADERS: Final = {"cache-control": "no-store, no-transform", "x-accel-buffering": "no"}


class SpeechResponse(Response):
    """Sends a reply's text and speech as they come, and closes the reply when the page goes away.

    A page that reads slowly slows the reply down and nothing else. An `EventSource` that reconnects
    gets 204, which ends it: a reply is heard once.

    Args:
        reply: What to tell: strings (the agent's text) and speech events. `Reply` and `Speech` are
            such. Closed at the end if it has `aclose`.
        vocabulary: `openai`, `aws-sample`, `langchain`, or a class that keeps to `Vocabulary`.
        bare: Only `data:` lines, without names and ids.
        reply_id: Names the reply in its messages; by default a random one.
        sample_rate: What the first event says of the audio, in hertz; should the audio be another,
            that is said before it.
        encoding: The same.
        heartbeat_s: A comment is sent after so long without an event, for proxies that would give
            up the connection.
        send_timeout_s: A page that takes nothing for so long is given up.
        padding_bytes: A comment of this size comes first, for gateways that hold back the
            beginning of a response.
        headers: Added to the response's own.

    Raises:
        InvalidInput: there is no such vocabulary.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        reply: AsyncIterable[ReplyItem],
        *,
        vocabulary: str | Callable[[str], Vocabulary] = "openai",
        bare: bool = False,
        reply_id: str | None = None,
        sample_rate: int = DEFAULT_SAMPLE_RATE,
        encoding: str = "pcm_s16le",
        heartbeat_s: float = 15.0,
        send_timeout_s: float = 30.0,
        padding_bytes: int = 0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status_code = 200
        self.background = None
        self.body = b""  # what a middleware may look for; it is streamed
        self._reply = reply
        self._telling = Telling(
            vocabulary, reply_id or secrets.token_urlsafe(9), AudioFormat(sample_rate, encoding)
        )
        self._bare = bare
        self._heartbeat_s = heartbeat_s
        self._send_timeout_s = send_timeout_s
        self._padding_bytes = padding_bytes
        self._ids = 0
        self.init_headers({**HEADERS, **(headers or {})})
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve it (ASGI)."""
        if any(name == b"last-event-id" for name, _ in scope["headers"]):
            await aclose(self._reply)
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        telling = asyncio.create_task(self._tell(send), name="kokoro-sse")
        leaving = asyncio.create_task(_until_gone(receive), name="kokoro-sse-gone")
        tasks = (telling, leaving)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        if not telling.cancelled():
            telling.result()

    async def _tell(self, send: Send) -> None:
        """The whole response."""
        try:
            await send(
                {
                    "type": "http.response.start",
                    "status": self.status_code,
                    "headers": self.raw_headers,
                }
            )
            if self._padding_bytes:
                await self._send(send, b":" + b" " * self._padding_bytes + b"\n\n")
            await self._send_messages(send, self._telling.start())
            await self._send_messages(send, await self._send_reply(send))
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            _log.warning(
                "a page took nothing of its reply for %g s and was given up (send_timeout_s)",
                self._send_timeout_s,
            )
        finally:
            await aclose(self._reply)

    async def _send_reply(self, send: Send) -> list[Message]:
        """All that happens; returns how it ended."""
        items = aiter(self._reply)
        item = asyncio.ensure_future(_next(items))
        try:
            while True:
                done, _ = await asyncio.wait([item], timeout=self._heartbeat_s)
                if not done:
                    await self._send(send, b": still here\n\n")
                    continue
                try:
                    messages = self._telling.item(item.result())
                except StopAsyncIteration:
                    return self._telling.end()
                except Exception as error:
                    return self._telling.error(error)
                await self._send_messages(send, messages)
                item = asyncio.ensure_future(_next(items))
        finally:
            await drop(item)

    async def _send_messages(self, send: Send, messages: list[Message]) -> None:
        for message in messages:
            name = message["type"] if self._telling.vocabulary.named and not self._bare else ""
            event_id = "" if self._bare else str(self._ids)
            self._ids += 1
            await self._send(send, encode_event(message, name=name, event_id=event_id))

    async def _send(self, send: Send, data: bytes) -> None:
        async with asyncio.timeout(self._send_timeout_s):
            await send({"type": "http.response.body", "body": data, "more_body": True})


def encode_event(message: Message, *, name: str = "", event_id: str = "") -> bytes:
    """One event, whole.

    Args:
        message: Its data, as JSON.
        name: Its name; a `message` event without one.
        event_id: Its id, for `Last-Event-ID`.
    """
    head = (f"event: {name}\n" if name else "") + (f"id: {event_id}\n" if event_id else "")
    data = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return f"{head}data: {data}\n\n".encode("utf-8", errors="replace")


async def _next(items: AsyncIterator[ReplyItem]) -> ReplyItem:
    return await anext(items)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
