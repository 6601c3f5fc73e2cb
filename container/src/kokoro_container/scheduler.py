"""Who gets the model next.

All sessions share one model, and one call of it cannot be shared or paused. So the question is
asked anew before each call, and the answer is always: **the listener who runs out of audio first**.
A stream (one context of a session, or one POST) whose listener still has seconds of audio ahead
lets another one's first words go first, however long its own text is. In scheduling theory this is
earliest deadline first, with the deadline being the moment playback would fall silent.

    no audio sent yet         deadline = arrival of the text that is next
    audio was sent            deadline = when that audio has played to its end, but not before the
                              next text arrived: an idle listener is a new one
    nobody listens meanwhile  deadline = arrival + the stream's patience

The same question, with the same answer, decides whose text is phonemised next. That is another
worker, so text n+1 becomes phonemes while n is on the model, a few pieces ahead and no further.

`Stream`, `next_to_render` and `next_to_phonemise` are the decision, without I/O or clock.
`Scheduler` is the shell around it: it lives on one event loop, hands work to its two kinds of
threads and brings the results back; only the loop's thread changes a stream.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol

from kokoro_sagemaker_agents.errors import OverloadedError

from .admission import Pace, wait_s
from .engines.base import CancelToken, EngineCancelled
from .health import Health
from .metrics import Metrics
from .pieces import Piece
from .synthesis import Rendered, Speech

logger = logging.getLogger(__name__)

PHONEMISED_AHEAD: Final = 4
"""Pieces of one stream that may wait for the model, ready: enough that it never waits for G2P."""

MAX_JOBS: Final = 2000
"""Chunks that may wait, of all streams: an hour of work for a CPU. More would only wait in vain."""

G2P_S: Final = 0.6
"""The worst section known takes 0.2 s (measured), but a text may have to load a language first."""


class Listener(Protocol):
    """Takes what becomes of a stream's jobs; called on the event loop, must not block."""

    def on_audio(self, job: Job, audio: Rendered) -> None:
        """The next piece of the stream's first job."""
        ...

    def on_done(self, job: Job) -> None:
        """The stream's first job is finished; the next one moves up."""
        ...

    def on_failed(self, job: Job, error: Exception) -> None:
        """A job of the stream, not always the first one, will not be finished."""
        ...


class Job:
    """One chunk of a stream, and what is known about its progress.

    Attributes:
        speech: what to say.
        chunk_id: what the client calls it.
        arrived_at: when it was asked for, in seconds of the scheduler's clock.
        taken_at: when the model first took it; None before.
        g2p_s: time spent on phonemes so far.
        synthesis_s: time spent on the model so far.
        warnings: what could not be said so far.
        phonemes: how many it has become so far.
    """

    def __init__(self, speech: Speech, chunk_id: int, arrived_at: float) -> None:
        self.speech = speech
        self.chunk_id = chunk_id
        self.arrived_at = arrived_at
        self.taken_at: float | None = None
        self.g2p_s = 0.0
        self.synthesis_s = 0.0
        self.warnings: list[str] = []
        self.phonemes = 0
        self.unphonemised = True  # its text, or the rest of it
        self.pieces: deque[Piece] = deque()
        self.phonemising = False
        self.rendering = False

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do for it."""
        return not (self.unphonemised or self.pieces or self.phonemising or self.rendering)


class Stream:
    """Jobs that are heard one after the other, and how far ahead their listener is.

    Args:
        listener: takes the results.
        patience_s: None if it is listened to while it is made. Otherwise nothing of it is of use
            before all of it is there, and it should be within this time; infinite for what is made
            in advance, which gives the model up to everything else.
    """

    def __init__(self, listener: Listener, patience_s: float | None = None) -> None:
        self.listener = listener
        self.jobs: deque[Job] = deque()
        self.paused = False
        self.closed = False
        self.admitted = False
        self.running: CancelToken | None = None
        self._patience_s = patience_s
        self._covered_until = float("-inf")

    @property
    def deadline(self) -> float:
        """When its listener would hear silence; only for a stream with jobs."""
        arrived_at = self.jobs[0].arrived_at
        if self._patience_s is not None:
            return arrived_at + self._patience_s
        return max(arrived_at, self._covered_until)

    @property
    def is_aside(self) -> bool:
        """Whether nobody waits for it."""
        return self._patience_s == float("inf")

    @property
    def is_live(self) -> bool:
        """Whether it is listened to while it is made."""
        return self._patience_s is None

    @property
    def is_silent(self) -> bool:
        """Whether its listener heard nothing when the first job's text came; only with jobs."""
        return self.is_live and self._covered_until <= self.jobs[0].arrived_at

    def wait_s(self, streams: Iterable[Stream], pace: Pace, now: float, workers: int) -> float:
        """How long it would wait if it came now."""
        return wait_s(streams, pace, now=now, patience_s=self._patience_s, workers=workers)

    def audio_left(self, now: float, duration_s: float) -> None:
        """Audio is on its way to the listener, who plays it when the earlier one has ended."""
        self._covered_until = max(self._covered_until, now) + duration_s


def next_to_render(streams: Iterable[Stream]) -> Stream | None:
    """The stream whose first job's next piece goes on the model; None if there is nothing to do."""
    waiting = (
        stream
        for stream in streams
        if stream.jobs and stream.jobs[0].pieces and not stream.paused and stream.running is None
    )
    return min(waiting, key=lambda stream: stream.deadline, default=None)


def next_to_phonemise(streams: Iterable[Stream]) -> tuple[Stream, Job] | None:
    """The stream and its job whose next section becomes phonemes; None if nothing needs to."""
    waiting = ((stream, job) for stream in streams if (job := _unphonemised(stream)) is not None)
    return min(waiting, key=lambda pair: (pair[0].paused, pair[0].deadline), default=None)


def _unphonemised(stream: Stream) -> Job | None:
    ready = 0
    for job in stream.jobs:
        if job.phonemising:  # its words come in order, and so do those of the jobs behind it
            return None
        if job.unphonemised:
            return job
        ready += len(job.pieces)
        if ready >= PHONEMISED_AHEAD:
            return None
    return None


class Scheduler:
    """The shell: threads, clock and delivery. All methods are for the event loop's thread.

    Args:
        workers: calls of the model at the same time; the engine must stand that.
        phonemisers: texts at the G2P at the same time, each of another stream.
        max_jobs: how many may wait in all.
        max_wait_s: a new stream that would wait longer is refused.
        g2p_s: what the G2P may need for a section of a text.
        metrics: where it writes how long things took.
        health: told of every call.
        clock: monotonic seconds.

    Attributes:
        pace: how fast the model is.
    """

    def __init__(
        self,
        *,
        workers: int = 1,
        phonemisers: int = 1,
        max_jobs: int = MAX_JOBS,
        max_wait_s: float = float("inf"),
        g2p_s: float = G2P_S,
        metrics: Metrics | None = None,
        health: Health | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pace = Pace()
        self._clock = clock
        self._max_jobs = max_jobs
        self._max_wait_s = max_wait_s
        self._g2p_s = g2p_s
        self._metrics = metrics or Metrics()
        self._health = health or Health(clock=clock)
        self._workers = workers
        self._streams: dict[Stream, None] = {}  # those with jobs, in order of arrival
        self._jobs = 0
        self._free_workers = workers
        self._free_phonemisers = phonemisers
        self._model = ThreadPoolExecutor(workers, thread_name_prefix="model")
        self._g2p = ThreadPoolExecutor(phonemisers, thread_name_prefix="g2p")
        self._aside: set[Stream] = set()  # on the model, for nobody who waits
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def jobs(self) -> int:
        """How many are not finished."""
        return self._jobs

    def add(self, stream: Stream, speech: Speech, chunk_id: int = 0) -> Job:
        """Queues a chunk behind the stream's others.

        A stream that was let in once stays in: nobody's speech is broken off in its middle.

        Raises:
            OverloadedError: too many wait already, or it would wait too long; the stream is as it
                was.
        """
        if self._jobs >= self._max_jobs:
            raise OverloadedError(
                f"{self._jobs} chunks are waiting here already; try again in a moment, or on"
                " another instance"
            )
        if not (stream.admitted or stream.is_aside):
            self._admit(stream)
        job = Job(speech, chunk_id, self._clock())
        stream.jobs.append(job)
        self._streams[stream] = None
        self._jobs += 1
        self._idle.clear()
        self._go_on()
        return job

    def _admit(self, stream: Stream) -> None:
        wait = stream.wait_s(self._streams, self.pace, self._clock(), self._workers)
        if wait > self._max_wait_s:
            raise OverloadedError(
                f"a text that came now would wait about {wait:.0f} s for the model here; try again"
                " in a moment, or on another instance"
            )
        stream.admitted = True

    def pause(self, stream: Stream, paused: bool) -> None:
        """Keeps a stream off the model, or lets it back; a call that runs is not stopped."""
        if stream.paused != paused:
            stream.paused = paused
            self._go_on()

    def close(self, stream: Stream) -> None:
        """Drops all its jobs and stops the one on the model; its listener hears nothing more."""
        stream.closed = True
        if stream.jobs:
            self._metrics.dropped_chunks.add(len(stream.jobs))
        self._jobs -= len(stream.jobs)
        stream.jobs.clear()
        self._streams.pop(stream, None)
        if stream.running is not None:
            stream.running.cancel()
        self._note_idle()

    async def wait_idle(self) -> None:
        """Returns when no job is left."""
        while self._jobs:  # a listener may have added one at the very moment of the last one's end
            await self._idle.wait()

    async def aclose(self) -> None:
        """Drops everything and ends the threads."""
        for stream in list(self._streams):
            self.close(stream)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._model.shutdown()
        self._g2p.shutdown()

    # --- one step after the other ---

    def _go_on(self) -> None:
        """Gives every free worker what is due next."""
        if self._aside and not self._free_workers:
            self._make_room()
        while self._free_workers and (stream := next_to_render(self._streams)) is not None:
            self._free_workers -= 1
            stream.running = CancelToken()
            self._start(self._render(stream, stream.jobs[0], stream.running))
        while self._free_phonemisers and (due := next_to_phonemise(self._streams)) is not None:
            self._free_phonemisers -= 1
            due[1].phonemising = True
            self._start(self._phonemise(*due))

    def _make_room(self) -> None:
        """Stops one call that nobody waits for, to be made again later, if another one is due."""
        due = next_to_render(self._streams)
        if due is None or due.is_aside:
            return
        running = [stream.running for stream in self._aside if stream.running is not None]
        if running and not any(token.cancelled for token in running):
            running[0].cancel()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a step of the scheduler failed", exc_info=error)

    async def _phonemise(self, stream: Stream, job: Job) -> None:
        loop = asyncio.get_running_loop()
        call = self._health.began("G2P", self._g2p_s)
        try:
            done = await loop.run_in_executor(self._g2p, job.speech.phonemise)
        except Exception as error:
            self._fail(stream, job, error)
        else:
            job.unphonemised = done.more
            job.pieces.extend(done.pieces)
            job.warnings.extend(done.warnings)
            job.g2p_s += done.elapsed_s
            job.phonemes += sum(len(piece.phonemes) for piece in done.pieces)
            self._metrics.g2p.observe(done.elapsed_s)
            if not done.more:
                self.pace.note_text(job.speech.chars, job.phonemes)
        finally:
            self._health.ended(call)
            self._free_phonemisers += 1
            job.phonemising = False
            self._settle(stream)
            self._go_on()

    async def _render(self, stream: Stream, job: Job, cancel: CancelToken) -> None:
        loop = asyncio.get_running_loop()
        piece = job.pieces.popleft()
        job.rendering = True
        if stream.is_aside:
            self._aside.add(stream)
        if job.taken_at is None:
            self._taken(stream, job)
        call = self._health.began("model", self.pace.seconds(len(piece.phonemes)))
        try:
            audio = await loop.run_in_executor(self._model, job.speech.render, piece, cancel)
        except EngineCancelled:
            if stream.is_aside and cancel.cancelled:
                job.pieces.appendleft(piece)
            elif not stream.closed:
                self._fail(stream, job, RuntimeError("the engine stopped without being asked to"))
        except Exception as error:
            self._fail(stream, job, error)
        else:
            job.synthesis_s += audio.elapsed_s
            if audio.model_s:
                self._metrics.rendered(audio.model_s, audio.duration_s)
                self.pace.note_call(len(piece.phonemes), audio.model_s)
            if stream.jobs and stream.jobs[0] is job:  # neither closed nor failed meanwhile
                self._heard(stream, job, audio)
        finally:
            self._health.ended(call)
            self._free_workers += 1
            self._aside.discard(stream)
            job.rendering = False
            stream.running = None
            self._settle(stream)
            self._go_on()

    def _taken(self, stream: Stream, job: Job) -> None:
        job.taken_at = self._clock()
        if not stream.is_aside:
            self._metrics.queue_wait.observe(max(0.0, job.taken_at - job.arrived_at - job.g2p_s))

    def _heard(self, stream: Stream, job: Job, audio: Rendered) -> None:
        now, was_silent = self._clock(), stream.is_silent
        stream.audio_left(now, audio.duration_s)
        stream.listener.on_audio(job, audio)
        if was_silent and audio.duration_s:
            self._metrics.first_audio.observe(now - job.arrived_at)

    def _settle(self, stream: Stream) -> None:
        """Reports the first jobs that are finished; those without sound never see the model."""
        while stream.jobs and stream.jobs[0].finished:
            job = stream.jobs[0]
            self._remove(stream, job)
            self._metrics.chunks.add()
            stream.listener.on_done(job)

    def _fail(self, stream: Stream, job: Job, error: Exception) -> None:
        self._health.suspect()
        if not stream.closed and job in stream.jobs:
            self._remove(stream, job)
            stream.listener.on_failed(job, error)

    def _remove(self, stream: Stream, job: Job) -> None:
        stream.jobs.remove(job)
        self._jobs -= 1
        if not stream.jobs:
            self._streams.pop(stream, None)
        self._note_idle()

    def _note_idle(self) -> None:
        if not self._jobs:
            self._idle.set()
