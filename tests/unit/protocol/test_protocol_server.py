"""Level: unit. The server's machine, one behaviour at a time."""

import json
from collections.abc import Callable

import pytest

from kokoro_sagemaker_agents.errors import InvalidInput, LocalProtocolError
from kokoro_sagemaker_agents.protocol import (
    Cancel,
    ChunkDone,
    ChunkStarted,
    Close,
    Configured,
    ContextCancelled,
    ContextDone,
    Draining,
    End,
    Error,
    ErrorCode,
    Pong,
    Ready,
    ServerEvent,
    ServerMessage,
    ServerProtocol,
    ServerWarning,
    SpeakRequested,
    SpeechOptions,
    Window,
    Word,
    WordTimestamps,
)

Read = Callable[[ServerProtocol], list[ServerMessage | bytes]]


def say(
    server: ServerProtocol, context_id: str, chunk_id: int, text: str = "Hi.", **more: object
) -> list[ServerEvent]:
    return tell(server, "speak", context_id=context_id, chunk_id=chunk_id, text=text, **more)


def tell(server: ServerProtocol, type: str, **fields: object) -> list[ServerEvent]:
    return server.receive(json.dumps({"type": type, **fields}))


def test_ready_comes_first_whenever_it_is_called(announcement: Ready, read: Read) -> None:
    server = ServerProtocol(announcement)
    tell(server, "ping")
    assert server.data_to_send() == []
    server.ready()
    assert read(server) == [announcement, Pong()]
    with pytest.raises(LocalProtocolError):
        server.ready()


def test_a_reply_of_two_chunks(server: ServerProtocol, read: Read) -> None:
    assert say(server, "c", 0) == [
        SpeakRequested(context_id="c", chunk_id=0, text="Hi.", options=SpeechOptions())
    ]
    say(server, "c", 1)
    assert tell(server, "end", context_id="c") == [End(context_id="c")]
    word = Word(text="Hi", start=0.0, end=0.1, char_start=0, char_end=2)
    assert server.words("c", 0, [word])
    assert server.audio("c", 0, b"\1\0" * 2400)
    assert server.audio("c", 0, b"\2\0" * 2400)
    assert server.chunk_done("c", 0, queue_ms=1.0, warnings=["emoji"])
    assert server.chunk_done("c", 1)  # silence
    assert read(server) == [
        WordTimestamps(context_id="c", chunk_id=0, words=(word,)),
        ChunkStarted(
            context_id="c", chunk_id=0, sample_rate=24000, encoding="pcm_s16le", first_sample=0
        ),
        b"\1\0" * 2400,
        b"\2\0" * 2400,
        ChunkDone(
            context_id="c",
            chunk_id=0,
            samples=4800,
            duration=0.2,
            queue_ms=1.0,
            warnings=("emoji",),
        ),
        ChunkDone(context_id="c", chunk_id=1, samples=0, duration=0.0),
        ContextDone(context_id="c", chunks=2, samples=4800, duration=0.2),
    ]
    assert server.contexts == ()


def test_switching_contexts_announces_where_each_goes_on(
    server: ServerProtocol, read: Read
) -> None:
    say(server, "a", 0)
    say(server, "b", 0)
    for context_id in "abab":
        server.audio(context_id, 0, b"xx" * 10)
    started = [m for m in read(server) if isinstance(m, ChunkStarted)]
    assert [(m.context_id, m.first_sample) for m in started] == [
        ("a", 0), ("b", 0), ("a", 10), ("b", 10),
    ]  # fmt: skip


def test_resuming_starts_at_the_sample_asked_for(server: ServerProtocol, read: Read) -> None:
    say(server, "c", 5, from_sample=1000)
    server.audio("c", 5, b"xx" * 200)
    server.chunk_done("c", 5)
    started, _, done = read(server)
    assert isinstance(started, ChunkStarted)
    assert isinstance(done, ChunkDone)
    assert (started.first_sample, done.samples, done.duration) == (1000, 1200, 0.05)


def test_configure_holds_for_later_speaks_and_speak_overrides(server: ServerProtocol) -> None:
    lexicon = {"en-us": {"Kokoro": "koh koh roh"}}
    [configured] = tell(
        server, "configure", voice="bf_emma", sample_rate=8000, lexicon=lexicon, preload=["Hello."]
    )
    options = SpeechOptions(voice="bf_emma", sample_rate=8000)
    assert configured == Configured(options=options, lexicon=lexicon, preload=("Hello.",))
    assert server.defaults == options
    [request] = say(server, "c", 0, speed=2)
    assert isinstance(request, SpeakRequested)
    assert request.options == SpeechOptions(voice="bf_emma", sample_rate=8000, speed=2.0)


def test_a_configure_that_is_partly_bad_changes_nothing(server: ServerProtocol, read: Read) -> None:
    assert tell(server, "configure", voice="bf_emma", language="xx") == []
    [error] = read(server)
    assert isinstance(error, Error)
    assert error.code == ErrorCode.UNSUPPORTED_LANGUAGE
    assert server.defaults == SpeechOptions()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"lexicon": {"xx": {"a": "b"}}}, ErrorCode.INVALID_LEXICON),
        ({"lexicon": {"en-us": {"a": "b" * 101}}}, ErrorCode.INVALID_LEXICON),
        ({"lexicon": {"en-us": {str(n): "b" for n in range(1001)}}}, ErrorCode.INVALID_LEXICON),
        ({"lexicon": ["a"]}, ErrorCode.INVALID_LEXICON),
        ({"preload": ["a", "b", "c"]}, ErrorCode.INVALID_PRELOAD),
        ({"preload": ["a" * 51]}, ErrorCode.INVALID_PRELOAD),
        ({"preload": "a"}, ErrorCode.INVALID_PRELOAD),
    ],
)
def test_lexicon_and_preload_are_bounded(
    server: ServerProtocol, read: Read, fields: dict[str, object], code: ErrorCode
) -> None:
    assert tell(server, "configure", **fields) == []
    [error] = read(server)
    assert isinstance(error, Error)
    assert error.code == code


def test_the_query_string_configures(server: ServerProtocol, read: Read) -> None:
    [event] = server.receive_query("voice=bf_emma&speed=1.5")
    assert isinstance(event, Configured)
    assert server.defaults == SpeechOptions(voice="bf_emma", speed=1.5)
    assert server.receive_query("speed=fast") == []
    [error] = read(server)
    assert isinstance(error, Error)
    assert error.code == ErrorCode.INVALID_SPEED


def test_the_server_s_own_check_refuses_a_voice(announcement: Ready, read: Read) -> None:
    def known(options: SpeechOptions) -> None:
        if options.voice not in announcement.voices:
            raise InvalidInput("no such voice", code=ErrorCode.UNKNOWN_VOICE)

    server = ServerProtocol(announcement, validate=known)
    server.ready()
    read(server)
    for chunk_id, voice in enumerate(("../../etc/passwd", "/etc/hostname.pt")):
        assert say(server, "c", chunk_id, voice=voice) == []
        assert read(server) == [
            Error(
                code="unknown_voice",
                message="no such voice",
                retryable=False,
                context_id="c",
                chunk_id=chunk_id,
            )
        ]
    assert len(say(server, "c", 2, voice="bf_emma")) == 1


def test_cancel_ends_the_context_at_once_and_late_work_is_dropped(
    server: ServerProtocol, read: Read
) -> None:
    say(server, "c", 0)
    say(server, "c", 1)
    server.audio("c", 0, b"xx" * 24)
    read(server)
    assert tell(server, "cancel", context_id="c") == [Cancel(context_id="c")]
    assert not server.audio("c", 0, b"yy")
    assert not server.words("c", 0, [])
    assert not server.chunk_done("c", 0)
    assert not server.chunk_failed("c", 1, "internal", "late")
    assert not server.warning("late", "c")
    assert not server.cancelled("c")
    assert read(server) == [ContextCancelled(context_id="c", chunks=0, samples=24, duration=0.001)]


def test_cancel_of_an_unknown_or_finished_context_is_ignored(
    server: ServerProtocol, read: Read
) -> None:
    assert tell(server, "cancel", context_id="never") == []
    tell(server, "end", context_id="c")
    assert read(server) == [ContextDone(context_id="c", chunks=0, samples=0, duration=0.0)]
    for type in ("cancel", "end", "window"):
        assert tell(server, type, context_id="c", samples=1) == []
    assert read(server) == []


def test_the_server_may_cancel_by_itself(server: ServerProtocol, read: Read) -> None:
    say(server, "c", 0)
    assert server.cancelled("c")
    assert [type(m) for m in read(server)] == [ContextCancelled]


def test_speaking_in_an_ended_context_is_an_error_of_that_chunk(
    server: ServerProtocol, read: Read
) -> None:
    say(server, "c", 0)
    tell(server, "end", context_id="c")
    assert say(server, "c", 1) == []
    [error] = read(server)
    assert isinstance(error, Error)
    assert (error.code, error.context_id, error.chunk_id) == ("context_finished", "c", 1)
    server.chunk_done("c", 0)
    assert [type(m) for m in read(server)] == [ChunkDone, ContextDone]


def test_a_repeated_end_means_nothing(server: ServerProtocol, read: Read) -> None:
    say(server, "c", 0)
    assert len(tell(server, "end", context_id="c")) == 1
    assert tell(server, "end", context_id="c") == []
    server.chunk_done("c", 0)
    assert [type(m) for m in read(server)] == [ChunkDone, ContextDone]


def test_no_frame_names_a_context_after_its_end(server: ServerProtocol, read: Read) -> None:
    tell(server, "end", context_id="c")
    read(server)
    say(server, "c", 0)
    say(server, "c", 1, speed=0)
    tell(server, "window", context_id="c", samples=-1)
    errors = read(server)
    assert [(m.code, m.context_id) for m in errors if isinstance(m, Error)] == [
        ("context_finished", None), ("context_finished", None), ("invalid_message", None),
    ]  # fmt: skip


def test_a_reused_chunk_id_answers_the_second_and_the_first_goes_on(
    server: ServerProtocol, read: Read
) -> None:
    say(server, "c", 3)
    server.audio("c", 3, b"xx" * 5)
    read(server)
    assert say(server, "c", 3, text="other") == []
    assert say(server, "c", 2, speed="fast") == []
    server.audio("c", 3, b"xx" * 5)
    server.chunk_done("c", 3)
    first, second, again, _, done = read(server)
    assert isinstance(first, Error)
    assert isinstance(second, Error)
    assert (first.code, first.chunk_id) == ("chunk_id_reused", 3)
    assert (second.code, second.chunk_id) == ("chunk_id_reused", 2)
    assert isinstance(again, ChunkStarted)
    assert again.first_sample == 5
    assert isinstance(done, ChunkDone)
    assert done.samples == 10


def test_too_many_contexts_refuses_the_context_and_ends_it(
    server: ServerProtocol, read: Read
) -> None:
    for context_id in "abc":
        say(server, context_id, 0)
    assert say(server, "d", 0) == []
    error, end = read(server)
    assert isinstance(error, Error)
    assert (error.code, error.context_id, error.retryable) == ("too_many_contexts", "d", True)
    assert end == ContextCancelled(context_id="d", chunks=0, samples=0, duration=0.0)
    tell(server, "cancel", context_id="a")
    assert len(say(server, "e", 0)) == 1
    # one that only ends needs no room
    tell(server, "end", context_id="f")
    assert [type(m) for m in read(server)] == [ContextCancelled, ContextDone]


def test_a_full_queue_refuses_until_something_is_answered(
    server: ServerProtocol, read: Read
) -> None:
    for chunk_id in range(4):
        say(server, "c", chunk_id)
    assert say(server, "c", 4) == []
    assert [(m.code, m.chunk_id) for m in read(server) if isinstance(m, Error)] == [
        ("queue_full", 4)
    ]
    server.chunk_done("c", 0)
    assert len(say(server, "c", 5)) == 1
    read(server)
    assert len(say(server, "d", 0, text="x" * 50)) == 1
    assert len(say(server, "e", 0, text="x" * 50)) == 1
    assert say(server, "e", 1, text="x" * 50) == []  # 120 characters on the connection
    assert [(m.code, m.context_id) for m in read(server) if isinstance(m, Error)] == [
        ("queue_full", "e")
    ]
    tell(server, "cancel", context_id="d")  # gives its characters back
    assert len(say(server, "e", 2, text="x" * 50)) == 1
    assert say(server, "e", 3, text="x" * 50) == []
    server.chunk_done("e", 0)  # so does an answer
    assert len(say(server, "e", 4, text="x" * 50)) == 1


def test_credit_is_granted_and_used(server: ServerProtocol) -> None:
    say(server, "c", 0)
    assert server.credit("c") is None
    assert tell(server, "window", context_id="c", samples=100) == [
        Window(context_id="c", samples=100)
    ]
    server.audio("c", 0, b"xx" * 120)
    assert server.credit("c") == -20
    tell(server, "window", context_id="c", samples=50)
    assert server.credit("c") == 30
    # a window may be the first thing said of a context
    assert tell(server, "window", context_id="d", samples=7) == [Window(context_id="d", samples=7)]
    assert server.credit("d") == 7


def test_a_failed_chunk_disturbs_no_other(server: ServerProtocol, read: Read) -> None:
    for chunk_id in range(3):
        say(server, "c", chunk_id)
    tell(server, "end", context_id="c")
    server.audio("c", 0, b"xx")
    assert server.chunk_failed("c", 1, ErrorCode.SYNTHESIS_FAILED, "lost\ud800")
    assert not server.chunk_done("c", 1)
    server.audio("c", 0, b"xx")
    server.chunk_done("c", 0)
    server.chunk_done("c", 2)
    kinds = [type(m) for m in read(server)]
    assert kinds == [ChunkStarted, bytes, Error, bytes, ChunkDone, ChunkDone, ContextDone]


def test_the_caller_is_stopped_from_breaking_the_order(server: ServerProtocol) -> None:
    say(server, "c", 0)
    say(server, "c", 1)
    with pytest.raises(LocalProtocolError, match="first answer 0"):
        server.audio("c", 1, b"xx")
    with pytest.raises(LocalProtocolError, match="first answer 0"):
        server.chunk_done("c", 1)
    with pytest.raises(LocalProtocolError, match="never requested"):
        server.audio("c", 9, b"xx")
    with pytest.raises(LocalProtocolError, match="whole"):
        server.audio("c", 0, b"xxx")
    with pytest.raises(LocalProtocolError, match="5 samples"):
        server.audio("c", 0, b"xx", 5)


def test_compressed_audio_is_counted_by_the_caller(server: ServerProtocol, read: Read) -> None:
    say(server, "c", 0, encoding="mp3", from_sample=10)
    with pytest.raises(LocalProtocolError, match="mp3"):
        server.audio("c", 0, b"...")
    server.audio("c", 0, b"", samples=1000)  # the encoder kept it
    server.audio("c", 0, b"abc", samples=152)
    server.audio("c", 0, b"tail", samples=0)
    server.chunk_done("c", 0)
    started, *audio, done = read(server)
    assert isinstance(started, ChunkStarted)
    assert isinstance(done, ChunkDone)
    assert (started.first_sample, audio, done.samples) == (10, [b"abc", b"tail"], 1162)


def test_ping_draining_and_warning(server: ServerProtocol, read: Read) -> None:
    assert tell(server, "ping", id=9) == []
    server.draining(20.0)
    assert server.warning("slow")
    assert read(server) == [Pong(id=9), Draining(deadline_s=20.0), ServerWarning(message="slow")]


def test_after_close_nothing_is_wanted(server: ServerProtocol, read: Read) -> None:
    say(server, "c", 0)
    assert tell(server, "close") == [Close()]
    assert server.closed
    assert not server.audio("c", 0, b"xx")
    assert say(server, "d", 0) == []
    assert server.receive(b"garbage\xff") == []
    assert read(server) == []


def test_memory_of_finished_contexts_is_bounded(server: ServerProtocol) -> None:
    for number in range(5000):
        tell(server, "end", context_id=f"context-{number}")
    server.data_to_send()
    assert say(server, "context-4999", 0) == []  # still known as finished
    assert len(server._finished._names) <= 1024
    assert server.contexts == ()
