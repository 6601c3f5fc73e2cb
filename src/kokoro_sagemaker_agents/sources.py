"""Where `speak` gets its text from: a string, or tokens from any kind of iterable.

An ordinary iterable may wait for the network in the middle of a `for` (an LLM's blocking stream),
so unless it is a list or a tuple it is read in a thread of its own; the event loop goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, Final, TypeAlias

from .errors import InvalidInput

TextSource: TypeAlias = str | Iterable[str] | AsyncIterable[str]

# Tokens read ahead of the chunker: enough that the thread rarely waits, little enough that an
# endless iterable does no harm.
_AHEAD: Final = 256


def check_source(source: object) -> None:
    """Raise `InvalidInput` for what cannot be a source of text."""
    usable = isinstance(source, (str, Iterable, AsyncIterable))
    if not usable or isinstance(source, (bytes, bytearray, dict)):
        raise InvalidInput(
            "speak() takes a string or an iterable (plain or async) of strings, not"
            f" {type(source).__name__}"
        )


async def tokens_of(source: TextSource) -> AsyncGenerator[str, None]:
    """The text of a source, piece by piece. The source is closed when the reader stops early.

    Raises:
        InvalidInput: a piece is no string.
        Exception: whatever the source raises.
    """
    if isinstance(source, (str, list, tuple)):
        for token in [source] if isinstance(source, str) else source:
            yield _checked(token)
        return
    iterator: AsyncIterator[Any] = (
        aiter(source) if isinstance(source, AsyncIterable) else _ThreadTokens(source)
    )
    try:
        async for token in iterator:
            yield _checked(token)
    finally:
        close = getattr(iterator, "aclose", None)
        if close is not None:
            await close()


def _checked(token: object) -> str:
    if not isinstance(token, str):
        raise InvalidInput(
            f"a source of text gave a {type(token).__name__}, not a string; yield the text of each"
            " chunk or delta, and nothing where there is none"
        )
    return token


class _ThreadTokens:
    """An iterable, read by a daemon thread that stays at most `_AHEAD` items ahead."""

    def __init__(self, source: Iterable[Any]) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[Any] = asyncio.Queue()
        self._room = threading.Semaphore(_AHEAD)
        self._stopped = False
        self._ended = False
        self._error: BaseException | None = None
        threading.Thread(target=self._read, name="kokoro-text", daemon=True).start()

    def __aiter__(self) -> _ThreadTokens:
        return self

    async def __anext__(self) -> Any:
        if self._ended:
            raise StopAsyncIteration
        item = await self._items.get()
        if item is _END:
            self._ended = True
            if self._error is not None:
                raise self._error
            raise StopAsyncIteration
        self._room.release()
        return item

    async def aclose(self) -> None:
        """Let the thread end: at once, or when the iterable gives its next item."""
        self._stopped = True
        self._room.release()

    def _read(self) -> None:
        iterator: Iterator[Any] = iter(())
        try:
            iterator = iter(self._source)
            for item in iterator:
                self._room.acquire()
                if self._stopped:
                    break
                self._hand_over(item)
        except BaseException as error:  # it is the reader's, in the task that reads
            self._error = error
        finally:
            close = getattr(iterator, "close", None)  # a generator's own clean-up
            if close is not None and self._stopped:
                with contextlib.suppress(Exception):  # nobody is left to be told
                    close()
            self._hand_over(_END)

    def _hand_over(self, item: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, so nobody waits for it
            self._loop.call_soon_threadsafe(self._items.put_nowait, item)


_END: Final = object()
