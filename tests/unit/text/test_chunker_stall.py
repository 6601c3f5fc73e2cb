"""What a stalled stream releases, and what is released without looking ahead."""

import pytest

from kokoro_sagemaker_agents.text import SentenceChunker


def spoken_on_stall(text: str, language: str = "en-us", idle_s: float = 0.3) -> list[str]:
    chunker = SentenceChunker(language)
    for character in text:
        assert chunker.feed(character) == []
    return [chunk.spoken for chunk in chunker.poll(idle_s)]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Let me check that for you.", "en-us"),
        ("Let me check that for you. ", "en-us"),
        ("Is that right?", "en-us"),
        ("Is that right? ", "en-us"),
        ("Sure!", "en-us"),
        ("Done.", "en-us"),
        ("Let me think...", "en-us"),
        ("Let me look that up\n", "en-us"),
        ("Your total is 12. ", "en-us"),
        ("C'est ça !", "fr"),
        ("让我看一下。", "zh"),
        ("मैं देखता हूँ।", "hi"),
    ],
)
def test_a_finished_sentence_is_released(text: str, language: str) -> None:
    assert spoken_on_stall(text, language) == [text.strip()]


@pytest.mark.parametrize(
    "text",
    [
        "It costs $3.",
        "I saw Dr.",
        "I saw Dr. ",
        "I live in the U.S.",
        "At 5 p.m.",
        "Let me check that for you",
        "Let me check, and ",
        "Use `npm run.",
        "See [the docs.",
        'He said "Go.',
        "1.",
        "Step 1.",
        "Visit www.",
        "Write to first.last.",
        "<think>Hmm.",
        "...",
    ],
)
def test_half_a_sentence_is_not(text: str) -> None:
    assert spoken_on_stall(text) == []


def test_a_blank_line_needs_no_stall() -> None:
    chunks = SentenceChunker().feed("Let me check that for you.\n\n")
    assert [chunk.spoken for chunk in chunks] == ["Let me check that for you."]


def test_a_short_pause_is_no_stall() -> None:
    assert spoken_on_stall("Let me check that for you.", idle_s=0.1) == []
    chunker = SentenceChunker(idle_release_s=0.05)
    chunker.feed("Let me check.")
    assert chunker.poll(0.06)


def test_polling_before_any_text_or_twice_gives_nothing() -> None:
    chunker = SentenceChunker()
    assert chunker.poll(9.0) == []
    chunker.feed("Let me check.")
    assert len(chunker.poll(9.0)) == 1
    assert chunker.poll(9.0) == []
    assert chunker.pending == ""


def test_a_closing_quote_that_comes_late_is_not_spoken_on_its_own() -> None:
    chunker = SentenceChunker()
    chunks = chunker.feed("**Let me check.")
    chunks += chunker.poll(1.0)
    chunks += chunker.feed('**" Here it is. And')
    assert [chunk.spoken for chunk in chunks] == ["Let me check.", "Here it is."]
    chunks += chunker.flush()
    assert "".join(chunk.text for chunk in chunks) == '**Let me check.**" Here it is. And'


def test_text_after_a_stall_goes_on_as_usual() -> None:
    chunker = SentenceChunker()
    chunks = chunker.feed("Let me check that for you.") + chunker.poll(1.0)
    chunks += chunker.feed("The answer is 42. It is.") + chunker.flush()
    assert [chunk.spoken for chunk in chunks] == [
        "Let me check that for you.",
        "The answer is 42.",
        "It is.",
    ]


def test_eager_first_releases_on_the_mark_but_only_once() -> None:
    chunker = SentenceChunker(eager_first=True)
    assert [chunk.spoken for chunk in chunker.feed("Let me check.")] == ["Let me check."]
    assert chunker.feed(" Here it is.") == []
    assert [chunk.spoken for chunk in chunker.flush()] == ["Here it is."]


def test_eager_all_releases_every_sentence_on_its_mark() -> None:
    chunker = SentenceChunker(eager_all=True)
    for sentence in ("Let me check.", " Here it is!", " Is it?", " Yes."):
        assert [chunk.spoken for chunk in chunker.feed(sentence)] == [sentence.strip()]


@pytest.mark.parametrize(
    "text", ["It costs $3.", "I saw Dr.", "Wait...", 'He asked "Really?"', "Ph."]
)
def test_eager_waits_where_it_is_not_sure(text: str) -> None:
    assert SentenceChunker(eager_all=True).feed(text) == []


def test_without_eager_nothing_depends_on_where_a_token_ends() -> None:
    assert SentenceChunker().feed("Let me check.") == []


@pytest.mark.parametrize(
    "text", ["It won't take long.", "Do come in.", "She is ill.", "I like it a lot."]
)
def test_an_everyday_word_that_is_also_an_abbreviation_ends_a_stalled_sentence(text: str) -> None:
    chunker = SentenceChunker(first_chunk="sentence")
    assert chunker.feed(text) == []
    assert [chunk.spoken for chunk in chunker.poll(1.0)] == [text]


def test_a_measure_does_not_end_a_stalled_sentence() -> None:
    chunker = SentenceChunker(first_chunk="sentence")
    chunker.feed("The wall is 3 in.")
    assert chunker.poll(1.0) == []
