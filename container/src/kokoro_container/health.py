"""Whether the server can still speak: what `/ping` says once it is loaded.

Three things are watched. A call that has been running for far longer than it should is **stuck**:
its thread waits for a model or a library that will not come back. A G2P that says it is **not
alive** has lost its processes, or all of them are busy with a text they will not finish. And a call
that **failed** asks a question: was it the text, or is the model dead? Then a short text is spoken
for nobody, the whole way through the scheduler, and its outcome is the answer; while it fails it is
tried again and again, so that a recovery is noticed without any client's help.

All of it is judged at the moment it is asked, so a call that comes back after all mends it at once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from kokoro_sagemaker_agents.errors import OverloadedError

logger = logging.getLogger(__name__)

STALL_S: Final = 3.0
"""A call is stuck when it takes this, and three times what is expected of it. So a stuck one is
noticed within 5 s where a call takes up to 0.6, as any does on a GPU; on a slow CPU, where the
longest take 3 (measured), within 12. A quick verdict on a machine that is only busy would have a
working container killed."""

CHECK_S: Final = 0.5
"""Between looks at what nobody asks about: what is logged, and a model that is known to fail."""

_SLACK: Final = 3.0


class Call:
    """One call of the model or the G2P.

    Attributes:
        what: which of them.
        since: when it began, by the clock.
        limit_s: how long it may take.
    """

    def __init__(self, what: str, since: float, limit_s: float) -> None:
        self.what = what
        self.since = since
        self.limit_s = limit_s


class Health:
    """Watches the calls; all methods are for the event loop's thread.

    Args:
        stall_s: see `STALL_S`.
        check_s: see `CHECK_S`.
        alive: asks the G2P; without it only its calls are watched.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        *,
        stall_s: float = STALL_S,
        check_s: float = CHECK_S,
        alive: Callable[[], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._alive = alive
        self._stall_s = stall_s
        self._check_s = check_s
        self._clock = clock
        self._calls: dict[Call, None] = {}  # those that run, oldest first
        self._suspected = asyncio.Event()
        self._failure: str | None = None  # of the last text spoken for nobody

    def began(self, what: str, expected_s: float) -> Call:
        """A call begins; hand what is returned to `ended`.

        Args:
            what: of what, in a word.
            expected_s: how long such a call should take.
        """
        call = Call(what, self._clock(), self._stall_s + _SLACK * expected_s)
        self._calls[call] = None
        return call

    def ended(self, call: Call) -> None:
        """It came back, with whatever."""
        self._calls.pop(call, None)

    def suspect(self) -> None:
        """Something failed that should not."""
        self._suspected.set()

    @property
    def problem(self) -> str | None:
        """Why the server cannot speak; None if it can."""
        now = self._clock()
        for call in self._calls:
            took_s = now - call.since
            if took_s > call.limit_s:
                return (
                    f"a call of the {call.what} has not come back for {took_s:.0f} s, and should"
                    f" have within {call.limit_s:.0f}"
                )
        if self._alive is not None and not self._alive():
            return "the G2P processes are gone or stuck"
        return self._failure

    async def watch(self, probe: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Logs what changes, and finds out about failures, until it is cancelled.

        Args:
            probe: speaks a short text; raises what that failed with.
        """
        was: str | None = None
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._check_s):
                    await self._suspected.wait()
            if self._failure is not None or self._suspected.is_set():
                await self._probe(probe)
            now = self.problem
            if now is not None and was is None:
                logger.error("not healthy: %s", now)
            elif now is None and was is not None:
                logger.info("healthy again; before, %s", was)
            was = now

    async def _probe(self, probe: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._suspected.clear()
        try:
            async with asyncio.timeout(self._stall_s):
                await probe()
        except (OverloadedError, TimeoutError):
            # It had to wait, which says nothing; if calls are stuck, their age does.
            self._suspected.set()
            await asyncio.sleep(self._check_s)
        except Exception as error:
            # The message may be of a library's, but it is about our own text.
            self._failure = f"a test text could not be spoken: {type(error).__name__}: {error}"
            await asyncio.sleep(self._check_s)
            self._suspected.clear()  # that was the test text itself
        else:
            self._failure = None
