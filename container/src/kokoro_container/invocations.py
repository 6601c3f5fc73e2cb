"""`POST /invocations`: one text, answered by its audio, whole or as it is made.

A POST is a `speak` that has a connection to itself: its options are read and checked by the same
code, and its text may be an LLM's whole reply, markup included.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.protocol import (
    BYTES_PER_SAMPLE,
    ErrorCode,
    Limits,
    Ready,
    Speak,
    SpeechOptions,
    check_options,
    decode_client,
)

from .audio import wav_header
from .faults import Fault, fault_of
from .scheduler import Job, Stream
from .service import Service
from .synthesis import Rendered

logger = logging.getLogger(__name__)

FORMATS: Final = ("wav", "pcm")
HIGH_BYTES: Final = 1_000_000  # of unsent audio, above which a stream gives up the model
RETRY_AFTER_S: Final = 1
_OPTIONS: Final = ("text", "voice", "speed", "language", "sample_rate", "encoding")
_WARNING_HEADER_CHARS: Final = 1000


@dataclass(frozen=True, slots=True)
class Invocation:
    """A POST's body, understood.

    Attributes:
        text: what to say.
        options: how.
        container: one of `FORMATS`.
        stream: send audio as it is made.
    """

    text: str
    options: SpeechOptions
    container: str
    stream: bool

    @property
    def media_type(self) -> str:
        """For `Content-Type`."""
        if self.container == "wav":
            return "audio/wav"
        return f"audio/pcm; rate={self.options.sample_rate}; encoding={self.options.encoding}"


def parse(body: bytes, ready: Ready) -> Invocation:
    """Reads a POST's body.

    Args:
        body: JSON with `text`, and optionally `voice`, `speed`, `language`, `sample_rate`,
            `encoding`, `format` (`wav` or `pcm`) and `stream`; what else it holds is ignored.
        ready: what this server offers.

    Raises:
        InvalidInput: it cannot be used; `code` says which kind of mistake it is.
    """
    fields = _json(body)
    container = fields.get("format", "wav")
    if container not in FORMATS:
        raise InvalidInput(
            f"format {json.dumps(container)[:40]} is not one of {', '.join(FORMATS)}",
            code=ErrorCode.UNSUPPORTED_ENCODING,
        )
    stream = fields.get("stream", False)
    if not isinstance(stream, bool):
        raise InvalidInput("stream is neither true nor false")
    given = {name: fields[name] for name in _OPTIONS if fields.get(name) is not None}
    # As a speak message, so that every value is checked as there and refused in the same words.
    speak = decode_client(json.dumps({**given, "type": "speak", "context_id": "-", "chunk_id": 0}))
    assert isinstance(speak, Speak)
    options = SpeechOptions().overridden(speak)
    check_options(options, ready)
    if container == "wav" and options.encoding != "pcm_s16le":
        raise InvalidInput(
            f"format wav holds pcm_s16le, not {options.encoding}; use format pcm for that",
            code=ErrorCode.UNSUPPORTED_ENCODING,
        )
    _check_text(speak.text, ready.limits)
    return Invocation(speak.text, options, container, stream)


def _json(body: bytes) -> Mapping[str, Any]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInput(
            'the body is not JSON; send an object such as {"text": "Hello.", "voice": "af_heart"}',
            code=ErrorCode.INVALID_JSON,
        ) from None
    if not isinstance(fields, dict):
        raise InvalidInput("the body is JSON, but not an object with a `text`")
    return fields


def _check_text(text: str, limits: Limits) -> None:
    if not text.strip():
        raise InvalidInput("text is empty; give something to say")
    if len(text) > limits.text_chars:
        raise InvalidInput(
            f"the text has {len(text)} characters, more than {limits.text_chars}; nothing of it"
            " is spoken; send it in parts",
            code=ErrorCode.TEXT_TOO_LONG,
        )


class Invocations:
    """The route, as an ASGI app.

    Failures that come before any audio are JSON with their status. One that comes later, inside a
    streamed answer, cuts the answer off, so that it isn't taken for a whole one.

    Args:
        service: the server it belongs to.
    """

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        try:
            reply = await self._begin(Request(scope, receive))
        except ClientDisconnect:
            return
        except Exception as error:
            await error_response(fault_of(error))(scope, receive, send)
            return
        answering = asyncio.ensure_future(_answer(reply, scope, receive, send))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._service.scheduler.close(reply)
            leaving.cancel()
            answering.cancel()
            with suppress(asyncio.CancelledError):
                await answering

    async def _begin(self, request: Request) -> _Reply:
        ready = await self._service.ready()
        invocation = parse(await _body(request, ready.limits.frame_bytes), ready)
        self._service.check(invocation.options)
        speech = self._service.synthesizer.speech(
            invocation.text, invocation.options, opening=invocation.stream, raw=True
        )
        reply = _Reply(invocation, self._service)
        self._service.scheduler.add(reply, speech)
        return reply


def error_response(fault: Fault) -> Response:
    """The JSON that tells a client of a fault."""
    error = {"code": fault.code, "message": fault.message, "retryable": fault.retryable}
    headers = {"Retry-After": str(RETRY_AFTER_S)} if fault.status == 503 else None
    return JSONResponse({"error": error}, fault.status, headers)


class _Reply(Stream):
    """A POST's stream: collects audio until the answer takes it.

    Streamed, it is listened to while it is made, like a session's; whole, it has some patience.
    """

    def __init__(self, invocation: Invocation, service: Service) -> None:
        patience_s = None if invocation.stream else service.settings.post_patience_s
        super().__init__(self, patience_s)
        self.invocation = invocation
        self.audio = bytearray()
        self.finished = False
        self.error: Exception | None = None
        self.warnings: list[str] = []
        self._scheduler = service.scheduler
        self._changed = asyncio.Event()

    def on_audio(self, job: Job, audio: Rendered) -> None:
        self.audio += audio.data
        if self.invocation.stream and len(self.audio) > HIGH_BYTES:
            self._scheduler.pause(self, True)
        self._changed.set()

    def on_done(self, job: Job) -> None:
        self.audio += job.speech.rest()
        self.warnings = job.warnings
        self.finished = True
        self._changed.set()

    def on_failed(self, job: Job, error: Exception) -> None:
        self.error = error
        self.finished = True
        self._changed.set()

    async def wait(self, *, whole: bool) -> None:
        """Returns when there is audio (or all of it), or the end."""
        while not self.finished and (whole or not self.audio):
            self._changed.clear()
            await self._changed.wait()

    def take(self) -> bytes:
        """The audio that is there; the stream may make more."""
        audio = bytes(self.audio)
        self.audio.clear()
        self._scheduler.pause(self, False)
        return audio


async def _answer(reply: _Reply, scope: Scope, receive: Receive, send: Send) -> None:
    streamed = reply.invocation.stream
    await reply.wait(whole=not streamed)
    if reply.error is not None and not (streamed and reply.audio):
        await error_response(fault_of(reply.error))(scope, receive, send)
    elif streamed:
        await _answer_as_made(reply, send)
    else:
        await _answer_whole(reply, scope, receive, send)


async def _answer_whole(reply: _Reply, scope: Scope, receive: Receive, send: Send) -> None:
    invocation = reply.invocation
    audio = reply.take()
    header = b""
    if invocation.container == "wav":
        samples = len(audio) // BYTES_PER_SAMPLE[invocation.options.encoding]
        header = wav_header(invocation.options.sample_rate, samples)
    response = Response(header + audio, media_type=invocation.media_type)
    if reply.warnings:
        text = json.dumps(reply.warnings)  # ASCII, as a header must be
        response.headers["X-Kokoro-Warnings"] = text[:_WARNING_HEADER_CHARS]
    await response(scope, receive, send)


async def _answer_as_made(reply: _Reply, send: Send) -> None:
    invocation = reply.invocation
    headers = [(b"content-type", invocation.media_type.encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    if invocation.container == "wav":
        await _send_part(send, wav_header(invocation.options.sample_rate, None))
    while True:
        await reply.wait(whole=False)
        await _send_part(send, reply.take())
        if reply.finished and not reply.audio:
            break
    if reply.error is None:
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    else:
        logger.error("a streamed answer was cut off: %s", fault_of(reply.error).code)


async def _send_part(send: Send, part: bytes) -> None:
    await send({"type": "http.response.body", "body": part, "more_body": True})


async def _left(receive: Receive) -> None:
    """Returns when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(request: Request, most: int) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise InvalidInput(
                f"the body has more than {most} bytes; send the text in parts",
                code=ErrorCode.TEXT_TOO_LONG,
            )
    return bytes(body)
