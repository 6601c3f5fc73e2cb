"""The child's end of the chunker benchmark: one splitter, given tokens, timed around the work."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from _worker import serve

#: From a language code and tokens to chunks: what is spoken, and the source it stands for.
Split = Callable[[str, AsyncIterator[str]], AsyncIterator[tuple[str, str]]]


class Tokens:
    """A stream of tokens that knows how many were taken and whether more were asked for."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self.taken = 0
        self.ended = False

    async def __aiter__(self) -> AsyncIterator[str]:
        for token in self._tokens:
            self.taken += 1
            yield token
        self.ended = True


def serve_splitter(split: Split) -> None:
    """Answers `{language, tokens}` with the chunks.

    With `timed`, the CPU seconds of as many utterances of these tokens instead. A chunk is
    `[tokens taken when it came, whether the stream had ended, spoken, source]`.
    """

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        language, tokens = request["language"], request["tokens"]
        if times := request.get("timed"):
            return {"cpu_s": asyncio.run(_cpu_s(split, language, tokens, times))}
        return {"chunks": asyncio.run(_chunks(split, language, tokens))}

    serve(answer)


async def _chunks(split: Split, language: str, tokens: list[str]) -> list[list[Any]]:
    stream = Tokens(tokens)
    return [
        [stream.taken, stream.ended, spoken, source]
        async for spoken, source in split(language, aiter(stream))
    ]


async def _cpu_s(split: Split, language: str, tokens: list[str], times: int) -> float:
    gc.collect()
    gc.disable()
    # CPU time: there is one thread, and what else the machine does must not count.
    start = time.process_time()
    for _ in range(times):
        async for _ in split(language, aiter(Tokens(tokens))):
            pass
    spent_s = time.process_time() - start
    gc.enable()
    return spent_s
