"""LiveKit's side of the chunker benchmark: the tokenizer its agents and adapters use by default."""

from __future__ import annotations

from collections.abc import AsyncIterator

from _chunk_worker import serve_splitter
from livekit.agents import tokenize

TOKENIZER = tokenize.blingfire.SentenceTokenizer(retain_format=True)


async def split(language: str, tokens: AsyncIterator[str]) -> AsyncIterator[tuple[str, str]]:
    stream = TOKENIZER.stream(language=language)
    # Its iterator would wait for more; looking into the channel costs it less than a reader task.
    ready = stream._event_ch
    async for token in tokens:
        stream.push_text(token)
        while not ready.empty():
            text = ready.recv_nowait().token
            yield text, text
    stream.end_input()
    async for event in stream:
        yield event.token, event.token


serve_splitter(split)
