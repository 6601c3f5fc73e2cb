"""The AWS sample's WebSocket messages before our protocol's machine, without I/O."""

import json
from typing import Any

import pytest

from kokoro_container.aws_sample import SampleMessages
from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.protocol import (
    Limits,
    Ready,
    ServerProtocol,
    SpeakRequested,
    SpeechOptions,
)

NOW_S = 1_760_000_000.0


def no_such_voice(options: SpeechOptions) -> None:
    if options.voice == "nobody":
        raise InvalidInput("there is no voice nobody here", code="unknown_voice")


class Server:
    """A connection's part: hands frames in, speaks, and collects what the client gets."""

    def __init__(self, limits: Limits | None = None) -> None:
        ready = Ready(
            instance_id="i",
            model="m",
            engine="tone",
            voices=("af_heart",),
            languages=("en-us",),
            encodings=("pcm_s16le",),
            limits=limits or Limits(),
        )
        self.now = 0.0
        self.machine = ServerProtocol(ready, validate=no_such_voice)
        self.messages = SampleMessages(
            self.machine, 56.0, clock=lambda: self.now, wall_clock=lambda: NOW_S
        )
        self.machine.ready()
        self.asked: list[SpeakRequested] = []
        self.closed = False
        self.sent()

    def receives(self, frame: Any) -> list[Any]:
        """What the client is sent because of this."""
        if isinstance(frame, dict):
            frame = json.dumps(frame)
        events = self.messages.receive(frame)
        self.asked += [event for event in events if isinstance(event, SpeakRequested)]
        return self.sent()

    def audio(self, data: bytes) -> list[Any]:
        self.machine.audio(self.asked[0].context_id, self.asked[0].chunk_id, data)
        return self.sent()

    def done(self, *warnings: str) -> list[Any]:
        asked = self.asked.pop(0)
        self.machine.chunk_done(asked.context_id, asked.chunk_id, warnings=warnings)
        return self.sent()

    def failed(self, code: str) -> list[Any]:
        asked = self.asked.pop(0)
        self.machine.chunk_failed(asked.context_id, asked.chunk_id, code, "no luck")
        return self.sent()

    def sent(self) -> list[Any]:
        self.closed = self.messages.settle() or self.closed
        frames = self.messages.data_to_send()
        return [frame if isinstance(frame, bytes) else json.loads(frame) for frame in frames]


@pytest.mark.parametrize("as_bytes", [False, True])
def test_a_message_is_answered_in_the_samples_words(as_bytes: bool) -> None:
    """SageMaker hands the sample client's messages on in binary frames."""
    server = Server()
    request = {
        "text": "Grüße",
        "voice": "af_heart",
        "speed": 1.5,
        "sample_rate": 16_000,
        "request_id": "r-1",
        "request_timestamp": NOW_S - 2,
    }
    frame = json.dumps(request, ensure_ascii=False)

    started = server.receives(frame.encode() if as_bytes else frame)
    audio = server.audio(b"\x01\x02" * 1600)
    server.now += 0.25
    complete = server.done()

    assert started == [{"type": "synthesis_start", "request_id": "r-1"}]
    assert audio == [b"\x01\x02" * 1600]
    assert complete == [
        {
            "type": "synthesis_complete",
            "request_id": "r-1",
            "total_duration_s": 0.1,
            "elapsed_s": 0.25,
        }
    ]


def test_what_was_asked_for_arrives() -> None:
    server = Server()
    server.receives({"text": "Hi.", "speed": 1.5, "sample_rate": 16_000})

    (asked,) = server.asked
    assert (asked.text, asked.options.speed, asked.options.sample_rate) == ("Hi.", 1.5, 16_000)


def test_messages_that_wait_are_answered_one_after_the_other() -> None:
    server = Server()

    frames = [server.receives({"text": "a", "request_id": f"r-{n}"}) for n in range(3)]
    assert frames == [[{"type": "synthesis_start", "request_id": "r-0"}], [], []]
    assert [asked.chunk_id for asked in server.asked] == [0, 1, 2]  # the engine knows of all

    server.audio(b"\x00\x00")
    kinds = [(m["type"], m["request_id"]) for m in server.done()]
    assert kinds == [("synthesis_complete", "r-0"), ("synthesis_start", "r-1")]
    kinds = [(m["type"], m["request_id"]) for m in server.failed("synthesis_failed")]
    assert kinds == [("error", "r-1"), ("synthesis_start", "r-2")]
    assert [m["type"] for m in server.done()] == ["synthesis_complete"]


def test_nothing_is_kept_of_what_is_over() -> None:
    """An idle session must not hold back a server that wants to close."""
    server = Server()
    for _ in range(3):
        server.receives({"text": "a"})
        assert server.machine.contexts
        server.done()
        assert not server.machine.contexts


def test_a_message_without_an_id_gets_one() -> None:
    server = Server()

    (start,) = server.receives({"text": "a"})
    (complete,) = server.done("nothing to speak: a")

    assert start["request_id"] == complete["request_id"] != ""
    assert complete["warnings"] == ["nothing to speak: a"]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"text": ""}, "invalid_message"),
        ({"text": 3}, "invalid_message"),
        ({"text": None}, "invalid_message"),
        ({"text": "a", "voice": "nobody"}, "unknown_voice"),
        ({"text": "a", "voice": [[]]}, "invalid_voice"),
        ({"text": "a", "speed": "fast"}, "invalid_speed"),
        ({"text": "a", "sample_rate": 1}, "unsupported_sample_rate"),
        ({"text": "a" * 30_000}, "text_too_long"),
        ({"text": "a", "request_timestamp": NOW_S - 60}, "request_stale"),
        ({"text": "a", "request_timestamp": "x"}, "invalid_message"),
        ({"text": "a", "request_id": {"n": 1}}, "invalid_message"),
    ],
)
def test_what_cannot_be_spoken_is_an_error_with_its_id(fields: dict[str, Any], code: str) -> None:
    """The code stands in the message too: that is all the sample's clients look at."""
    server = Server()

    (error,) = server.receives({"request_id": "r-1"} | fields)

    assert (error["type"], error["code"]) == ("error", code)
    assert error["request_id"] == "r-1" or "request_id" in fields
    assert error["message"].startswith(f"{code}: ")
    (start,) = server.receives({"text": "a", "request_id": "r-2"})
    assert start == {"type": "synthesis_start", "request_id": "r-2"}


@pytest.mark.parametrize("code", ["overloaded", "queue_full"])
def test_no_room_has_the_samples_name(code: str) -> None:
    server = Server()
    server.receives({"text": "a"})

    (error,) = server.failed(code)

    assert error["code"] == "queue_saturated"
    assert error["retryable"]
    assert error["message"].startswith("queue_saturated")


def test_the_queue_is_bounded() -> None:
    server = Server(Limits(queued_chunks=2))
    server.receives({"text": "a", "request_id": "r-0"})
    server.receives({"text": "a", "request_id": "r-1"})

    (error,) = server.receives({"text": "a", "request_id": "r-2"})

    assert (error["request_id"], error["code"]) == ("r-2", "queue_saturated")


def test_close_waits_for_what_was_asked_before() -> None:
    server = Server()
    server.receives({"text": "a"})

    server.receives({"type": "close"})
    assert not server.closed
    assert server.receives({"text": "too late"}) == []
    assert [m["type"] for m in server.done()] == ["synthesis_complete"]

    assert server.closed
    assert server.machine.closed


def test_close_of_an_idle_session_is_at_once() -> None:
    server = Server()
    server.receives({"text": "a"})
    server.done()

    server.receives({"type": "close"})

    assert server.closed


def test_a_session_speaks_one_of_the_two_vocabularies() -> None:
    speak = {"type": "speak", "context_id": "a", "chunk_id": 0, "text": 'say "type" aloud'}
    ours, sample = Server(), Server()

    assert ours.receives(speak) == []
    assert ours.audio(b"\x00\x00")[0]["type"] == "chunk_started"
    assert ours.receives({"text": "a"})[0]["code"] == "invalid_message"
    assert sample.receives({"text": 'say "type" aloud'})[0]["type"] == "synthesis_start"
    assert sample.receives(speak)[0]["code"] == "invalid_message"
    assert len(sample.asked) == 1


def test_the_rest_of_our_protocol_goes_on_working() -> None:
    server = Server()
    server.receives({"type": "configure", "sample_rate": 8000})
    server.receives({"text": "a"})

    assert server.receives({"type": "ping"}) == [{"type": "pong"}]
    assert server.receives("{broken")[0]["code"] == "invalid_json"
    assert server.asked[0].options.sample_rate == 8000


@pytest.mark.parametrize("frame", ["{}", "[]", "null", '{"voice": "a"}', "{", b"\xff\xfe", "3"])
def test_what_is_neither_is_our_protocols_error(frame: str | bytes) -> None:
    (error,) = Server().receives(frame)

    assert error["code"] in ("invalid_json", "invalid_message", "unexpected_audio")
