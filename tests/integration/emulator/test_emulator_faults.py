"""Each fault, as a client without any SDK sees it."""

import asyncio
import json

import pytest
from h2.connection import ConnectionState

from kokoro_sagemaker_agents.emulator import Clock, Fault, Kind, Settings

from .conftest import DEADLINE_S, FrameContainer, Start


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("reset", "reset"),
        ("goaway", "lost"),
        ("abort", "lost"),
        ("end", "end"),
        ("truncate", "truncated"),
    ],
)
async def test_a_stream_is_broken_in_place_of_its_third_audio(
    container: FrameContainer, emulating: Start, fault: str, outcome: str
) -> None:
    async with emulating(faults=[f"{fault}@audio:2"]) as (emulator, peer):
        call = peer.call()
        await call.head()
        for n in range(4):
            container.text(b"{}")
            container.binary(bytes([n]))
        events = [await call.next() for _ in range(5)]
        assert [event.payload for event in events] == [b"{}", b"\0", b"{}", b"\1", b"{}"]
        assert await call.next() == outcome
        assert peer.goaway.is_set() == (fault == "goaway")
        assert emulator.faults.pending == []
        if fault in ("goaway", "abort"):
            async with asyncio.timeout(DEADLINE_S):
                await peer.lost.wait()
                await emulator.counters.until(lambda seen: not seen.open_connections)
        else:
            assert (await peer.call().head())[":status"] == "200"


@pytest.mark.parametrize(
    ("fault", "exception"),
    [("model_error", "ModelStreamError"), ("stream_failure", "InternalStreamFailure")],
)
async def test_an_exception_in_the_middle_of_the_audio(
    container: FrameContainer, emulating: Start, fault: str, exception: str
) -> None:
    async with emulating() as (_, peer):
        call = peer.call(x_emulator_fault=f"{fault}@audio:1")
        await call.head()
        container.binary(b"\1")
        container.binary(b"\2")
        assert (await call.next()).payload == b"\1"
        event = await call.next()
        assert event.headers[":exception-type"] == exception
        assert json.loads(event.payload)["Message"]
        assert await call.next() == "end"


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        ("refuse", 424, "ModelError"),
        ("throttle", 400, "ThrottlingException"),
        ("error", 503, "ServiceUnavailableError"),
        ("error,status=403,error=AccessDeniedException", 403, "AccessDeniedException"),
    ],
)
async def test_a_call_is_refused_once(
    container: FrameContainer, emulating: Start, fault: str, status: int, kind: str
) -> None:
    async with emulating(faults=[fault]) as (emulator, peer):
        assert (await peer.call().refusal())[:2] == (status, kind)
        assert (await peer.call().head())[":status"] == "200"
        assert emulator.counters.container_connections == 1


@pytest.mark.parametrize(("fault", "outcome"), [("reset@open", "reset"), ("abort@open", "lost")])
async def test_a_call_breaks_before_its_headers(emulating: Start, fault: str, outcome: str) -> None:
    async with emulating(faults=[fault]) as (_, peer):
        call = peer.call()
        assert await call.next() == outcome
        with pytest.raises(ConnectionError):
            await call.head()


async def test_an_error_can_lack_its_end(emulating: Start) -> None:
    async with emulating(faults=["hang,status=424,error=ModelError"]) as (emulator, peer):
        call = peer.call()
        assert (await call.head())[":status"] == "424"
        assert emulator.counters.open_streams == 1
        call.reset()
        async with asyncio.timeout(DEADLINE_S):
            await emulator.counters.until(lambda seen: not seen.open_streams)


async def test_a_slow_handshake_takes_its_time_on_the_clock(
    container: FrameContainer, emulating: Start
) -> None:
    clock = Clock(0)
    async with emulating(faults=["slow,delay_s=7"], clock=clock) as (emulator, peer):
        call, other = peer.call(), peer.call()
        assert (await other.head())[":status"] == "200"  # it came later and is through
        assert emulator.counters.container_connections == 1
        clock.advance(7)
        assert (await call.head())[":status"] == "200"


async def test_a_stall_lets_nothing_through_and_the_limit_ends_it(
    container: FrameContainer, emulating: Start
) -> None:
    clock = Clock(0)
    settings = Settings(ping_every_s=1e6)
    async with emulating(faults=["stall@input"], clock=clock, settings=settings) as (emulator, p):
        call, other = p.call(), p.call()
        await call.head()
        call.part(b"never arrives")
        await other.head()
        async with asyncio.timeout(DEADLINE_S):
            await emulator.counters.until(lambda seen: seen.events_in == 1)
        other.part(b"arrives")
        assert (await container.frame())[2] == b"arrives"
        assert not call.body
        clock.advance(30 * 60)
        assert await call.next() == "end"


async def test_a_graceful_goaway_lets_open_streams_go_on(
    container: FrameContainer, emulating: Start
) -> None:
    async with emulating() as (emulator, peer):
        call = peer.call()
        await call.head()
        emulator.inject("drain")
        async with asyncio.timeout(DEADLINE_S):
            await peer.goaway.wait()
        # h2 takes a GOAWAY for the end of everything; a client that knows better goes on.
        peer.h2.state_machine.state = ConnectionState.CLIENT_OPEN
        call.part(b"up", DataType="UTF8")
        assert (await container.frame())[2] == b"up"
        container.text(b"down")
        assert (await call.next()).payload == b"down"
        late = peer.call()
        assert await late.next() == "reset"
        call.end()
        assert await call.next() == "end"


async def test_a_killed_container_breaks_its_sessions_and_comes_back(
    container: FrameContainer, emulating: Start
) -> None:
    clock = Clock(0)
    async with emulating(clock=clock, settings=Settings(restart_s=40)) as (emulator, peer):
        call = peer.call()
        await call.head()
        emulator.inject(Fault(Kind.KILL))
        event = await call.next()
        assert event.headers[":exception-type"] == "ModelStreamError"
        assert await call.next() == "end"
        assert (await peer.call().refusal())[:2] == (424, "ModelError")
        clock.advance(40)
        assert (await peer.call().head())[":status"] == "200"


@pytest.mark.parametrize("fault", ["reset", "abort", "model_error", "end"])
async def test_a_fault_strikes_open_streams_now(emulating: Start, fault: str) -> None:
    async with emulating() as (emulator, peer):
        calls = [peer.call(), peer.call()]
        for call in calls:
            await call.head()
        emulator.inject(fault)
        outcomes = {str(await call.next())[:7] for call in calls}
        assert len(outcomes) == 1
        async with asyncio.timeout(DEADLINE_S):
            await emulator.counters.until(lambda seen: not seen.container_connections)
