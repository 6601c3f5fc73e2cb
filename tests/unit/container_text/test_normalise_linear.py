"""Time grows with the length of the text and no faster, whatever the text is."""

import gc
import time

import pytest

from kokoro_container.text import MappedText
from kokoro_container.text.normalise import normalise

# Pieces that rules begin with, look behind for, or almost match; each is repeated to a long text.
PIECES = [
    *(
        "[",
        "(",
        "<",
        "1",
        "0",
        "a",
        "A",
        "$",
        "-",
        "*",
        "_",
        "#",
        "&",
        "%",
        "°",
        "=",
        ">",
        '"',
        "'",
    ),
    *("é", "漢", "½", "~", "…", "1,", "1.", "1-", "1:", "1/", "a.", "a@", "a-", "a_", "a/", "&a"),
    *("<a", "<b", "1h", "1k", "1'", '1"', "1x", "1%", "5°", "x^", "a=", "v1.", "1.1.", "1漢", "+1"),
    *("1am-", "$1-", "http://", "www.", "[pause:", "1,234", "1.234,", "a@a.", "mid-", "!?", "007"),
    *("1 ", "a ", "* ", "1 - ", "1 x ", "€ ", "R$ 1 ", "PIN is ", "order number ", "Henry I "),
    *("A St ", "1 1/", "1 ½", "+1 ", "call 1 ", "Dec 1 ", "1 Dec ", "5 km ", '1" ', "Dr. ", "> "),
]
_CHARS = 2_000
# The bar is 3 for a doubled length; 2 is linear and 4 quadratic. Pieces under the floor are too
# quick for their ratio to mean anything.
_MOST_GROWTH = 3
_FLOOR_S = 0.002
_ATTEMPTS = 5


@pytest.mark.parametrize("language", ["en-us", "fr", "zh"])
def test_a_text_of_twice_the_length_takes_at_most_about_twice_the_time(language: str) -> None:
    normalise(MappedText.of("1"), language)
    grown = {piece: _growth(piece, language) for piece in PIECES}
    assert {piece: ratio for piece, ratio in grown.items() if ratio >= _MOST_GROWTH} == {}


def _growth(piece: str, language: str) -> float:
    """The least of a few measurements: other load on the machine only ever adds."""
    once = piece * (_CHARS // len(piece))
    ratio = 99.0
    for _ in range(_ATTEMPTS):
        short, long = _cpu_s(once, language), _cpu_s(once * 2, language)
        if long < _FLOOR_S:
            return 0.0
        ratio = min(ratio, long / short)
        if ratio < _MOST_GROWTH:
            return ratio
    return ratio


def _cpu_s(text: str, language: str) -> float:
    mapped = MappedText.of(text)
    gc.disable()
    try:
        began = time.process_time()
        normalise(mapped, language)
        return time.process_time() - began
    finally:
        gc.enable()


def test_an_ordinary_sentence_takes_milliseconds() -> None:
    sentence = "On 12/25/2024 at 3:30 PM, Dr. Smith paid $4.50 for 10 kg at 123 Elm St. in all."
    normalise(MappedText.of(sentence), "en-us")
    # measured: 1.5 ms on two busy old cores
    assert min(_cpu_s(sentence, "en-us") for _ in range(5)) < 0.015
