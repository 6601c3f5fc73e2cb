"""MP3 and Opus on the multiplexed WebSocket: each chunk is a stream of its own, with its length."""

import io

import pytest
import soundfile

from kokoro_container.engines.tone import read_back

TEXTS = {"a": ["Hello there.", "How are you?"], "b": ["Bye.", "?!", "See you soon."]}


async def spoken(client, encoding: str, **options):
    """Both contexts at once; each chunk's audio, and what was said of it."""
    for context_id, texts in TEXTS.items():
        for chunk_id, text in enumerate(texts):
            await client.speak(context_id, text, chunk_id, encoding=encoding, **options)
        await client.send("end", context_id=context_id)
    audio, chunks, starts, open_contexts = {}, {}, {}, set(TEXTS)
    while open_contexts:
        done, more, messages = await client.until("context_done")
        open_contexts.discard(done["context_id"])
        for key, data in more.items():
            audio.setdefault(key, bytearray()).extend(data)
        for message in messages:
            key = message["context_id"], message.get("chunk_id")
            if message["type"] == "chunk_done":
                chunks[key] = message
            elif message["type"] == "chunk_started":
                starts.setdefault(key, []).append(message["first_sample"])
    return audio, chunks, starts


@pytest.mark.parametrize("encoding", ["mp3", "opus"])
async def test_every_chunk_stands_alone_and_is_counted_exactly(server, connect, encoding) -> None:
    async with connect(server.url) as client:
        plain, plain_chunks, _ = await spoken(client, "pcm_s16le")
    async with connect(server.url) as client:
        audio, chunks, starts = await spoken(client, encoding)

    assert {key: chunk["samples"] for key, chunk in chunks.items()} == {
        key: len(plain.get(key, b"")) // 2 for key in plain_chunks
    }
    assert set(audio) == {("a", 0), ("a", 1), ("b", 0), ("b", 2)}
    for (context_id, chunk_id), data in audio.items():
        samples, rate = soundfile.read(io.BytesIO(bytes(data)), dtype="float32")
        exact = chunks[context_id, chunk_id]["samples"]
        added = len(samples) - exact
        assert added == 0 if encoding == "opus" else 0 <= added <= 2304
        letters = [c for c in TEXTS[context_id][chunk_id].lower() if c.isalpha()]
        heard = read_back(samples, rate)
        assert set(heard.replace("ɡ", "g")) == set(letters)
        assert starts[context_id, chunk_id][0] == 0
    assert chunks["b", 1]["samples"] == 0


@pytest.mark.parametrize("encoding", ["mp3", "opus"])
async def test_a_chunk_can_be_resumed_within(server, connect, encoding) -> None:
    """What was heard of it is left out before it is encoded, so that the count goes on."""
    text = "Hello there, my friend."
    async with connect(server.url) as client:
        await client.speak("a", text, 0, encoding=encoding)
        whole, _, _ = await client.until("chunk_done")
        await client.speak("b", text, 0, encoding=encoding, from_sample=12_000)
        rest, audio, messages = await client.until("chunk_done", "b")

    started = next(m for m in messages if m["type"] == "chunk_started" and m["context_id"] == "b")
    samples, _ = soundfile.read(io.BytesIO(bytes(audio["b", 0])), dtype="float32")
    assert started["first_sample"] == 12_000
    assert rest["samples"] == whole["samples"]
    left = whole["samples"] - 12_000
    assert left <= len(samples) <= left + (2304 if encoding == "mp3" else 0)


async def test_a_rate_that_opus_has_not_is_refused_before_anything_is_made(server, connect) -> None:
    async with connect(server.url) as client:
        await client.speak("a", "Hello.", 0, encoding="opus", sample_rate=44_100)
        error, _, _ = await client.until("error")

    assert (error["code"], error["chunk_id"]) == ("unsupported_sample_rate", 0)
