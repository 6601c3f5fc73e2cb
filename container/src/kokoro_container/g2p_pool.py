"""G2P that cannot harm the server: in processes that are killed when they take too long.

The libraries behind `Phonemizer` are large, partly written in C, and made for text a person wrote.
`text.cleaning` cuts what is known to stop them; this is for what isn't known. A text that takes
longer than its budget, or that ends its process, fails alone: the texts of other sessions are with
another process, and a new one is there within 20 ms (`text.worker` says how).
"""

from __future__ import annotations

import logging
import math
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Final

from .g2p_process import WORKER, Copy, Nursery, ProcessEnded, same_error
from .text import LANGUAGES
from .text.phonemes import Phonemes
from .text.worker import LOADED_BY_COPIES, Answer, Load, Say

logger = logging.getLogger(__name__)

CALL_S: Final = 2.5
CHAR_S: Final = 0.004
"""A text's budget is `CALL_S` and `CHAR_S` for each of its characters: 4.1 s for the longest
section, 400 characters. A sentence takes 10 ms, the worst such section known 0.15 s (measured)."""

STUCK_S: Final = 2.0
"""When all processes have been at their texts for so long, the pool does not count as alive."""

LOAD_S: Final = 60.0
"""For loading one language: 2 s on two old cores (measured)."""

WAIT_S: Final = 30.0
"""For a process to be free: longer than all others may take with their texts, or than a new
nursery takes to load."""

RESTART_S: Final = 1.0
"""Between attempts to load again."""

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NOTHING: Final = "\u200b"  # left out by `text.cleaning` just as they are, and has a UTF-8 form


class PhonemesFailed(Exception):
    """A text did not become phonemes, because of its process; the server goes on."""


def budget_s(text: str) -> float:
    """How many seconds a text may take."""
    return CALL_S + CHAR_S * len(text)


class PhonemizerPool:
    """A `Phonemizer` in other processes: called the same way, from any thread.

    Args:
        languages: loaded before `start` returns. Any other one is loaded by the process that is
            given its first text, which then waits a second or two.
        workers: texts at the same time. More than one, so that a text that gets stuck stops
            nobody else.
        budget: seconds that a text may take.
        module: what the processes run, for tests.
    """

    def __init__(
        self,
        languages: Sequence[str] = ("en-us", "en-gb"),
        *,
        workers: int = 2,
        budget: Callable[[str], float] = budget_s,
        module: str = WORKER,
    ) -> None:
        self._languages = frozenset(languages)
        self._workers = workers
        self._budget = budget
        self._module = module
        self._free = threading.Semaphore(workers)
        self._loaded: Future[None] = Future()
        self._keeper = threading.Thread(target=self._keep, name="g2p-keeper", daemon=True)
        self._changed = threading.Condition()  # guards what follows
        self._closed = False
        self._newest: Nursery | None = None  # loaded or not
        self._nursery: Nursery | None = None  # can make copies
        self._idle: list[Copy] = []
        self._busy_since: dict[Copy, float] = {}

    def start(self) -> None:
        """Starts the processes; returns when the languages are loaded.

        Raises:
            ValueError: an unknown language.
            RuntimeError: a language's data is not installed, or the process ended.
        """
        if self._closed:
            raise RuntimeError("the G2P was closed before it was loaded")
        self._keeper.start()
        self._loaded.result()
        for language in sorted(LOADED_BY_COPIES & self._languages):
            self(".", language)

    def __call__(self, text: str, language: str) -> Phonemes:
        """Phonemes of a text, as `Phonemizer` gives them.

        Raises:
            ValueError: an unknown language.
            RuntimeError: the language's data is not installed.
            PhonemesFailed: it took too long, or its process ended, and a second one as well.
        """
        if language not in LANGUAGES:
            raise ValueError(f"unknown language {language!r}; choose one of {', '.join(LANGUAGES)}")
        sent = _LONE_SURROGATE.sub(_NOTHING, text)
        phonemes = self._phonemes(sent, language)
        if sent == text:
            return phonemes
        words = (
            replace(word, text=text[word.char_start : word.char_end]) for word in phonemes.words
        )
        return replace(phonemes, words=tuple(words))

    def alive(self) -> bool:
        """Whether a text given now would become phonemes: the languages are loaded, and not all
        processes are stuck."""
        with self._changed:
            if self._nursery is None or not self._nursery.running:
                return False
            stuck_since = time.monotonic() - STUCK_S
            stuck = sum(since < stuck_since for since in self._busy_since.values())
            return stuck < self._workers

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that texts are given to, those at work first."""
        with self._changed:
            return tuple(copy.pid for copy in (*self._busy_since, *self._idle))

    @property
    def nursery_pid(self) -> int | None:
        """The process that these are copies of; None while a new one is loading."""
        with self._changed:
            return None if self._nursery is None else self._nursery.pid

    def close(self) -> None:
        """Ends all processes, and the calls that wait for them; for good."""
        with self._changed:
            self._closed = True
            newest, self._nursery = self._newest, None
            idle, self._idle = self._idle, []
            for copy in self._busy_since:
                copy.hang_up()
            self._changed.notify_all()
        for copy in idle:
            copy.close()
        if newest is not None:
            newest.end()
        if self._keeper.is_alive():
            self._keeper.join()

    # --- a text ---

    def _phonemes(self, text: str, language: str) -> Phonemes:
        for attempt in ("first", "second"):
            try:
                answer = self._with_a_copy(text, language)
            except ProcessEnded:
                if self._closed:
                    raise PhonemesFailed("the server is closing; try another instance") from None
                logger.error("a G2P process ended with a text, the %s one to do so", attempt)
                continue
            if answer.error is not None:
                raise same_error(*answer.error)
            assert answer.phonemes is not None
            return answer.phonemes
        raise PhonemesFailed(
            f"two processes ended while they looked up how to say these {len(text)} characters;"
            " say it in other words"
        )

    def _with_a_copy(self, text: str, language: str) -> Answer:
        until = time.monotonic() + WAIT_S
        if not self._free.acquire(timeout=WAIT_S):
            raise PhonemesFailed(f"no G2P process was free within {WAIT_S:.0f} s; try again later")
        try:
            copy = self._take(language, until)
            try:
                answer = self._load(copy, language) or self._say(copy, text, language)
            except BaseException:
                self._remove(copy)
                copy.kill()
                raise
            self._give_back(copy)
            return answer
        finally:
            self._free.release()

    def _load(self, copy: Copy, language: str) -> Answer | None:
        """Makes a language ready where it isn't; the answer if that failed."""
        if language in copy.languages:
            return None
        try:
            answer = copy.ask(Load(language), LOAD_S)
        except TimeoutError:
            logger.error("loading %s took more than %.0f s", language, LOAD_S)
            raise PhonemesFailed(
                f"{language} was not loaded within {LOAD_S:.0f} s; try again, or elsewhere"
            ) from None
        if answer.error is not None:
            return answer
        copy.languages.add(language)
        return None

    def _say(self, copy: Copy, text: str, language: str) -> Answer:
        with self._changed:
            self._busy_since[copy] = time.monotonic()
        limit_s = self._budget(text)
        try:
            return copy.ask(Say(text, language), limit_s)
        except TimeoutError:
            logger.error("%d characters of %s: no G2P in %.1f s", len(text), language, limit_s)
            raise PhonemesFailed(
                f"how to say these {len(text)} characters was not known after {limit_s:.1f} s, far"
                " more than any usual text takes; say it in other words"
            ) from None

    # --- copies ---

    def _take(self, language: str, until: float) -> Copy:
        """A copy for one text, if possible one that has loaded its language."""
        with self._changed:
            self._idle.sort(key=lambda copy: language in copy.languages)
            while self._idle:
                copy = self._idle.pop()
                if copy.running:
                    self._busy_since[copy] = math.inf  # its text has not begun
                    return copy
                copy.close()
        copy = self._new_copy(until)
        copy.languages |= self._languages - LOADED_BY_COPIES
        with self._changed:
            self._busy_since[copy] = math.inf
        return copy

    def _new_copy(self, until: float) -> Copy:
        while True:
            nursery = self._wait_for_nursery(until)
            try:
                return nursery.copy()
            except (OSError, EOFError):
                logger.error("the G2P process makes no copies any more; it is replaced")
                with self._changed:
                    if self._nursery is nursery:
                        self._nursery = None
                nursery.kill()

    def _wait_for_nursery(self, until: float) -> Nursery:
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or self._nursery is not None,
                max(0.0, until - time.monotonic()),
            )
            if self._closed:
                raise ProcessEnded
            if self._nursery is None:
                raise PhonemesFailed("the G2P is not loaded again yet; try again, or elsewhere")
            return self._nursery

    def _give_back(self, copy: Copy) -> None:
        with self._changed:
            del self._busy_since[copy]
            if not self._closed:
                self._idle.append(copy)
                return
        copy.close()

    def _remove(self, copy: Copy) -> None:
        with self._changed:
            del self._busy_since[copy]

    # --- the nursery ---

    def _keep(self) -> None:
        """Sees to it that there is a nursery, until `close`."""
        while True:
            try:
                nursery = self._load_nursery()
            except Exception as error:
                if not self._loaded.done():
                    self._loaded.set_exception(error)
                    return
                logger.error("the G2P could not be loaded again: %s", error)
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, RESTART_S)
                continue
            if nursery is None:
                return
            if not self._loaded.done():
                self._loaded.set_result(None)
            self._wait_for_its_end(nursery)

    def _load_nursery(self) -> Nursery | None:
        """A nursery that is in use; None after `close`."""
        with self._changed:
            if self._closed:
                return None
            nursery = self._newest = Nursery(self._languages, self._module)
        try:
            nursery.wait_loaded()
        except BaseException:
            nursery.end()
            raise
        with self._changed:
            self._nursery = nursery
            self._changed.notify_all()
        return nursery

    def _wait_for_its_end(self, nursery: Nursery) -> None:
        status = nursery.wait()
        with self._changed:
            if self._nursery is nursery:
                self._nursery = None
            idle, self._idle = self._idle, []
            if not self._closed:
                logger.error("the G2P process ended with status %d; another one loads", status)
        for copy in idle:  # they ended with it
            copy.close()
        nursery.end()
