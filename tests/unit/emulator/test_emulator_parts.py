"""The emulator's pure parts: faults, times, mapping, what it accepts."""

import asyncio
import json

import pytest
from websockets.frames import Opcode

pytest.importorskip("h2", reason="the extra [emulator] is not installed")

from kokoro_sagemaker_agents.emulator import Clock, Fault, FaultPlan, Kind, Place
from kokoro_sagemaker_agents.emulator.eventstream import InvalidEvent, Message
from kokoro_sagemaker_agents.emulator.faults import StreamFaults
from kokoro_sagemaker_agents.emulator.lifetime import Due, Lifetime
from kokoro_sagemaker_agents.emulator.mapping import FramesToParts, PartsToFrames, closing
from kokoro_sagemaker_agents.emulator.refusals import Refused
from kokoro_sagemaker_agents.emulator.requests import Call


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("reset", Fault(Kind.RESET, Place.AUDIO)),
        ("reset@audio:3", Fault(Kind.RESET, Place.AUDIO, 3)),
        ("abort@open", Fault(Kind.ABORT, Place.OPEN)),
        ("refuse", Fault(Kind.REFUSE, Place.OPEN)),
        ("slow,delay_s=0.3", Fault(Kind.SLOW, Place.OPEN, delay_s=0.3)),
        (
            "error,status=403,error=AccessDeniedException, times=2",
            Fault(Kind.ERROR, status=403, error="AccessDeniedException", times=2),
        ),
        ("stall@input:2,endpoint=b", Fault(Kind.STALL, Place.INPUT, 2, endpoint="b")),
    ],
)
def test_a_fault_is_read_as_it_is_written(text: str, fault: Fault) -> None:
    assert Fault.parse(text) == fault


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("explode", "use one of reset"),
        ("reset@nowhere", "use one of open, input"),
        ("reset@audio:many", "'many'; give a number"),
        ("reset,colour=red", "no option 'colour'"),
        ("reset,times=0", "times of 1 or more"),
        ("error,status=200", "400 to 599"),
        ("stall@open", "needs an open stream"),
        ("refuse@audio", "only happen at the opening"),
    ],
)
def test_what_is_no_fault_is_refused_in_words(text: str, advice: str) -> None:
    with pytest.raises(ValueError, match=advice):
        Fault.parse(text)


def test_faults_strike_where_and_as_often_as_they_should() -> None:
    plan = FaultPlan(["reset@audio:1,times=2", "end@output:3", "abort@input,endpoint=other"])
    first, second = StreamFaults(plan, "kokoro"), StreamFaults(plan, "kokoro", "stall@input:1")

    assert [first.output(audio=audio) for audio in (False, True, False)] == [None, None, None]
    assert (fault := first.output(audio=True)) is not None
    assert fault.kind is Kind.RESET
    assert [second.input(), second.output(audio=True)] == [None, None]
    assert (stall := second.input()) is not None
    assert stall.kind is Kind.STALL
    assert (again := second.output(audio=True)) is not None
    assert again.kind is Kind.RESET
    assert [fault.kind for fault in plan.pending] == [Kind.END, Kind.ABORT]


def test_a_session_is_pinged_and_ends_at_its_limit() -> None:
    life, pinged = Lifetime(100.0), []
    while (now := life.next_s()) < 100 + 30 * 60:
        if life.due(now) is Due.PING:
            pinged.append(now)
        life.pong()

    assert pinged == [100.0 + 60 * n for n in range(1, 30)]
    assert life.due(100 + 30 * 60) is Due.LIMIT


def test_five_unanswered_pings_end_a_session_however_the_clock_jumps() -> None:
    life = Lifetime(0.0, limit_s=1e9)
    assert [life.due(60.0 * n) for n in range(1, 7)] == [Due.PING] * 5 + [Due.UNANSWERED]

    jumping = Lifetime(0.0, limit_s=1e9)
    assert jumping.due(10_000.0) is Due.PING
    assert jumping.due(10_000.0) is None


async def test_a_stopped_clock_moves_by_hand_alone() -> None:
    clock = Clock(0)
    task = asyncio.ensure_future(clock.sleep(1800))
    await asyncio.sleep(0)
    clock.advance(1799)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not task.done()
    clock.advance(1)
    await asyncio.wait_for(task, 10)
    assert clock.now() == 1800


async def test_a_fast_clock_is_fast() -> None:
    clock = Clock(36_000)  # an hour in a tenth of a second
    await asyncio.wait_for(clock.sleep(3600), 10)
    assert clock.now() >= 3600


def part(data_type: str | None, state: str | None) -> Message:
    headers = {":message-type": "event", ":event-type": "PayloadPart"}
    given = {"DataType": data_type, "CompletionState": state}
    return Message(headers | {key: value for key, value in given.items() if value is not None})


def test_parts_become_frames_of_their_kind() -> None:
    frames = PartsToFrames()
    table = [
        (part("UTF8", "COMPLETE"), (Opcode.TEXT, True)),
        (part("BINARY", None), (Opcode.BINARY, True)),
        (part(None, None), (Opcode.BINARY, True)),
        (part("UTF8", "PARTIAL"), (Opcode.TEXT, False)),
        (part("UTF8", "PARTIAL"), (Opcode.CONT, False)),
        (part(None, "COMPLETE"), (Opcode.CONT, True)),
        (part("UTF8", None), (Opcode.TEXT, True)),
    ]
    assert [frames.frame(message) for message, _ in table] == [frame for _, frame in table]


@pytest.mark.parametrize(
    "message",
    [part("TEXT", None), part(None, "DONE"), Message({":message-type": "event"}), Message()],
)
def test_no_other_event_becomes_a_frame(message: Message) -> None:
    with pytest.raises(InvalidEvent):
        PartsToFrames().frame(message)


def test_frames_become_parts_of_their_kind() -> None:
    parts = FramesToParts()
    frames = [(Opcode.TEXT, False), (Opcode.CONT, True), (Opcode.BINARY, True)]
    made = [parts.part(opcode, final, b"x") for opcode, final in frames]

    assert [(p.headers["DataType"], p.headers["CompletionState"]) for p in made] == [
        ("UTF8", "PARTIAL"),
        ("UTF8", "COMPLETE"),
        ("BINARY", "COMPLETE"),
    ]
    assert {p.payload for p in made} == {b"x"}


def test_a_close_is_told_with_its_code_and_reason() -> None:
    told = closing(1011, "out of memory", normal_is_error=False)
    assert told is not None
    assert told.headers[":exception-type"] == "ModelStreamError"
    assert "1011 out of memory" in json.loads(told.payload)["Message"]
    assert closing(1000, "", normal_is_error=False) is None
    assert closing(1000, "", normal_is_error=True) is not None
    assert closing(1006, "", normal_is_error=False) is not None


STREAM = "/endpoints/kokoro/invocations-bidirectional-stream"


def test_path_and_headers_say_what_is_called() -> None:
    headers = {
        "x-amzn-sagemaker-target-variant": "v-1",
        "x-amzn-sagemaker-model-invocation-path": "v1/speak",
        "x-amzn-sagemaker-model-query-string": "voice=af_heart&speed=1.2&text=%C3%A4",
    }
    call = Call.of(STREAM, headers)
    assert call is not None
    assert (call.endpoint, call.variant) == ("kokoro", "v-1")
    assert call.target == "/v1/speak?voice=af_heart&speed=1.2&text=%C3%A4"
    plain = Call.of(STREAM, {})
    assert plain is not None
    assert plain.target == "/invocations-bidirectional-stream"
    assert Call.of("/", {}) is None
    assert Call.of("/endpoints/kokoro/train", {}) is None


@pytest.mark.parametrize(
    ("path", "headers", "name"),
    [
        (STREAM.replace("kokoro", "-k"), {}, "EndpointName"),
        (STREAM.replace("kokoro", "k" * 64), {}, "EndpointName"),
        (STREAM, {"x-amzn-sagemaker-target-variant": "a_b"}, "TargetVariant"),
        (STREAM, {"x-amzn-sagemaker-model-invocation-path": "/speak"}, "ModelInvocationPath"),
        (STREAM, {"x-amzn-sagemaker-model-invocation-path": "a" * 101}, "ModelInvocationPath"),
        (STREAM, {"x-amzn-sagemaker-model-query-string": "voice="}, "ModelQueryString"),
        (STREAM, {"x-amzn-sagemaker-model-query-string": "voice=a+b"}, "ModelQueryString"),
        (STREAM, {"x-amzn-sagemaker-model-query-string": "a=" + "b" * 2048}, "ModelQueryString"),
    ],
)
def test_what_breaks_the_services_patterns_is_refused(
    path: str, headers: dict[str, str], name: str
) -> None:
    with pytest.raises(Refused, match=name) as refused:
        Call.of(path, headers)
    assert (refused.value.status, refused.value.kind) == (400, "InputValidationError")
