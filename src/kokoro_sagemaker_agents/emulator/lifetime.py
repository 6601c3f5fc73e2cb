"""How long a session may live: pings to the container, and the 30-minute limit. No I/O."""

from __future__ import annotations

from enum import Enum
from typing import Final

#: AWS's documentation of the container contract.
PING_EVERY_S: Final = 60.0
MISSED_PINGS: Final = 5
#: AWS's developer guide, "Invoke models for real-time inference".
SESSION_LIMIT_S: Final = 30 * 60.0


class Due(Enum):
    """What is to be done now."""

    PING = "ping"
    UNANSWERED = "unanswered"  # the container is taken for dead: close
    LIMIT = "limit"  # the session is over: close


class Lifetime:
    """The times of one session.

    Args:
        now_s: when it began, on the clock whose times the other methods are given.
        limit_s: how long it may last.
        ping_every_s: how often the container is pinged.
    """

    def __init__(
        self,
        now_s: float,
        *,
        limit_s: float = SESSION_LIMIT_S,
        ping_every_s: float = PING_EVERY_S,
    ) -> None:
        self._end_s = now_s + limit_s
        self._every_s = ping_every_s
        self._next_ping_s = now_s + ping_every_s
        self._unanswered = 0

    def next_s(self) -> float:
        """When `due` has something to say again."""
        return min(self._end_s, self._next_ping_s)

    def pong(self) -> None:
        """The container answered."""
        self._unanswered = 0

    def due(self, now_s: float) -> Due | None:
        """What is to be done at this time; call it again until it is nothing."""
        if now_s >= self._end_s:
            return Due.LIMIT
        if now_s < self._next_ping_s:
            return None
        if self._unanswered >= MISSED_PINGS:
            return Due.UNANSWERED
        self._unanswered += 1
        # One ping however late: a clock that was moved on must not count as silence.
        missed = (now_s - self._next_ping_s) // self._every_s
        self._next_ping_s += (missed + 1) * self._every_s
        return Due.PING
