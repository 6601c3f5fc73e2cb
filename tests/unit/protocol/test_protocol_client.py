"""Level: unit. The client's machine, one behaviour at a time."""

import json

import pytest

from kokoro_sagemaker_agents.errors import InvalidInput, LocalProtocolError
from kokoro_sagemaker_agents.protocol import (
    AudioReceived,
    ChunkDone,
    ChunkStarted,
    ClientEvent,
    ClientProtocol,
    ContextCancelled,
    ContextDone,
    Draining,
    Error,
    Pong,
    ProtocolViolated,
    Ready,
    ServerMessage,
    ServerWarning,
    Word,
    WordTimestamps,
    encode,
)


@pytest.fixture
def client(announcement: Ready) -> ClientProtocol:
    """A client that has seen `ready`."""
    machine = ClientProtocol()
    machine.receive(encode(announcement))
    return machine


def sent(client: ClientProtocol) -> list[dict[str, object]]:
    return [json.loads(frame) for frame in client.data_to_send()]


def get(client: ClientProtocol, *frames: ServerMessage | bytes) -> list[ClientEvent]:
    return [
        event
        for frame in frames
        for event in client.receive(frame if isinstance(frame, bytes) else encode(frame))
    ]


def started(
    chunk_id: int = 0, first_sample: int = 0, context_id: str = "c", encoding: str = "pcm_s16le"
) -> ChunkStarted:
    return ChunkStarted(
        context_id=context_id,
        chunk_id=chunk_id,
        sample_rate=24000,
        encoding=encoding,
        first_sample=first_sample,
    )


def done(chunk_id: int = 0, samples: int = 0, context_id: str = "c") -> ChunkDone:
    return ChunkDone(
        context_id=context_id, chunk_id=chunk_id, samples=samples, duration=samples / 24000
    )


def context_done(context_id: str = "c") -> ContextDone:
    return ContextDone(context_id=context_id, chunks=1, samples=0, duration=0.0)


def context_cancelled(context_id: str = "c") -> ContextCancelled:
    return ContextCancelled(context_id=context_id, chunks=0, samples=0, duration=0.0)


def failed(chunk_id: int | None = 0, context_id: str | None = "c", code: str = "internal") -> Error:
    return Error(code=code, message="m", retryable=False, context_id=context_id, chunk_id=chunk_id)


def test_requests_become_frames_in_order_even_before_ready() -> None:
    client = ClientProtocol()
    client.configure(voice="bf_emma", encoding="pcm_s16le")
    client.window("c", 48000)
    assert client.speak("c", "One.") == 0
    assert client.speak("c", "Two.", speed=1.5, from_sample=7) == 1
    assert client.speak("c", "Nine.", chunk_id=9) == 9
    assert client.speak("c", "Ten.") == 10
    client.end("c")
    client.ping(1)
    client.close()
    assert [(frame["type"], frame.get("chunk_id")) for frame in sent(client)] == [
        ("configure", None), ("window", None), ("speak", 0), ("speak", 1), ("speak", 9),
        ("speak", 10), ("end", None), ("ping", None), ("close", None),
    ]  # fmt: skip
    assert client.data_to_send() == []


def test_audio_comes_out_with_its_place(client: ClientProtocol) -> None:
    client.speak("c", "One.", from_sample=100)
    client.speak("d", "Other.", encoding="pcm_mulaw")
    events = get(
        client,
        started(first_sample=100),
        b"xx" * 10,
        b"xx" * 5,
        started(context_id="d", encoding="pcm_mulaw"),
        b"u" * 8,
        started(first_sample=115),
        b"xx" * 2,
        done(samples=117),
        started(context_id="d", first_sample=8, encoding="pcm_mulaw"),
        b"u",
    )
    audio = [event for event in events if isinstance(event, AudioReceived)]
    assert [(a.context_id, a.first_sample, a.samples) for a in audio] == [
        ("c", 100, 10), ("c", 110, 5), ("d", 0, 8), ("c", 115, 2), ("d", 8, 1),
    ]  # fmt: skip
    assert audio[2].encoding == "pcm_mulaw"
    assert [e for e in events if not isinstance(e, AudioReceived)] == [done(samples=117)]
    assert client.unanswered("c") == ()
    assert client.unanswered("d") == (0,)


def test_compressed_audio_has_a_place_only_where_the_server_says_it(
    client: ClientProtocol,
) -> None:
    client.speak("c", "One.", encoding="mp3")
    events = get(
        client,
        started(encoding="mp3"),
        b"abc",
        b"de",
        started(encoding="mp3", first_sample=2304),
        b"f",
        done(samples=3000),
    )
    assert [(e.first_sample, e.samples) for e in events if isinstance(e, AudioReceived)] == [
        (0, None), (None, None), (2304, None),
    ]  # fmt: skip
    assert events[-1] == done(samples=3000)


def test_messages_are_passed_on(client: ClientProtocol) -> None:
    client.speak("c", "One.")
    client.speak("c", "Two.")
    client.end("c")
    word = Word(text="One", start=0.0, end=0.2, char_start=0, char_end=3)
    messages: list[ServerMessage] = [
        WordTimestamps(context_id="c", chunk_id=0, words=(word,)),
        ServerWarning(message="slow", context_id="c"),
        failed(chunk_id=1),
        done(),
        context_done(),
        Pong(id=1),
        Draining(deadline_s=9.0),
        failed(None, None, "draining"),
        ServerWarning(message="busy"),
    ]
    assert get(client, *messages) == messages
    assert client.contexts == ()


def test_after_cancel_only_the_terminal_comes_out(client: ClientProtocol) -> None:
    client.speak("c", "One.")
    client.speak("c", "Two.")
    client.speak("d", "Other.")
    get(client, started(), b"xx")
    assert client.cancel("c")
    assert client.cancel("c")
    assert client.contexts == ("c", "d")
    late: list[ServerMessage | bytes] = [
        b"xx",
        started(context_id="d"),
        started(first_sample=2),
        b"xx",
        done(samples=3),
        WordTimestamps(context_id="c", chunk_id=1, words=()),
        started(chunk_id=1),
        b"xx",
        failed(chunk_id=1),
        ServerWarning(message="late", context_id="c"),
    ]
    assert get(client, *late) == []
    assert get(client, context_cancelled()) == [context_cancelled()]
    assert not client.cancel("c")
    [event] = get(client, started(context_id="d"), b"xx")
    assert isinstance(event, AudioReceived)
    assert [frame["type"] for frame in sent(client)].count("cancel") == 1


def test_context_done_may_cross_the_cancel(client: ClientProtocol) -> None:
    client.speak("c", "One.")
    client.end("c")
    client.cancel("c")
    assert get(client, done(), context_done()) == [context_done()]
    assert client.contexts == ()


def test_cancel_of_a_context_that_never_began_sends_nothing(client: ClientProtocol) -> None:
    assert not client.cancel("c")
    assert sent(client) == []


def test_a_context_the_server_refuses(client: ClientProtocol) -> None:
    client.speak("c", "One.")
    client.end("c")
    refused = failed(code="too_many_contexts")
    assert get(client, refused, context_cancelled()) == [refused, context_cancelled()]
    with pytest.raises(LocalProtocolError):
        client.speak("c", "again")


def test_misuse_raises_and_sends_nothing(client: ClientProtocol) -> None:
    client.speak("c", "One.", chunk_id=4)
    client.speak("d", "One.")
    client.end("c")
    client.cancel("d")
    sent(client)
    with pytest.raises(LocalProtocolError, match="new context_id"):
        client.speak("c", "more")
    with pytest.raises(LocalProtocolError, match="new context_id"):
        client.speak("d", "more")
    with pytest.raises(InvalidInput, match="speed"):
        client.speak("e", "more", speed=9)
    with pytest.raises(InvalidInput, match="context_id"):
        client.end("no spaces")
    with pytest.raises(InvalidInput, match="voice"):
        client.configure(voice="v" * 10_000)
    with pytest.raises(InvalidInput, match="samples"):
        client.window("c", -1)
    client.speak("f", "One.", chunk_id=4)
    with pytest.raises(LocalProtocolError, match="count upwards"):
        client.speak("f", "Two.", chunk_id=4)
    assert [frame["type"] for frame in sent(client)] == ["speak"]
    get(client, done(4), context_done())
    with pytest.raises(LocalProtocolError):  # finished: the name is spent
        client.speak("c", "again")
    client.end("c")
    client.window("c", 5)
    assert sent(client) == []


def test_repeated_end_is_sent_once(client: ClientProtocol) -> None:
    client.end("c")
    client.end("c")
    assert [frame["type"] for frame in sent(client)] == ["end"]
    assert get(client, context_done()) == [context_done()]


def test_after_close_requests_raise_and_frames_are_ignored(client: ClientProtocol) -> None:
    client.speak("c", "One.")
    client.close()
    client.close()
    assert get(client, started(), b"xx", done(samples=1)) == []
    for request in (
        lambda: client.speak("d", "x"),
        lambda: client.end("c"),
        lambda: client.window("c", 1),
        lambda: client.cancel("c"),
        lambda: client.ping(),
        lambda: client.configure(),
    ):
        with pytest.raises(LocalProtocolError, match="close"):
            request()
    assert [frame["type"] for frame in sent(client)] == ["speak", "close"]


@pytest.mark.parametrize(
    ("frames", "what"),
    [
        ([b"xx"], "no chunk was announced"),
        ([started(), done(), b"xx"], "no chunk was announced"),
        ([started(), failed(), b"xx"], "no chunk was announced"),
        ([started(), context_cancelled(), b"xx"], "no chunk was announced"),
        ([started(), b"xxx"], "whole"),
        ([started(1)], "before chunk 0 was done"),
        ([started(5)], "never asked"),
        ([started(first_sample=3)], "0 is next"),
        ([started(), b"xx", started(first_sample=0)], "1 is next"),
        ([started(), started(encoding="pcm_mulaw")], "midway"),
        ([done(1)], "before chunk 0 was done"),
        ([done(7)], "never asked"),
        ([done(), done()], "answered already"),
        ([started(), b"xx", done(samples=2)], "up to 1"),
        ([done(samples=2)], "up to 0"),
        ([failed(7)], "never asked"),
        ([done(context_id="other")], "none of ours"),
        ([failed(context_id="other")], "none of ours"),
        ([context_done()], "not at that point"),
        ([context_done("ended")], "unanswered"),
        ([context_cancelled(), done()], "over"),
        ([context_cancelled(), context_cancelled()], "over"),
        ([WordTimestamps(context_id="c", chunk_id=9, words=())], "never asked"),
    ],
)
def test_a_server_that_breaks_the_rules_is_reported(
    client: ClientProtocol, frames: list[ServerMessage | bytes], what: str
) -> None:
    client.speak("c", "One.")
    client.speak("c", "Two.")
    client.speak("ended", "One.")
    client.end("ended")
    assert not any(isinstance(e, ProtocolViolated) for e in get(client, *frames[:-1]))
    [event] = get(client, frames[-1])
    assert isinstance(event, ProtocolViolated)
    assert what in event.message


def test_audio_after_a_bad_announcement_goes_to_no_chunk(client: ClientProtocol) -> None:
    client.speak("c", "One.")
    client.speak("c", "Two.")
    get(client, started(), b"xx", started(1))
    [event] = get(client, b"yy")
    assert isinstance(event, ProtocolViolated)


@pytest.mark.parametrize("frame", ["", "null", "[]", '{"type":"speak"}', "\ud800", "[" * 100_000])
def test_undecodable_text_is_reported(client: ClientProtocol, frame: str) -> None:
    [event] = client.receive(frame)
    assert isinstance(event, ProtocolViolated)


def test_ready_is_first_and_once_and_of_our_version(announcement: Ready) -> None:
    client = ClientProtocol()
    assert client.ready is None
    [early] = get(client, Pong())
    assert isinstance(early, ProtocolViolated)
    assert get(client, announcement) == [announcement]
    assert client.ready == announcement
    [twice] = get(client, announcement)
    assert isinstance(twice, ProtocolViolated)
    newer = Ready(protocol=2, instance_id="i", model="m", engine="e", voices=(), languages=())
    [other] = get(ClientProtocol(), newer)
    assert isinstance(other, ProtocolViolated)
    assert "protocol 2" in other.message
