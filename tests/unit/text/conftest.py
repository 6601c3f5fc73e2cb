import re
from collections.abc import Callable, Iterable

import pytest

from kokoro_sagemaker_agents.text import SentenceChunker, TextChunk


def _run(
    text: str, tokens: Iterable[str], language: str = "en-us", **options: object
) -> list[TextChunk]:
    chunker = SentenceChunker(language, **options)  # type: ignore[arg-type]
    chunks = [chunk for token in tokens for chunk in chunker.feed(token)]
    chunks += chunker.flush()
    assert "".join(chunk.text for chunk in chunks) == text
    assert chunker.pending == ""
    return chunks


def _token_splits(text: str) -> dict[str, list[str]]:
    return {
        "whole": [text],
        "characters": list(text),
        "words": re.findall(r"\s*\S+|\s+", text),
        "llm": re.findall(r"\s?\w{1,5}|\s?[^\w\s]+\n*|\s+", text),
        "threes": [text[i : i + 3] for i in range(0, len(text), 3)],
    }


@pytest.fixture(scope="session")
def run() -> Callable[..., list[TextChunk]]:
    """`run(text, tokens, language, **options)`: the chunks of one way of cutting a text."""
    return _run


@pytest.fixture(scope="session")
def token_splits() -> Callable[[str], dict[str, list[str]]]:
    """The text cut in several ways: all at once, by character, by word, as an LLM would."""
    return _token_splits


@pytest.fixture(scope="session")
def chunk() -> Callable[..., list[TextChunk]]:
    """`chunk(text, language, **options)`: the chunks, the same for every way of cutting it."""

    def chunk_all_ways(text: str, language: str = "en-us", **options: object) -> list[TextChunk]:
        options.setdefault("first_chunk", "sentence")
        whole = _run(text, [text], language, **options)
        for name, tokens in _token_splits(text).items():
            assert "".join(tokens) == text
            assert _run(text, tokens, language, **options) == whole, name
        return whole

    return chunk_all_ways


@pytest.fixture(scope="session")
def speak(chunk: Callable[..., list[TextChunk]]) -> Callable[..., list[str]]:
    """`speak(text, language, **options)`: what is spoken, chunk by chunk."""

    def speak_all_ways(text: str, language: str = "en-us", **options: object) -> list[str]:
        return [part.spoken for part in chunk(text, language, **options) if part.spoken]

    return speak_all_ways
