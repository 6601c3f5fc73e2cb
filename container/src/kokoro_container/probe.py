"""A text spoken for nobody, the whole way through the scheduler, to learn whether that works."""

from __future__ import annotations

import asyncio

from .scheduler import Job, Scheduler, Stream
from .synthesis import Rendered, Speech


async def speak_for_nobody(scheduler: Scheduler, speech: Speech) -> None:
    """Speaks a text; returns when that was possible. Cancelling it takes it out of the queue.

    Raises:
        OverloadedError: the scheduler took no more.
        Exception: what it failed with.
    """
    probe = _Probe()
    scheduler.add(probe, speech)
    try:
        await probe.outcome
    finally:
        scheduler.close(probe)


class _Probe(Stream):
    def __init__(self) -> None:
        super().__init__(self)
        self.outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def on_audio(self, job: Job, audio: Rendered) -> None:
        """Nobody hears it."""

    def on_done(self, job: Job) -> None:
        if not self.outcome.done():
            self.outcome.set_result(None)

    def on_failed(self, job: Job, error: Exception) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)
