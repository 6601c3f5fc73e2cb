"""The REST calls: InvokeEndpoint, and InvokeEndpointWithResponseStream with its own cutting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from . import container, mapping
from .bridge import CONTENT_TYPE, Settings
from .clock import Clock
from .container import ContainerRefused, ContainerResponse
from .endings import Ending, carry_out, suffer
from .eventstream import encode
from .exchange import TASK, Counters, Exchange
from .faults import Kind, StreamFaults
from .fleet import Fleet, Instance
from .refusals import Refused, model_error
from .requests import MAX_BODY_BYTES, Call

# Measured on the service by others: parts end at no frame of the container and hold 8 192 bytes.
PART_BYTES: Final = 8192
_TIMED_OUT: Final = "Your invocation timed out while waiting for a response from the container."
_PASSED_ON: Final = ("content-type", "accept", "x-amzn-sagemaker-custom-attributes")
#: Of the response, as InvokeEndpoint names it.
_BACK: Final = ("x-amzn-sagemaker-custom-attributes",)


class Invocation:
    """One call.

    Args:
        exchange: the client's side.
        call: what it wants.
        fleet: the containers.
        faults: of this call.
        settings: the limits.
        clock: their time.
        counters: are told of the events.
    """

    def __init__(
        self,
        exchange: Exchange,
        call: Call,
        *,
        fleet: Fleet,
        faults: StreamFaults,
        settings: Settings,
        clock: Clock,
        counters: Counters,
    ) -> None:
        self._exchange = exchange
        self._call = call
        self._fleet = fleet
        self._faults = faults
        self._settings = settings
        self._clock = clock
        self._counters = counters

    async def whole(self, body: bytes, variant: str) -> None:
        """InvokeEndpoint.

        Raises:
            Refused: the answer is an error.
            PeerGone: the client is gone.
        """
        try:
            async with self._deadline(), self._asked(body) as (response, _):
                data = b"".join([piece async for piece in response.body])
                headers = [
                    *_answer_headers(response),
                    ("x-amzn-invoked-production-variant", variant),
                ]
        except TimeoutError:
            raise self._failed(0, _TIMED_OUT) from None
        except ContainerRefused as refused:
            raise self._failed(refused.status, refused.text) from refused
        await self._exchange.answer(200, headers, data)

    async def stream(self, body: bytes, variant: str) -> None:
        """InvokeEndpointWithResponseStream.

        Raises:
            Refused: the answer is an error, before its stream began.
            PeerGone: the client is gone.
        """
        begun = False
        try:
            async with self._deadline(), self._asked(body) as (response, instance):
                kind = response.headers.get("content-type", "application/octet-stream")
                headers = [
                    ("content-type", CONTENT_TYPE),
                    ("x-amzn-sagemaker-content-type", kind),
                    ("x-amzn-invoked-production-variant", variant),
                ]
                await self._exchange.respond(200, headers)
                begun = True
                ending = await self._parts(response, instance)
        except TimeoutError:
            if not begun:
                raise self._failed(0, _TIMED_OUT) from None
            code = "ModelInvocationTimeExceeded"
            ending = Ending(mapping.failure("ModelStreamError", _TIMED_OUT, code))
        except ContainerRefused as refused:
            if not begun:
                raise self._failed(refused.status, refused.text) from refused
            ending = Ending(mapping.failure("ModelStreamError", refused.text, "StreamBroken"))
        if ending.fault is Kind.STALL:
            await asyncio.Event().wait()  # until the client goes
        await carry_out(self._exchange, ending)

    async def _parts(self, response: ContainerResponse, instance: Instance) -> Ending:
        """Cut at every 8 192nd byte of the stream, and where the container pauses."""
        sent = 0
        async for piece in response.body:
            rest = memoryview(piece)
            while rest:
                part = rest[: PART_BYTES - sent % PART_BYTES]
                ending = await suffer(
                    self._faults.output(audio=True),
                    exchange=self._exchange,
                    fleet=self._fleet,
                    instance=instance,
                    clock=self._clock,
                )
                if ending is not None:
                    return ending
                await self._exchange.send(encode(mapping.bytes_part(bytes(part))))
                self._counters.add(events_out=1)
                sent += len(part)
                rest = rest[len(part) :]
        return Ending()

    @asynccontextmanager
    async def _asked(self, body: bytes) -> AsyncIterator[tuple[ContainerResponse, Instance]]:
        """The container's answer, if it is none of an error."""
        if len(body) > MAX_BODY_BYTES:
            text = f"the body has {len(body)} bytes; at most {MAX_BODY_BYTES} are allowed"
            raise Refused(413, "ValidationError", text)
        instance = self._fleet.pick()
        given = self._exchange.request.headers
        headers = [(name, given[name]) for name in _PASSED_ON if name in given]
        target = self._call.target
        async with container.request(instance.url, "POST", target, headers, body) as response:
            if not 200 <= response.status < 300:
                said = b"".join([piece async for piece in response.body])
                raise ContainerRefused(response.status, said.decode(errors="replace"))
            yield response, instance

    @asynccontextmanager
    async def _deadline(self) -> AsyncIterator[None]:
        """The block under the invocation's limit on the emulator's clock: `TimeoutError`."""
        async with asyncio.timeout(None) as timeout:
            limit_s = self._settings.invocation_limit_s
            over = asyncio.create_task(self._clock.sleep(limit_s), name=TASK)
            loop = asyncio.get_running_loop()
            over.add_done_callback(
                lambda task: None if task.cancelled() else timeout.reschedule(loop.time())
            )
            try:
                yield
            finally:
                over.cancel()

    def _failed(self, status: int, text: str) -> Refused:
        message = f"Received an error ({status}) from the model container: {text[:200]}"
        return model_error(
            message, endpoint=self._call.endpoint, original_status=status, original=text
        )


def _answer_headers(response: ContainerResponse) -> list[tuple[str, str]]:
    kind = response.headers.get("content-type", "application/octet-stream")
    back = [(name, response.headers[name]) for name in _BACK if name in response.headers]
    return [("content-type", kind), *back]
