"""Pauses between attempts: random, growing, and within the budget."""

from kokoro_sagemaker_agents.backoff import Backoff


def pauses(backoff: Backoff, attempt_s: float = 0.0) -> list[float]:
    """The pauses when each attempt takes so long and fails."""
    now_s, found = 100.0, []
    while (pause_s := backoff.pause_s(now_s)) is not None:
        found.append(pause_s)
        now_s += pause_s + attempt_s
    return found


def test_the_first_attempt_is_at_once_and_the_pauses_double_up_to_two_seconds() -> None:
    found = pauses(Backoff(15.0, jitter=lambda: 1.0))

    assert found[:7] == [0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0]
    assert set(found[7:]) == {2.0}
    assert 12 < sum(found) <= 15


def test_attempts_that_take_long_use_the_budget_up() -> None:
    assert len(pauses(Backoff(15.0, jitter=lambda: 1.0), attempt_s=10.0)) == 2


def test_the_pauses_of_many_clients_are_spread() -> None:
    thirds = {round(pauses(Backoff(15.0))[5], 3) for _ in range(50)}

    assert len(thirds) > 40


def test_no_budget_is_no_attempt() -> None:
    assert pauses(Backoff(0.0)) == []
