"""When the endpoint fails: nothing is lost, nothing is said twice, nobody stays mute."""

import asyncio
from typing import Any

import pytest
from pipecat.frames.frames import (
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
    TTSTextFrame,
    TTSUpdateSettingsFrame,
)
from pipecat.pipeline.service_switcher import ServiceSwitcher, ServiceSwitcherStrategyFailover
from pipecat.utils.errors import ErrorCategory

from kokoro_sagemaker_agents.integrations.pipecat import KokoroSageMakerTTSService
from kokoro_sagemaker_agents.protocol import Cancel, Speak

Settings = KokoroSageMakerTTSService.Settings
SENTENCES = ["One is the first.", "Two comes after it.", "Three is the last."]
REPLY = " ".join(SENTENCES)


def service(fake: Any, **options: Any) -> KokoroSageMakerTTSService:
    return KokoroSageMakerTTSService(url=fake.url, **options)


def check_stops(rig: Any) -> None:
    """Each context has one stop frame, behind its last audio."""
    for started in rig.of(TTSStartedFrame):
        frames = [f for f in rig.end.frames if getattr(f, "context_id", 0) == started.context_id]
        kinds = [type(f) for f in frames if isinstance(f, (TTSAudioRawFrame, TTSStoppedFrame))]
        assert kinds.count(TTSStoppedFrame) == 1
        assert kinds[-1] is TTSStoppedFrame


# --- one sentence, one turn ---


async def test_a_sentence_that_failed_is_not_in_the_context(fake: Any, running: Any) -> None:
    tts = service(fake)
    async with running(tts) as rig:
        await rig.reply("One is said. This will FAIL here. Three is said.")
        await rig.until_replies(1)
        assert rig.context == "One is said. Three is said."
        assert rig.audio == fake.pcm("One is said.") + fake.pcm("Three is said.")
        (error,) = rig.errors
        assert error.category is ErrorCategory.SERVER
        assert "synthesis_failed" in error.error
        assert "FAIL" not in error.error  # nobody's words in a log
        assert tts.is_usable
        check_stops(rig)


async def test_a_silent_endpoint_is_reported_and_the_next_turn_works(
    faking: Any, running: Any
) -> None:
    async with faking(pieces_left=0) as fake:
        tts = service(fake, session_options={"answer_timeout_s": 0.4})
        async with running(tts) as rig:
            await rig.reply("Never heard sentence.")
            await rig.until_replies(1)
            assert rig.context == ""
            assert ErrorCategory.CONNECTIVITY in [error.category for error in rig.errors]
            fake.allow(float("inf"))
            await rig.reply("Heard again.")
            await rig.until_replies(2)
            assert rig.context == "Heard again."
            check_stops(rig)


async def test_a_late_first_byte_and_a_long_gap_are_waited_for(faking: Any, running: Any) -> None:
    # Pipecat closes a context after 3 s of silence; here after 0.5, so that the test is short.
    async with (
        faking(pieces_left=0) as fake,
        running(service(fake, stop_frame_timeout_s=0.5)) as rig,
    ):
        await rig.reply(REPLY)
        await asyncio.sleep(1.2)  # the silence that is tested
        fake.allow(2)
        await rig.until(lambda: len(rig.of(TTSAudioRawFrame)) == 2)
        await asyncio.sleep(1.2)
        fake.allow(float("inf"))
        await rig.until_replies(1)
        assert rig.audio == b"".join(map(fake.pcm, SENTENCES))
        assert rig.context == REPLY
        check_stops(rig)
        assert len(rig.of(TTSStartedFrame)) == 1


async def test_an_llm_that_stalls_does_not_hold_up_what_is_behind(fake: Any, running: Any) -> None:
    async with running(service(fake, stop_frame_timeout_s=0.5)) as rig:
        await rig.send(LLMFullResponseStartFrame(), LLMTextFrame("Let me see. "))
        await rig.send(TTSSpeakFrame("One moment."))
        await rig.until(lambda: rig.context == "Let me see. One moment.")
        await rig.send(LLMTextFrame("Here it is."), LLMFullResponseEndFrame())
        await rig.until_replies(1)
        assert rig.context == "Let me see. One moment. Here it is."
        assert len(rig.of(TTSStartedFrame)) == len(rig.of(TTSStoppedFrame)) == 3


# --- the connection ---


async def test_a_connection_lost_mid_sentence_loses_and_doubles_nothing(
    faking: Any, running: Any
) -> None:
    async with faking(pieces_left=1) as fake, running(service(fake)) as rig:
        await rig.reply(REPLY)
        await rig.until(lambda: rig.of(TTSAudioRawFrame))
        fake.vanish()
        fake.allow(float("inf"))
        await rig.until_replies(1)
        assert rig.audio == b"".join(map(fake.pcm, SENTENCES))
        assert rig.context == REPLY
        assert rig.errors == []
        check_stops(rig)


async def test_a_connection_lost_between_turns_is_nobodys_business(fake: Any, running: Any) -> None:
    tts = service(fake)
    async with running(tts) as rig:
        for turn in (1, 2, 3, 4):
            await rig.reply(f"Turn number {turn}.")
            await rig.until_replies(turn)
            fake.vanish()
        assert rig.context == " ".join(f"Turn number {turn}." for turn in (1, 2, 3, 4))
        assert tts.is_usable
        assert rig.errors == []


async def test_an_endpoint_that_comes_up_late_is_used_once_it_is_there(
    faking: Any, running: Any
) -> None:
    async with faking(refuses=True) as fake:
        tts, told = service(fake, session_options={"connect_timeout_s": 1}), []

        @tts.event_handler("on_connection_error")
        async def _(_: Any, message: str) -> None:
            told.append(message)

        async with running(tts) as rig:
            await rig.until(lambda: rig.errors)
            await rig.reply("Nobody can say this.")
            await rig.until_replies(1)
            assert not tts.is_usable
            assert rig.context == ""
            fake.refuses = False
            await usable(tts)
            await rig.reply("Now it is said.")
            await rig.until_replies(2)
            assert rig.context == "Now it is said."
            assert rig.errors[0].category is ErrorCategory.CONNECTIVITY
        assert len(told) == 1


async def usable(tts: Any) -> None:
    """Wait until it is; nothing else tells of it."""
    async with asyncio.timeout(20):
        while not tts.is_usable:  # noqa: ASYNC110  (see above)
            await asyncio.sleep(0.02)


# --- settings ---


@pytest.mark.parametrize("wrong", [Settings(voice="nobody"), Settings(speed=9.0)])
async def test_settings_that_cannot_be_are_permanent_until_others_come(
    fake: Any, running: Any, wrong: Any
) -> None:
    tts = service(fake)
    async with running(tts) as rig:
        await rig.send(TTSUpdateSettingsFrame(delta=wrong))
        await rig.reply("Nobody says this.")
        await rig.until(lambda: rig.errors)
        assert rig.errors[0].category is ErrorCategory.INVALID_REQUEST
        assert not tts.is_usable
        await rig.send(TTSUpdateSettingsFrame(delta=Settings(voice="bf_emma", speed=1.0)))
        await rig.reply("Emma says this.")
        await rig.until_replies(2)
        assert rig.context == "Emma says this."
        check_stops(rig)


# --- the next service takes over ---


def overloaded(protocol: Any, request: Any, positions: Any) -> bool:
    protocol.chunk_failed(request.context_id, request.chunk_id, "overloaded", "too much to do")
    return True


def switched(*services: Any) -> Any:
    return ServiceSwitcher(list(services), ServiceSwitcherStrategyFailover)


@pytest.mark.parametrize("how", ["dies", "silent", "overloaded"])
async def test_the_next_service_says_what_was_not_said_once(
    faking: Any, running: Any, how: str
) -> None:
    async with faking(pieces_left=3) as first, faking() as second:
        ours, standby = service(first, failover_s=0.6), service(second)
        async with running(switched(ours, standby)) as rig:
            await rig.send(LLMFullResponseStartFrame())
            await rig.tokens(REPLY + " And a fourth")
            await rig.until(lambda: len(rig.of(TTSAudioRawFrame)) == 3)
            speak_piece = first._speak_piece
            if how == "dies":
                first.refuses = True
                first.vanish()
            elif how == "overloaded":
                ours._failover_s = 60  # it is told, and need not wait
                first._speak_piece = overloaded
                first.allow(1)
            async with asyncio.timeout(10):
                while ours.is_usable:  # noqa: ASYNC110  (its frame is kept by the switcher)
                    await asyncio.sleep(0.02)
            await rig.tokens("one to end.")
            await rig.send(LLMFullResponseEndFrame())
            await rig.until_replies(1)
            await rig.until(lambda: rig.context.endswith("to end."))
            assert rig.context == REPLY + " And a fourth one to end."
            check_stops(rig)
            # It comes back by itself, and speaks as it is to speak by then.
            first.refuses, first._speak_piece = False, speak_piece
            first.allow(float("inf"))
            await usable(ours)
            new = Settings(voice="bf_emma")
            await rig.send(TTSUpdateSettingsFrame(delta=new, reach_inactive_services=True))
            second.refuses = True
            second.vanish()
            standby._failover_s = 0.6
            await rig.reply("Back to the first one.")
            await rig.until(lambda: rig.context.endswith("Back to the first one."))
            assert first.asked(Speak)[-1].voice == "bf_emma"


async def test_text_for_a_speech_of_its_own_is_handed_over_too(faking: Any, running: Any) -> None:
    async with faking(pieces_left=0) as first, faking() as second:
        ours = service(first, failover_s=0.5)
        async with running(switched(ours, service(second))) as rig:
            await rig.send(TTSSpeakFrame("Please hold the line."))
            await rig.until(lambda: rig.of(TTSTextFrame))
            await rig.until(lambda: rig.context == "Please hold the line.")
            assert first.asked(Cancel)


async def test_a_refusal_is_not_waited_for(faking: Any, running: Any) -> None:
    async with faking() as first, faking() as second:
        ours = service(first, failover_s=60, settings=Settings(voice="nobody"))
        async with running(switched(ours, service(second))) as rig:
            await rig.reply(REPLY)
            await rig.until(lambda: rig.context == REPLY)
            assert b"".join(map(second.pcm, SENTENCES)) == rig.audio


async def test_an_interruption_after_the_hand_over_ends_it(faking: Any, running: Any) -> None:
    async with faking(pieces_left=0) as first, faking(pieces_left=0) as second:
        ours = service(first, failover_s=0.5)
        async with running(switched(ours, service(second))) as rig:
            await rig.reply(REPLY)
            await second.until(second.texts)
            await rig.send(InterruptionFrame())
            await second.until(lambda: second.asked(Cancel))
            second.allow(float("inf"))
            await rig.reply("A new turn.")
            await rig.until(lambda: rig.context)
            await rig.until_replies(1)
            assert rig.context == "A new turn."
