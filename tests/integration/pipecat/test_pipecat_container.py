"""The service in front of the container itself, whose tones can be read back."""

import asyncio
from typing import Any

import numpy as np
from pipecat.frames.frames import (
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    MetricsFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.metrics.metrics import TTFAMetricsData, TTFBMetricsData

from kokoro_container.engines.tone import ToneEngine, read_back
from kokoro_sagemaker_agents import SessionPool
from kokoro_sagemaker_agents.integrations.pipecat import KokoroSageMakerTTSService


def letters(rig: Any, rate: int) -> str:
    samples = np.frombuffer(rig.audio, np.int16).astype(np.float32) / np.float32(32768)
    return read_back(samples, rate).replace("ɡ", "g")


def contexts(rig: Any) -> set[str]:
    """Those of which audio came."""
    return {frame.context_id for frame in rig.of(TTSAudioRawFrame)}


async def test_the_audio_says_the_reply_and_the_words_are_in_it(server: Any, running: Any) -> None:
    tts = KokoroSageMakerTTSService(url=server.url)
    async with running(tts, enable_metrics=True) as rig:
        await rig.reply("A **bold** reply. Once more!")
        await rig.until_replies(1)
        assert letters(rig, 24_000) == "aboldreplyoncemore"
        assert rig.context == "A bold reply. Once more!"
        pts = [frame.pts for frame in rig.of(TTSTextFrame)]
        assert len(pts) == 5
        assert pts == sorted(set(pts))
        audio_ns = len(rig.audio) // 2 * 1_000_000_000 // 24_000
        assert pts[-1] - pts[0] < audio_ns
        data = [d for f in rig.of(MetricsFrame) for d in f.data if d.processor == tts.name]
        assert any(isinstance(d, TTFAMetricsData) and d.ttfa > d.ttfb for d in data)
        assert any(isinstance(d, TTFBMetricsData) and d.value > 0 for d in data)


async def test_a_telephone_hears_the_right_pitch(server: Any, running: Any) -> None:
    # The tones of a to d are below 4 kHz.
    tts = KokoroSageMakerTTSService(url=server.url)
    async with running(tts, audio_out_sample_rate=16_000) as rig:
        await rig.send(TTSSpeakFrame("Cab, dab."))
        await rig.until(lambda: rig.of(TTSStoppedFrame))
        assert {frame.sample_rate for frame in rig.of(TTSAudioRawFrame)} == {16_000}
        assert letters(rig, 16_000) == "cabdab"


async def test_a_pause_of_the_llm_is_in_the_times_of_the_words(server: Any, running: Any) -> None:
    tts = KokoroSageMakerTTSService(url=server.url)
    async with running(tts) as rig:
        await rig.send(LLMFullResponseStartFrame(), LLMTextFrame("First this. "))
        await rig.until(lambda: rig.of(TTSTextFrame))
        await asyncio.sleep(2.0)  # longer than the first sentence is
        await rig.send(LLMTextFrame("Then more words come, one by one."), LLMFullResponseEndFrame())
        await rig.until_replies(1)
        pts = [frame.pts for frame in rig.of(TTSTextFrame)]
        assert pts == sorted(pts)
        first_ns = pts[1] - pts[0]
        assert pts[2] - pts[1] > 1_900_000_000 - first_ns


async def test_the_engine_stops_for_an_interruption(serving: Any, running: Any) -> None:
    engine = ToneEngine(realtime_factor=0.1)
    async with serving(engine) as server:
        tts = KokoroSageMakerTTSService(url=server.url)
        async with running(tts) as rig:
            for turn in range(1, 4):
                await rig.reply("This would take a while to be said, if anybody let it. " * 20)
                await rig.until(lambda n=turn: len(contexts(rig)) == n)
                await rig.send(InterruptionFrame())
                await rig.until(lambda n=turn: len(rig.of(InterruptionFrame)) == n)
            await rig.reply("Done.")
            await rig.until_replies(1)  # within the deadline only if nothing is in the way
            assert rig.context.endswith("Done.")


async def test_twenty_callers_are_all_served(server: Any, running: Any) -> None:
    async with SessionPool.connect(server.url, size=2) as pool:

        async def call(number: int) -> str:
            tts = KokoroSageMakerTTSService(session=pool)
            async with running(tts) as rig:
                await rig.reply(f"Caller {number} speaks. And ends.")
                await rig.until_replies(1)
                return str(rig.context)

        said = await asyncio.gather(*(call(number) for number in range(20)))
        assert said == [f"Caller {number} speaks. And ends." for number in range(20)]
        assert pool.load == 0
