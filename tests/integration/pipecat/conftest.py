"""The service in a running pipeline, in front of a server that tests steer.

The server is the one of the session's own tests (`../session/conftest.py`): a real socket, the real
protocol, and audio that can be told apart.
"""

import asyncio
import importlib.util
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

_FOUND = importlib.util.find_spec("pipecat") is not None
if not _FOUND:
    collect_ignore_glob = ["test_*.py"]
elif importlib.util.find_spec("kokoro_container") is None:
    collect_ignore_glob = ["test_pipecat_container.py"]

_SESSION = Path(__file__).parents[1] / "session" / "conftest.py"
_spec = importlib.util.spec_from_file_location("pipecat_fake_server", _SESSION)
assert _spec is not None
assert _spec.loader is not None
_session = importlib.util.module_from_spec(_spec)
sys.modules["pipecat_fake_server"] = _session
_spec.loader.exec_module(_session)

faking = _session.faking
fake = _session.fake
_no_task_is_left = _session._no_task_is_left

DEADLINE_S = 15.0

if _FOUND:
    from pipecat.frames.frames import (
        CancelFrame,
        EndFrame,
        ErrorFrame,
        Frame,
        LLMFullResponseEndFrame,
        LLMFullResponseStartFrame,
        LLMTextFrame,
        StartFrame,
        TTSAudioRawFrame,
        TTSTextFrame,
    )
    from pipecat.pipeline.pipeline import Pipeline
    from pipecat.pipeline.worker import PipelineParams, PipelineWorker
    from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
    from pipecat.utils.string import TextPartForConcatenation, concatenate_aggregated_text
    from pipecat.workers.runner import WorkerRunner

    class Tap(FrameProcessor):
        """Keeps what passes in one direction."""

        def __init__(self, direction: FrameDirection, changed: asyncio.Event) -> None:
            super().__init__(enable_direct_mode=True)
            self.frames: list[Frame] = []
            self._kept = direction
            self._changed = changed

        async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
            await super().process_frame(frame, direction)
            if direction == self._kept and not isinstance(frame, StartFrame):
                self.frames.append(frame)
                self._changed.set()
            await self.push_frame(frame, direction)

    class Rig:
        """A pipeline that runs, with what came out of it so far."""

        def __init__(self, processors: tuple[Any, ...], **params: Any) -> None:
            self._changed = asyncio.Event()
            self.top = Tap(FrameDirection.UPSTREAM, self._changed)
            self.end = Tap(FrameDirection.DOWNSTREAM, self._changed)
            self.worker = PipelineWorker(
                Pipeline([self.top, *processors, self.end]),
                cancel_on_idle_timeout=False,
                enable_rtvi=False,
                params=PipelineParams(**params),
            )
            self.started = asyncio.Event()
            self._running: asyncio.Task[None] | None = None

        async def start(self) -> None:
            @self.worker.event_handler("on_pipeline_started")
            async def _(*_: Any) -> None:
                self.started.set()

            runner = WorkerRunner(handle_sigint=False)
            await runner.add_workers(self.worker)
            self._running = asyncio.create_task(runner.run())
            await asyncio.wait_for(self.started.wait(), DEADLINE_S)

        async def send(self, *frames: Frame) -> None:
            for frame in frames:
                await self.worker.queue_frame(frame)

        async def reply(self, text: str, end: bool = True) -> None:
            """An LLM's reply, word by word."""
            await self.send(LLMFullResponseStartFrame())
            await self.tokens(text)
            if end:
                await self.send(LLMFullResponseEndFrame())

        async def tokens(self, text: str) -> None:
            for word in text.split(" "):
                await self.send(LLMTextFrame(word + " "))

        async def until(self, condition: Callable[[], Any], deadline_s: float = DEADLINE_S) -> None:
            """Wait until something came out that makes this true."""
            async with asyncio.timeout(deadline_s):
                while not condition():
                    self._changed.clear()
                    await self._changed.wait()

        async def until_replies(self, count: int) -> None:
            await self.until(lambda: len(self.of(LLMFullResponseEndFrame)) >= count)

        async def finish(self, frame: Frame | None = None) -> None:
            """End the pipeline and wait for it."""
            if self._running is not None:
                if not self._running.done():
                    await self.worker.queue_frame(frame or EndFrame())
                await asyncio.wait_for(self._running, DEADLINE_S)
                self._running = None

        async def abandon(self) -> None:
            if self._running is not None:
                await self.finish(CancelFrame())

        # --- what came out ---

        def of(self, *kinds: type) -> list[Any]:
            return [frame for frame in self.end.frames if isinstance(frame, kinds)]

        @property
        def errors(self) -> list[Any]:
            return [frame for frame in self.top.frames if isinstance(frame, ErrorFrame)]

        @property
        def audio(self) -> bytes:
            return b"".join(frame.audio for frame in self.of(TTSAudioRawFrame))

        @property
        def context(self) -> str:
            """What goes into the LLM's context, as Pipecat joins it."""
            return concatenate_aggregated_text(
                [
                    TextPartForConcatenation(
                        frame.raw_text or frame.text,
                        includes_inter_part_spaces=frame.includes_inter_frame_spaces,
                    )
                    for frame in self.of(TTSTextFrame)
                    if frame.append_to_context
                ]
            )

        def names(self, *without: type) -> list[str]:
            return [type(f).__name__ for f in self.end.frames if not isinstance(f, without)]

    @pytest.fixture
    def running() -> Callable[..., AbstractAsyncContextManager[Rig]]:
        """Runs processors in a pipeline."""

        @asynccontextmanager
        async def run(*processors: Any, **params: Any) -> AsyncIterator[Rig]:
            rig = Rig(processors, **params)
            await rig.start()
            try:
                yield rig
            finally:
                await rig.abandon()

        return run
