"""What may stand in a lexicon, where its words are found, and what a text may ask for itself."""

import gc
import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_container.text import LANGUAGES, MappedText, Phonemizer
from kokoro_container.text.cleaning import clean
from kokoro_container.text.directed import MAX_PAUSE_S, Directed, direct, words_of_original
from kokoro_container.text.ipa import pronunciation
from kokoro_container.text.lexicon import Lexicon
from kokoro_sagemaker_agents.errors import InvalidInput

NOTHING = Lexicon()


def found(entries: dict[str, str], text: str, language: str = "en-us") -> list[str]:
    """The stretches of a text that a lexicon has something to say about."""
    lexicon = Lexicon.of({language: entries})
    return [text[each.start : each.end] for each in lexicon.find(text, language)]


def read(directed: Directed) -> list[str | float]:
    return [part if isinstance(part, float) else part.text for part in directed.parts]


def untrusted(text: str, lexicon: Lexicon = NOTHING) -> list[str | float]:
    return read(direct(text, "en-us", lexicon, inline=False))


def trusted(text: str, lexicon: Lexicon = NOTHING) -> list[str | float]:
    return read(direct(text, "en-us", lexicon, inline=True))


# --- pronunciations ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "ipa", "symbols"),
    [
        ("en-us", "ˈkoʊ.kə.ɹoʊ", "kˈOkəɹO"),  # as a dictionary has it
        ("en-us", "kˈOkəɹO", "kˈOkəɹO"),  # as the model has it
        ("en-gb", "ˈkəʊkərəʊ", "kˈQkəɹQ"),
        ("en-us", "'t͡ʃɜ:t͡ʃ", "ʧˈɜːʧ"),
        ("en-us", "ˈbʌtn̩", "bˈʌtᵊn"),
        ("en-us", " njuː  ˈjɔɹk ", "njuː jˈɔɹk"),
        ("es", "ˈpero", "pˈero"),
        ("fr", "bɔ̃ʒuʁ", "bɔ\u0303ʒuʁ"),
        ("de", "gut", "ɡut"),  # typed g
    ],
)
def test_ipa_becomes_the_models_symbols(language: str, ipa: str, symbols: str) -> None:
    assert pronunciation(ipa, language) == symbols


@pytest.mark.parametrize(
    ("ipa", "named"),
    [("k7t", "'7'"), ("k❓t", "U+2753"), ("a,b", "','"), ("a(b", "'('"), ("ˈ", "no sound")],
)
def test_what_is_no_phoneme_is_refused_by_name(ipa: str, named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        pronunciation(ipa, "en-us")


# --- where an entry is found ---------------------------------------------------------------------


def test_small_letters_match_any_case_and_capitals_only_themselves() -> None:
    entries = {"nginx": "engine ex", "US": "you ess"}

    assert found(entries, "NGINX, Nginx and nginx") == ["NGINX", "Nginx", "nginx"]
    assert found(entries, "The US told us so") == ["US"]


@pytest.mark.parametrize("text", ["scats", "cat_a", "concat", "cat2", "can't", "cant", "O'cat"])
def test_a_part_of_a_word_is_left_alone(text: str) -> None:
    assert found({"cat": "dog", "can": "tin"}, text) == []


@pytest.mark.parametrize("text", ["cat.", "(cat)", "“cat”", "cat-like", "cat, dog", "the cat's"])
def test_marks_around_a_word_do_not_hide_it(text: str) -> None:
    assert found({"cat": "dog"}, text) == ["cat"]


def test_the_longest_entry_counts() -> None:
    entries = {"new": "knew", "new york": "noo yawk", "new york times": "the paper"}

    assert found(entries, "New  York Times".replace("  ", " ")) == ["New York Times"]
    assert found(entries, "New York, new times") == ["New York", "new"]


def test_white_space_in_the_text_is_any() -> None:
    lexicon = Lexicon.of({"en-us": {"new york": "noo yawk"}})

    assert untrusted("In New\n  York now", lexicon) == ["In noo yawk now"]


def test_words_with_marks_in_them_are_found() -> None:
    entries = {"C++": "see plus plus", "Node.js": "node jay ess", "AT&T": "A T and T"}

    assert found(entries, "C++ or Node.js at AT&T.") == ["C++", "Node.js", "AT&T"]


@pytest.mark.parametrize(
    "text", ["kokoro.com", "https://x.io/kokoro", "me@kokoro.io", "<kokoro a='1'>", "[pause:1s]"]
)
def test_no_word_is_picked_out_of_an_address_or_a_tag(text: str) -> None:
    assert found({"kokoro": "ko", "pause": "paws", "a": "an"}, text) == []


@pytest.mark.parametrize(
    ("language", "word", "text"),
    [
        ("fr", "Oréal", "chez l'Oréal"),
        ("it", "Aquila", "dell’Aquila"),
        ("ja", "渋谷", "東京渋谷区へ"),
        ("zh", "重庆", "我在重庆工作"),
        ("zh", "AI", "用AI写"),
        ("hi", "दिल्ली", "नई दिल्ली में"),
    ],
)
def test_other_languages_words_are_found_as_they_are_written(
    language: str, word: str, text: str
) -> None:
    assert found({word: "a"}, text, language) == [word]


def test_a_mark_that_combines_belongs_to_its_word() -> None:
    """ "क" is not a word in "की": the vowel sign is no letter to Unicode."""
    assert found({"क": "ka"}, "की क", "hi") == ["क"]


def test_an_english_s_is_said_with_the_word() -> None:
    lexicon = Lexicon.of({"en-us": {"nvidia": "/ɛnˈvɪdiə/", "max": "/mæks/", "pat": "/pæt/"}})

    assert untrusted("NVIDIA's", lexicon) == ["[NVIDIA's](/ɛnvˈɪdiəz/)"]
    assert untrusted("Max's Pat’s", lexicon) == ["[Max's](/mæksᵻz/) [Pat’s](/pæts/)"]


def test_a_sessions_entry_goes_before_the_servers() -> None:
    session = Lexicon.of({"en-us": {"sql": "see quill"}})
    server = Lexicon.of({"en-us": {"SQL": "ess queue ell", "nginx": "engine ex"}})

    assert untrusted("SQL and nginx", session.over(server)) == ["see quill and engine ex"]


def test_finding_takes_time_in_proportion_to_the_text() -> None:
    """A lexicon made to be slow: a thousand long entries that begin like the text."""
    entries = {"a " * 30 + "b" * (number % 30) + f" {number}": "x" for number in range(1000)}
    lexicon = Lexicon.of({"en-us": entries})

    def cpu_s(text: str) -> float:
        gc.disable()
        try:
            started = time.process_time()
            assert list(lexicon.find(text, "en-us")) == []
            return time.process_time() - started
        finally:
            gc.enable()

    cpu_s("a " * 100)
    short, long = (min(cpu_s("a " * count) for _ in range(3)) for count in (2_000, 20_000))
    assert long < 40 * short  # ten times as long; a quadratic one takes a hundred times
    assert long < 5  # 0.2 s measured


# --- what may be in one --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "said", "named"),
    [
        ("cat", "/k7t/", "'7'"),
        ("cat", "/k❓/", "U+2753"),
        ("cat", "/ˈ/", "no sound"),
        ("cat", "[dog](/x/)", "["),
        ("cat", "a<b", "<"),
        ("cat", "...", "respelling"),
        ("cat", "a" * 101, "101 characters"),
        ("c" * 101, "dog", "1 to 100"),
        ("c(t", "dog", "brackets"),
        ("c]", "dog", "brackets"),
        ("!!", "dog", "no letter"),
        ("\u200b", "dog", "1 to 100"),
    ],
)
def test_an_entry_that_cannot_be_used_is_refused_by_name(word: str, said: str, named: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Lexicon.of({"en-us": {"good": "fine", word: said}})

    assert refused.value.code == "invalid_lexicon"
    assert named in str(refused.value)
    assert repr(word[:39])[:-1] in str(refused.value)


def test_the_file_beside_the_model(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.json"
    assert not Lexicon.load(path, LANGUAGES)

    path.write_text(json.dumps({"en-us": {"nginx": "engine ex"}, "fr": {}}))
    assert untrusted("nginx", Lexicon.load(path, LANGUAGES)) == ["engine ex"]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("{", "not JSON"),
        ("[]", "language: {word"),
        ('{"en-us": {"a": 1}}', "language: {word"),
        ('{"xx": {"a": "b"}}', "'xx'"),
        ('{"en-us": {"cat": "/k7t/"}}', "'7'"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, content: str, named: str) -> None:
    path = tmp_path / "lexicon.json"
    path.write_text(content)

    with pytest.raises(ValueError, match=r"lexicon\.json") as refused:
        Lexicon.load(path, LANGUAGES)

    assert named in str(refused.value)


# --- what a text may ask for ---------------------------------------------------------------------


def test_an_untrusted_texts_directions_are_none() -> None:
    assert untrusted("A [cat](/dɔɡ/) and a [link](http://x.io).") == ["A cat and a link."]
    assert untrusted("Wait [pause:9s] now") == ["Wait [pause:9s] now"]  # and the G2P leaves it out


@pytest.mark.parametrize(
    "text",
    [
        "[[cat](/x/)](/dɔɡ/)",
        "［cat］（/dɔɡ/）",
        "[cat]\u200b(/dɔɡ/)",
        "[a[cat](b)](/dɔɡ/)",
        "[c](/dɔɡ/)",
    ],
)
def test_no_way_of_writing_it_gets_round_that(text: str, phonemizer: Phonemizer) -> None:
    (part,) = untrusted(text)

    assert isinstance(part, str)
    assert "](/" not in part
    assert "dɔɡ" not in phonemizer(part, "en-us").phonemes


@given(st.text(alphabet="[]()/ab<>\u200b［］（）/ ", max_size=40))
@settings(max_examples=300, deadline=None)
def test_an_untrusted_text_never_holds_a_pronunciation(text: str) -> None:
    (part,) = untrusted(text)

    assert "](" not in clean(MappedText.of(str(part))).text


def test_a_trusted_text_has_pronunciations_and_pauses() -> None:
    text = (
        "A [cat](/ˈdɔɡ/) [pause:0.5s] or [pause: 500 ms]<break time='1s'/> a [link](http://x.io)."
    )

    assert trusted(text) == ["A [cat](/dˈɔɡ/) ", 0.5, " or ", 0.5, 1.0, " a link."]


@pytest.mark.parametrize("mark", ["[pause:2s]", "[PAUSE:2000ms]", '<break time="2s"/>'])
def test_a_pause_may_be_all_there_is(mark: str) -> None:
    assert trusted(mark) == [2.0]
    assert trusted(f"{mark}.") == [2.0]


@pytest.mark.parametrize(
    "mark", ["[pause:]", "[pause:-1s]", "[pause:1h]", "[pause:1e9s]", "<break/>"]
)
def test_what_is_no_length_is_no_pause(mark: str) -> None:
    assert trusted(f"a {mark} b") == [f"a {mark} b"]


def test_a_pause_that_is_too_long_is_cut_and_told() -> None:
    directed = direct("a [pause:999999s] b", "en-us", NOTHING, inline=True)

    assert read(directed) == ["a ", MAX_PAUSE_S, " b"]
    assert "999999 s" in directed.warnings[0]


def test_a_pronunciation_that_is_none_leaves_the_word_and_is_told() -> None:
    directed = direct("A [cat](/k7t/) sat", "en-us", NOTHING, inline=True)

    assert read(directed) == ["A cat sat"]
    assert "'cat'" in directed.warnings[0]
    assert "'7'" in directed.warnings[0]


def test_what_is_written_in_the_text_goes_before_the_lexicon() -> None:
    lexicon = Lexicon.of({"en-us": {"cat": "/dɔɡ/"}})

    assert trusted("[cat](/kæt/) cat", lexicon) == ["[cat](/kæt/) [cat](/dɔɡ/)"]


# --- the words are still the text's --------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("said", ["/kasa/", "casa", "una casa 2"])
def test_a_lexicons_word_is_spoken_and_keeps_its_spelling(
    phonemizer: Phonemizer, language: str, said: str, check_word_map
) -> None:
    said = {"ja": "かさ", "zh": "卡萨"}.get(language, said) if said[0] != "/" else said
    lexicon = Lexicon.of({language: {"xyzzy": said}})
    text = "\u200bXyzzy, xyzzy 3!  Xyzzy"
    (part,) = direct(text, language, lexicon, inline=False).parts
    assert isinstance(part, MappedText)

    spoken = words_of_original(phonemizer(part.text, language), part, text)

    check_word_map(text, spoken)
    assert [w.text for w in spoken.words if w.text != "3"] == ["Xyzzy", "xyzzy", "Xyzzy"]
    if said == "/kasa/":
        assert spoken.phonemes.count("kasa") == 3
