"""One service in Pipecat's pipeline, for `pipecat_service.py`: one measurement for each request.

python _pipecat_side.py ours|deepgram ENDPOINT_URL CA
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from _worker import serve
from loguru import logger
from pipecat.frames.frames import (
    CancelFrame,
    Frame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

logger.remove()
TOKEN_S = 0.02  # 50 tokens a second
REPLY = "This is answer {mark} for you, and it has a sentence. Then {mark} has one more of them."
NEVER_S = 6.0
QUIET_S = 1.0  # after which a turn is over


def make_service(side: str, endpoint_url: str, ca: str) -> Any:
    if side == "ours":
        from kokoro_sagemaker_agents.integrations.pipecat import KokoroSageMakerTTSService

        return KokoroSageMakerTTSService(
            endpoint_name="kokoro", region="us-east-1", endpoint_url=endpoint_url, ca_bundle=ca
        )
    from pipecat.services.aws.sagemaker import bidi_client
    from pipecat.services.deepgram.sagemaker.tts import DeepgramSageMakerTTSService

    begin = bidi_client.SageMakerBidiClient.__init__

    def local(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        self.bidi_endpoint = endpoint_url  # which cannot be chosen otherwise

    bidi_client.SageMakerBidiClient.__init__ = local
    return DeepgramSageMakerTTSService(endpoint_name="kokoro", region="us-east-1")


class Sink(FrameProcessor):
    """When which audio came."""

    def __init__(self) -> None:
        super().__init__(enable_direct_mode=True)
        self.audio: list[tuple[float, int, int]] = []  # when, whose, bytes
        self.came = asyncio.Event()
        self.ended = 0

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            mark = int.from_bytes(frame.audio[:2], "little")
            self.audio.append((time.monotonic(), mark, len(frame.audio)))
        elif isinstance(frame, LLMFullResponseEndFrame):
            self.ended += 1
        self.came.set()
        await self.push_frame(frame, direction)

    async def until(self, condition: Any, timeout_s: float) -> bool:
        try:
            async with asyncio.timeout(timeout_s):
                while not condition():
                    self.came.clear()
                    await self.came.wait()
        except TimeoutError:
            return False
        return True

    def of(self, mark: int) -> list[tuple[float, int, int]]:
        return [piece for piece in self.audio if piece[1] == mark]


class Call:
    """A pipeline for as long as the block."""

    def __init__(self, service: Any) -> None:
        self.sink = Sink()
        self.worker = PipelineWorker(
            Pipeline([service, self.sink]), cancel_on_idle_timeout=False, enable_rtvi=False
        )

    async def __aenter__(self) -> Call:
        started = asyncio.Event()

        @self.worker.event_handler("on_pipeline_started")
        async def _(*_: Any) -> None:
            started.set()

        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(self.worker)
        self._running = asyncio.create_task(runner.run())
        await started.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.worker.queue_frame(CancelFrame())
        await self._running

    async def reply(self, mark: int, end: bool = True) -> float:
        """Returns when its first token was there."""
        begun_s = time.monotonic()
        await self.worker.queue_frame(LLMFullResponseStartFrame())
        for word in REPLY.format(mark=mark).split(" "):
            await self.worker.queue_frame(LLMTextFrame(f"{word} "))
            await asyncio.sleep(TOKEN_S)
        if end:
            await self.worker.queue_frame(LLMFullResponseEndFrame())
        return begun_s


async def first_audio(call: Call) -> dict[str, Any]:
    """From the reply's first token to its first audio frame, on a warm connection."""
    await call.reply(10)
    await call.sink.until(lambda: call.sink.ended == 1, NEVER_S)
    begun_s = await call.reply(11)
    came = await call.sink.until(lambda: call.sink.of(11), NEVER_S)
    return {"first_audio_s": call.sink.of(11)[0][0] - begun_s if came else None}


async def barge_in(call: Call) -> dict[str, Any]:
    """Old audio after the interruption, also under the name of the next turn."""
    await call.reply(20)
    await call.sink.until(lambda: len(call.sink.of(20)) >= 3, NEVER_S)
    interrupted_s = time.monotonic()
    await call.worker.queue_frame(InterruptionFrame())
    await asyncio.sleep(TOKEN_S)
    await call.reply(21)
    await call.sink.until(lambda: call.sink.of(21), NEVER_S)
    while time.monotonic() - call.sink.audio[-1][0] < QUIET_S:  # noqa: ASYNC110  (no event tells of quiet)
        await asyncio.sleep(QUIET_S / 10)
    late = [at for at, mark, _ in call.sink.audio if mark != 21 and at > interrupted_s]
    new_s = sum(size for _, _, size in call.sink.of(21)) / 48_000
    return {
        "stale_pieces": sum(at > interrupted_s + TOKEN_S for at in late),
        "silence_s": max(late) - interrupted_s if late else 0.0,
        "next_turn_audio_s": new_s,
    }


async def after_drop(call: Call, drop_port: int) -> dict[str, Any]:
    """Which of three turns are heard once the connection has been broken, and how soon."""
    await call.reply(30)
    await call.sink.until(lambda: call.sink.ended == 1, NEVER_S)
    reader, writer = await asyncio.open_connection("127.0.0.1", drop_port)
    await reader.read()  # its end says that it is done
    writer.close()
    await asyncio.sleep(QUIET_S)
    heard, first_s = 0, None
    for mark in (31, 32, 33):
        begun_s = await call.reply(mark)
        if await call.sink.until(lambda m=mark: call.sink.of(m), NEVER_S):
            heard += 1
            first_s = first_s or call.sink.of(mark)[0][0] - begun_s
    return {"turns_heard_of_3": heard, "first_audio_s": first_s}


async def cpu(call: Call) -> dict[str, Any]:
    """Of this process, for each second of audio."""
    await call.reply(49)  # connects, imports
    await call.sink.until(lambda: call.sink.ended == 1, NEVER_S)
    call.sink.audio.clear()
    gc.collect()
    before_s, turns = time.process_time(), 5
    for turn in range(turns):
        await call.reply(40 + turn)
        await call.sink.until(lambda n=turn + 1: call.sink.ended == n + 1, NEVER_S)
    audio_s = sum(size for _, mark, size in call.sink.audio if 40 <= mark < 50) / 48_000
    spent_s = time.process_time() - before_s
    return {"cpu_s_per_audio_s": spent_s / audio_s if audio_s else None, "audio_s": audio_s}


async def measure(side: str, url: str, ca: str, request: dict[str, Any]) -> dict[str, Any]:
    what = request["what"]
    async with Call(make_service(side, url, ca)) as call:
        if what == "after_drop":
            return await after_drop(call, request["drop_port"])
        measurements = {"first_audio": first_audio, "barge_in": barge_in, "cpu": cpu}
        return await measurements[what](call)


def main() -> None:
    side, url, ca = sys.argv[1:]
    os.environ["SSL_CERT_FILE"] = ca  # how the CRT learns of an authority
    os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"] = "AKID", "local"

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        if request["what"] == "versions":
            return {"pipecat-ai": metadata.version("pipecat-ai")}
        return asyncio.run(measure(side, url, ca, request))

    serve(answer)


if __name__ == "__main__":
    main()
