"""Text from standard input, as it arrives."""

from __future__ import annotations

import asyncio
import codecs
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Final

_READ_BYTES: Final = 65_536
#: Pieces read ahead of a slow consumer; then the writer at the other end of the pipe has to wait.
_READ_AHEAD: Final = 16


def read_text() -> Iterator[str]:
    """Standard input in the pieces it arrives in, decoded as UTF-8.

    Bytes that are no UTF-8 become U+FFFD: a stream of speech is not stopped by one bad byte.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    descriptor = sys.stdin.fileno()
    while data := os.read(descriptor, _READ_BYTES):
        if text := decoder.decode(data):
            yield text
    if rest := decoder.decode(b"", final=True):
        yield rest


async def stream_text() -> AsyncIterator[str]:
    """`read_text` without blocking the event loop.

    A thread of its own reads: event loops cannot wait for a regular file (`< tokens.txt`), and a
    daemon thread does not keep a failed command alive until somebody closes its input.
    """
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[str | OSError | None] = asyncio.Queue(_READ_AHEAD)

    def read() -> None:
        try:
            for text in read_text():
                asyncio.run_coroutine_threadsafe(pieces.put(text), loop).result()
            end: OSError | None = None
        except OSError as error:
            end = error
        except RuntimeError:  # the event loop is closed: nobody reads any more
            return
        asyncio.run_coroutine_threadsafe(pieces.put(end), loop)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    while (piece := await pieces.get()) is not None:
        if isinstance(piece, OSError):
            raise piece
        yield piece
