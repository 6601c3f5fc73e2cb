"""The chunker's interface: chunks, offsets, state, errors, and what it loads."""

import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from kokoro_sagemaker_agents.text import LANGUAGES, SentenceChunker, TextChunk, chunk_tokens


def sentences(language: str = "en-us", **options: object) -> SentenceChunker:
    return SentenceChunker(language, first_chunk="sentence", **options)  # type: ignore[arg-type]


def test_a_sentence_is_released_when_the_next_begins() -> None:
    chunker = sentences()
    assert chunker.feed("Hel") == []
    assert chunker.feed("lo there. ") == []
    (chunk,) = chunker.feed("How")
    assert chunk == TextChunk("Hello there.", "Hello there.", 0, 12, "sentence", ((0, 12, 0, 12),))
    assert chunker.pending == " How"
    (last,) = chunker.flush()
    assert (last.text, last.spoken, last.start, last.end, last.kind) == (
        " How",
        "How",
        12,
        16,
        "tail",
    )


def test_offsets_point_into_the_source() -> None:
    text = "# A &amp; B\n\nSee **the [docs](http://x.y)** here. Next."
    chunks = sentences().feed(text)
    title, see = (chunk for chunk in chunks if chunk.spoken)
    assert title.spoken == "A & B"
    assert text[slice(*title.source_range(2, 3))] == "&amp;"
    assert see.spoken == "See the docs here."
    for word in ("See", "the", "docs", "here"):
        at = see.spoken.index(word)
        start, end = see.source_range(at, at + len(word))
        assert text[start:end] == word
        assert see.source_offset(at) == text.index(word)
    assert text[slice(*see.source_range(4, 12))] == "the [docs"
    assert see.source_offset(len(see.spoken)) == text.index(" Next")


def test_offsets_outside_the_spoken_text_are_errors() -> None:
    (chunk,) = sentences().feed("Hello there.\n")
    for index in (-1, 13, 99):
        with pytest.raises(IndexError):
            chunk.source_offset(index)
    with pytest.raises(IndexError):
        chunk.source_range(5, 2)
    assert chunk.source_range(3, 3) == (3, 3)


def test_silent_source_is_handed_on_without_waiting_for_speech() -> None:
    chunker = sentences()
    chunks = chunker.feed("<think>" + "Let me see. " * 200)
    assert {chunk.kind for chunk in chunks} == {"silent"}
    assert {chunk.spoken for chunk in chunks} == {""}
    assert len(chunker.pending) < 600


def test_reset_forgets_everything() -> None:
    chunker = sentences()
    chunker.feed("<think>Half a thought and **")
    chunker.reset()
    assert chunker.pending == ""
    chunks = chunker.feed("New text. And") + chunker.flush()
    assert [(chunk.spoken, chunk.start) for chunk in chunks] == [("New text.", 0), ("And", 9)]


def test_flush_ends_the_utterance_and_offsets_go_on() -> None:
    chunker = sentences()
    first = chunker.feed("One **bold") + chunker.flush()
    second = chunker.feed("- Two") + chunker.flush()
    assert [chunk.spoken for chunk in first + second] == ["One bold", "Two"]
    assert second[-1].end == len("One **bold- Two")
    assert chunker.flush() == []


def test_an_empty_token_changes_nothing() -> None:
    chunker = sentences()
    assert chunker.feed("") == []
    chunker.feed("Hello.")
    assert chunker.feed("") == []
    assert len(chunker.flush()) == 1


def test_chunks_are_immutable_values() -> None:
    (chunk,) = sentences().feed("Hello there.\n")
    with pytest.raises(AttributeError):
        chunk.spoken = "x"  # type: ignore[misc]
    assert len({chunk, sentences().feed("Hello there.\n")[0]}) == 1


def test_unknown_languages_are_listed() -> None:
    with pytest.raises(ValueError, match="unknown language 'xx'") as error:
        SentenceChunker("xx")
    assert all(language in str(error.value) for language in LANGUAGES)
    assert LANGUAGES == ("en-us", "en-gb", "es", "fr", "hi", "it", "ja", "pt-br", "zh", "de")


@pytest.mark.parametrize("language", ["", "en", "../en", "en-us\n", "EN_XX"])
def test_other_languages_are_errors(language: str) -> None:
    with pytest.raises(ValueError, match="unknown language"):
        SentenceChunker(language)


@pytest.mark.parametrize("language", ["en-US", "pt_BR", "ZH"])
def test_the_case_of_a_language_does_not_matter(language: str) -> None:
    assert SentenceChunker(language).feed("Hi there. You")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("first_chunk", "word"),
        ("max_phonemes", 0),
        ("max_phonemes", -1),
        ("max_phonemes", float("nan")),
        ("max_phonemes", float("inf")),
        ("code", "keep"),
        ("tables", "csv"),
        ("emoji", True),
        ("tags", ""),
        ("idle_release_s", -0.1),
        ("idle_release_s", float("nan")),
    ],
)
def test_bad_options_are_errors(option: str, value: object) -> None:
    with pytest.raises(ValueError, match=option):
        SentenceChunker("en-us", **{option: value})  # type: ignore[arg-type]


def test_emoji_have_no_names_in_other_languages() -> None:
    with pytest.raises(ValueError, match="English"):
        SentenceChunker("fr", emoji="name")


async def tokens(*parts: str) -> AsyncIterator[str]:
    for part in parts:
        yield part


async def test_chunk_tokens_gives_the_chunks_of_a_stream() -> None:
    stream = tokens("Hello th", "ere. How", " are you", "?")
    said = [chunk.spoken async for chunk in chunk_tokens(stream, sentences())]
    assert said == ["Hello there.", "How are you?"]


async def test_chunk_tokens_needs_no_chunker() -> None:
    said = [chunk.spoken async for chunk in chunk_tokens(tokens("Hello there. ", "Bye."))]
    assert said == ["Hello there.", "Bye."]


async def test_an_error_in_the_stream_is_passed_on() -> None:
    async def failing() -> AsyncIterator[str]:
        yield "Hello there. How"
        raise ConnectionError("the model went away")

    chunker = sentences()
    stream = chunk_tokens(failing(), chunker)
    assert (await anext(stream)).spoken == "Hello there."
    with pytest.raises(ConnectionError, match="went away"):
        await anext(stream)
    assert chunker.pending == ""


async def test_a_reader_that_stops_early_leaves_a_fresh_chunker() -> None:
    chunker = sentences()
    stream = chunk_tokens(tokens("Hello there. How are ", "you? Fine."), chunker)
    async for _ in stream:
        break
    await stream.aclose()
    assert chunker.pending == ""


def test_nothing_heavy_is_loaded() -> None:
    code = (
        "import sys; from kokoro_sagemaker_agents.text import SentenceChunker;"
        "SentenceChunker().feed('Hello there. You');"
        "print(sorted({'asyncio', 'numpy', 'regex', 'msgspec', 'html'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
