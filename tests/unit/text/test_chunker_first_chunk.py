"""The first chunk of an utterance may end at a clause."""

import pytest

from kokoro_sagemaker_agents.text import LANGUAGES, SentenceChunker, TextChunk


def first(text: str, language: str = "en-us", first_chunk: str = "clause") -> TextChunk:
    chunker = SentenceChunker(language, first_chunk=first_chunk)  # type: ignore[arg-type]
    chunks = [chunk for character in text for chunk in chunker.feed(character)]
    return (chunks + chunker.flush())[0]


@pytest.mark.parametrize(
    ("language", "opening", "rest"),
    [
        ("en-us", "The quick brown fox jumped,", " and then the lazy dog ran away."),
        ("en-us", "If it is too cold,", " we can go home and have some tea."),
        ("en-us", "She told them all about it —", " and then she went home again."),
        ("en-us", "He said (first, second, and so on),", " then he left us."),
        ("en-us", "Here is **the first clause of it, continuing bold**,", " and then more."),
        ("en-us", "In 2020, 1,000 people came,", " and some of them left."),
        ("fr", "Si vous voulez bien venir,", " je vous montrerai la maison."),
        ("hi", "अगर आप चाहें तो हम चलें,", " और फिर वहाँ खाना खाएँ।"),
        ("zh", "今天天气非常好，", "我们一起去公园散步吧。"),
        ("ja", "今日はとても天気が良いので、", "公園へ行きましょう。"),
    ],
)
def test_it_ends_at_a_clause(language: str, opening: str, rest: str) -> None:
    chunk = first(opening + rest, language)
    assert (chunk.text, chunk.kind) == (opening, "clause")


@pytest.mark.parametrize(
    "text",
    [
        "However, I think that this is fine.",
        "I was born on Jan 3, 1984 in a small town.",
        "It is about a length of 1,000,000 metres or so.",
        "It starts there at about 10:30 in the morning.",
        "I would like to help you with that, sure. Next one.",
        '"I would like to have that one, please," he said to the waiter.',
        "He (who was rather tired then, and so on) left the room.",
        "Here it is **in one long bold span, which goes on** to here.",
        "See [the page about all the rules, and more](http://x.y) now.",
    ],
)
def test_it_does_not_end(text: str) -> None:
    assert first(text).kind != "clause"


@pytest.mark.parametrize("language", LANGUAGES)
def test_twelve_words_with_a_comma_after_the_fifth(language: str) -> None:
    text = "one two three four five, six seven eight nine ten eleven twelve."
    assert first(text, language).spoken == "one two three four five,"


def test_only_the_first_chunk_of_each_utterance() -> None:
    sentence = "The quick brown fox jumped, and then the lazy dog ran away."
    chunker = SentenceChunker()
    said = [chunk.spoken for chunk in chunker.feed(f"{sentence} {sentence}") + chunker.flush()]
    opening, rest = sentence.split(", ")
    assert said == [f"{opening},", rest, sentence]
    said = [chunk.spoken for chunk in chunker.feed(sentence) + chunker.flush()]
    assert said == [f"{opening},", rest]


def test_it_can_be_switched_off() -> None:
    sentence = "The quick brown fox jumped, and then the lazy dog ran away."
    assert first(sentence, first_chunk="sentence").spoken == sentence


def test_full_width_commas_between_digits_are_no_clause() -> None:
    text = "これは長い導入文で二十四文字を確実に超えていて１，０００円です。"
    assert first(text, "ja").text == text
