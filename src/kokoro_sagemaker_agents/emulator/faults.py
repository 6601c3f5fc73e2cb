"""Faults on demand: which, where in a stream, how often. No I/O.

A fault is written `KIND[@PLACE[:N]][,name=value…]`: `reset@audio:3` resets the stream in place of
its fourth frame of audio, `error,status=403,error=AccessDeniedException` refuses the next request.

    at open          reset, goaway, drain, abort, refuse and kill (424), throttle (a 400), error
                     (any status), hang (an error response that does not end), slow
    in the stream    reset (RST_STREAM), goaway (and the connection ends), drain (GOAWAY, and open
                     streams go on), abort (TCP reset), stall (nothing is read or written),
                     truncate (half an event, then the end), end (a clean end without a word),
                     model_error, stream_failure (exceptions in the stream), kill (the container
                     is gone, with all its sessions, for `Settings.restart_s`), slow (a pause)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Final, get_type_hints

#: The request header that brings a fault of its own.
FAULT_HEADER: Final = "x-emulator-fault"


class Kind(Enum):
    """See the module's text."""

    RESET = "reset"
    GOAWAY = "goaway"
    DRAIN = "drain"
    ABORT = "abort"
    STALL = "stall"
    TRUNCATE = "truncate"
    END = "end"
    MODEL_ERROR = "model_error"
    STREAM_FAILURE = "stream_failure"
    REFUSE = "refuse"
    THROTTLE = "throttle"
    ERROR = "error"
    HANG = "hang"
    KILL = "kill"
    SLOW = "slow"


class Place(Enum):
    """Where: before the response's headers; or in place of the client's, the container's or the
    container's binary frame number N, counted from 0.
    """

    OPEN = "open"
    INPUT = "input"
    OUTPUT = "output"
    AUDIO = "audio"


_ONLY_AT_OPEN: Final = {Kind.REFUSE, Kind.THROTTLE, Kind.ERROR, Kind.HANG}
_NEVER_AT_OPEN: Final = {Kind.STALL, Kind.TRUNCATE, Kind.END, Kind.MODEL_ERROR, Kind.STREAM_FAILURE}
#: After these the frame still goes its way.
HARMLESS: Final = {Kind.DRAIN, Kind.SLOW}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
        kind: what happens.
        place: where; by default before the headers for what can only happen there and for
            `slow`, else at the audio.
        after: how many frames go through before it.
        times: how often it happens, over all streams.
        endpoint: only on this endpoint.
        status: of `error` and `hang`.
        error: AWS's name of that error.
        delay_s: of `slow`, on the emulator's clock.

    Raises:
        ValueError: it cannot happen there.
    """

    kind: Kind
    place: Place | None = None
    after: int = 0
    times: int = 1
    endpoint: str | None = None
    status: int = 503
    error: str = "ServiceUnavailableError"
    delay_s: float = 1.0

    def __post_init__(self) -> None:
        if self.place is None:
            early = self.kind in _ONLY_AT_OPEN or self.kind is Kind.SLOW
            object.__setattr__(self, "place", Place.OPEN if early else Place.AUDIO)
        if self.place is Place.OPEN and self.kind in _NEVER_AT_OPEN:
            raise ValueError(f"{self.kind.value} needs an open stream: use @input, @output, @audio")
        if self.place is not Place.OPEN and self.kind in _ONLY_AT_OPEN:
            raise ValueError(f"{self.kind.value} can only happen at the opening: leave out @…")
        if self.after < 0 or self.times < 1 or self.delay_s < 0 or not 400 <= self.status < 600:
            raise ValueError(
                "a fault needs after and delay_s of 0 or more, times of 1 or more and a status"
                " from 400 to 599"
            )

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Read the written form.

        Raises:
            ValueError: it is none; the message says what is allowed.
        """
        head, *options = text.strip().split(",")
        name, _, where = head.partition("@")
        place, _, after = where.partition(":")
        values: dict[str, Any] = {"kind": _one_of(Kind, name.strip())}
        if place:
            values["place"] = _one_of(Place, place)
        if after:
            values["after"] = _number(int, "the number after ':'", after)
        for option in options:
            key, _, value = option.partition("=")
            values[key.strip()] = _option(key.strip(), value.strip())
        return cls(**values)


def _one_of(kinds: type[Any], name: str) -> Any:
    try:
        return kinds(name)
    except ValueError:
        known = ", ".join(kind.value for kind in kinds)
        raise ValueError(f"no fault has {name!r} there; use one of {known}") from None


def _option(key: str, value: str) -> Any:
    names = [field.name for field in fields(Fault)][2:]
    if key not in names:
        raise ValueError(f"a fault has no option {key!r}; there are {', '.join(names)}")
    kind = get_type_hints(Fault)[key]
    return _number(kind, key, value) if kind in (int, float) else value


def _number(kind: type[Any], name: str, value: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{name} is {value!r}; give a number") from None


class FaultPlan:
    """The faults that are still to happen, for all streams together."""

    def __init__(self, faults: Iterable[Fault | str] = ()) -> None:
        self._left: list[tuple[Fault, int]] = []
        for fault in faults:
            self.add(fault)

    def add(self, fault: Fault | str) -> None:
        """Have one happen.

        Raises:
            ValueError: the text describes none.
        """
        made = Fault.parse(fault) if isinstance(fault, str) else fault
        self._left.append((made, made.times))

    def clear(self) -> None:
        """Forget all."""
        self._left.clear()

    @property
    def pending(self) -> list[Fault]:
        """Those that have not happened as often as they should."""
        return [fault for fault, _ in self._left]

    def take(self, place: Place, passed: int, endpoint: str) -> Fault | None:
        """The fault that happens now, if one does.

        Args:
            place: where a stream is.
            passed: how many frames went through there.
            endpoint: whose stream it is.
        """
        for index, (fault, times) in enumerate(self._left):
            if fault.place is not place or passed < fault.after:
                continue
            if fault.endpoint not in (None, endpoint):
                continue
            if times == 1:
                del self._left[index]
            else:
                self._left[index] = (fault, times - 1)
            return fault
        return None


class StreamFaults:
    """One stream's way through the plan.

    Args:
        plan: everybody's.
        endpoint: whose stream it is.
        own: the request's own fault, as its header has it.

    Raises:
        ValueError: `own` is no fault.
    """

    def __init__(self, plan: FaultPlan, endpoint: str, own: str | None = None) -> None:
        self._plans = (FaultPlan([own] if own else []), plan)
        self._endpoint = endpoint
        self._passed = dict.fromkeys(Place, 0)

    def opening(self) -> Fault | None:
        """What happens instead of the response's headers."""
        return self._take(Place.OPEN)

    def input(self) -> Fault | None:
        """What happens instead of the client's next frame."""
        return self._take(Place.INPUT)

    def output(self, *, audio: bool) -> Fault | None:
        """What happens instead of the container's next frame."""
        return (self._take(Place.AUDIO) if audio else None) or self._take(Place.OUTPUT)

    def _take(self, place: Place) -> Fault | None:
        passed = self._passed[place]
        self._passed[place] += 1
        for plan in self._plans:
            if fault := plan.take(place, passed, self._endpoint):
                return fault
        return None
