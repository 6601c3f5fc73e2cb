"""Processes that hang, crash, are killed or stopped: one text fails, and nothing is left over."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kokoro_container.engines.tone import spell
from kokoro_container.g2p_pool import PhonemesFailed, PhonemizerPool
from kokoro_container.text import LANGUAGES, Phonemizer

HELLO = "hello there"


@pytest.fixture
def pool(make_pool) -> PhonemizerPool:
    """One with a budget that no test waits for."""
    pool = make_pool()
    pool.start()
    return pool


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as executor:
        yield executor


def at_work(pool: PhonemizerPool, texts: int):
    """True once so many texts are being looked at."""
    return lambda: (
        len(pool._busy_since) == texts
        and all(since < float("inf") for since in pool._busy_since.values())
    )


# --- as the G2P itself ---


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Hola, ¿qué tal? 25 amigos.", "es"),
        ("今日は何の風ですか", "ja"),
        ("uno \ud800dos\udfff tres\x00", "es"),
        ("", "es"),
        ("[" * 1000 + " [no](/nˈo/)", "es"),
        ("漢字" * 500, "ja"),
    ],
)
def test_phonemes_words_and_warnings_are_those_of_the_g2p_itself(real, text, language) -> None:
    assert real(text, language) == Phonemizer()(text, language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_speaks(real, language) -> None:
    assert real("你好" if language == "zh" else "hello", language).phonemes


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc to see threads")
def test_what_is_copied_has_one_thread(real) -> None:
    """More would be missing in the copies, and whoever waits for them there waits for ever."""
    assert len(os.listdir(f"/proc/{real.nursery_pid}/task")) == 1


def test_an_unknown_language_is_refused_with_those_there_are(pool) -> None:
    with pytest.raises(ValueError, match=r"unknown language 'xx'.*en-us"):
        pool(HELLO, "xx")


def test_missing_data_is_said_as_the_g2p_says_it(pool) -> None:
    with pytest.raises(RuntimeError, match="French data is not installed"):
        pool(HELLO, "fr")
    assert pool(HELLO, "es") == spell(HELLO, "es")


def test_an_error_nobody_foresaw_does_not_repeat_the_text(pool) -> None:
    with pytest.raises(RuntimeError, match="OverflowError") as failed:
        pool("fail secret", "en-us")
    assert "secret" not in str(failed.value)
    assert pool(HELLO, "en-us") == spell(HELLO, "en-us")


# --- one text does harm ---


@pytest.mark.parametrize("harm", ["hang", "hold"])
def test_a_text_that_takes_too_long_fails_and_its_process_is_gone(make_pool, gone, harm) -> None:
    pool = make_pool(budget_s=1.0)
    pool.start()
    pool(HELLO, "en-us")
    (first,) = pool.pids

    with pytest.raises(PhonemesFailed, match=r"not known after 1.0 s.*other words"):
        pool(f"{harm} for ever", "en-us")

    assert gone(first)
    assert pool.alive()
    assert pool(HELLO, "en-us") == spell(HELLO, "en-us")


def test_other_texts_go_on_while_one_hangs(pool, threads, eventually) -> None:
    stuck = threads.submit(pool, "hang for ever", "en-us")
    assert eventually(at_work(pool, 1))

    assert [pool(f"text {n}", "en-us") for n in range(20)] == [
        spell(f"text {n}", "en-us") for n in range(20)
    ]
    assert pool.alive()
    assert not stuck.done()
    pool.close()
    with pytest.raises(PhonemesFailed, match="closing"):
        stuck.result(30)


def test_a_text_that_ends_its_process_twice_fails(pool) -> None:
    with pytest.raises(PhonemesFailed, match=r"two processes ended.*5 characters.*other words"):
        pool("crash", "en-us")
    assert pool(HELLO, "en-us") == spell(HELLO, "en-us")


# --- processes are killed and stopped ---


def test_a_process_killed_at_its_text_costs_nobody_a_word(
    pool, threads, eventually, tmp_path
) -> None:
    text = f"until {tmp_path}/go and so on"
    caller = threads.submit(pool, text, "en-us")
    assert eventually(at_work(pool, 1))
    os.kill(pool.pids[0], signal.SIGKILL)
    (tmp_path / "go").touch()

    assert caller.result(30) == spell(text, "en-us")


def test_a_process_killed_while_idle_costs_nothing(pool, gone) -> None:
    pool(HELLO, "en-us")
    os.kill(pool.pids[0], signal.SIGKILL)
    assert gone(pool.pids[0])

    assert pool(HELLO, "en-us") == spell(HELLO, "en-us")


def test_a_stopped_process_is_replaced_when_its_budget_is_over(make_pool, gone) -> None:
    pool = make_pool(budget_s=1.0)
    pool.start()
    pool(HELLO, "en-us")
    (stopped,) = pool.pids
    os.kill(stopped, signal.SIGSTOP)

    with pytest.raises(PhonemesFailed):
        pool(HELLO, "en-us")

    assert gone(stopped)
    assert pool(HELLO, "en-us") == spell(HELLO, "en-us")


def test_all_processes_killed_at_once_come_back(pool, threads, eventually, gone, tmp_path) -> None:
    texts = [f"until {tmp_path}/go text {n}" for n in range(2)]
    callers = [threads.submit(pool, text, "en-us") for text in texts]
    assert eventually(at_work(pool, 2))
    nursery = pool.nursery_pid
    before = (nursery, *pool.pids)
    os.kill(nursery, signal.SIGKILL)
    (tmp_path / "go").touch()

    assert [caller.result(60) for caller in callers] == [spell(text, "en-us") for text in texts]
    assert gone(*before)
    assert pool.alive()
    assert pool.nursery_pid != nursery


def test_it_is_not_alive_until_it_is_loaded_again(pool, gone, eventually, monkeypatch) -> None:
    assert pool.alive()
    killed = pool.nursery_pid
    with monkeypatch.context() as broken:
        broken.setenv("PYTHONPATH", "")  # the next ones don't find what they should run
        os.kill(killed, signal.SIGKILL)
        assert gone(killed)
        assert eventually(lambda: not pool.alive())
    assert eventually(pool.alive)
    assert pool(HELLO, "en-us") == spell(HELLO, "en-us")


def test_a_nursery_that_does_nothing_is_replaced(pool, gone) -> None:
    stopped = pool.nursery_pid
    os.kill(stopped, signal.SIGSTOP)

    assert pool(HELLO, "en-us") == spell(HELLO, "en-us")
    assert gone(stopped)


def test_it_is_not_alive_while_every_process_is_stuck(pool, threads, eventually, tmp_path) -> None:
    texts = [f"until {tmp_path}/go text {n}" for n in range(2)]
    callers = [threads.submit(pool, text, "en-us") for text in texts]

    assert eventually(lambda: not pool.alive())
    (tmp_path / "go").touch()
    assert [caller.result(30) for caller in callers] == [spell(text, "en-us") for text in texts]
    assert pool.alive()


# --- the end ---


def test_closing_leaves_no_process_and_no_thread(pool, threads, eventually, gone) -> None:
    pool(HELLO, "en-us")
    stuck = threads.submit(pool, "hold it", "en-us")
    assert eventually(at_work(pool, 1))
    pool(HELLO, "en-us")
    pids = (pool.nursery_pid, *pool.pids)
    assert len(pids) == 3

    pool.close()

    assert gone(*pids)
    assert not Path(f"/proc/{pids[0]}").exists()  # no zombie either
    assert not pool.alive()
    assert not pool._keeper.is_alive()
    with pytest.raises(PhonemesFailed, match="closing"):
        stuck.result(30)
    with pytest.raises(PhonemesFailed, match="closing"):
        pool(HELLO, "en-us")


def test_closing_while_it_loads(threads, eventually) -> None:
    pool = PhonemizerPool()
    starting = threads.submit(pool.start)
    assert eventually(lambda: pool._newest is not None)

    pool.close()

    with pytest.raises(RuntimeError, match="ended with status"):
        starting.result(30)


def test_starting_says_what_is_missing(monkeypatch, make_pool) -> None:
    pool = make_pool()
    pool._languages = frozenset({"fr"})
    with pytest.raises(RuntimeError, match="French data is not installed"):
        pool.start()


_SERVER = """
import signal, sys, threading
from kokoro_container.g2p_pool import PhonemizerPool

signal.signal(signal.SIGINT, signal.SIG_IGN)
pool = PhonemizerPool(("en-us",), module="wedging_worker")
pool.start()
for line in sys.stdin:
    if line == "stick\\n":
        threading.Thread(target=pool, args=("hold it", "en-us"), daemon=True).start()
    else:
        pool("hello", "en-us")
    print(pool.nursery_pid, *pool.pids, flush=True)
"""


@pytest.fixture
def server(monkeypatch):
    """A process with a pool; a line gets it the ids of the pool's processes."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:

        def ask(line: str) -> list[int]:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            return [int(pid) for pid in process.stdout.readline().split()]

        yield process, ask
        process.kill()


def test_nothing_outlives_a_server_that_is_killed(server, gone, eventually) -> None:
    process, ask = server
    ask("hello")
    ask("stick")
    pids: list[int] = []

    def two_copies() -> bool:
        pids[:] = ask("hello")
        return len(pids) == 3

    assert eventually(two_copies)
    process.kill()

    assert gone(*pids)


def test_ctrl_c_is_the_servers_alone(server) -> None:
    process, ask = server
    before = ask("hello")
    os.killpg(process.pid, signal.SIGINT)

    assert ask("hello") == before
