"""Whether the server can speak, on a clock that a test moves."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

import pytest

from kokoro_container.health import Health
from kokoro_container.scheduler import G2P_S
from kokoro_sagemaker_agents.errors import OverloadedError


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


# --- calls ---------------------------------------------------------------------------------------


def test_a_call_that_does_not_come_back_is_a_problem_within_five_seconds(clock: Clock) -> None:
    health = Health(clock=clock)
    health.began("model", 0.5)

    clock.now_s = 3.9
    assert health.problem is None
    clock.now_s = 4.9
    assert health.problem is not None
    assert "model has not come back for 5 s" in health.problem


def test_a_long_call_on_a_slow_machine_may_take_its_time(clock: Clock) -> None:
    health = Health(clock=clock)
    health.began("model", 3.0)

    clock.now_s = 11.0

    assert health.problem is None


def test_a_call_that_comes_back_after_all_mends_it(clock: Clock) -> None:
    health = Health(clock=clock)
    stuck, other = health.began("model", 0.0), health.began("G2P", 0.0)
    clock.now_s = 60.0

    health.ended(other)
    assert health.problem is not None
    health.ended(stuck)
    assert health.problem is None


def test_new_calls_do_not_hide_a_stuck_one(clock: Clock) -> None:
    health = Health(clock=clock)
    health.began("model", 0.0)

    for _ in range(10):
        clock.now_s += 1.0
        health.ended(health.began("model", 0.0))

    assert health.problem is not None


def test_g2p_that_is_not_alive_is_a_problem_while_it_is_not() -> None:
    alive = False
    health = Health(alive=lambda: alive)

    assert health.problem == "the G2P processes are gone or stuck"
    alive = True
    assert health.problem is None


def test_stuck_g2p_is_a_problem_within_five_seconds_as_well(clock: Clock) -> None:
    health = Health(clock=clock)
    health.began("G2P", G2P_S)

    clock.now_s = 4.9

    assert health.problem is not None


# --- failures ------------------------------------------------------------------------------------


class Model:
    """What a probe speaks with; says how often it was asked."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.asked = 0
        self.was_asked = asyncio.Event()

    async def __call__(self) -> None:
        self.asked += 1
        self.was_asked.set()
        if self.error is not None:
            raise self.error

    async def asked_again(self) -> None:
        self.was_asked.clear()
        await asyncio.wait_for(self.was_asked.wait(), 10)
        await asyncio.sleep(0)  # what came of it is noted


@asynccontextmanager
async def watching(
    health: Health, probe: Callable[[], Coroutine[None, None, None]]
) -> AsyncIterator[None]:
    task = asyncio.create_task(health.watch(probe))
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_nothing_is_spoken_for_nobody_while_all_is_well() -> None:
    model = Model()
    async with watching(Health(check_s=0.001), model):
        await asyncio.sleep(0.02)

    assert model.asked == 0


async def test_a_text_that_failed_alone_is_no_problem() -> None:
    health, model = Health(check_s=30.0), Model()
    async with watching(health, model):
        health.suspect()
        await model.asked_again()

        assert health.problem is None


async def test_a_dead_model_is_a_problem_until_it_speaks_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    health, model = Health(check_s=0.001), Model()
    model.error = RuntimeError("device lost")
    async with watching(health, model):
        health.suspect()
        await model.asked_again()
        assert health.problem == "a test text could not be spoken: RuntimeError: device lost"
        await model.asked_again()  # by itself

        model.error = None
        await model.asked_again()
        assert health.problem is None
        asked = model.asked
        await asyncio.sleep(0.02)
        assert model.asked == asked  # and then it is left alone

    told = [record.getMessage() for record in caplog.records]
    assert [line.split(":")[0].split(";")[0] for line in told] == ["not healthy", "healthy again"]


async def test_a_probe_that_was_refused_says_nothing_and_is_made_again() -> None:
    health, model = Health(check_s=0.001), Model()
    model.error = OverloadedError("full")
    async with watching(health, model):
        health.suspect()
        await model.asked_again()
        assert health.problem is None

        model.error = RuntimeError("device lost")
        await model.asked_again()
        assert health.problem is not None
