"""Word times in every language: each word of the text is heard when it is said to be."""

from itertools import groupby

import numpy as np
import pytest

from kokoro_container.engines.base import SAMPLE_RATE, CancelToken
from kokoro_container.engines.tone import ToneEngine, read_back
from kokoro_container.synthesis import Synthesizer
from kokoro_container.text import LANGUAGES, Phonemizer
from kokoro_container.text.vocabulary import has_sound
from kokoro_container.voices import Voices
from kokoro_sagemaker_agents.protocol import SpeechOptions, Word

VOICES = Voices()

# With what makes offsets go wrong: numbers said as several words, quotes, emoji, white space, wide
# and invisible characters, letters of two code points.
TEXTS = {
    "en-us": "\u200bIt’s  $4.50 (10% off) 🎉, “right”? Cafe\u0301 at 3:30 PM, said Dr. Smith.",
    "en-gb": "The schedule, in 2024,  was “late”; 25 trains — all red — stood\nstill.",
    "es": "¿El 25 de mayo?  «Sí», cuesta 12,5 euros; el nin\u0303o viene.",
    "fr": "L'été, il y a 12 enfants…  «Bonjour», dit-elle à 3 amis.",
    "hi": "नमस्ते, आप कैसे हैं?  और 25 किताबें मेरे पास हैं।",
    "it": "Ciao, come stai?  L'amico ha 25 libri, è qui.",
    "ja": "私は東京に２５年住んでいます。「はい」と言った🎉。",
    "pt-br": "Tenho 25 anos;  vou-me embora. «Olá», tudo bem?",
    "zh": "我有２５个苹果。「你好，世界」！今天很好🎉。",
}


def spoken(phonemizer: Phonemizer, text: str, options: SpeechOptions) -> tuple[list[Word], bytes]:
    """All of a text, in several calls of the model."""
    everything = Synthesizer(ToneEngine(), phonemizer, VOICES, call_phonemes=30)
    speech = everything.speech(text, options, opening=True)
    words, data, more = [], b"", True
    while more:
        done = speech.phonemise()
        more = done.more
        assert len(done.pieces) > 1
        for piece in done.pieces:
            audio = speech.render(piece, CancelToken())
            words += audio.words
            data += audio.data
    return words, data + speech.rest().data


def sounds(phonemes: str) -> str:
    """What `read_back` hears of phonemes: no pauses or stress, and a long sound once."""
    heard = (symbol if has_sound(symbol) else " " for symbol in phonemes)
    return "".join(symbol for symbol, _ in groupby(heard) if symbol != " ")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_is_heard_at_its_time(phonemizer: Phonemizer, language: str) -> None:
    text = TEXTS[language]

    words, data = spoken(phonemizer, text, SpeechOptions(language=language))

    samples = np.frombuffer(data, "<i2").astype(np.float32) / 32767.0
    expected = phonemizer(text, language)
    assert [(word.text, word.char_start) for word in words] == [
        (word.text, word.char_start) for word in expected.words
    ]
    for word, known in zip(words, expected.words, strict=True):
        assert text[word.char_start : word.char_end] == word.text
        stretch = samples[round(word.start * SAMPLE_RATE) : round(word.end * SAMPLE_RATE)]
        assert read_back(stretch) == sounds(
            expected.phonemes[known.phoneme_start : known.phoneme_end]
        )


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_follow_each_other_through_the_text_and_the_audio(
    phonemizer: Phonemizer, language: str
) -> None:
    text = TEXTS[language]

    words, data = spoken(phonemizer, text, SpeechOptions(language=language, speed=1.3))

    places = [place for word in words for place in (word.char_start, word.char_end)]
    times = [time for word in words for time in (word.start, word.end)]
    assert places == sorted(places)
    assert times == sorted(times)
    assert times[0] >= 0
    assert times[-1] <= len(data) / 2 / SAMPLE_RATE
    letters = [at for at, char in enumerate(text) if char.isalnum()]
    covered = {at for word in words for at in range(word.char_start, word.char_end)}
    assert [text[at] for at in letters if at not in covered] == []
