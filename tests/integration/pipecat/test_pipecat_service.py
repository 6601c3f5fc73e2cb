"""A reply through the service: frames in their order, text as it was said, settings, metrics."""

import asyncio
from dataclasses import fields
from typing import Any

import pytest
from pipecat.frames.frames import (
    AggregatedTextFrame,
    AggregatedTextProgressFrame,
    DataFrame,
    EndFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    MetricsFrame,
    TextFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
    TTSTextFrame,
    TTSUpdateSettingsFrame,
)
from pipecat.metrics.metrics import (
    ProcessingMetricsData,
    TTFBMetricsData,
    TTSUsageMetricsData,
)
from pipecat.services.tts_service import TextAggregationMode
from pipecat.tests.utils import run_test
from pipecat.transcriptions.language import Language
from pipecat.utils.types import is_given

from kokoro_sagemaker_agents import InvalidInput, SpeechSession
from kokoro_sagemaker_agents.integrations.pipecat import KokoroSageMakerTTSService
from kokoro_sagemaker_agents.protocol import Speak

Settings = KokoroSageMakerTTSService.Settings
REPLY = "<think>Prices.</think>Dr. Lee said **yes**. It costs $4.50—cheap! Well-known, no?"
SENTENCES = ["Dr. Lee said yes.", "It costs $4.50—cheap!", "Well-known, no?"]
QUIET = (MetricsFrame, AggregatedTextProgressFrame)


class Marker(DataFrame):
    """Another processor's frame."""


def service(fake: Any, **options: Any) -> KokoroSageMakerTTSService:
    return KokoroSageMakerTTSService(url=fake.url, **options)


def order(rig: Any) -> list[str]:
    """The names, with a run of words and audio as one."""
    names: list[str] = []
    for name in rig.names(*QUIET, EndFrame):
        short = "Speech" if name in ("TTSAudioRawFrame", "TTSTextFrame") else name
        if short != "Speech" or names[-1:] != ["Speech"]:
            names.append(short)
    return names


async def test_a_reply_comes_out_in_order_and_as_it_was_said(fake: Any, running: Any) -> None:
    async with running(service(fake)) as rig:
        await rig.reply(REPLY)
        await rig.until_replies(1)
        assert fake.texts() == SENTENCES
        assert rig.audio == b"".join(map(fake.pcm, SENTENCES))
        assert rig.context == " ".join(SENTENCES)
        spoken = [f for f in rig.of(AggregatedTextFrame) if not isinstance(f, TTSTextFrame)]
        assert [f.text for f in spoken] == SENTENCES
        assert all(f.will_be_spoken and not f.append_to_context for f in spoken)
        names = rig.names(*QUIET, AggregatedTextFrame)
        assert names[:2] == ["LLMFullResponseStartFrame", "TTSStartedFrame"]
        assert names[-2:] == ["TTSStoppedFrame", "LLMFullResponseEndFrame"]
        assert set(names[2:-2]) == {"TTSAudioRawFrame"}
        ids = {f.context_id for f in rig.of(TTSAudioRawFrame, TTSTextFrame, TTSStoppedFrame)}
        assert len(ids) == 1
        assert rig.errors == []


async def test_progress_follows_the_words(fake: Any, running: Any) -> None:
    async with running(service(fake)) as rig:
        await rig.reply("A well-known book. Good—no?")
        await rig.until_replies(1)
        progress = [
            (f.accumulated_text, f.remaining_text) for f in rig.of(AggregatedTextProgressFrame)
        ]
    assert progress == [
        ("A", " well-known book."),
        ("A well-known", " book."),
        ("A well-known book.", ""),
        ("Good—no?", ""),
    ]


async def test_words_are_timed_from_the_first_audio_on(fake: Any, running: Any) -> None:
    async with running(service(fake)) as rig:
        await rig.reply("One two. Three four.")
        await rig.until_replies(1)
        pts = [frame.pts for frame in rig.of(TTSTextFrame)]
    # 10 ms a character; the second sentence begins after the 8 characters of the first.
    expected = [0, 40, 80, 140]
    assert [round((at - pts[0]) / 1e6) for at in pts] == expected


async def test_speech_of_its_own_comes_after_what_was_asked_for_before(
    fake: Any, running: Any
) -> None:
    tts, asked = service(fake), []

    @tts.event_handler("on_tts_request")
    async def _(_: Any, context_id: str, text: str) -> None:
        asked.append(text)

    async with running(tts) as rig:
        await rig.send(LLMFullResponseStartFrame(), LLMTextFrame("First sentence."))
        await rig.send(TTSSpeakFrame("Hold on."), LLMTextFrame(" Second one."))
        await rig.send(LLMFullResponseEndFrame())
        await rig.until_replies(1)
        await rig.finish()
    assert asked == ["First sentence.", "Hold on.", "Second one."]


async def test_frames_between_two_speeches_keep_their_place(fake: Any, running: Any) -> None:
    async with running(service(fake)) as rig:
        await rig.send(TTSSpeakFrame("One."), Marker(), TTSSpeakFrame("Two."), Marker())
        await rig.until(lambda: len(rig.of(Marker)) == 2)
        group = ["AggregatedTextFrame", "TTSStartedFrame", "Speech"]
        group += ["LLMAssistantPushAggregationFrame", "TTSStoppedFrame", "Marker"]
        assert order(rig) == group * 2


async def test_text_outside_a_reply_ends_promptly(fake: Any, running: Any) -> None:
    async with running(service(fake, stop_frame_timeout_s=60)) as rig:
        await rig.send(TextFrame("Just a text. "), TextFrame("More"))
        await rig.until(lambda: len(rig.of(TTSStoppedFrame)) == 1)
        assert rig.context == "Just a text."


async def test_a_finished_sentence_does_not_wait_for_a_stalled_llm(fake: Any, running: Any) -> None:
    async with running(service(fake)) as rig:
        await rig.send(LLMFullResponseStartFrame(), LLMTextFrame("Let me look that up."))
        await rig.until(lambda: rig.of(TTSTextFrame))
        assert fake.texts() == ["Let me look that up."]


async def test_a_long_speech_is_cut_and_keeps_its_text(fake: Any, running: Any) -> None:
    text = "# Title\n\n" + "This goes on and on, without any end, " * 40 + "**at last**."
    async with running(service(fake)) as rig:
        await rig.send(TTSSpeakFrame(text))
        await rig.until(lambda: rig.of(TTSStoppedFrame))
        assert len(fake.texts()) > 3
        assert not any("*" in said or "#" in said for said in fake.texts())
        assert rig.context == " ".join(text.split())


async def test_unspaced_languages_keep_their_text(faking: Any, running: Any) -> None:
    text = "你好。今天怎么样？很好，谢谢 Bob！"
    async with faking() as fake:
        fake.ready = type(fake.ready)(
            **{**_fields(fake.ready), "languages": ("zh",), "voices": ("zf_xiaobei",)}
        )
        async with running(service(fake, settings=Settings(voice="zf_xiaobei"))) as rig:
            await rig.send(LLMFullResponseStartFrame())
            for character in text:
                await rig.send(LLMTextFrame(character))
            await rig.send(LLMFullResponseEndFrame())
            await rig.until_replies(1)
            assert rig.context == text
            assert len(fake.texts()) == 3


def _fields(message: Any) -> dict[str, Any]:
    return {name: getattr(message, name) for name in message.__struct_fields__}


async def test_a_language_without_word_times_is_timed_evenly(faking: Any, running: Any) -> None:
    async with faking() as fake:
        original = fake._speak_piece

        def without_words(protocol: Any, request: Any, positions: Any) -> Any:
            protocol.words = lambda *_: None
            return original(protocol, request, positions)

        fake._speak_piece = without_words
        async with running(service(fake)) as rig:
            await rig.reply("One two three.")
            await rig.until_replies(1)
            assert [f.text for f in rig.of(TTSTextFrame)] == ["One", "two", "three."]
            pts = [f.pts for f in rig.of(TTSTextFrame)]
            assert [round((at - pts[0]) / 1e6) for at in pts] == [0, 30, 70]


async def test_replies_of_tools_only_and_of_skipped_text_pass(fake: Any, running: Any) -> None:
    async with running(service(fake)) as rig:
        await rig.send(LLMFullResponseStartFrame(), LLMFullResponseEndFrame())
        skipped = LLMTextFrame("Not aloud. ")
        skipped.skip_tts = True
        await rig.send(skipped)
        await rig.reply("Aloud.")
        await rig.until_replies(2)
        assert fake.texts() == ["Aloud."]
        assert len(rig.of(TTSStartedFrame)) == 1


async def test_a_speech_without_anything_to_say_is_no_failure(fake: Any, running: Any) -> None:
    tts = service(fake)
    async with running(tts) as rig:
        for _ in range(4):
            await rig.send(TTSSpeakFrame("```\ncode\n```"), Marker())
        await rig.until(lambda: len(rig.of(Marker)) == 4)
        assert tts.is_usable
        await rig.send(TTSSpeakFrame("Still here."))
        await rig.until(lambda: rig.of(TTSTextFrame))


# --- the end ---


async def test_what_was_asked_for_is_spoken_before_the_end(fake: Any, running: Any) -> None:
    async with running(service(fake)) as rig:
        await rig.send(TTSSpeakFrame("Goodbye, and thank you for your call."))
        await rig.finish()
        assert rig.context == "Goodbye, and thank you for your call."


async def test_the_tail_of_a_reply_broken_off_is_not_spoken_at_the_end(
    fake: Any, running: Any
) -> None:
    async with running(service(fake)) as rig:
        await rig.send(LLMFullResponseStartFrame(), LLMTextFrame("I was saying something unfini"))
        await rig.send(TTSSpeakFrame("Goodbye."))
        await rig.finish()
        assert fake.texts() == ["Goodbye."]


async def test_pipecats_own_test_runner_and_a_dead_address(fake: Any) -> None:
    down, _ = await run_test(service(fake), frames_to_send=[TTSSpeakFrame("Hello.")])
    assert any(isinstance(frame, TTSTextFrame) for frame in down)
    dead = KokoroSageMakerTTSService(url="ws://127.0.0.1:9")
    _, up = await run_test(dead, frames_to_send=[TTSSpeakFrame("Hello.")])
    assert "127.0.0.1" in str(up[0])


# --- settings ---


def test_settings_are_complete_in_a_service_and_sparse_in_a_delta() -> None:
    delta = Settings()
    assert not any(is_given(getattr(delta, f.name)) for f in fields(delta) if f.name != "extra")
    tts = KokoroSageMakerTTSService(url="ws://127.0.0.1:1", settings=Settings(speed=1.2))
    held = tts.settings
    assert all(is_given(getattr(held, f.name)) for f in fields(held))
    assert (tts._settings.voice, tts._settings.speed) == ("af_heart", 1.2)


@pytest.mark.parametrize(
    ("language", "tag"),
    [
        (Language.EN, "en-us"),
        (Language.EN_US, "en-us"),
        (Language.EN_GB, "en-gb"),
        (Language.EN_AU, "en-gb"),
        (Language.ES_MX, "es"),
        (Language.PT_BR, "pt-br"),
        (Language.PT_PT, "pt-br"),
        (Language.ZH_TW, "zh"),
        (Language.JA, "ja"),
        (Language.KO, None),
    ],
)
def test_languages_have_our_tags(language: Language, tag: str | None) -> None:
    tts = KokoroSageMakerTTSService(url="ws://127.0.0.1:1")
    assert tts.language_to_service_language(language) == tag


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"url": "ws://127.0.0.1:1", "endpoint_name": "kokoro"},
        {"url": "ftp://127.0.0.1:1"},
        {"url": "ws://127.0.0.1:1", "failover_s": 0},
        {"url": "ws://127.0.0.1:1", "text_aggregation_mode": TextAggregationMode.TOKEN},
    ],
)
def test_what_cannot_be_is_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        KokoroSageMakerTTSService(**options)


async def test_new_settings_take_effect_at_the_next_sentence(fake: Any, running: Any) -> None:
    async with running(service(fake)) as rig:
        await rig.send(LLMFullResponseStartFrame(), LLMTextFrame("First one. Second "))
        new = Settings(voice="bf_emma", language=Language.EN_GB, speed=1.5)
        await rig.send(TTSUpdateSettingsFrame(delta=new), LLMTextFrame("one. Third one."))
        await rig.send(LLMFullResponseEndFrame())
        await rig.until_replies(1)
        asked = [(m.text, m.voice, m.speed, m.language) for m in fake.asked(Speak)]
        assert asked == [
            ("First one.", "af_heart", None, None),
            ("Second one.", "bf_emma", 1.5, "en-gb"),
            ("Third one.", "bf_emma", 1.5, "en-gb"),
        ]
        said = ["First one.", "Second one.", "Third one."]
        assert rig.audio == b"".join(map(fake.pcm, said))
        assert rig.context == " ".join(said)
        pts = [f.pts for f in rig.of(TTSTextFrame)]
        assert [round((at - pts[0]) / 1e6) for at in pts] == [0, 60, 100, 170, 210, 270]
        assert len(rig.of(TTSStartedFrame)) == len(rig.of(TTSStoppedFrame)) == 1


@pytest.mark.parametrize(("pipeline", "asked"), [(8000, 8000), (16000, 16000), (32000, 24000)])
async def test_the_pipelines_sample_rate_is_asked_for(
    fake: Any, running: Any, pipeline: int, asked: int
) -> None:
    async with running(service(fake), audio_out_sample_rate=pipeline) as rig:
        await rig.send(TTSSpeakFrame("Hello."))
        await rig.until(lambda: rig.of(TTSStoppedFrame))
        assert {m.sample_rate for m in fake.asked(Speak)} == {asked}
        assert {f.sample_rate for f in rig.of(TTSAudioRawFrame)} == {asked}


async def test_a_pronunciation_is_sent_and_the_word_is_what_was_said(
    fake: Any, running: Any
) -> None:
    say = KokoroSageMakerTTSService.pronunciation_transform_ipa({"Metformin": "mɛtˈfɔɹmɪn"})
    async with running(service(fake, text_transforms=[("*", say)])) as rig:
        await rig.reply("Take Metformin now. Not later.")
        await rig.until_replies(1)
        (first, second) = fake.asked(Speak)
        assert first.text == "Take [Metformin](/mɛtˈfɔɹmɪn/) now."
        assert (first.markup, second.text) == ("inline", "Not later.")
        assert rig.context == "Take Metformin now. Not later."


def test_pronunciations_that_cannot_be_written_are_none() -> None:
    written = KokoroSageMakerTTSService.format_pronunciation
    assert written("pecan", "/pɪˈkɑːn/") == "[pecan](/pɪˈkɑːn/)"
    assert written("f(x)", "ɛf") is None
    assert written("word", "") is None


# --- metrics ---


async def test_every_turn_has_its_metrics(fake: Any, running: Any) -> None:
    tts = service(fake)
    async with running(tts, enable_metrics=True, enable_usage_metrics=True) as rig:
        for turn in (1, 2):
            await rig.reply("Hello there, all of you.")
            await rig.until_replies(turn)
        data = [d for f in rig.of(MetricsFrame) for d in f.data if d.processor == tts.name]
        ttfb = [d for d in data if isinstance(d, TTFBMetricsData) and d.value > 0]
        assert len(ttfb) == 2
        assert [d.value for d in data if isinstance(d, TTSUsageMetricsData)] == [24, 24]
        assert not any(d.value for d in data if isinstance(d, ProcessingMetricsData))


# --- sessions ---


async def test_two_services_share_a_session_that_stays_open(fake: Any, running: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        ours = [KokoroSageMakerTTSService(session=session) for _ in range(2)]
        async with running(ours[0]) as one, running(ours[1]) as two:
            await asyncio.gather(one.reply("One one one."), two.reply("Two two two."))
            await asyncio.gather(one.until_replies(1), two.until_replies(1))
            assert (one.context, two.context) == ("One one one.", "Two two two.")
            assert one.audio == fake.pcm("One one one.")
            await one.finish()
        assert session.connected
        assert session.connections == 1


async def test_a_slow_connect_holds_up_nothing_and_loses_nothing(faking: Any, running: Any) -> None:
    async with faking(says_ready=False) as fake, running(service(fake)) as rig:
        assert rig.started.is_set()
        await rig.reply("Said before there was a connection.")
        await fake.until(lambda: fake.protocols)
        assert rig.audio == b""
        fake.protocols[0].ready()
        fake.allow(float("inf"))
        await rig.until_replies(1)
        assert rig.context == "Said before there was a connection."
        assert rig.audio == fake.pcm(rig.context)
