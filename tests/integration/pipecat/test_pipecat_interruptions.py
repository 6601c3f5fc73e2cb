"""Barge-in: what is heard ends, the server stops, and the context holds what was heard."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from pipecat.frames.frames import (
    FunctionCallResultFrame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    OutputAudioRawFrame,
    StartFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMAssistantAggregator
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from websockets.asyncio.server import ServerConnection, serve

from kokoro_sagemaker_agents.integrations.pipecat import KokoroSageMakerTTSService
from kokoro_sagemaker_agents.protocol import Cancel, Speak

LONG = "This is a long reply, which goes on. It has a second sentence. And a third one."
NEXT = "Another answer."


def service(url: str, **options: Any) -> KokoroSageMakerTTSService:
    return KokoroSageMakerTTSService(url=url, **options)


def since_interruption(rig: Any) -> list[Any]:
    frames = rig.end.frames
    at = max(i for i, frame in enumerate(frames) if isinstance(frame, InterruptionFrame))
    return list(frames[at + 1 :])


async def test_the_server_is_told_and_the_next_turn_is_clean(faking: Any, running: Any) -> None:
    async with faking(pieces_left=2) as fake, running(service(fake.url)) as rig:
        await rig.reply(LONG)
        await rig.until(lambda: len(rig.of(TTSAudioRawFrame)) == 2)
        await rig.send(InterruptionFrame())
        await fake.until(lambda: fake.asked(Cancel))
        fake.allow(float("inf"))
        await rig.reply(NEXT)
        await rig.until(lambda: rig.of(TTSStoppedFrame))
        after = since_interruption(rig)
        audio = b"".join(f.audio for f in after if isinstance(f, TTSAudioRawFrame))
        assert audio == fake.pcm(NEXT)
        assert [f.text for f in after if isinstance(f, TTSTextFrame)] == NEXT.split()
        assert sum(fake.sent_samples.values()) == 2 * 2400 + len(fake.pcm(NEXT)) // 2


async def test_only_words_whose_audio_was_there_are_in_the_context(
    faking: Any, running: Any
) -> None:
    async with faking(pieces_left=2) as fake, running(service(fake.url)) as rig:
        await rig.reply(LONG)  # 200 ms have come: 20 characters
        await rig.until(lambda: len(rig.of(TTSAudioRawFrame)) == 2)
        await rig.send(InterruptionFrame())
        await rig.until(lambda: rig.of(InterruptionFrame))
        assert rig.context == "This is a long"


async def test_quick_interruptions_never_play_the_reply_before(faking: Any, running: Any) -> None:
    async with faking() as fake, running(service(fake.url)) as rig:
        for i in range(10):
            await rig.reply(f"Reply number {i}. It begins here and goes on.", end=i % 2 == 0)
            await fake.until(lambda i=i: f"Reply number {i}." in fake.texts())
            await rig.send(InterruptionFrame())
            await rig.until(lambda i=i: len(rig.of(InterruptionFrame)) == i + 1)
        await rig.reply(NEXT)
        await rig.until(lambda: NEXT.split()[-1] in rig.context)
        after = since_interruption(rig)
        assert b"".join(f.audio for f in after if isinstance(f, TTSAudioRawFrame)) == fake.pcm(NEXT)


async def test_interruptions_before_any_text_leave_nothing_on_the_server(
    fake: Any, running: Any
) -> None:
    async with running(service(fake.url)) as rig:
        for _ in range(20):
            await rig.send(LLMFullResponseStartFrame(), InterruptionFrame())
        await rig.reply(NEXT)
        await rig.until(lambda: rig.of(TTSStoppedFrame))
        assert len({m.context_id for m in fake.asked(Speak)}) == 1
        assert all(not protocol.contexts for protocol in fake.protocols)


async def test_a_result_behind_a_silent_turn_is_no_deadlock(faking: Any, running: Any) -> None:
    async with faking(pieces_left=0) as fake, running(service(fake.url)) as rig:
        result = FunctionCallResultFrame("f", "1", {}, "done")
        await rig.reply(LONG)
        await fake.until(fake.texts)
        await rig.send(result, InterruptionFrame())
        await rig.until(lambda: rig.of(FunctionCallResultFrame))
        fake.allow(float("inf"))
        await rig.reply(NEXT)
        await rig.until(lambda: rig.of(TTSStoppedFrame))
        assert rig.audio == fake.pcm(NEXT)


async def test_words_keep_their_order_and_do_not_wait_for_what_was_dropped(
    fake: Any, running: Any
) -> None:
    async with running(service(fake.url)) as rig:
        await rig.reply(LONG)
        await rig.reply(LONG)
        await rig.until_replies(2)
        pts = [frame.pts for frame in rig.of(TTSTextFrame)]
        assert pts == sorted(pts)
        # The second reply is heard once the first has been.
        second = len(LONG.split())
        samples = sum(len(text) for text in fake.texts()) // 2 * 240
        late_ns = pts[second] - pts[0] - samples * 1_000_000_000 // 24_000
        assert 0 <= late_ns < 1_000_000_000
        await rig.send(InterruptionFrame())
        await rig.until(lambda: rig.of(InterruptionFrame))
        await rig.reply(NEXT)
        await rig.until_replies(3)
        after = [f.pts for f in since_interruption(rig) if isinstance(f, TTSTextFrame)]
        assert after == sorted(after)
        assert after[0] < pts[-1]


async def test_speech_that_must_not_be_interrupted_is_heard_whole(
    faking: Any, running: Any
) -> None:
    text = "This call may be recorded for the purposes of training."
    async with faking(pieces_left=1) as fake, running(service(fake.url)) as rig:
        speak = TTSSpeakFrame(text)
        speak.interruptible = False
        await rig.send(speak)
        await rig.until(lambda: rig.of(TTSAudioRawFrame))
        await rig.send(InterruptionFrame())
        await rig.until(lambda: rig.of(InterruptionFrame))
        fake.allow(float("inf"))
        await rig.until(lambda: rig.of(TTSStoppedFrame))
        assert (rig.audio, rig.context) == (fake.pcm(text), text)
        assert not fake.asked(Cancel)


async def test_a_late_token_of_the_interrupted_reply_is_not_spoken_at_the_end(
    fake: Any, running: Any
) -> None:
    async with running(service(fake.url)) as rig:
        await rig.reply("Something was", end=False)
        await rig.send(InterruptionFrame(), LLMTextFrame("said too late"))
        await rig.finish()
        assert fake.texts() == []


async def test_what_is_heard_fades_out_if_wished(faking: Any, running: Any) -> None:
    async with (
        faking(pieces_left=8) as fake,
        running(service(fake.url, fade_out_s=0.02)) as rig,
    ):
        await rig.reply(LONG)
        await rig.until(lambda: len(rig.of(TTSAudioRawFrame)) == 8)
        await rig.send(InterruptionFrame())
        await rig.until(lambda: rig.of(InterruptionFrame) and since_interruption(rig))
        (fade,) = (f for f in since_interruption(rig) if isinstance(f, OutputAudioRawFrame))
        assert not isinstance(fade, TTSAudioRawFrame)  # nobody is to think that the bot speaks
        loud, silent = fade.audio[: 480 * 2], fade.audio[480 * 2 :]
        assert not any(silent)
        assert any(loud)
        assert abs(int.from_bytes(loud[-2:], "little", signed=True)) < 100


# --- a server that goes on sending what it had begun ---


class Careless:
    """Sends 600 ms more of a context after it was cancelled, and only then says so."""

    def __init__(self) -> None:
        self.url = ""
        self.cancelled = asyncio.Event()

    async def handle(self, connection: ServerConnection) -> None:
        ready = {"type": "ready", "protocol": 1, "instance_id": "i", "model": "m", "engine": "e"}
        ready |= {"voices": ["af_heart"], "languages": ["en-us"]}
        await connection.send(json.dumps(ready))
        async for frame in connection:
            message = json.loads(frame)
            context = {"context_id": message.get("context_id")}
            match message["type"]:
                case "ping":
                    await connection.send(json.dumps({"type": "pong", "id": message["id"]}))
                case "speak":
                    chunk = context | {"chunk_id": message["chunk_id"]}
                    started = {"type": "chunk_started", "sample_rate": 24000, "first_sample": 0}
                    started |= {"encoding": "pcm_s16le"} | chunk
                    await connection.send(json.dumps(started))
                    old = message["text"].startswith("Old")
                    await connection.send((b"\x01\x01" if old else b"\x02\x02") * 2400)
                    if not old:
                        done = {"type": "chunk_done", "samples": 2400, "duration": 0.1} | chunk
                        await connection.send(json.dumps(done))
                case "end" if not self.cancelled.is_set() or context["context_id"] != self.old:
                    await connection.send(json.dumps(_totals("context_done", context)))
                case "cancel":
                    self.old = context["context_id"]
                    for _ in range(6):
                        await connection.send(b"\x01\x01" * 2400)
                    self.cancelled.set()
                    await connection.send(json.dumps(_totals("context_cancelled", context)))


def _totals(kind: str, context: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "chunks": 1, "samples": 2400, "duration": 0.1} | context


@asynccontextmanager
async def careless() -> AsyncIterator[Careless]:
    careless = Careless()
    async with serve(careless.handle, "127.0.0.1", 0) as server:
        careless.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield careless


async def test_stale_audio_is_never_played(running: Any) -> None:
    async with careless() as server, running(service(server.url)) as rig:
        await rig.reply("Old turn, interrupted. ", end=False)
        await rig.until(lambda: rig.of(TTSAudioRawFrame))
        await rig.send(InterruptionFrame())
        await rig.reply("New turn.")
        await rig.until_replies(1)
        await asyncio.wait_for(server.cancelled.wait(), 10)
        after = since_interruption(rig)
        assert b"".join(f.audio for f in after if isinstance(f, TTSAudioRawFrame)) == (
            b"\x02\x02" * 2400
        )
        assert sum(isinstance(f, TTSStoppedFrame) for f in after) == 1


# --- with an output that plays in real time ---


async def until(condition: Callable[[], Any]) -> None:
    """Wait for something that no frame at the pipeline's end tells of."""
    async with asyncio.timeout(15):
        while not condition():  # noqa: ASYNC110  (see above)
            await asyncio.sleep(0.01)


class Loudspeaker(BaseOutputTransport):
    """Takes as long for its audio as it plays, and counts what was played."""

    def __init__(self) -> None:
        super().__init__(TransportParams(audio_out_enabled=True))
        self.played_s = 0.0
        self._due_s = 0.0

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        loop = asyncio.get_running_loop()
        duration_s = frame.num_frames / frame.sample_rate
        self._due_s = max(self._due_s, loop.time()) + duration_s
        await asyncio.sleep(self._due_s - loop.time())
        self.played_s += duration_s
        return True


async def test_the_llms_context_holds_what_was_heard(fake: Any, running: Any) -> None:
    text = " ".join(f"word{i:02d}-is-long-{i:02d}," for i in range(30)) + " end."
    context = LLMContext()
    speaker = Loudspeaker()
    assistant = LLMAssistantAggregator(context)
    async with running(service(fake.url), speaker, assistant) as rig:
        await rig.send(LLMFullResponseStartFrame(), LLMTextFrame(text))
        await rig.send(LLMFullResponseEndFrame())
        await until(lambda: speaker.played_s > 0.8)
        await rig.send(InterruptionFrame())
        await until(lambda: context.messages)
        heard = str(context.messages[-1]["content"])
        played_s = speaker.played_s
    assert text.startswith(heard)
    # A word takes 0.18 s. What began before the interruption counts as heard.
    assert abs(len(heard) * 0.01 - played_s) < 0.6


async def test_the_next_reply_is_committed_after_an_interruption(fake: Any, running: Any) -> None:
    context = LLMContext()
    assistant = LLMAssistantAggregator(context)
    async with running(service(fake.url), assistant) as rig:
        await rig.reply(LONG)
        await until(lambda: context.messages)
        await rig.send(InterruptionFrame())
        await rig.reply(NEXT)
        await until(lambda: len(context.messages) == 2)
    said = [str(message["content"]) for message in context.messages]
    assert said == [LONG, NEXT]
