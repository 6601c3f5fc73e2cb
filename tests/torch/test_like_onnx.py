"""Does the torch engine say the same as the ONNX engine, in the same voice?"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from pocketsphinx import Decoder

from kokoro_container.engines.base import EngineAudio
from kokoro_container.engines.onnx import OnnxEngine
from kokoro_container.engines.torch import TorchEngine
from kokoro_container.text import Phonemizer

from .conftest import Speak
from .spectra import correlation, log_bands

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]

WINDOWS = "Seven yellow windows were open in the morning."
WINDOWS_WORDS = {"seven", "yellow", "windows", "open", "morning"}
APPLES = "The doctor paid eleven dollars for a basket of apples."
APPLES_WORDS = {"doctor", "paid", "eleven", "dollars", "basket", "apples"}
LONG = (
    "She went home by the river, slowly, because it was late; and nobody, not even her brother, "
    "had asked where she was going."
)
HEARD_RATE = 16_000  # the recogniser's

# The export divides only the first 20 samples by the sum of its squared windows, 1.5 for a Hann
# window at this overlap (computed): everything else is that much louder than the model's own.
EXPORT_GAIN = 1.5


Said = dict[str, tuple[EngineAudio, EngineAudio]]


@pytest.fixture(scope="module")
def said(torch_engine: TorchEngine, onnx_engine: OnnxEngine, speak: Speak) -> Said:
    """Each text by the torch engine and by the ONNX engine."""
    texts = (WINDOWS, APPLES, LONG)
    return {text: (speak(torch_engine, text), speak(onnx_engine, text)) for text in texts}


def heard(samples: NDArray[np.float32]) -> list[str]:
    """The words that the recogniser hears."""
    at = np.arange(0, len(samples), 24_000 / HEARD_RATE)
    spectrum = np.fft.rfft(samples)
    spectrum[np.fft.rfftfreq(len(samples), 1 / 24_000) > 0.95 * HEARD_RATE / 2] = 0
    smooth = np.fft.irfft(spectrum, len(samples))
    slower = np.interp(at, np.arange(len(samples)), smooth * 32_767).astype("<i2")
    decoder = Decoder(samprate=HEARD_RATE, loglevel="FATAL")
    decoder.start_utt()
    decoder.process_raw(slower.tobytes(), full_utt=True)
    decoder.end_utt()
    hypothesis = decoder.hyp()
    return hypothesis.hypstr.split() if hypothesis else []


@pytest.mark.parametrize("text", [WINDOWS, APPLES, LONG])
def test_words_last_as_long_within_two_frames(
    said: Said, phonemizer: Phonemizer, text: str
) -> None:
    phonemes = phonemizer(text, "en-us").phonemes
    ours, theirs = (audio.frames for audio in said[text])

    assert len(ours) == len(theirs) == len(phonemes) + 2
    words = np.cumsum([0, *(symbol == " " for symbol in phonemes), 0])
    ours_per_word, theirs_per_word = np.bincount(words, ours), np.bincount(words, theirs)
    assert len(ours_per_word) == len(text.split())
    assert np.abs(ours_per_word - theirs_per_word).max() <= 2


def test_durations_account_for_every_sample(said: Said) -> None:
    for ours, _ in said.values():
        assert ours.samples.size == ours.frames.sum() * 600
        assert ours.samples.dtype == np.float32
        assert ours.frames.dtype == np.int64


def test_a_recogniser_hears_the_same_words(said: Said) -> None:
    for text, words in ((WINDOWS, WINDOWS_WORDS), (APPLES, APPLES_WORDS)):
        ours, theirs = (set(heard(audio.samples)) for audio in said[text])
        assert len(ours & words) >= len(words) - 1
        assert ours & words == theirs & words


def test_the_spectra_are_those_of_the_same_speech(said: Said) -> None:
    # Measured: 0.98, 0.99 and 0.99 for the same sentence; 0.64 to 0.76 for different ones.
    same = [correlation(*(audio.samples for audio in pair)) for pair in said.values()]
    ours = [audio.samples for audio, _ in said.values()]
    different = [correlation(one, other) for one, other in itertools.combinations(ours, 2)]

    assert min(same) > 0.95
    assert max(different) < 0.85


def test_every_band_is_as_loud(said: Said) -> None:
    for ours, theirs in said.values():
        frames = min(ours.samples.size, theirs.samples.size) // 600
        levels = [log_bands(audio.samples)[:frames].mean(axis=0) for audio in (ours, theirs)]
        louder_db = 10 / np.log(10) * (levels[1] - levels[0]) - 20 * np.log10(EXPORT_GAIN)
        assert np.abs(louder_db).max() < 3.0
        assert abs(louder_db.mean()) < 1.0
