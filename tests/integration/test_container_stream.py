"""The WebSocket route over real sockets: what a session hears, and what it never hears."""

import asyncio
import json
import logging

import numpy as np

from kokoro_container.engines.tone import ToneEngine, read_back
from kokoro_container.service import Settings
from kokoro_sagemaker_agents.protocol import ClientProtocol, ContextDone, ProtocolViolated


def heard(data: bytes, sample_rate: int = 24_000) -> str:
    return read_back(np.frombuffer(data, "<i2").astype(np.float32) / 32767.0, sample_rate)


async def test_a_session_is_told_what_the_server_can_do(server, connect) -> None:
    async with connect(server.url) as client:
        ready = client.ready

    assert ready["protocol"] == 1
    assert ready["engine"] == "tone"
    assert "af_heart" in ready["voices"]
    assert len(ready["languages"]) == 9
    assert ready["encodings"] == ["pcm_s16le", "pcm_mulaw", "pcm_alaw", "mp3", "opus"]
    assert ready["limits"]["text_chars"] == 20_000


async def test_a_sentence_is_heard_with_its_words_before_its_audio(server, connect) -> None:
    text = "Hello there, my friend."
    async with connect(server.url) as client:
        await client.speak("a", text, timestamps="word")
        await client.send("end", context_id="a")
        done, audio, messages = await client.until("context_done")

    kinds = [message["type"] for message in messages]
    assert kinds == ["word_timestamps", "chunk_started", "chunk_done", "context_done"]
    assert heard(audio["a", 0]) == "helotheremyfriend"
    words = messages[0]["words"]
    assert [text[word["char_start"] : word["char_end"]] for word in words] == [
        "Hello",
        "there",
        "my",
        "friend",
    ]
    samples = len(audio["a", 0]) // 2
    assert messages[2]["samples"] == done["samples"] == samples
    assert words[-1]["end"] <= messages[2]["duration"] == samples / 24_000


async def test_our_own_client_agrees_with_every_frame(server, connect) -> None:
    protocol = ClientProtocol()
    protocol.configure(timestamps="word", sample_rate=16_000)
    for context_id in ("a", "b", "c"):
        for _ in range(4):
            protocol.speak(context_id, "One two three, four five six seven eight nine ten. " * 4)
        protocol.window(context_id, 100_000)
        protocol.end(context_id)
    protocol.cancel("b")

    done = set()
    async with connect(server.url) as client:
        assert not protocol.receive(json.dumps(client.ready))[1:]
        while done != {"a", "c"}:
            for frame in protocol.data_to_send():
                await client.socket.send(frame)
            for event in protocol.receive(await asyncio.wait_for(client.socket.recv(), 20)):
                assert not isinstance(event, ProtocolViolated), event
                if isinstance(event, ContextDone):
                    done.add(event.context_id)
                elif hasattr(event, "samples") and hasattr(event, "data"):
                    protocol.window(event.context_id, event.samples)


async def test_a_message_in_a_binary_frame_is_as_good(server, connect) -> None:
    async with connect(server.url) as client:
        message = {"type": "speak", "context_id": "a", "chunk_id": 0, "text": "Grüße, friend"}
        await client.socket.send(json.dumps(message, ensure_ascii=False).encode())
        _, audio, _ = await client.until("chunk_done")

    assert heard(audio["a", 0]) == "grefriend".replace("g", "ɡ")


async def test_the_query_string_sets_defaults_and_messages_override_them(server, connect) -> None:
    query = "?voice=bf_emma&sample_rate=16000&encoding=pcm_mulaw&timestamps=word"
    async with connect(server.url, query) as client:
        await client.speak("a", "hello")
        first, _, _ = await client.until("chunk_started")
        await client.speak("a", "hello", 1, encoding="pcm_s16le", sample_rate=48_000)
        await client.until("chunk_done")
        second, _, _ = await client.until("chunk_started")

    assert (first["sample_rate"], first["encoding"]) == (16_000, "pcm_mulaw")
    assert (second["sample_rate"], second["encoding"]) == (48_000, "pcm_s16le")


async def test_nothing_is_held_back_on_the_way(server, connect) -> None:
    """Nagle's algorithm would keep a chunk's last frame for 40 ms."""
    loop = asyncio.get_running_loop()
    async with connect(server.url) as client:
        times = []
        for chunk_id in range(10):
            started = loop.time()
            await client.speak("a", "hello", chunk_id)
            await client.until("chunk_done")
            times.append(loop.time() - started)

    assert min(times) < 0.03


async def test_audio_is_sent_while_the_rest_is_made(serving, connect) -> None:
    """With 0.2 s for each call, the first audio comes long before the last call is done."""
    async with serving(ToneEngine(call_s=0.2)) as server, connect(server.url) as client:
        loop = asyncio.get_running_loop()
        await client.speak("a", "Here is one sentence of some length. " * 30)
        started = loop.time()
        await client.until("chunk_started")
        first_s = loop.time() - started
        await client.until("chunk_done")
        all_s = loop.time() - started

    assert all_s > 4 * first_s


async def test_contexts_share_a_connection_and_each_hears_its_own_words(server, connect) -> None:
    texts = {name: " ".join([name * 4] * 80) for name in "abcdef"}
    async with connect(server.url) as client:
        for name, text in texts.items():
            await client.speak(name, text)
            await client.send("end", context_id=name)
        audio: dict[str, bytes] = {}
        for _ in texts:
            _, some, _ = await client.until("context_done")
            for (name, _chunk), data in some.items():
                audio[name] = audio.get(name, b"") + data

    assert {name: set(heard(data)) for name, data in audio.items()} == {n: {n} for n in texts}


async def test_a_newcomers_first_words_go_before_a_long_text(serving, connect) -> None:
    async with (
        serving(ToneEngine(call_s=0.05)) as server,
        connect(server.url) as long,
        connect(server.url) as short,
    ):
        await long.speak("a", "One sentence after the other is said here. " * 200)
        await long.until("chunk_started")
        await short.says("hello")
        await long.send("ping", id=1)
        _, _, messages = await long.until("pong")

    assert all(message["type"] != "chunk_done" for message in messages)


# --- cancel and credit ---------------------------------------------------------------------------


async def test_cancel_stops_a_running_call_at_once_and_nothing_follows(serving, connect) -> None:
    engine = ToneEngine()
    async with serving(engine) as server, connect(server.url) as client:
        engine.call_s = 60.0
        await client.speak("a", "hello there")
        await client.speak("a", "hello again", 1)
        await client.send("cancel", context_id="a")
        cancelled, audio, _ = await client.until("context_cancelled", "a")
        engine.call_s = 0.0
        await client.says()

    assert cancelled["chunks"] == 0
    assert audio == {}


async def test_what_was_sent_before_a_cancel_is_counted(serving, connect) -> None:
    async with serving(ToneEngine(call_s=0.05)) as server, connect(server.url) as client:
        await client.speak("a", "One sentence after the other is said here. " * 100)
        await client.until("chunk_started")
        await client.send("cancel", context_id="a")
        cancelled, _, _ = await client.until("context_cancelled", "a")

    assert 0 < cancelled["samples"] < 100 * 24_000


async def test_without_credit_a_context_waits_and_gives_way(server, connect) -> None:
    text = "One sentence after the other is said here. " * 40
    async with connect(server.url) as client:
        await client.send("window", context_id="a", samples=1000)
        await client.speak("a", text)
        await client.send("end", context_id="a")
        await client.until("chunk_started", "a")
        await client.says("another one", "b")  # while the first one is out of credit
        await client.send("ping")
        _, before, _ = await client.until("pong")
        await client.send("window", context_id="a", samples=2**40)
        done, _, _ = await client.until("context_done", "a")

    assert len(before.get(("a", 0), b"")) < 2 * done["samples"] / 4


class CountingEngine(ToneEngine):
    calls = 0

    def synthesize(self, *args, **kwargs):
        self.calls += 1
        return super().synthesize(*args, **kwargs)


async def test_a_client_that_does_not_read_stops_the_model_not_the_server(serving, connect) -> None:
    engine = CountingEngine()
    async with serving(engine) as server, connect(server.url) as slow, connect(server.url) as other:
        slow.socket.transport.pause_reading()
        for chunk_id in range(4):
            text = "One sentence after the other is said here. " * 50
            await slow.speak("a", text, chunk_id)
        calls_for_slow, turn = 1, 0
        while calls_for_slow:  # once its buffers are full, only the other one gets the model
            before = engine.calls
            for _ in range(5):
                turn += 1
                await other.says(context_id=f"c{turn}")
            calls_for_slow = engine.calls - before - 5
        left = server.service.scheduler.jobs
        slow.socket.transport.resume_reading()
        for chunk_id in range(4):
            done, _, _ = await slow.until("chunk_done", "a")
            assert done["chunk_id"] == chunk_id

    assert left > 0


# --- ends ----------------------------------------------------------------------------------------


async def test_a_client_that_vanishes_mid_audio_is_forgotten(serving, connect) -> None:
    async with serving(ToneEngine(call_s=0.02)) as server, connect(server.url) as other:
        async with connect(server.url) as gone:
            await gone.speak("a", "One sentence after the other is said here. " * 400)
            await gone.until("chunk_started")
            gone.socket.transport.abort()
        await asyncio.wait_for(server.service.scheduler.wait_idle(), 10)
        await other.says()

        assert len(server.service.sessions) == 1


async def test_close_ends_the_session_and_drops_what_is_queued(serving, connect) -> None:
    async with serving(ToneEngine(call_s=0.02)) as server, connect(server.url) as client:
        await client.speak("a", "One sentence after the other is said here. " * 400)
        await client.until("chunk_started")
        await client.send("close")
        await asyncio.wait_for(client.socket.wait_closed(), 10)
        await asyncio.wait_for(server.service.scheduler.wait_idle(), 10)

    assert client.socket.close_code == 1000


async def test_a_goodbye_with_the_socket_already_gone_is_no_error(serving, connect, caplog) -> None:
    async with serving(ToneEngine(call_s=0.02)) as server:
        for _ in range(20):
            async with connect(server.url) as client:
                await client.speak("a", "A sentence that nobody hears to its end.")
                await client.send("close")
                client.socket.transport.abort()
        async with connect(server.url) as other:
            await other.says()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_resumed_chunk_continues_the_same_audio(server, connect) -> None:
    text = "Here is a sentence, and it has a second part. Then another one."
    async with connect(server.url) as client:
        await client.speak("a", text)
        _, whole, _ = await client.until("chunk_done")
    async with connect(server.url) as client:
        await client.speak("b", text, from_sample=30_000)
        done, rest, messages = await client.until("chunk_done")

    assert rest["b", 0] == whole["a", 0][60_000:]
    assert messages[0]["first_sample"] == 30_000
    assert done["samples"] == len(whole["a", 0]) // 2


async def test_more_sessions_than_there_is_room_for_are_told_so(serving, connect) -> None:
    async with serving(settings=Settings(sessions=1)) as server, connect(server.url) as first:
        async with connect(server.url) as second:
            error = await second.receive()
            await asyncio.wait_for(second.socket.wait_closed(), 10)
        await first.says()

    assert error["code"] == "overloaded"
    assert error["retryable"]
    assert second.socket.close_code == 1013


async def test_an_unused_option_is_not_ignored_silently(server, connect) -> None:
    async with connect(server.url) as client:
        await client.send("configure", preload=["Hello."])
        warning, _, _ = await client.until("warning")
        await client.says()

    assert "keeps no phrases" in warning["message"]
