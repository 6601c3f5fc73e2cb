"""`POST /invocations` and `POST /v1/audio/speech`: one text, answered by its audio.

A POST is a `speak` that has a connection to itself, and its text may be an LLM's whole reply,
markup included. `requests` reads what was asked for, `replies` makes the answer of it; here the two
meet HTTP. A body on `/invocations` may be the AWS Kokoro sample's, ours or OpenAI's. A session that
speaks by POSTs is answered in the protocol's own frames (`frames`).
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from kokoro_sagemaker_agents.errors import InvalidInput, OverloadedError
from kokoro_sagemaker_agents.protocol import ErrorCode

from .faults import QUEUE_SATURATED, Fault, code_of, fault_of
from .frames import FramedReply, framed
from .replies import Reply
from .requests import (
    CUSTOM_ATTRIBUTES,
    Dialect,
    new_request_id,
    parse,
    request_id_from_headers,
)
from .service import Service
from .synthesis import Speech

logger = logging.getLogger(__name__)

RETRY_AFTER_S: Final = 1

TARGET_VARIANT: Final = "X-Amzn-SageMaker-Target-Variant"
_VARIANT: Final = re.compile(r"[A-Za-z0-9-]{1,63}")  # SageMaker's rule for its names

# Proxies must neither keep nor gather events.
_EVENT_HEADERS: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class Invocations:
    """A route, as an ASGI app.

    Failures that come before any audio are JSON with their status. One that comes later, inside a
    streamed answer, is the last event of an event stream, and cuts any other answer off, so that it
    isn't taken for a whole one.

    Args:
        service: the server it belongs to.
        dialect: whose bodies it takes; None to tell by their fields.
    """

    def __init__(self, service: Service, dialect: Dialect | None = None) -> None:
        self._service = service
        self._dialect = dialect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        request = Request(scope, receive)
        request_id = request_id_from_headers(request.headers) or new_request_id()
        try:
            reply = await self._begin(request, request_id)
        except ClientDisconnect:
            return
        except Exception as error:
            fault = fault_of(error, request_id)
            self._service.metrics.error(fault.code)
            await _refuse(fault, request_id)(scope, receive, send)
            return
        answering = asyncio.ensure_future(_answer(reply, scope, receive, send))
        leaving = asyncio.ensure_future(_left(receive))
        self._service.posts.add(reply)
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            outcome = _outcome(reply, answering)
            if reply.error is not None:
                self._service.metrics.error(code_of(reply.error))
            self._service.posts.discard(reply)
            self._service.scheduler.close(reply)
            leaving.cancel()
            answering.cancel()
            with suppress(asyncio.CancelledError):
                await answering
            _log(reply, outcome, request.headers)

    async def _begin(self, request: Request, request_id: str) -> Reply:
        ready = await self._service.ready()
        self._service.refuse_if_draining()
        settings = self._service.settings
        body = await _body(request, ready.limits.frame_bytes)
        if (fields := framed(body)) is not None:
            answer = FramedReply(fields, ready, self._service, request_id)
            self._queue(answer, answer.speech)
            return answer
        invocation = parse(
            body,
            ready,
            request_id=request_id,
            accept=request.headers.get("Accept", ""),
            now_s=time.time(),
            max_age_s=settings.request_age_s,
            dialect=self._dialect,
        )
        self._service.check(invocation.options)
        speech = self._service.synthesizer.speech(
            invocation.text, invocation.options, opening=invocation.stream, raw=True
        )
        reply = Reply(invocation, self._service)
        self._queue(reply, speech)
        return reply

    def _queue(self, reply: Reply, speech: Speech | None) -> None:
        if len(self._service.posts) >= self._service.settings.posts:
            raise _saturated(f"{self._service.settings.posts} requests are being answered here")
        if speech is None:
            return
        try:
            self._service.scheduler.add(reply, speech)
        except OverloadedError as error:
            raise OverloadedError(str(error), code=QUEUE_SATURATED) from error


def _saturated(what: str) -> OverloadedError:
    return OverloadedError(
        f"{what}; try again in a moment, or on another instance", code=QUEUE_SATURATED
    )


async def _answer(reply: Reply, scope: Scope, receive: Receive, send: Send) -> None:
    invocation = reply.invocation
    await reply.wait(whole=not invocation.stream)
    if reply.error is not None and not (invocation.stream and reply.audio):
        fault = fault_of(reply.error, invocation.request_id)
        await _refuse(fault, invocation.request_id)(scope, receive, send)
    elif invocation.events:
        await _send_as_made(reply, reply.events(), send)
    elif invocation.stream:
        await _send_as_made(reply, reply.parts(), send)
    else:
        response = Response(
            reply.whole(), headers=reply.headers(), media_type=invocation.media_type
        )
        await response(scope, receive, send)


async def _send_as_made(reply: Reply, parts: AsyncIterator[bytes], send: Send) -> None:
    headers = reply.headers() | {"Content-Type": reply.invocation.media_type}
    if reply.invocation.events:
        headers |= _EVENT_HEADERS
    raw = Headers(headers).raw
    await send({"type": "http.response.start", "status": 200, "headers": raw})
    try:
        async for part in parts:
            if part:
                await send({"type": "http.response.body", "body": part, "more_body": True})
    except Exception as error:
        fault = fault_of(error, reply.invocation.request_id)
        logger.error("a streamed answer was cut off: %s", fault.code, extra=reply.figures())
        return
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def _refuse(fault: Fault, request_id: str) -> Response:
    """The JSON that tells a client of a fault."""
    error = {"code": fault.code, "message": fault.message, "retryable": fault.retryable}
    headers = {
        "X-Request-Id": request_id,
        CUSTOM_ATTRIBUTES: f"request_id={request_id};error={fault.code}",
    }
    if fault.status == 503:
        headers["Retry-After"] = str(RETRY_AFTER_S)
    logger.info("a POST was refused: %s", fault.code, extra={"request_id": request_id})
    return JSONResponse({"error": error}, fault.status, headers)


def _outcome(reply: Reply, answering: asyncio.Future[None]) -> str:
    if reply.error is not None:
        return "failed"
    return "answered" if answering.done() else "given up by its client"


def _log(reply: Reply, outcome: str, headers: Headers) -> None:
    figures = reply.figures()
    variant = headers.get(TARGET_VARIANT, "")
    if _VARIANT.fullmatch(variant):
        figures["variant"] = variant
    logger.info("a POST was %s", outcome, extra=figures)


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
