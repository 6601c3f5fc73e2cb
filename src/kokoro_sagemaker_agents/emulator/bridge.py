"""One bidirectional stream: events of the client to frames of the container, and back."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final

from websockets.frames import Opcode

from . import mapping
from .clock import Clock
from .container import ContainerSocket
from .endings import Ending, carry_out, suffer
from .eventstream import Decoder, InvalidEvent, Message, decode, encode
from .exchange import TASK, Counters, Exchange
from .faults import Fault, Kind, StreamFaults
from .fleet import Fleet, Instance
from .lifetime import PING_EVERY_S, SESSION_LIMIT_S, Due, Lifetime
from .signatures import EventChain

CONTENT_TYPE: Final = "application/vnd.amazon.eventstream"


@dataclass(frozen=True, slots=True)
class Settings:
    """What may differ from the service, on the emulator's clock where it is a time.

    Attributes:
        session_limit_s: how long a stream may last.
        ping_every_s: how often the container is pinged; at the fifth miss it is taken for dead.
        normal_close_is_error: a container's close 1000 is a ModelStreamError too.
        accept_s: how long the container may take to accept, in real seconds. Reported of the
            service: 0.25, which a busy laptop cannot keep.
        invocation_limit_s: how long a REST invocation may take.
        restart_s: how long a killed container is gone.
        creation_s: how long a new endpoint is Creating, or an update Updating.
        unhealthy_s: how long it may then take until /ping says 200 (the service: 8 minutes).
    """

    session_limit_s: float = SESSION_LIMIT_S
    ping_every_s: float = PING_EVERY_S
    normal_close_is_error: bool = True
    accept_s: float = 5.0
    invocation_limit_s: float = 60.0
    restart_s: float = 5.0
    creation_s: float = 2.0
    unhealthy_s: float = 8 * 60.0


class Bridge:
    """See the module's text.

    Args:
        exchange: the client's side, response headers sent.
        socket: the container's side, open.
        instance: whose socket it is.
        fleet: kills it, if a fault wants that.
        faults: of this stream.
        chain: checks the events' signatures, if they are to be checked.
        settings: the limits.
        clock: their time.
        counters: are told of the events.
    """

    def __init__(
        self,
        exchange: Exchange,
        socket: ContainerSocket,
        *,
        instance: Instance,
        fleet: Fleet,
        faults: StreamFaults,
        chain: EventChain | None,
        settings: Settings,
        clock: Clock,
        counters: Counters,
    ) -> None:
        self._exchange = exchange
        self._socket = socket
        self._instance = instance
        self._fleet = fleet
        self._faults = faults
        self._chain = chain
        self._settings = settings
        self._clock = clock
        self._counters = counters
        self._lifetime = Lifetime(
            clock.now(), limit_s=settings.session_limit_s, ping_every_s=settings.ping_every_s
        )
        self._injected: asyncio.Queue[Fault] = asyncio.Queue()

    def inject(self, fault: Fault) -> None:
        """Have a fault happen now, wherever the stream is."""
        self._injected.put_nowait(fault)

    async def run(self) -> None:
        """Carry frames until one side ends, a limit is reached or a fault strikes.

        Raises:
            PeerGone: the client is gone.
        """
        ending = await _first(self._up(), self._down(), self._watch(), self._inject())
        if ending.fault is Kind.STALL:
            # Nothing moves any more, but the limit still comes.
            ending = await _first(self._watch(), self._inject())
        self._socket.begin_close(ending.code, ending.reason)
        await carry_out(self._exchange, ending)
        await self._socket.close()

    async def _up(self) -> Ending:
        """From the client; its end ends the session at once, whatever the container still says."""
        decoder, frames = Decoder(), mapping.PartsToFrames()
        try:
            while data := await self._exchange.receive():
                for event in decoder.feed(data):
                    part = self._opened(event)
                    if isinstance(part, Ending):
                        return part
                    self._counters.add(events_in=1)
                    if ending := await self._suffer(self._faults.input()):
                        return ending
                    opcode, final = frames.frame(part)
                    await self._socket.send(opcode, part.payload, final)
        except InvalidEvent as error:
            return Ending(mapping.error("ValidationException", f"{error}"), code=1001)
        return Ending()

    def _opened(self, event: Message) -> Message | Ending:
        """The event inside a signed one."""
        if self._chain is not None and not self._chain.accepts(event):
            text = "The signature of an event does not match the one calculated for it."
            return Ending(mapping.error("InvalidSignatureException", text), code=1001)
        if ":chunk-signature" not in event.headers:
            return event
        return decode(event.payload) if event.payload else Ending()

    async def _down(self) -> Ending:
        """From the container."""
        parts = mapping.FramesToParts()
        while (frame := await self._socket.receive()) is not None:
            if frame.opcode is Opcode.PONG:
                self._lifetime.pong()
                continue
            payload = bytes(frame.data)
            part = parts.part(frame.opcode, frame.fin, payload)
            audio = part.headers["DataType"] == "BINARY"
            if ending := await self._suffer(self._faults.output(audio=audio)):
                return ending
            try:
                event = encode(part)
            except InvalidEvent as error:
                return Ending(mapping.failure("InternalStreamFailure", f"{error}"), code=1009)
            await self._exchange.send(event)
            self._counters.add(events_out=1)
        code, reason = self._socket.closing
        normal = self._settings.normal_close_is_error
        return Ending(mapping.closing(code, reason, normal_is_error=normal))

    async def _watch(self) -> Ending:
        """Pings and the limit. How AWS words the limit is not known: here the stream just ends."""
        while True:
            await self._clock.sleep_until(self._lifetime.next_s())
            match self._lifetime.due(self._clock.now()):
                case Due.PING:
                    self._socket.ping()
                case Due.UNANSWERED:
                    text = "the model container did not answer pings"
                    return Ending(mapping.failure("ModelStreamError", text, "StreamBroken"))
                case Due.LIMIT:
                    return Ending(code=1001, reason="session limit")
                case None:
                    pass

    async def _inject(self) -> Ending:
        while True:
            if ending := await self._suffer(await self._injected.get()):
                return ending

    async def _suffer(self, fault: Fault | None) -> Ending | None:
        return await suffer(
            fault,
            exchange=self._exchange,
            fleet=self._fleet,
            instance=self._instance,
            clock=self._clock,
        )


async def _first(*coroutines: Coroutine[Any, Any, Ending]) -> Ending:
    """The result of the one that ends first; the others are cancelled and over."""
    tasks = [asyncio.create_task(one, name=TASK) for one in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return min(done, key=tasks.index).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
