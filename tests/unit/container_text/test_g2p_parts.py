"""The pure parts: symbols, spans, cleaning, marks, alignment."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kokoro_container.text import SYMBOL_IDS, MappedText, to_ids
from kokoro_container.text.align import word_borders
from kokoro_container.text.cleaning import LONGEST_TOKEN_CHARS, clean, guard
from kokoro_container.text.kana import kana_phonemes
from kokoro_container.text.marks import split_marks
from kokoro_container.text.vocabulary import known


def test_the_vocabulary_is_that_of_the_model() -> None:
    assert len(SYMBOL_IDS) == 114
    assert len(set(SYMBOL_IDS.values())) == 114
    assert min(SYMBOL_IDS.values()) == 1
    assert max(SYMBOL_IDS.values()) == 177
    some = {
        ";": 1,
        "—": 9,
        " ": 16,
        "A": 24,
        "a": 43,
        "ə": 83,
        "ɡ": 92,
        "ʧ": 133,
        "ˈ": 156,
        "↓": 169,
    }
    assert {symbol: SYMBOL_IDS[symbol] for symbol in some} == some


def test_ids_of_a_phoneme_string_and_of_a_foreign_symbol() -> None:
    assert to_ids("həlˈO.") == [50, 83, 54, 156, 31, 4]
    with pytest.raises(ValueError, match=r"'❓' is not one of the model's 114"):
        to_ids("a❓")


def test_unknown_symbols_become_the_nearest_sound_or_nothing() -> None:
    assert known("ẽg❓ħ[ç]ʉ") == "e\u0303ɡhçu"


def test_spans_survive_a_chain_of_replacements() -> None:
    text = MappedText.of("pay $5  now")
    text = text.sub(re.compile(r"\s+"), " ").sub(re.compile(r"\$5"), "five dollars")
    assert text.text == "pay five dollars now"
    dollars = text.text.index("dollars")
    assert text.span(dollars, dollars + 7) == (4, 6)
    now = text.text.index("now")
    assert text.span(now, now + 3) == (8, 11)
    assert text.span(0, len(text.text)) == (0, 11)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("  a\0b\r\n\tc  ", "a b c"),
        ("x\ud800y\udfff", "xy"),
        ("cafe\u0301", "café"),
        ("Ｈｅｌｌｏ２５！", "Hello25!"),
        ("好。今天，3，4", "好. 今天, 3, 4"),
        ("है।", "है."),
        ("क्\u200dष", "क्\u200dष"),  # the joiner shapes an Indic syllable
        ("off\u200ding", "offing"),
        ("a😀b", "a b"),
        ("٣٤", "34"),
    ],
)
def test_cleaning(text: str, cleaned: str) -> None:
    assert clean(MappedText.of(text)).text == cleaned


@given(st.text(max_size=300))
def test_guarded_text_has_no_long_token_and_nothing_but_spaces_is_added(text: str) -> None:
    before = clean(MappedText.of(text))
    after = guard(before, unspaced_script=False)
    assert all(len(token) <= LONGEST_TOKEN_CHARS for token in after.text.split())
    assert set(after.text) <= set(before.text) | {" "}
    assert after.starts == sorted(after.starts)
    assert all(0 <= a <= b <= len(text) for a, b in zip(after.starts, after.ends, strict=True))


@pytest.mark.parametrize(
    "token", ["https://example.com", "2024-12-25", "don't", "$1,234.56", "e.g."]
)
def test_everyday_tokens_are_left_whole(token: str) -> None:
    assert guard(MappedText.of(token), unspaced_script=False).text == token


def test_marks_are_found_around_words_and_not_inside() -> None:
    text = "«Sí», EE.UU. 3,5 a 12:30 x.com - fin."
    parts = [text[start:end] for start, end, marks in split_marks(text) if not marks]
    assert parts == ["«Sí»", "EE.UU", "3,5 a 12:30 x.com", "fin"]


@pytest.mark.parametrize(
    ("alone", "joint", "parts"),
    [
        (["el", "βˌAnte dˈos", "ðe"], "el βˌAnte dˈos ðe", ["el", " βˌAnte dˈos", " ðe"]),
        # the words change in connected speech, and one is said in three
        (
            ["bˈAnte", "mˈil ðˈos", "pˈan"],
            "βˌAnte mˈil ðˈoz βˈan",
            ["βˌAnte", " mˈil ðˈoz", " βˈan"],
        ),
        (["kˈɛs", "kə"], "kɛskˌə", ["kɛs", "kˌə"]),
        (["a", ""], "a", ["a", ""]),
        (["", "a"], "", ["", ""]),
        ([""], "a b", ["a b"]),
    ],
)
def test_a_clause_is_cut_into_its_words(alone: list[str], joint: str, parts: list[str]) -> None:
    borders = word_borders(alone, joint)
    assert [joint[a:b] for a, b in pairwise(borders)] == parts


@given(
    st.lists(st.text("abcˈ ", max_size=8), min_size=1, max_size=8), st.text("abcˈ ", max_size=60)
)
def test_borders_always_cover_the_clause_in_order(alone: list[str], joint: str) -> None:
    borders = word_borders(alone, joint)
    assert borders == sorted(borders)
    assert (borders[0], borders[-1], len(borders)) == (0, len(joint), len(alone) + 1)


@pytest.mark.parametrize(
    ("kana", "phonemes"),
    [
        ("キョー", "kʲoː"),
        ("シンブン", "ɕimbɯɴ"),
        ("サンカイ", "saŋkai"),
        ("ニッチョク", "ɲiʔʨokɯ"),
        ("ファイル", "ɸaiɾɯ"),
        ("ギュウニュウ", "ɡʲɨɯɲɨɯ"),
        ("x？", ""),
    ],
)
def test_kana(kana: str, phonemes: str) -> None:
    assert kana_phonemes(kana) == phonemes
