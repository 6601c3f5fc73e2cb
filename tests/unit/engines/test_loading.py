"""Which engine a name gives, and what is said where it is not installed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kokoro_container.engines import loading


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[[set[str]], None]:
    """Makes some modules look as if they were not installed, and all others as if they were."""

    def hide(hidden: set[str]) -> None:
        monkeypatch.setattr(loading, "find_spec", lambda name: None if name in hidden else object())

    return hide


def test_an_unknown_engine_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="'tesla' is not one of auto, onnx, torch, tone"):
        loading.load_engine("tesla")


@pytest.mark.parametrize(
    ("engine", "hidden", "said"),
    [
        ("onnx", {"onnxruntime"}, r"needs onnxruntime, .*kokoro-sagemaker-container\[onnx\]"),
        ("torch", {"torch", "kokoro"}, r"torch and kokoro, .*kokoro-sagemaker-container\[torch\]"),
        ("torch", {"kokoro"}, r"needs kokoro, .*kokoro-sagemaker-container\[torch\]"),
        ("auto", {"torch", "kokoro", "onnxruntime"}, r"kokoro-sagemaker-container\[onnx\]"),
    ],
)
def test_what_is_not_installed_is_named_with_the_way_to_get_it(
    without: Callable[[set[str]], None], engine: str, hidden: set[str], said: str
) -> None:
    without(hidden)
    with pytest.raises(RuntimeError, match=said):
        loading.load_engine(engine)
