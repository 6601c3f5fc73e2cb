"""Through the whole front end: the words handed back are those the caller wrote."""

import pytest

from kokoro_container.text import Phonemizer


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en-us", "It costs $4.50 today", ["It", "costs", "$4.50", "today"]),
        ("en-us", "About 40–60°C, no?", ["About", "40–60°C", "no"]),
        ("en-us", "At 9:30 PM or 9:30PM", ["At", "9:30", "PM", "or", "9:30PM"]),
        ("en-us", "$5.3 billion, 10 kg", ["$5.3", "billion", "10", "kg"]),
        ("en-us", "Call (now) 555-123-4567.", ["Call", "now", "555-123-4567"]),
        ("en-us", "Ask foo@bar.com!", ["Ask", "foo@bar.com"]),
        ("en-us", "~5, x=1, #1 and 4x4", ["~5", "x=1", "#1", "and", "4x4"]),
        ("en-us", "a 10-year-old on Elm St.", ["a", "10-year-old", "on", "Elm", "St"]),
        ("en-us", "Henry VIII, Dec 25, 2024", ["Henry", "VIII", "Dec", "25", "2024"]),
        ("en-us", "**Hi** <b>you</b> [pause:1s] 😀 now", ["Hi", "you", "now"]),
        ("es", "Son 20,50 € o $5M", ["Son", "20,50 €", "o", "$5M"]),
        ("fr", "À 15h30, 50 % de 3,5 km", ["À", "15h30", "50 %", "de", "3,5", "km"]),
        ("hi", "₹500 और 5km", ["₹500", "और", "5km"]),
        ("zh", "我有¥500和3.5km", ["我", "有", "¥500", "和", "3.5km"]),
        ("ja", "¥500は15:30", ["¥500", "は", "15:30"]),
    ],
)
def test_words_keep_their_spelling_and_place(
    phonemizer: Phonemizer, check_word_map, language: str, text: str, words: list[str]
) -> None:
    result = phonemizer(text, language)
    assert [word.text for word in result.words] == words
    assert result.warnings == ()
    check_word_map(text, result)


def test_each_word_has_the_sound_of_what_is_said_for_it(phonemizer: Phonemizer) -> None:
    result = phonemizer("Pay $5.3 billion, 10 kg, -5°C", "en-us")
    sounds = {w.text: result.phonemes[w.phoneme_start : w.phoneme_end] for w in result.words}
    assert sounds == {
        "Pay": "pˈA",
        "$5.3": "fˈIv pˈYnt θɹˈi",
        "billion": "bˈɪljən dˈɑləɹz,",
        "10": "tˈɛn",
        "kg": "kˈɪləɡɹˌæmz,",
        "-5°C": "mˈInəs fˈIv dəɡɹˈiz sˈɛlsiəs",
    }


@pytest.mark.parametrize(
    "text",
    ["≈5", "℃", "$", "x==1", "50 > 40", "<3", "007", "5'10\"", "C#", "I <3 u", "9am", "AT&T"],
)
def test_nothing_of_it_is_silent(phonemizer: Phonemizer, check_word_map, text: str) -> None:
    result = phonemizer(text, "en-us")
    assert result.phonemes
    assert result.warnings == ()
    spoken = "".join(word.text for word in result.words)
    assert {c for c in text if c.isalnum()} <= set(spoken)
    check_word_map(text, result)


def test_am_is_two_letters_and_the_sentence_ends(phonemizer: Phonemizer) -> None:
    sound = phonemizer("It opens at 9am. The 9am bus, 9 a.m. to 5pm.", "en-us").phonemes
    assert sound.count("nˈIn ˌAˈɛm") == 3
    assert "nˈIn ˌAˈɛm. " in sound
    assert sound.endswith("fˈIv pˌiˈɛm.")


def test_a_given_pronunciation_wins_over_the_normaliser(phonemizer: Phonemizer) -> None:
    assert phonemizer("[42](/kˈɛt/) [5 km](/ʃˈɔɹt/)", "en-us").phonemes == "kˈɛt ʃˈɔɹt"


def test_without_a_normaliser_the_library_reads_the_numbers() -> None:
    plain = Phonemizer(normaliser=None)
    assert plain("Pesa 3,5 kilos.", "es").phonemes == "pˈesa tɾˈes koma θˈinko kˈilos."
