"""The emulator itself: a TLS port of this machine behind which everything is put together."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import ssl
import tempfile
import uuid
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, cast
from weakref import WeakSet

from . import container, requests
from .autoscaling import Autoscaling
from .bridge import CONTENT_TYPE, Bridge, Settings
from .certificates import write_certificates
from .clock import Clock
from .container import ContainerRefused
from .control import ControlPlane
from .endings import at_open
from .exchange import TASK, Counters, Exchange, PeerGone
from .faults import FAULT_HEADER, Fault, FaultPlan, StreamFaults
from .fleet import Fleet
from .http1 import Http1Connection
from .http2 import Http2Connection
from .invocations import Invocation
from .refusals import Refused, model_error
from .requests import MAX_BODY_BYTES, STREAM, Call
from .signatures import Credentials, EventChain, check_request

logger = logging.getLogger(__name__)

REGION: Final = "us-east-1"
_PING_S: Final = 2.0  # AWS's documentation of the container contract
_PING_AGAIN_S: Final = 1.0
_JSON: Final = "application/x-amz-json-1.1"


class Emulator:
    """SageMaker on this machine, for as long as the `async with` block runs.

        async with Emulator("ws://127.0.0.1:8080") as emulator:
            ...  # clients call emulator.endpoint_url and trust emulator.ca_path

    One port answers the runtime's bidirectional streams over HTTP/2 and, over HTTP/1.1 or 2, its
    REST calls and the control plane, told apart by path and `X-Amz-Target`.

    Args:
        containers: address of the container, `ws://host:port`, or of several instances.
        endpoints: names of endpoints that are in service from the start.
        host: address to listen on.
        port: 0 takes a free one; AWS's is 8443.
        credentials: with them, requests and events must be signed by them; without, nothing is
            checked.
        faults: what goes wrong, see `faults`; more with `self.faults.add` and `inject`.
        clock: the emulator's time.
        settings: limits.
        directory: for `ca.pem`; by default a temporary one.

    Attributes:
        endpoint_url: `https://localhost:port`.
        ca_path: the authority's certificate.
        counters: connections, streams and events.
        faults: what will go wrong.
        fleet: the containers.
        control: models, configurations and endpoints.
        clock: its time.

    Raises:
        ValueError: no container, or a fault that is none.
    """

    def __init__(
        self,
        containers: str | Iterable[str],
        *,
        endpoints: Iterable[str] = ("kokoro",),
        host: str = "127.0.0.1",
        port: int = 0,
        credentials: Credentials | None = None,
        faults: Iterable[Fault | str] = (),
        clock: Clock | None = None,
        settings: Settings | None = None,
        directory: Path | None = None,
    ) -> None:
        self.endpoint_url = ""
        self.ca_path = Path()
        self.counters = Counters()
        self.faults = FaultPlan(faults)
        self.clock = clock or Clock()
        self.settings = settings or Settings()
        self.fleet = Fleet(
            [containers] if isinstance(containers, str) else containers,
            clock=self.clock,
            counters=self.counters,
            accept_s=self.settings.accept_s,
            restart_s=self.settings.restart_s,
        )
        self.control = ControlPlane(REGION, self._bring_up)
        self._autoscaling = Autoscaling(REGION, self.control)
        for name in endpoints:
            self.control.add_endpoint(name)
        self._address = (host, port)
        self._credentials = credentials
        self._directory = directory
        self._transports: WeakSet[asyncio.Transport] = WeakSet()
        self._bridges: set[Bridge] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._exit = contextlib.ExitStack()

    async def __aenter__(self) -> Emulator:
        """Listen.

        Raises:
            OSError: the port is taken.
        """
        with contextlib.ExitStack() as stack:
            directory = self._directory or Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="sagemaker-emulator-"))
            )
            directory.mkdir(parents=True, exist_ok=True)
            self.ca_path, context = write_certificates(directory)
            loop = asyncio.get_running_loop()
            self._server = await loop.create_server(
                lambda: _Negotiated(self), *self._address, ssl=context, backlog=1024
            )
            self._exit = stack.pop_all()
        self.endpoint_url = f"https://localhost:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End all connections and everything that was begun."""
        self._server.close()
        for task in self._tasks:
            task.cancel()
        for transport in list(self._transports):
            transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.counters.until(lambda seen: not seen.open_connections)
        await self.counters.until(lambda seen: not seen.open_streams)
        self._exit.close()

    def client_context(self) -> ssl.SSLContext:
        """What a client of Python's `ssl` needs to trust the emulator."""
        return ssl.create_default_context(cafile=self.ca_path)

    def inject(self, fault: Fault | str) -> None:
        """Have a fault happen now, on all open streams.

        Raises:
            ValueError: the text describes no fault.
        """
        made = Fault.parse(fault) if isinstance(fault, str) else fault
        for bridge in list(self._bridges):
            bridge.inject(made)

    async def serve(self, exchange: Exchange) -> None:
        """Answer one request."""
        try:
            await self._route(exchange)
        except Refused as refused:
            await _refuse(exchange, refused)
        except PeerGone:
            logger.debug("a client went away")
        except Exception:
            logger.exception("serving %s failed", exchange.request.path)
            with contextlib.suppress(PeerGone):
                exchange.reset()

    async def _route(self, exchange: Exchange) -> None:
        request = exchange.request
        call = Call.of(request.path, request.headers)
        target = request.headers.get("x-amz-target")
        if call is None and target is None:
            raise Refused(404, "UnknownOperationException", f"there is no {request.path}")
        if request.method != "POST":
            raise Refused(405, "UnknownOperationException", "only POST is known here")
        if call is not None and call.operation == STREAM:
            await self._stream(exchange, call)
            return
        body = await _body(exchange)
        self._check(exchange, body)
        if call is None:
            await self._control(exchange, target or "", body)
            return
        variant = self.control.serving(call.endpoint, call.variant)
        faults = await self._opening(exchange, call)
        if faults is None:
            return
        invocation = Invocation(
            exchange,
            call,
            fleet=self.fleet,
            faults=faults,
            settings=self.settings,
            clock=self.clock,
            counters=self.counters,
        )
        whole = call.operation == requests.INVOKE
        await (invocation.whole if whole else invocation.stream)(body, variant)

    def _check(self, exchange: Exchange, body: bytes) -> EventChain | None:
        """The request's signature, if there are credentials to check it by."""
        if self._credentials is None:
            return None
        request = exchange.request
        return check_request(
            self._credentials,
            method=request.method,
            path=request.path,
            query=request.query,
            headers=request.headers,
            body=body,
        )

    async def _opening(self, exchange: Exchange, call: Call) -> StreamFaults | None:
        """What may go wrong with a call; None if it already has."""
        own = exchange.request.headers.get(FAULT_HEADER)
        try:
            faults = StreamFaults(self.faults, call.endpoint, own)
        except ValueError as error:
            raise Refused(400, "ValidationError", f"{FAULT_HEADER}: {error}") from error
        goes_on = await at_open(exchange, faults.opening(), call.endpoint, self.clock)
        return faults if goes_on else None

    async def _stream(self, exchange: Exchange, call: Call) -> None:
        if exchange.request.version != "2":
            raise Refused(505, "InputValidationError", "bidirectional streams need HTTP/2")
        if not exchange.request.headers.get("content-type", "").startswith(CONTENT_TYPE):
            raise Refused(415, "InputValidationError", f"the content-type must be {CONTENT_TYPE}")
        chain = self._check(exchange, b"")
        try:
            variant = self.control.serving(call.endpoint, call.variant)
        except Refused as refused:
            raise Refused(400, "InputValidationError", refused.message) from None
        faults = await self._opening(exchange, call)
        if faults is not None:
            await self._bridge(exchange, call, variant, faults, chain)

    async def _bridge(
        self,
        exchange: Exchange,
        call: Call,
        variant: str,
        faults: StreamFaults,
        chain: EventChain | None,
    ) -> None:
        """The container's handshake first, then the response's headers, then the frames."""
        request_id = str(uuid.uuid4())
        seen = [("X-Amzn-SageMaker-Request-Id", request_id)]
        try:
            async with self.fleet.connect(call.target, seen) as (socket, instance):
                headers = [
                    ("content-type", CONTENT_TYPE),
                    ("x-amzn-requestid", request_id),
                    ("x-amzn-invoked-production-variant", variant),
                ]
                await exchange.respond(200, headers)
                bridge = Bridge(
                    exchange,
                    socket,
                    instance=instance,
                    fleet=self.fleet,
                    faults=faults,
                    chain=chain,
                    settings=self.settings,
                    clock=self.clock,
                    counters=self.counters,
                )
                self._bridges.add(bridge)
                try:
                    await bridge.run()
                finally:
                    self._bridges.discard(bridge)
        except ContainerRefused as refused:
            text = "Received an error from the model container while the stream was opened"
            raise model_error(
                text,
                endpoint=call.endpoint,
                original_status=refused.status,
                original=refused.text,
            ) from refused

    async def _control(self, exchange: Exchange, target: str, body: bytes) -> None:
        service, _, operation = target.partition(".")
        try:
            arguments = json.loads(body or b"{}")
            if service == "SageMaker":
                answer = self.control.call(operation, arguments)
            elif service == "AnyScaleFrontendService":
                answer = self._autoscaling.call(operation, arguments)
            else:
                raise Refused(400, "UnknownOperationException", f"there is no {target} here")
        except Refused as refused:
            await exchange.answer(refused.status, refused.headers(_JSON), refused.json_body())
            return
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise Refused(400, "SerializationException", f"missing or wrong: {error}") from error
        await exchange.answer(200, [("content-type", _JSON)], json.dumps(answer).encode())

    def _bring_up(self, name: str) -> None:
        task = asyncio.create_task(self._until_healthy(name), name=TASK)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _until_healthy(self, name: str) -> None:
        await self.clock.sleep(self.settings.creation_s)
        deadline_s = self.clock.now() + self.settings.unhealthy_s
        while not (healthy := await self._all_healthy()) and self.clock.now() < deadline_s:
            await self.clock.sleep(min(_PING_AGAIN_S, deadline_s - self.clock.now()))
        self.control.came_up(name, healthy=healthy)

    async def _all_healthy(self) -> bool:
        return all([await container.is_healthy(url, _PING_S) for url in self.fleet.urls])


class _Negotiated(asyncio.Protocol):
    """Becomes the protocol that the TLS handshake agreed on."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hand over."""
        wire = cast(asyncio.Transport, transport)
        over_tls = wire.get_extra_info("ssl_object")
        kind = Http2Connection if over_tls.selected_alpn_protocol() == "h2" else Http1Connection
        protocol = kind(self._emulator.serve, self._emulator.counters)
        wire.set_protocol(protocol)
        protocol.connection_made(wire)
        self._emulator._transports.add(wire)


async def _body(exchange: Exchange) -> bytes:
    body = bytearray()
    while piece := await exchange.receive():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            text = f"the body has more than {MAX_BODY_BYTES} bytes"
            raise Refused(413, "ValidationError", text)
    return bytes(body)


async def _refuse(exchange: Exchange, refused: Refused) -> None:
    with contextlib.suppress(PeerGone):
        await exchange.answer(refused.status, refused.headers(), refused.rest_body())
