"""A voice bot in your browser that needs no key and no account: it says what a script says.

    pip install 'kokoro-sagemaker-agents[pipecat,local]' 'pipecat-ai[webrtc,runner]'
    python examples/pipecat_bot.py              # then open http://localhost:7860 and connect

It greets you. Say something, or type it, and it answers; begin to speak while it does, and it stops
at once. The voice is a container on this machine, started for you (`kokoro-agents serve`).

    KOKORO_ENDPOINT=kokoro AWS_REGION=us-east-1      the voice of a SageMaker endpoint instead
    KOKORO_URL=ws://host:8080                        or of a container elsewhere
    KOKORO_VOICE=bf_emma                             another voice
    OPENAI_API_KEY=… [OPENAI_BASE_URL=… OPENAI_MODEL=…]  a language model instead of the script;
                                                     type to it, or put your speech-to-text in

Tried with Pipecat 1.14.0.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pipecat.frames.frames import (
    Frame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMMessagesAppendFrame,
    LLMTextFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.workers.runner import WorkerRunner

from kokoro_sagemaker_agents.integrations.pipecat import KokoroSageMakerTTSService

PORT = 8080
START_TIMEOUT_S = 300.0
GREETING = "Hello! I'm a voice without a mind of its own, so ask me **anything**."
TRAIN = (
    "Let me see. The train leaves at 9:40 from platform two, and a ticket is $38.50. You arrive in"
    " Bath a little after eleven, and Mr. Harris meets you at the station."
)
STORY = (
    "That is a long story, and I like to tell it slowly. Interrupt me whenever you want: I'll stop"
    " in the middle of a word, and I'll know which words you've heard."
)
LIST = "Three things:\n\n1. A warm coat.\n2. Good shoes.\n3. The tickets on your phone."
ANSWERS = [TRAIN, STORY, LIST]


class ScriptedLLM(FrameProcessor):
    """In a language model's place: the same answers in turn, token by token.

    Args:
        token_s: Between two tokens; hosted models take about 0.02 s.
    """

    def __init__(self, token_s: float = 0.02) -> None:
        super().__init__()
        self._token_s = token_s
        self._turn = 0
        self._speaking: asyncio.Task[None] | None = None

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Answer whoever has spoken or typed; be quiet for whoever begins to speak."""
        await super().process_frame(frame, direction)
        match frame:
            case VADUserStartedSpeakingFrame():
                await self._be_quiet()
                await self.broadcast_interruption()
            case VADUserStoppedSpeakingFrame() | LLMMessagesAppendFrame():
                await self.answer(ANSWERS[self._turn % len(ANSWERS)])
                self._turn += 1
        await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        """End with the pipeline."""
        await super().cleanup()
        await self._be_quiet()

    async def answer(self, text: str) -> None:
        """Begin to say this, in place of what is being said."""
        await self._be_quiet()
        self._speaking = self.create_task(self._say(text))

    async def _be_quiet(self) -> None:
        if self._speaking is not None:
            await self.cancel_task(self._speaking)
            self._speaking = None

    async def _say(self, text: str) -> None:
        await self.push_frame(LLMFullResponseStartFrame())
        for token in text.replace(" ", " \0").split("\0"):
            await asyncio.sleep(self._token_s)
            await self.push_frame(LLMTextFrame(token))
        await self.push_frame(LLMFullResponseEndFrame())


def make_tts() -> KokoroSageMakerTTSService:
    """The voice that the environment asks for."""
    settings = KokoroSageMakerTTSService.Settings(voice=os.getenv("KOKORO_VOICE", "af_heart"))
    endpoint = os.getenv("KOKORO_ENDPOINT")
    if endpoint:
        return KokoroSageMakerTTSService(
            endpoint_name=endpoint, region=os.getenv("AWS_REGION"), settings=settings
        )
    url = os.getenv("KOKORO_URL", f"ws://127.0.0.1:{PORT}")
    return KokoroSageMakerTTSService(url=url, settings=settings, fade_out_s=0.02)


def minds() -> tuple[list[FrameProcessor], list[FrameProcessor]]:
    """What comes before the voice, and what comes at the pipeline's end."""
    from pipecat.audio.vad.silero import SileroVADAnalyzer

    if not os.getenv("OPENAI_API_KEY"):
        from pipecat.processors.audio.vad_processor import VADProcessor

        return [VADProcessor(vad_analyzer=SileroVADAnalyzer()), ScriptedLLM()], []
    from pipecat.processors.aggregators.llm_context import LLMContext
    from pipecat.processors.aggregators.llm_response_universal import (
        LLMContextAggregatorPair,
        LLMUserAggregatorParams,
    )
    from pipecat.services.openai.llm import OpenAILLMService

    heard = LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    user, assistant = LLMContextAggregatorPair(LLMContext(), user_params=heard)
    llm = OpenAILLMService(
        api_key=os.environ["OPENAI_API_KEY"],
        base_url=os.getenv("OPENAI_BASE_URL"),
        settings=OpenAILLMService.Settings(model=os.getenv("OPENAI_MODEL", "gpt-4o-mini")),
    )
    return [user, llm], [assistant]


async def bot(runner_args: Any) -> None:
    """One call; Pipecat's runner calls this for each browser that connects."""
    from pipecat.runner.utils import create_transport
    from pipecat.transports.base_transport import TransportParams

    params = {"webrtc": lambda: TransportParams(audio_in_enabled=True, audio_out_enabled=True)}
    transport = await create_transport(runner_args, params)
    before, after = minds()
    pipeline = Pipeline([transport.input(), *before, make_tts(), transport.output(), *after])
    worker = PipelineWorker(pipeline, params=PipelineParams(enable_metrics=True))

    @transport.event_handler("on_client_connected")
    async def greet(_transport: Any, _client: Any) -> None:
        await worker.queue_frames(
            [
                LLMFullResponseStartFrame(),
                LLMTextFrame(GREETING),
                LLMFullResponseEndFrame(),
            ]
        )

    @transport.event_handler("on_client_disconnected")
    async def hang_up(_transport: Any, _client: Any) -> None:
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint)
    await runner.add_workers(worker)
    await runner.run()


@contextmanager
def voice_on_this_machine() -> Iterator[None]:
    """A container for as long as the block, unless the environment names another one."""
    if os.getenv("KOKORO_ENDPOINT") or os.getenv("KOKORO_URL"):
        yield
        return
    command = [sys.executable, "-m", "kokoro_sagemaker_agents.cli.main", "serve"]
    server = subprocess.Popen([*command, "--host", "127.0.0.1", "--port", str(PORT)])
    try:
        _wait_until_ready(server)
        yield
    finally:
        server.terminate()
        server.wait()


def _wait_until_ready(server: subprocess.Popen[bytes]) -> None:
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while server.poll() is None and time.monotonic() < deadline_s:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/ping", timeout=5):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.5)
    sys.exit("the voice did not start; see its messages above")


if __name__ == "__main__":
    from pipecat.runner.run import main

    with voice_on_this_machine():
        main()
