"""The torch engine with real weights, recovered from the ONNX export, beside the ONNX engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kokoro_container.engines.base import Engine, EngineAudio
from kokoro_container.engines.loading import load_engine
from kokoro_container.engines.onnx import OnnxEngine
from kokoro_container.engines.torch import TorchEngine
from kokoro_container.text import Phonemizer
from kokoro_container.voices import Voices

Speak = Callable[[Engine, str], EngineAudio]


@pytest.fixture(scope="session")
def torch_engine() -> Iterator[TorchEngine]:
    """On a GPU if there is one."""
    engine = load_engine("torch")
    assert isinstance(engine, TorchEngine)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def onnx_engine() -> Iterator[OnnxEngine]:
    engine = OnnxEngine.load()
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def phonemizer() -> Phonemizer:
    return Phonemizer()


@pytest.fixture(scope="session")
def voices() -> Voices:
    return Voices()


@pytest.fixture(scope="session")
def speak(phonemizer: Phonemizer, voices: Voices) -> Speak:
    """One text in one call of an engine."""

    def speak(engine: Engine, text: str) -> EngineAudio:
        phonemes = phonemizer(text, "en-us").phonemes
        return engine.synthesize(phonemes, voices.style("af_heart", len(phonemes)), 1.0)

    return speak
