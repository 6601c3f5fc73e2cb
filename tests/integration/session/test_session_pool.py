"""Several sessions used as one."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest
from msgspec import structs

from kokoro_sagemaker_agents import (
    AudioChunk,
    ConnectionFailed,
    InvalidInput,
    LocalProtocolError,
    SessionClosed,
    SessionPool,
    SpeechSession,
    UtteranceDone,
)

DEADLINE_S = 20


async def collect(events: Any) -> list[Any]:
    async with asyncio.timeout(DEADLINE_S):
        return [event async for event in events]


def pcm_of(events: list[Any]) -> bytes:
    return b"".join(event.pcm for event in events if isinstance(event, AudioChunk))


async def test_a_hundred_utterances_at_once_are_all_exact(fake: Any) -> None:
    texts = [f"This is utterance number {n}. And this is its end." for n in range(100)]
    async with SessionPool.connect(fake.url, size=4) as pool:
        found = await asyncio.gather(*(collect(pool.speak(text)) for text in texts))

        assert len(fake.connections) == 4
        assert {p.contexts for p in fake.protocols} == {()}
    for text, events in zip(texts, found, strict=True):
        first, second = text.split(". ")
        assert pcm_of(events) == fake.pcm(first + ".") + fake.pcm(second)
        assert isinstance(events[-1], UtteranceDone)


async def test_the_least_loaded_session_takes_the_next_utterance(fake: Any) -> None:
    fake.allow(0)
    async with SessionPool.connect(fake.url, size=3) as pool:
        kept = []
        for _ in range(9):
            utterance = pool.utterance()
            await utterance.push("Hello there. ")
            kept.append(utterance)
        assert [session.load for session in pool.sessions] == [3, 3, 3]

        await kept[0].cancel()
        await kept[3].cancel()
        assert sorted(session.load for session in pool.sessions) == [1, 3, 3]
        assert pool.load == 7
        kept.append(pool.utterance())
        assert sorted(session.load for session in pool.sessions) == [2, 3, 3]


class Endpoint:
    """Two instances behind one name: connections go to whichever a list says, then the second."""

    def __init__(self, *instances: Any) -> None:
        self.instances = instances
        self.turn: list[int] = []

    def make_session(self) -> SpeechSession:
        from kokoro_sagemaker_agents.transports.websocket import WebSocketTransport

        def make_transport() -> WebSocketTransport:
            instance = self.turn.pop(0) if self.turn else len(self.instances) - 1
            return WebSocketTransport(self.instances[instance].url)

        return SpeechSession(make_transport)


async def test_a_busy_instance_gets_less(faking: Any) -> None:
    async with AsyncExitStack() as stack:
        one, two = [await stack.enter_async_context(faking()) for _ in range(2)]
        two.ready = structs.replace(two.ready, instance_id="i-2")
        for fake in (one, two):
            fake.allow(0)
        endpoint = Endpoint(one, two)
        endpoint.turn = [0, 0, 1]
        pool = await stack.enter_async_context(SessionPool(endpoint.make_session, size=3))
        kept = []
        for _ in range(8):
            kept.append(pool.utterance())
            await kept[-1].push("Hello there. ")

        loads = {"i-1": 0, "i-2": 0}
        for session in pool.sessions:
            loads[session.ready.instance_id] += session.load
        assert loads == {"i-1": 4, "i-2": 4}


async def test_an_instance_that_was_added_is_found(faking: Any) -> None:
    async with AsyncExitStack() as stack:
        one, two = [await stack.enter_async_context(faking()) for _ in range(2)]
        two.ready = structs.replace(two.ready, instance_id="i-2")
        endpoint = Endpoint(one, two)
        endpoint.turn = [0, 0]  # at first there is only one instance; later ones go to the second
        pool = await stack.enter_async_context(
            SessionPool(endpoint.make_session, size=2, spread_s=0.05)
        )
        await two.until(lambda: two.connections)
        await one.until(lambda: len(one.connections) == 1)

        assert {s.ready.instance_id for s in pool.sessions} == {"i-1", "i-2"}


async def test_a_session_in_an_outage_is_chosen_last(faking: Any) -> None:
    async with AsyncExitStack() as stack:
        one, two = [await stack.enter_async_context(faking()) for _ in range(2)]
        two.ready = structs.replace(two.ready, instance_id="i-2")
        endpoint = Endpoint(two, one)
        endpoint.turn = [0, 1]
        pool = await stack.enter_async_context(SessionPool(endpoint.make_session, size=2))
        one.refuses = True
        one.vanish()
        await one.until(lambda: one.refused)

        for _ in range(3):
            events = await collect(pool.speak("Still here."))
            assert pcm_of(events) == two.pcm("Still here.")


async def test_a_pool_opens_with_what_it_gets_and_fails_with_nothing(faking: Any) -> None:
    async with faking() as fake:
        endpoint = Endpoint(fake)
        broken = iter([True, False])

        def make_session() -> SpeechSession:
            if next(broken, False):
                return SpeechSession.connect("ws://127.0.0.1:1")
            return endpoint.make_session()

        async with SessionPool(make_session, size=2, spread_s=0.05) as pool:
            assert len(pool.sessions) == 1
            await fake.until(lambda: len(fake.connections) == 2)

    with pytest.raises(ConnectionFailed):
        await SessionPool.connect("ws://127.0.0.1:1").open()


async def test_draining_speaks_what_there_is_and_takes_no_more(fake: Any) -> None:
    fake.allow(1)
    async with SessionPool.connect(fake.url) as pool:
        reader = asyncio.create_task(collect(pool.speak("One sentence. And another one.")))
        await fake.until(lambda: len(fake.texts()) == 2)
        draining = asyncio.create_task(pool.drain())
        await asyncio.sleep(0)
        with pytest.raises(SessionClosed):
            pool.speak("Too late.")
        fake.allow(float("inf"))

        assert await draining
        assert isinstance((await reader)[-1], UtteranceDone)
        await fake.until(lambda: not fake.connections)


async def test_draining_does_not_wait_for_ever(fake: Any) -> None:
    fake.allow(0)
    async with SessionPool.connect(fake.url) as pool:
        speech = pool.speak("Hello.")
        reader = asyncio.create_task(collect(speech))
        await fake.until(lambda: fake.texts())

        assert not await pool.drain(timeout_s=0.1)
        with pytest.raises(SessionClosed):
            await reader


async def test_misuse_is_told(fake: Any) -> None:
    with pytest.raises(InvalidInput):
        SessionPool.connect(fake.url, size=0)
    with pytest.raises(InvalidInput):
        SessionPool.connect("ftp://host")
    pool = SessionPool.connect(fake.url)
    with pytest.raises(LocalProtocolError, match="not open"):
        pool.utterance()
    async with pool:
        with pytest.raises(LocalProtocolError, match="opened once"):
            await pool.open()
    with pytest.raises(SessionClosed):
        pool.utterance()
