"""Pools whose processes a test may harm, and how it sees that they are gone."""

import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# The container needs Python < 3.13; where only the client is installed there is nothing to test.
if importlib.util.find_spec("kokoro_container") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    from kokoro_container.g2p_pool import PhonemizerPool
    from kokoro_container.text import LANGUAGES

    @pytest.fixture(scope="package")
    def real() -> Iterator[PhonemizerPool]:
        """One with the real G2P in all languages, for all tests here."""
        pool = PhonemizerPool(LANGUAGES)
        pool.start()
        yield pool
        pool.close()

    @pytest.fixture
    def make_pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., PhonemizerPool]]:
        """Makes pools, not started, that run `wedging_worker.py`."""
        monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
        made: list[PhonemizerPool] = []

        def make(budget_s: float = 60.0, **options) -> PhonemizerPool:
            pool = PhonemizerPool(
                ("en-us",), budget=lambda _: budget_s, module="wedging_worker", **options
            )
            made.append(pool)
            return pool

        yield make
        for pool in made:
            pool.close()


def runs(pid: int) -> bool:
    """Whether there is such a process; one that ended and waits to be noticed is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


@pytest.fixture
def gone() -> Callable[..., bool]:
    """Waits until none of these processes runs any more; false if that takes too long."""
    if not os.path.isdir("/proc/self"):
        pytest.skip("this system has no /proc, where the test looks for processes")
    return lambda *pids: until(lambda: not any(map(runs, pids)))


def until(condition: Callable[[], bool], limit_s: float = 30.0) -> bool:
    """Looks again and again; whether the condition came true in time."""
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture
def eventually() -> Callable[..., bool]:
    """`until`: whether a condition comes true in time."""
    return until
