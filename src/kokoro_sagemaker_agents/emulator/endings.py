"""How a stream ends, by itself or by a fault, and carrying it out."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from . import mapping
from .clock import Clock
from .eventstream import Message, encode
from .exchange import Exchange
from .faults import HARMLESS, Fault, Kind, Place
from .fleet import Fleet, Instance
from .refusals import Refused, model_error

# A client that reads nothing cannot be told of the end.
_TELL_S: Final = 5.0
_MUCH: Final = bytes(4096)


@dataclass(frozen=True, slots=True)
class Ending:
    """One end.

    Attributes:
        message: the last event for the client.
        fault: what breaks it instead.
        code: the container is told to close with.
        reason: and why.
    """

    message: Message | None = None
    fault: Kind | None = None
    code: int = 1000
    reason: str = ""


def of_fault(fault: Fault) -> Ending:
    """The end that a fault makes of an open stream."""
    if fault.kind is Kind.MODEL_ERROR:
        text = "the model failed while it was answering (asked for by a fault)"
        return Ending(mapping.failure("ModelStreamError", text, "ModelInvocationFailed"))
    if fault.kind is Kind.STREAM_FAILURE:
        text = "the platform failed (asked for by a fault)"
        return Ending(mapping.failure("InternalStreamFailure", text))
    return Ending(fault=fault.kind, code=1001)


async def suffer(
    fault: Fault | None, *, exchange: Exchange, fleet: Fleet, instance: Instance, clock: Clock
) -> Ending | None:
    """Let a fault happen in an open stream.

    Returns:
        The end that it makes, if it is one; else the stream goes on.
    """
    if fault is None:
        return None
    if fault.kind is Kind.SLOW:
        await clock.sleep(fault.delay_s)
    elif fault.kind is Kind.DRAIN:
        exchange.goaway(graceful=True)
    if fault.kind in HARMLESS:
        return None
    if fault.kind is Kind.KILL:
        fleet.kill(instance)
        return Ending(mapping.closing(mapping.BROKEN, "", normal_is_error=True))
    return of_fault(fault)


async def carry_out(exchange: Exchange, ending: Ending) -> None:
    """Let the client have the end.

    Raises:
        PeerGone: it is not there any more.
    """
    if ending.fault in (None, Kind.END, Kind.TRUNCATE):
        try:
            async with asyncio.timeout(_TELL_S):
                if ending.fault is Kind.TRUNCATE:
                    whole = encode(mapping.bytes_part(_MUCH))
                    await exchange.send(whole[: len(whole) // 2])
                elif ending.message is not None:
                    await exchange.send(encode(ending.message))
                await exchange.end()
        except TimeoutError:
            exchange.reset()
    else:
        break_off(exchange, ending.fault)


def break_off(exchange: Exchange, kind: Kind) -> None:
    """The ends without a word.

    Raises:
        PeerGone: it is over already.
    """
    if kind is Kind.ABORT:
        exchange.abort()
    elif kind is Kind.GOAWAY:
        exchange.goaway(graceful=False)
    else:
        exchange.reset()


async def at_open(exchange: Exchange, fault: Fault | None, endpoint: str, clock: Clock) -> bool:
    """A fault before the response's headers.

    Returns:
        Whether the request goes on.

    Raises:
        Refused: the answer is an error.
        PeerGone: the client did not wait.
    """
    if fault is None:
        return True
    assert fault.place is Place.OPEN
    why = "asked for by a fault"
    match fault.kind:
        case Kind.SLOW:
            await clock.sleep(fault.delay_s)
            return True
        case Kind.DRAIN:
            exchange.goaway(graceful=True)
            return True
        case Kind.REFUSE | Kind.KILL:
            text = "Received an error from the model container; see its log for more"
            raise model_error(text, endpoint=endpoint, original_status=503, original=why)
        case Kind.THROTTLE:
            # As reported of the service: 400, and not in its model.
            raise Refused(400, "ThrottlingException", "Rate exceeded")
        case Kind.ERROR:
            raise Refused(fault.status, fault.error, why)
        case Kind.HANG:
            refused = Refused(fault.status, fault.error, why)
            await exchange.respond(fault.status, refused.headers())
            await exchange.send(refused.rest_body())
            await asyncio.Event().wait()  # until the client goes
        case kind:
            break_off(exchange, kind)
    return False
