"""Real sentences in each language: what is heard, and which word of the text it belongs to."""

import re

import pytest

from kokoro_container.text import LANGUAGES, Phonemizer, to_ids
from kokoro_container.text.spans import MappedText

SENTENCES = [
    ("en-us", "Hello there. How are you?", "həlˈO ðˈɛɹ. hˌW ɑɹ ju?"),
    ("en-us", "The record set a record.", "ðə ɹˈɛkəɹd sˈɛt ɐ ɹˈɛkəɹd."),
    ("en-us", "It costs $4.50, okay?", "ˌɪt kˈɔsts fˈɔɹ dˈɑləɹz ænd fˈɪfti sˈɛnts, ˌOkˈA?"),
    ("en-us", "“Quoted,” she said—well…", "“kwˈOTᵻd,” ʃi sˈɛd—wˈɛl…"),
    ("en-gb", "Schedule the bath tomato.", "ʃˈɛdjuːl ðə bˈɑːθ təmˈɑːtQ."),
    ("es", "Hola, ¿cómo estás? El niño come (pan).", "ˈola, kˈomo estˈas? el nˈiɲo kˈome (pˈan)."),
    ("es", "Pesa 3,5 kilos.", "pˈesa tɾˈes kˈoma θˈinko kˈilos."),
    ("fr", "J'aime le football et l'été.", "ʒˈɛm lə fˈʊtbɔːl e letˈe."),
    ("fr", "Il y a 12 enfants aujourd'hui.", "il i a dˈuz ɑ̃fˈɑ̃z oʒuʁdyˈi."),
    ("hi", "नमस्ते, आप कैसे हैं? मेरा नाम राम है।", "nəmˈʌsteː, ˌaːp kˈɛːseː hɛ̃? mˌeːɾaː nˈaːm ɾˈaːm hɛː."),
    ("hi", "और 25 किताबें", "ɔːɾ pˈʌcːis kɪtˈaːbe\u0303ː"),
    ("it", "Ciao, come stai? L'amico è qui.", "ʧˈao, kˌome stˈaj? lamˈiko e kwˈi."),
    ("pt-br", "Olá, tudo bem? Eu não sei.", "olˈa, tˈudʊ bˈAŋ? eʊ nˌɐ̃ʊ̃ sˈA."),
    ("zh", "你好，世界！今天很好。", "ni↓xau↓, ʂɨ↘ʨje↘! ʨi→ntʰjɛ→n xə↓n xau↓."),
    ("zh", "价格是3.5元。", "ʨja↘kɤ↗ ʂɨ↘ sa→ntjɛ↓n u↓ɥɛ↗n."),
    ("zh", "「你好。」他说……（真的）", "“ni↓xau↓.” tʰa→ ʂwo→…… (ꭧə→ntɤ)"),
    # Palatal and voiced consonants, which misaki's newer notation would lose to the model.
    ("ja", "こんにちは、世界！", "koɲɲiʨiβa, sekai!"),
    ("ja", "新幹線で京都へ行きます。", "ɕiŋkaɴseɴ de kʲoːto e ikʲimasɨ."),
    ("ja", "ありがとうございます。", "aɾʲiɡatoː ɡoʣaimasɨ."),
    ("ja", "「えっ？」と言った。寒いでしょう。", "“eʔ?” to iʔta. samɯi deɕoː."),
]


@pytest.mark.parametrize(("language", "text", "phonemes"), SENTENCES)
def test_a_sentence_is_heard_as_it_should(
    phonemizer: Phonemizer, check_word_map, language: str, text: str, phonemes: str
) -> None:
    result = phonemizer(text, language)
    assert result.phonemes == phonemes
    assert result.warnings == ()
    check_word_map(text, result)


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        (
            "en-us",
            '  Dr. Smith\'s\t"café" costs $4.50 (10% off), e.g. in\n\nC++ or -5°C — ok?',
            [
                "Dr.",
                "Smith's",
                "café",
                "costs",
                "$4.50",
                "10%",
                "off",
                "e.g.",
                "in",
                "C++",
                "or",
                "-5°C",
                "ok",
            ],
        ),
        ("en-us", "It’s 3:30 PM, don't 'worry'.", ["It’s", "3:30", "PM", "don't", "worry"]),
        ("es", "¿El 25 de mayo? «Sí», 12,5.", ["El", "25", "de", "mayo", "Sí", "12,5"]),
        ("pt-br", "Tenho 25 anos; vou-me embora.", ["Tenho", "25", "anos", "vou-me", "embora"]),
        ("fr", "Qu'est-ce que c'est ?", ["Qu'est-ce que", "c'est"]),  # espeak says both as one
        ("zh", "我有25个苹果。", ["我", "有", "25个", "苹果"]),
        (
            "ja",
            "私は東京に25年住んでいます。",
            ["私", "は", "東京", "に", "25", "年", "住んで", "います"],
        ),
        ("ja", "123,456円は3.5%", ["123,456", "円", "は", "3.5%"]),
    ],
)
def test_words_are_those_of_the_text(
    phonemizer: Phonemizer, check_word_map, language: str, text: str, words: list[str]
) -> None:
    result = phonemizer(text, language)
    assert [word.text for word in result.words] == words
    check_word_map(text, result)


def test_each_word_has_its_own_sound(phonemizer: Phonemizer) -> None:
    result = phonemizer("Tengo 1234 euros, el 25 de mayo.", "es")
    sounds = {w.text: result.phonemes[w.phoneme_start : w.phoneme_end] for w in result.words}
    assert sounds == {
        "Tengo": "tˈɛŋɡo",
        "1234": "mˈil ðosθjˈɛntos tɾˈAnta i kwˈatɾo",
        "euros": "ˈeʊɾos,",  # the pause is the word's
        "el": "el",
        "25": "βˌAntiθˈinko",
        "de": "ðe",
        "mayo": "mˈaʝo.",
    }


def test_marks_belong_to_the_word_they_touch(phonemizer: Phonemizer) -> None:
    result = phonemizer('He said: (really) — "ok"', "en-us")
    sounds = [result.phonemes[w.phoneme_start : w.phoneme_end] for w in result.words]
    assert sounds == ["hˌi", "sˈɛd:", "(ɹˈiᵊli) —", "“ˌOkˈA”"]


@pytest.mark.parametrize(
    ("language", "text", "phonemes"),
    [
        ("en-us", "say नमस्ते now", "sˈA nəmˈʌsteː nˈW"),
        ("en-us", "say Привет now", "sˈA prʲivʲˈet nˈW"),
        ("es", "dice नमस्ते hoy", "dˈiθe nəmˈʌsteː ˈoɪ"),
        ("hi", "मुझे computer पसंद", "mˌʊɟʰeː kəmpjˈuːtə pəsˈʌnd"),
        ("zh", "我用Python写", "wo↓jʊ↘ŋ pˈIθən ɕje↓"),
        ("ja", "Helloです", "haɾoː desɨ"),
    ],
)
def test_words_in_other_scripts_are_spoken_without_language_flags(
    phonemizer: Phonemizer, language: str, text: str, phonemes: str
) -> None:
    result = phonemizer(text, language)
    assert result.phonemes == phonemes
    assert len(result.words) == len(phonemes.split())


@pytest.mark.parametrize("language", ["en-us", "es"])
def test_a_word_that_cannot_be_spoken_is_left_out_with_a_warning(
    phonemizer: Phonemizer, language: str
) -> None:
    result = phonemizer("no 你好, no", language)
    assert [word.text for word in result.words] == ["no", "no"]
    assert result.phonemes.count(", ") == 1
    assert " ," not in result.phonemes
    assert len(result.warnings) == 1
    assert "你好" in result.warnings[0]


def test_a_character_without_a_reading_costs_only_itself(phonemizer: Phonemizer) -> None:
    result = phonemizer("我\U00023457\U0002a6d7们好", "zh")
    assert [word.text for word in result.words] == ["我", "们", "好"]
    assert len(result.warnings) == 2


def test_an_inline_pronunciation_is_used_as_given(phonemizer: Phonemizer, check_word_map) -> None:
    text = "Meet [New York](/nˈujˈɔɹk/)-based [Kokoro](/kˈOkəɹO/), in [any](http://x.io) case."
    result = phonemizer(text, "en-us")
    assert [w.text for w in result.words] == [
        "Meet",
        "New York",
        "-based",
        "Kokoro",
        "in",
        "any",
        "case",
    ]
    assert " nˈujˈɔɹk " in result.phonemes
    assert " kˈOkəɹO, ɪn " in result.phonemes
    check_word_map(text, result)
    assert phonemizer("[Kokoro](/kˈOkəɹO/) habla", "es").phonemes == "kˈOkəɹO ˈaβla"


@pytest.mark.parametrize("target", ["/❓/", "//", "/", "/ˈ/", "+2", "#x#", f"/{'a' * 600}/", ""])
def test_an_inline_pronunciation_that_is_none_leaves_the_word(
    phonemizer: Phonemizer, target: str
) -> None:
    assert phonemizer(f"[hello]({target})", "en-us").phonemes == "həlˈO"


def test_a_normaliser_writes_words_and_the_map_still_points_into_the_text() -> None:
    def spell_out(text: MappedText, language: str) -> MappedText:
        return text.sub(re.compile(r"\$5M"), "cinco millones" if language == "es" else "?")

    text = "Son  $5M hoy"
    result = Phonemizer(normaliser=spell_out)(text, "es")
    assert result.phonemes == "sˈon θˈinko miʎˈones ˈoɪ"
    assert [w.text for w in result.words] == ["Son", "$5M", "hoy"]


def test_an_unknown_language_is_refused_with_the_known_ones(phonemizer: Phonemizer) -> None:
    with pytest.raises(ValueError, match=r"'de'.*en-us.*zh"):
        phonemizer("Hallo", "de")
    with pytest.raises(ValueError, match="'xx'"):
        phonemizer.warm_up(["xx"])


def test_all_languages_warm_up_and_give_ids(phonemizer: Phonemizer) -> None:
    phonemizer.warm_up(LANGUAGES)
    for language in LANGUAGES:
        assert to_ids(phonemizer("OK 7", language).phonemes)
