"""The emulator's time: as fast as wanted, and moved on by hand in tests."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time


class Clock:
    """Seconds that pass `scale` times as fast as real ones.

    Args:
        scale: 60 makes the 30-minute limit come after 30 real seconds; 0 stops the time, which
            then goes on with `advance` alone.

    Raises:
        ValueError: `scale` is negative or no number.
    """

    def __init__(self, scale: float = 1.0) -> None:
        if not 0 <= scale < math.inf:
            raise ValueError(f"scale is {scale}; give a number of 0 or more")
        self._scale = scale
        self._start_s = time.monotonic()
        self._skipped_s = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        """Seconds since the clock was made."""
        return (time.monotonic() - self._start_s) * self._scale + self._skipped_s

    def advance(self, seconds: float) -> None:
        """Skip some time: all who wait for a moment within it go on."""
        self._skipped_s += seconds
        self._moved.set()
        self._moved = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """Wait for so much of this time to pass."""
        await self.sleep_until(self.now() + seconds)

    async def sleep_until(self, moment_s: float) -> None:
        """Wait until `now()` is this or later."""
        while (left_s := moment_s - self.now()) > 0:
            moved = self._moved
            timeout_s = left_s / self._scale if self._scale else None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await moved.wait()
