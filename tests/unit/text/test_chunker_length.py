"""A sentence that is too long for the model is cut, well and in time."""

import pytest

from kokoro_sagemaker_agents.text import SentenceChunker, TextChunk

#: Characters for 510 phonemes at the 95th percentile, measured per language on UD sentences.
MODEL_CHARS = {
    "en-us": 406,
    "en-gb": 406,
    "es": 292,
    "fr": 411,
    "hi": 316,
    "it": 351,
    "ja": 168,
    "pt-br": 295,
    "zh": 118,
}
WORDS = {
    "hi": "वह बहुत दूर तक चलता रहा और फिर भी ",
    "ja": "この計画は道路や橋や学校や公園を対象としており予算には",
    "zh": "这个计划包括道路桥梁学校和公园以及更多的内容",
}
LATIN = "and then they went on to look at yet another of the many things "


def chunks_of(text: str, language: str = "en-us", **options: float) -> list[TextChunk]:
    chunker = SentenceChunker(language, first_chunk="sentence", **options)  # type: ignore[arg-type]
    chunks = [chunk for character in text for chunk in chunker.feed(character)]
    return chunks + chunker.flush()


@pytest.mark.parametrize("language", MODEL_CHARS)
def test_every_piece_fits_the_model_with_room_to_spare(language: str) -> None:
    text = WORDS.get(language, LATIN) * 60
    pieces = chunks_of(text, language)
    assert {piece.kind for piece in pieces[:-1]} == {"forced"}
    limit = 0.85 * MODEL_CHARS[language]
    assert all(len(piece.spoken) <= limit for piece in pieces)
    # Not in scraps either.
    assert all(len(piece.spoken) >= limit / 4 for piece in pieces[:-1])


def test_words_stay_whole() -> None:
    text = LATIN * 30
    assert " ".join(piece.spoken for piece in chunks_of(text)).split() == text.split()


def test_the_best_mark_is_chosen() -> None:
    clause = "and so they went on to see many more of these fine things"
    text = f"{clause}, {clause} {clause}; {clause}, {clause}, {clause} {clause}."
    assert chunks_of(text)[0].spoken == f"{clause}, {clause} {clause};"


def test_without_marks_it_is_cut_before_a_joining_word() -> None:
    text = "word " * 36 + "and " + "word " * 80
    assert chunks_of(text)[1].spoken.startswith("and word")


def test_neither_piece_of_a_slightly_too_long_sentence_is_a_scrap() -> None:
    text = ("some more words of it, " * 15)[:-2] + "."
    pieces = [piece.spoken for piece in chunks_of(text)]
    assert len(pieces) == 2
    assert min(map(len, pieces)) > 100


def test_a_decimal_comma_is_no_place_to_cut() -> None:
    text = ("wert 3,14 und " * 40).strip()
    assert "".join(piece.text for piece in chunks_of(text, "de")) == text
    assert not any(piece.spoken.endswith(",") for piece in chunks_of(text, "de"))


def test_digits_weigh_more_than_letters() -> None:
    pieces = chunks_of("7" * 310)
    assert max(len(piece.spoken) for piece in pieces) <= 88


def test_one_endless_word_is_cut() -> None:
    pieces = chunks_of("a" * 1200)
    assert len(pieces) > 3
    assert max(len(piece.spoken) for piece in pieces) <= 320


def test_combining_marks_stay_with_their_letter() -> None:
    for piece in chunks_of("e\u0301" * 400):
        assert piece.spoken[0] == "e"
    for piece in chunks_of("คำที่ยาวมาก" * 60):
        assert piece.spoken[0] not in "\u0e31\u0e34\u0e35\u0e36\u0e37\u0e38\u0e39\u0e47\u0e48\u0e49"


def test_a_tag_is_not_cut() -> None:
    tag = '<say-as interpret-as="telephone" format="international number">'
    text = ("more words of the same kind " * 9) + tag + (" and more words of the kind" * 9)
    assert any(tag in piece.spoken for piece in chunks_of(text))


def test_sentences_of_ordinary_length_are_never_cut() -> None:
    sentence = "Sixty-two characters are not too many for one chunk of speech."
    assert [piece.spoken for piece in chunks_of(sentence)] == [sentence]


def test_a_huge_limit_switches_it_off() -> None:
    text = LATIN * 200
    assert [piece.kind for piece in chunks_of(text, max_phonemes=1e9)] == ["tail"]


def test_the_piece_is_released_while_the_sentence_goes_on() -> None:
    chunker = SentenceChunker(first_chunk="sentence")
    held = 0
    for character in LATIN * 100:
        chunker.feed(character)
        held = max(held, len(chunker.pending))
    assert held <= 340
