"""When to try again: sooner at first, later after each failure, and not for ever.

Without I/O or clock. The pauses are random between nothing and a bound that doubles ("full
jitter"), so that the clients of a server that restarts do not all come back at one moment; see
Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

FIRST_PAUSE_S: Final = 0.1
LONGEST_PAUSE_S: Final = 2.0


class Backoff:
    """The pauses of one outage. A connection that opens does not end it; one that works does.

    Args:
        budget_s: How long after the first attempt there may be another one, in seconds.
        jitter: Gives numbers between 0 and 1.
    """

    def __init__(self, budget_s: float, jitter: Callable[[], float] = random.random) -> None:
        self._budget_s = budget_s
        self._jitter = jitter
        self._bound_s = FIRST_PAUSE_S
        self._began_s: float | None = None

    def pause_s(self, now_s: float) -> float | None:
        """How long to wait before the next attempt; None if there should be none.

        Args:
            now_s: Of a monotonic clock.
        """
        if self._began_s is None:
            self._began_s = now_s
            return 0.0 if self._budget_s > 0 else None
        pause_s = self._bound_s * self._jitter()
        self._bound_s = min(2 * self._bound_s, LONGEST_PAUSE_S)
        left_s = self._began_s + self._budget_s - now_s
        return pause_s if pause_s < left_s else None
