"""Which voices exist, what a mix is, and that a name is never a path."""

from pathlib import Path

import numpy as np
import pytest

from kokoro_container.voices import MIX_PARTS, Voices
from kokoro_sagemaker_agents.errors import InvalidInput


@pytest.fixture(scope="module")
def voices() -> Voices:
    return Voices()


def test_the_package_has_voices_for_all_nine_languages(voices: Voices) -> None:
    languages = {voices.language(name) for name in voices.names}

    assert len(voices.names) == 13
    assert languages == {"en-us", "en-gb", "es", "fr", "hi", "it", "ja", "pt-br", "zh"}


def test_a_style_belongs_to_a_voice_and_a_length(voices: Voices) -> None:
    style = voices.style("af_heart", 20)

    assert style.shape == (256,)
    assert style.dtype == np.float32
    assert not np.array_equal(style, voices.style("af_heart", 21))
    assert not np.array_equal(style, voices.style("af_bella", 20))


@pytest.mark.parametrize("length", [0, -1, 511])
def test_a_length_no_voice_has_is_refused(voices: Voices, length: int) -> None:
    with pytest.raises(ValueError, match="1 to 510"):
        voices.style("af_heart", length)


@pytest.mark.parametrize(
    "mix",
    ["af_bella(2)+bf_emma(1)", "af_bella(2)+bf_emma", " af_bella (0.5) + bf_emma(0.25)"],
)
def test_a_mix_is_the_weighted_mean(voices: Voices, mix: str) -> None:
    expected = (2 * voices.style("af_bella", 50) + voices.style("bf_emma", 50)) / 3

    np.testing.assert_allclose(voices.style(mix, 50), expected, rtol=1e-5, atol=1e-6)
    assert voices.language(mix) == "en-us"


def test_a_shared_style_cannot_be_changed(voices: Voices) -> None:
    style = voices.style("af_heart", 10)

    with pytest.raises(ValueError, match="read-only"):
        style[0] = 1.0


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/hostname.pt",
        "/etc/hostname",
        "af_heart.npy",
        "af_heart\x00",
        "AF_HEART",
        "nova",
        "",
        "af_heart+",
        "af_heart+../../etc/passwd(2)",
        "x" * 10_000,
    ],
)
def test_a_name_that_is_not_here_is_refused_with_names_that_are(voices: Voices, name: str) -> None:
    with pytest.raises(InvalidInput, match="af_heart") as refusal:
        voices.check(name)

    assert refusal.value.code == "unknown_voice"
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize(
    "mix",
    [
        "af_bella(0)",
        "af_bella(-1)+af_heart",
        "af_bella(nan)",
        "af_bella(inf)",
        "af_bella(1e9)",
        "af_bella()",
        "af_bella(2",
        "af_bella(2)(3)",
        "af_bella(٣)",
        "+".join(["af_heart"] * (MIX_PARTS + 1)),
    ],
)
def test_a_mix_that_means_nothing_is_refused(voices: Voices, mix: str) -> None:
    with pytest.raises(InvalidInput, match=r"af_bella\(2\)\+af_sky\(1\)") as refusal:
        voices.check(mix)

    assert refusal.value.code == "invalid_voice"


def test_a_folders_voices_are_added(tmp_path: Path) -> None:
    table = np.random.default_rng(1).normal(size=(510, 1, 256)).astype(np.float32)
    np.save(tmp_path / "am_mine.npy", table)
    np.savez(tmp_path / "pack.npz", bm_other=table[:, 0, :])

    voices = Voices(tmp_path)

    assert {"af_heart", "am_mine", "bm_other"} <= set(voices.names)
    np.testing.assert_allclose(voices.style("am_mine", 3), table[2, 0], atol=2e-3)


@pytest.mark.parametrize("shape", [(256,), (510, 128), (509, 256), ()])
def test_a_file_that_is_no_voice_stops_the_start(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "af_bad.npy", np.zeros(shape, np.float32))

    with pytest.raises(ValueError, match=r"af_bad.*510, 256"):
        Voices(tmp_path)


def test_a_file_with_code_in_it_is_not_run(tmp_path: Path) -> None:
    np.save(tmp_path / "af_bad.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)

    with pytest.raises(ValueError, match="allow_pickle"):
        Voices(tmp_path)


def test_a_missing_folder_adds_nothing(tmp_path: Path) -> None:
    assert len(Voices(tmp_path / "none").names) == 13
