"""Lexicons, markup and preloaded phrases over real sockets: whose they are, and whose not."""

import asyncio
import json
import threading
from pathlib import Path

import numpy as np
import pytest

from kokoro_container.engines.base import EngineAudio
from kokoro_container.engines.tone import ToneEngine, read_back
from kokoro_container.operator_variables import with_own_variables
from kokoro_container.service import Settings
from kokoro_sagemaker_agents import AudioChunk, SpeechSession, WordTimestamps

MARKED = "A [cat](/dɔɡ/) [pause:500ms] sat"


class Counting(ToneEngine):
    """Writes down what it is asked to say; while `gate` is closed, until it is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.began = threading.Event()

    def forget(self) -> None:
        """The warm-up's texts."""
        self.said.clear()
        self.began.clear()

    def synthesize(self, phonemes, style, speed, cancel=None) -> EngineAudio:  # type: ignore[no-untyped-def]  # as its base
        self.said.append(phonemes)
        self.began.set()
        cancel.on_cancel(self.gate.set)
        assert self.gate.wait(20)
        return super().synthesize(phonemes, style, speed, cancel)


def heard(data: bytes) -> str:
    return read_back(np.frombuffer(data, "<i2").astype(np.float32) / 32767.0)


# --- lexicons ------------------------------------------------------------------------------------


async def test_each_session_hears_its_own_lexicon(server, connect) -> None:
    text = "meet nguyen"
    async with connect(server.url) as one, connect(server.url) as two, connect(server.url) as none:
        await one.send("configure", lexicon={"en-us": {"nguyen": "/abc/"}, "fr": {}})
        await two.send("configure", lexicon={"en-us": {"nguyen": "xyz"}})

        said = [heard(await client.says(text)) for client in (one, two, none)]

    assert said == ["metabc", "metxyz", "metnɡuyen"]


async def test_the_times_keep_the_texts_spelling(server, connect) -> None:
    async with connect(server.url) as client:
        await client.send("configure", lexicon={"en-us": {"sql": "see quil"}}, timestamps="word")
        await client.speak("a", "Use SQL, now")
        _, _, messages = await client.until("chunk_done")

    (times,) = (message for message in messages if message["type"] == "word_timestamps")
    assert [(w["text"], w["char_start"], w["char_end"]) for w in times["words"]] == [
        ("Use", 0, 3),
        ("SQL", 4, 7),
        ("now", 9, 12),
    ]


async def test_a_later_lexicon_replaces_and_other_options_leave_it(server, connect) -> None:
    async with connect(server.url) as client:
        await client.send("configure", lexicon={"en-us": {"one": "/abc/"}})
        await client.send("configure", timestamps="word")
        assert heard(await client.says("one two", "a")) == "abctwo"
        await client.send("configure", lexicon={"en-us": {"two": "/xyz/"}})
        assert heard(await client.says("one two", "b")) == "onexyz"
        await client.send("configure", lexicon={})
        assert heard(await client.says("one two", "c")) == "onetwo"


@pytest.mark.parametrize(
    ("lexicon", "named"),
    [
        ({"en-us": {"cat": "/k7t/"}}, "'7' (U+0037)"),
        ({"en-us": {"cat": "[dog](/x/)"}}, "["),
        ({"xx": {"cat": "dog"}}, "'xx'"),
        ({"en-us": {"cat": "x" * 101}}, "100 characters"),
    ],
)
async def test_a_lexicon_that_cannot_be_used_changes_nothing(
    server, connect, lexicon, named
) -> None:
    async with connect(server.url) as client:
        await client.send("configure", lexicon={"en-us": {"cat": "/abc/"}})
        await client.send("configure", lexicon=lexicon, sample_rate=8000)
        error, _, _ = await client.until("error")
        await client.speak("a", "cat")
        _, audio, messages = await client.until("chunk_done")

    assert error["code"] == "invalid_lexicon"
    assert named in error["message"]
    (started,) = (message for message in messages if message["type"] == "chunk_started")
    assert started["sample_rate"] == 24_000
    assert heard(audio["a", 0]) == "abc"


async def test_the_models_lexicon_is_everybodys_and_a_sessions_own_goes_first(
    serving, connect, tmp_path: Path
) -> None:
    path = tmp_path / "lexicon.json"
    path.write_text(json.dumps({"en-us": {"one": "/abc/", "two": "/def/"}}))
    settings = Settings(lexicon_file=path)
    async with serving(settings=settings) as server, connect(server.url) as client:
        assert heard(await client.says("one two", "a")) == "abcdef"
        await client.send("configure", lexicon={"en-us": {"two": "/xyz/"}})
        assert heard(await client.says("one two", "b")) == "abcxyz"


async def test_a_damaged_lexicon_file_stops_the_start(serving, tmp_path: Path) -> None:
    path = tmp_path / "lexicon.json"
    path.write_text('{"en-us": {"cat": "/k7t/"}}')

    with pytest.raises(ValueError, match=r"lexicon\.json: .*'cat': '7'"):
        async with serving(settings=Settings(lexicon_file=path)):
            pass


# --- markup --------------------------------------------------------------------------------------


async def test_markup_is_only_speech_unless_the_client_says_otherwise(server, connect) -> None:
    async with connect(server.url) as client:
        plain = await client.says(MARKED, "a")
        await client.speak("b", MARKED, markup="inline")
        _, audio, _ = await client.until("chunk_done")
        after = await client.says(MARKED, "c")

    assert heard(plain)[:4] == heard(after)[:4] == "acat"  # the letter G2P of the tests reads marks
    assert heard(audio["b", 0]) == "adɔɡsat"


@pytest.mark.parametrize("how", ["configure", "query", "operator"])
async def test_a_session_or_the_operator_may_trust_all_texts(serving, connect, how: str) -> None:
    settings = Settings(trust_markup=how == "operator")
    query = "?markup=inline" if how == "query" else ""
    async with serving(settings=settings) as server, connect(server.url, query) as client:
        if how == "configure":
            await client.send("configure", markup="inline")
        assert heard(await client.says(MARKED)) == "adɔɡsat"


async def test_the_client_library_asks_for_both(server) -> None:
    text = "A [cat](/dɔɡ/) met nguyen."
    async with SpeechSession.connect(
        server.url, lexicon={"en-us": {"nguyen": "/abc/"}}, markup="inline"
    ) as session:
        events = [event async for event in session.speak(text)]

    audio = b"".join(event.pcm for event in events if isinstance(event, AudioChunk))
    words = [w for event in events if isinstance(event, WordTimestamps) for w in event.words]
    assert heard(audio) == "adɔɡmetabc"
    assert [text[word.char_start : word.char_end] for word in words] == [
        "A",
        "cat",
        "met",
        "nguyen",
    ]


# --- phrases -------------------------------------------------------------------------------------


async def test_a_preloaded_phrase_needs_no_model_in_any_session(serving, connect) -> None:
    engine = Counting()
    settings = Settings(phrase_cache_bytes=10_000_000)
    async with serving(engine, settings) as server, connect(server.url) as client:
        engine.forget()
        await client.send("configure", preload=["How may I help you today?"])
        await client.says("ready", "check")  # the configure was read
        await asyncio.wait_for(server.service.scheduler.wait_idle(), 20)
        calls = len(engine.said)

        async with connect(server.url, "?sample_rate=8000") as other:
            data = await other.says("How may I help you today?", "greeting")

    assert "how may i help you today?" in engine.said
    assert len(engine.said) == calls
    assert len(data) > 8000


@pytest.mark.parametrize("how", ["the session ends", "the server drains"])
async def test_phrases_that_nobody_will_need_hold_nothing_up(serving, connect, how: str) -> None:
    engine = Counting()
    settings = Settings(phrase_cache_bytes=10_000_000)
    async with serving(engine, settings) as server:
        engine.forget()
        engine.gate.clear()
        async with connect(server.url) as client:
            await client.send("configure", preload=["one", "two", "three"])
            assert await asyncio.to_thread(engine.began.wait, 20)
            if how == "the server drains":
                await asyncio.wait_for(server.service.drain(), 15)
        await asyncio.wait_for(server.service.scheduler.wait_idle(), 15)

    assert engine.said == ["one"]


# --- the operator's variables --------------------------------------------------------------------


def test_an_operator_may_set_it_up_by_variables() -> None:
    settings = with_own_variables(
        Settings(),
        {
            "KOKORO_PHRASE_CACHE_MB": "64",
            "KOKORO_TRUST_MARKUP": "1",
            "KOKORO_MODEL_DIR": "/models/kokoro",
        },
    )

    assert settings.phrase_cache_bytes == 64_000_000
    assert settings.trust_markup
    assert settings.lexicon_file == Path("/models/kokoro/lexicon.json")
    plain = with_own_variables(Settings(), {})
    assert (plain.phrase_cache_bytes, plain.trust_markup) == (0, False)


def test_a_variable_that_means_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="KOKORO_TRUST_MARKUP='yes'"):
        with_own_variables(Settings(), {"KOKORO_TRUST_MARKUP": "yes"})
