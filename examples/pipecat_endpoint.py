"""A deployed endpoint's voice in a Pipecat pipeline, into a WAV file; with a fallback.

    pip install 'kokoro-sagemaker-agents[pipecat,sagemaker]'     # Python 3.12
    python examples/pipecat_endpoint.py kokoro us-east-1 reply.wav [standby-endpoint]

With a second endpoint, what the first one cannot say is said by the second. Credentials are found
as every AWS tool finds them.
"""

from __future__ import annotations

import asyncio
import sys
import wave

from pipecat.frames.frames import (
    EndFrame,
    Frame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.service_switcher import ServiceSwitcher, ServiceSwitcherStrategyFailover
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from kokoro_sagemaker_agents.integrations.pipecat import KokoroSageMakerTTSService

REPLY = "Your table is booked for seven. Dr. Lee's party sits **by the window**."


class WavFile(FrameProcessor):
    """Writes what is spoken, in the place of a transport's output."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._audio = bytearray()
        self._rate = 24_000

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Keep the audio, and show the words that were said."""
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            self._audio += frame.audio
            self._rate = frame.sample_rate
        elif isinstance(frame, TTSTextFrame):
            print(frame.text, end=" ", flush=True)
        elif isinstance(frame, EndFrame):
            print()
            with wave.open(self._path, "wb") as wav:
                wav.setparams((1, 2, self._rate, 0, "NONE", ""))
                wav.writeframes(bytes(self._audio))
        await self.push_frame(frame, direction)


async def main(region: str, path: str, endpoints: list[str]) -> None:
    """Speak the reply as if a language model wrote it."""
    services: list[FrameProcessor] = [
        KokoroSageMakerTTSService(endpoint_name=name, region=region) for name in endpoints
    ]
    tts = services[0]
    if len(services) > 1:
        tts = ServiceSwitcher(services, ServiceSwitcherStrategyFailover)
    worker = PipelineWorker(Pipeline([tts, WavFile(path)]))
    tokens = [LLMTextFrame(f"{word} ") for word in REPLY.split(" ")]
    await worker.queue_frames(
        [LLMFullResponseStartFrame(), *tokens, LLMFullResponseEndFrame(), EndFrame()]
    )
    runner = WorkerRunner()
    await runner.add_workers(worker)
    await runner.run()


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit("usage: python examples/pipecat_endpoint.py ENDPOINT REGION FILE.wav [STANDBY]")
    asyncio.run(main(sys.argv[2], sys.argv[3], [sys.argv[1], *sys.argv[4:]]))
