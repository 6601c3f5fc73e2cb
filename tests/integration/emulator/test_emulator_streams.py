"""A bidirectional stream seen from both ends: headers, frames, limits."""

import asyncio
import json
from typing import Any

import pytest
from websockets.frames import Opcode

from kokoro_sagemaker_agents.emulator import Clock, Settings
from kokoro_sagemaker_agents.emulator.eventstream import Message

from .conftest import DEADLINE_S, STREAM, FrameContainer, Start


async def test_one_part_is_one_frame_both_ways(container: FrameContainer, emulating: Start) -> None:
    async with emulating() as (_, peer):
        call = peer.call()
        head = await call.head()
        assert head[":status"] == "200"
        assert head["x-amzn-invoked-production-variant"] == "AllTraffic"

        call.part(b"text", DataType="UTF8")
        call.part(b"\x00bytes", DataType="BINARY", CompletionState="COMPLETE")
        call.part(b"none")
        call.part(b"a", DataType="UTF8", CompletionState="PARTIAL")
        call.part(b"b", DataType="UTF8", CompletionState="COMPLETE")
        assert [await container.frame() for _ in range(5)] == [
            (Opcode.TEXT, True, b"text"),
            (Opcode.BINARY, True, b"\x00bytes"),
            (Opcode.BINARY, True, b"none"),
            (Opcode.TEXT, False, b"a"),
            (Opcode.CONT, True, b"b"),
        ]

        container.text(b"{}")
        container.binary(b"\x01", final=False)
        container.more(b"\x02")
        events = [await call.next() for _ in range(3)]
        assert [event.payload for event in events] == [b"{}", b"\x01", b"\x02"]
        assert [dict(event.headers) for event in events] == [
            {
                ":message-type": "event",
                ":event-type": "PayloadPart",
                ":content-type": "application/octet-stream",
                "DataType": kind,
                "CompletionState": state,
            }
            for kind, state in [("UTF8", "COMPLETE"), ("BINARY", "PARTIAL"), ("BINARY", "COMPLETE")]
        ]


async def test_path_and_query_reach_the_container(
    container: FrameContainer, emulating: Start
) -> None:
    async with emulating() as (_, peer):
        call = peer.call(
            x_amzn_sagemaker_model_invocation_path="v1/speak",
            x_amzn_sagemaker_model_query_string="voice=af_heart",
        )
        await call.head()
        await peer.call().head()
    assert container.paths == ["/v1/speak?voice=af_heart", "/invocations-bidirectional-stream"]


async def test_the_clients_end_ends_the_session_at_once(
    container: FrameContainer, emulating: Start
) -> None:
    async with emulating() as (emulator, peer):
        for end in ("half-close", "empty signed event"):
            call = peer.call()
            await call.head()
            if end == "half-close":
                call.end()
            else:
                call.send(Message({":chunk-signature": b"not checked here"}))
            assert await call.next() == "end"
            opcode, _, payload = await container.frame()
            assert (opcode, payload[:2]) == (Opcode.CLOSE, (1000).to_bytes(2, "big"))
            if end != "half-close":
                call.end()
        async with asyncio.timeout(DEADLINE_S):
            await emulator.counters.until(lambda seen: not seen.open_streams)
            await emulator.counters.until(lambda seen: not seen.container_connections)


async def test_a_client_that_resets_leaves_nothing(
    container: FrameContainer, emulating: Start
) -> None:
    async with emulating() as (emulator, peer):
        call = peer.call()
        await call.head()
        call.reset()
        async with asyncio.timeout(DEADLINE_S):
            await emulator.counters.until(lambda seen: not seen.open_streams)
            await emulator.counters.until(lambda seen: not seen.container_connections)
        await peer.call().head()


@pytest.mark.parametrize(
    ("code", "reason", "told"),
    [(1011, "out of memory", "1011 out of memory"), (1000, "", "1000"), (1001, "bye", "1001 bye")],
)
async def test_a_containers_close_becomes_a_model_stream_error(
    container: FrameContainer, emulating: Start, code: int, reason: str, told: str
) -> None:
    async with emulating() as (_, peer):
        call = peer.call()
        await call.head()
        container.close(code, reason)
        event = await call.next()
        assert event.headers[":message-type"] == "exception"
        assert event.headers[":exception-type"] == "ModelStreamError"
        assert told in json.loads(event.payload)["Message"]
        assert await call.next() == "end"


async def test_a_normal_close_can_be_a_plain_end(
    container: FrameContainer, emulating: Start
) -> None:
    async with emulating(settings=Settings(normal_close_is_error=False)) as (_, peer):
        call = peer.call()
        await call.head()
        container.close(1000)
        assert await call.next() == "end"


async def test_a_container_that_vanishes_is_a_model_stream_error(
    container: FrameContainer, emulating: Start
) -> None:
    async with emulating() as (_, peer):
        call = peer.call()
        await call.head()
        container.vanish()
        event = await call.next()
        assert event.headers[":exception-type"] == "ModelStreamError"
        assert json.loads(event.payload)["ErrorCode"] == "StreamBroken"


async def test_a_container_that_refuses_is_424_before_any_stream(
    container: FrameContainer, emulating: Start
) -> None:
    container.refusing = True
    async with emulating() as (_, peer):
        status, kind, body = await peer.call().refusal()
    assert (status, kind) == (424, "ModelError")
    assert body["OriginalStatusCode"] == 503
    assert "no room" in body["OriginalMessage"]
    assert "/aws/sagemaker/Endpoints/kokoro" in body["LogStreamArn"]


@pytest.mark.parametrize(
    ("path", "headers", "status", "kind"),
    [
        (STREAM.replace("kokoro", "nobody"), {}, 400, "InputValidationError"),
        (STREAM, {"x_amzn_sagemaker_target_variant": "other"}, 400, "InputValidationError"),
        (STREAM, {"x_amzn_sagemaker_model_invocation_path": "/x"}, 400, "InputValidationError"),
        (STREAM, {"content_type": "text/plain"}, 415, "InputValidationError"),
        (STREAM, {"x_emulator_fault": "explode"}, 400, "ValidationError"),
        ("/nothing", {}, 404, "UnknownOperationException"),
    ],
)
async def test_wrong_requests_are_refused_and_the_connection_lives(
    emulating: Start, path: str, headers: dict[str, str], status: int, kind: str
) -> None:
    async with emulating() as (_, peer):
        assert (await peer.call(path, **headers).refusal())[:2] == (status, kind)
        assert (await peer.call().head())[":status"] == "200"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x00" * 16, id="no event"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="another protocol"),
    ],
)
async def test_what_is_no_event_ends_the_stream_with_an_error(
    emulating: Start, data: bytes
) -> None:
    async with emulating() as (_, peer):
        call = peer.call()
        await call.head()
        call.raw(data)
        event = await call.next()
        assert event.headers[":message-type"] == "error"
        assert await call.next() == "end"


async def test_a_session_ends_after_thirty_minutes(
    container: FrameContainer, emulating: Start
) -> None:
    clock = Clock(0)
    async with emulating(clock=clock) as (_, peer):
        call = peer.call()
        await call.head()
        for _ in range(29):
            clock.advance(60)
            async with asyncio.timeout(DEADLINE_S):
                assert (await container.frames.get())[0] is Opcode.PING
            # The pong has been read before what is sent after it.
            container.text(b"alive")
            assert (await call.next()).payload == b"alive"
        clock.advance(60)
        assert await call.next() == "end"
        opcode, _, payload = await container.frame()
        assert (opcode, payload[2:]) == (Opcode.CLOSE, b"session limit")


async def test_a_container_that_answers_no_pings_is_given_up(
    container: FrameContainer, emulating: Start
) -> None:
    container.deaf = True
    clock = Clock(0)
    async with emulating(clock=clock) as (_, peer):
        call = peer.call()
        await call.head()
        for _ in range(5):
            clock.advance(60)
            async with asyncio.timeout(DEADLINE_S):
                assert (await container.frames.get())[0] is Opcode.PING
        clock.advance(60)
        event = await call.next()
        assert event.headers[":exception-type"] == "ModelStreamError"
        assert "pings" in json.loads(event.payload)["Message"]


async def test_a_slow_client_holds_up_the_container_and_loses_nothing(
    container: FrameContainer, emulating: Start
) -> None:
    async with emulating() as (emulator, peer):
        call = peer.call()
        await call.head()
        peer.stop_reading()
        # Of these one fits into a stream's window of 64 KiB, and not all into the socket buffers.
        pieces = [bytes([n]) * 64_000 for n in range(250)]
        for piece in pieces:
            container.binary(piece)
        producer = container.writer.transport
        assert (await call.next()).payload == pieces[0]

        other = peer.call()  # is not held up
        await other.head()
        for n in range(50):
            other.part(bytes([n]))
            assert (await container.frame())[2] == bytes([n])
            container.text(b"{}")
            await other.next()
        assert emulator.counters.events_out == 1 + 50
        assert producer.get_write_buffer_size() > 0

        peer.go_on_reading()
        assert [(await call.next()).payload for _ in pieces[1:]] == pieces[1:]


async def test_sessions_spread_over_the_containers_and_over_new_ones(
    container: FrameContainer, second: FrameContainer, emulating: Start
) -> None:
    async with emulating() as (emulator, peer):
        for _ in range(3):
            await peer.call().head()
        assert (len(container.paths), len(second.paths)) == (3, 0)
        emulator.fleet.scale([container.url, second.url])
        for _ in range(5):
            await peer.call().head()
        assert (len(container.paths), len(second.paths)) == (4, 4)


async def test_many_streams_share_a_connection(container: FrameContainer, emulating: Start) -> None:
    async with emulating() as (emulator, peer):
        calls = [peer.call() for _ in range(30)]
        heads: list[Any] = [await call.head() for call in calls]
        assert {head[":status"] for head in heads} == {"200"}
        assert emulator.counters.open_streams == 30
        assert emulator.counters.connections == 1
