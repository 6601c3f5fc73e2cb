"""Where a text is cut into calls of the model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kokoro_container.engines.tone import spell
from kokoro_container.pieces import OPENING_PHONEMES, ending_of, split
from kokoro_container.text.phonemes import Phonemes, SpokenWord

SENTENCE = "one two three four five six seven nine ten eleven twelve two."


def phonemes_of(text: str, limit: int = 140, *, opening: bool = False) -> list[str]:
    return [piece.phonemes for piece in split(spell(text, "en-us"), limit, opening=opening)]


def test_a_short_text_is_one_call() -> None:
    assert phonemes_of("hello there. how are you? fine, thanks.") == [
        "hello there. how are you? fine, thanks."
    ]


def test_nothing_to_say_is_no_call() -> None:
    assert split(spell("!?", "en-us")) == []


def test_a_long_text_is_cut_at_sentence_ends() -> None:
    assert phonemes_of(" ".join([SENTENCE] * 4)) == [f"{SENTENCE} {SENTENCE}"] * 2


def test_a_long_sentence_is_cut_at_a_clause_rather_than_in_the_middle() -> None:
    text = "the clause before the comma is the shorter one, and what follows it runs on and on"

    assert phonemes_of(text, 60) == [
        "the clause before the comma is the shorter one,",
        "and what follows it runs on and on",
    ]


def test_without_marks_the_pieces_are_of_similar_length_and_words_whole() -> None:
    text = " ".join(["word"] * 60)

    pieces = phonemes_of(text)

    assert " ".join(pieces) == text
    assert len(pieces) == 3
    assert max(map(len, pieces)) - min(map(len, pieces)) <= len("word ")


def test_a_word_longer_than_a_call_is_cut_and_nothing_lost() -> None:
    pieces = phonemes_of("x" * 1000)

    assert "".join(pieces) == "x" * 1000
    assert max(map(len, pieces)) <= 140


def test_a_long_reading_of_one_word_is_cut_between_its_own_words() -> None:
    reading = " ".join(["nIn"] * 100)
    spoken = Phonemes(reading, (SpokenWord("9" * 100, 0, 100, 0, len(reading)),), ())

    pieces = split(spoken, 140)

    assert " ".join(piece.phonemes for piece in pieces) == reading
    assert [word.text for piece in pieces for word in piece.words] == ["9" * 100]


def test_a_short_numbers_reading_is_not_cut_in_its_middle() -> None:
    """`$4.50` is one word with many parts; a cut beside it is as good."""
    number = "fɔɹ dɑləɹz ænd fɪfti sɛnts"
    before = "a" * 20
    text = f"{before} {number} {before}"
    words = (
        SpokenWord("a", 0, 1, 0, 20),
        SpokenWord("$4.50", 2, 7, 21, 21 + len(number)),
        SpokenWord("b", 8, 9, 22 + len(number), len(text)),
    )

    pieces = split(Phonemes(text, words, ()), 50)

    assert number in " | ".join(piece.phonemes for piece in pieces)


def test_words_keep_their_place_in_the_text_and_move_to_their_piece() -> None:
    text = f"{SENTENCE} {SENTENCE} {SENTENCE}"

    pieces = split(spell(text, "en-us"))

    said = [
        (text[word.char_start : word.char_end], piece.phonemes[word.phoneme_start :][:3])
        for piece in pieces
        for word in piece.words
    ]
    assert len(pieces) == 2
    assert len(said) == 36
    assert all(word.startswith(sound.rstrip(" .")) for word, sound in said)


@pytest.mark.parametrize(
    ("phonemes", "ending"),
    [
        ("wʌn.", "sentence"),
        ("wʌn?”", "sentence"),
        ('wʌn!")', "sentence"),
        ("wʌn…", "sentence"),
        ("wʌn,", "clause"),
        ("wʌn—", "clause"),
        ("wʌn: ", "clause"),
        ("wʌn", "none"),
        ("(wʌn)", "none"),
        ("", "none"),
    ],
)
def test_the_last_mark_tells_the_pause(phonemes: str, ending: str) -> None:
    assert ending_of(phonemes) == ending


# --- the opening ---------------------------------------------------------------------------------


def test_someone_waiting_hears_the_first_clause_first() -> None:
    text = "i would say that it depends, because the answer is not that simple."

    assert phonemes_of(text, opening=True) == [
        "i would say that it depends,",
        "because the answer is not that simple.",
    ]
    assert phonemes_of(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "well, that is a rather slow story to tell.",  # too few words before the comma
        "i am it, a very nice one, it is so.",  # too few sounds before the first, after the second
        "that is a rather slow story to tell, ok.",
        "there is no mark in this whole text",
    ],
)
def test_an_opening_needs_enough_on_both_sides(text: str) -> None:
    assert phonemes_of(text, opening=True) == [text]


def test_each_next_piece_can_be_made_while_what_came_before_it_plays() -> None:
    clause = "and then it was said that it is so,"
    text = "i would say that it depends, " + " ".join([clause] * 12)

    pieces = phonemes_of(text, opening=True)

    assert " ".join(pieces) == text
    assert pieces[0] == "i would say that it depends,"
    assert len(pieces) == 6
    made, played_until = len(pieces[0]), 0.0  # in phonemes of audio; the model needs half the time
    for piece in pieces[1:]:
        played_until += 0.5 * len(piece)
        assert played_until <= made + 1  # a space
        made += len(piece)


@given(
    st.lists(
        st.sampled_from(["a", "word", "x" * 150, ",", ".", "—", "hello", "“", "”"]), max_size=80
    ),
    st.integers(20, 510),
    st.booleans(),
)
def test_whatever_the_text_nothing_is_lost_doubled_or_too_long(
    parts: list[str], limit: int, opening: bool
) -> None:
    spoken = spell(" ".join(parts), "en-us")

    pieces = split(spoken, limit, opening=opening)

    joined = "".join(piece.phonemes for piece in pieces)
    assert joined.replace(" ", "") == spoken.phonemes.replace(" ", "")
    assert all(1 <= len(piece.phonemes) <= limit for piece in pieces)
    words = [(word.char_start, word.text) for piece in pieces for word in piece.words]
    assert words == [(word.char_start, word.text) for word in spoken.words]
    if opening and len(pieces) > 1 and len(spoken.phonemes) <= limit:
        assert len(pieces[0].phonemes) >= OPENING_PHONEMES
