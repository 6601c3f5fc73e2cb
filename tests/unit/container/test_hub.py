"""The model as the hub has it becomes a model folder; nothing else does."""

import hashlib
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kokoro_container import hub
from kokoro_container.voices import Voices

FILES = {"kokoro-v1_0.pth": b"the weights", "config.json": b"{}"}
KNOWN = {name: hashlib.sha256(data).hexdigest() for name, data in FILES.items()}
TABLE = np.linspace(-1, 1, 510 * 256, dtype="<f4")


def voice_file(path: Path, numbers: np.ndarray = TABLE) -> None:
    """As torch saves a tensor: a zip archive, the numbers bare in `data/0`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{path.stem}/data.pkl", b"never to be opened")
        archive.writestr(f"{path.stem}/data/0", numbers.tobytes())


@pytest.fixture
def download(tmp_path: Path) -> Path:
    folder = tmp_path / "download"
    voice_file(folder / "voices/af_nova.pt")
    voice_file(folder / "voices/bm_fable.pt", -TABLE)
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    return folder


def test_the_model_folder_has_the_weights_and_every_voice(download: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"

    count = hub.convert(download, folder, KNOWN)

    voices = Voices(folder / "voices")
    assert count == 2
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES
    assert len(voices.names) == 15  # the package's thirteen too
    assert voices.style("af_nova", 3) == pytest.approx(TABLE[512:768], abs=1e-3)  # (as float16)


def test_a_later_folders_voice_counts(download: Path, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    np.save(tmp_path / "own/af_nova.npy", np.full((510, 256), 0.5, np.float16))
    hub.convert(download, tmp_path / "model", KNOWN)

    voices = Voices(tmp_path / "model/voices", tmp_path / "own")

    assert (voices.style("af_nova", 3) == 0.5).all()
    assert (voices.style("bm_fable", 3) != 0.5).all()


def test_other_weights_are_refused(download: Path, tmp_path: Path) -> None:
    (download / "kokoro-v1_0.pth").write_bytes(b"other weights")

    with pytest.raises(hub.BadDownload, match=r"kokoro-v1_0\.pth has SHA-256 .* another revision"):
        hub.convert(download, tmp_path / "model", KNOWN)
    assert not (tmp_path / "model").exists()


def test_a_missing_file_is_named(download: Path, tmp_path: Path) -> None:
    (download / "config.json").unlink()

    with pytest.raises(hub.BadDownload, match=r"gave no config\.json; take revision"):
        hub.convert(download, tmp_path / "model", KNOWN)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [(TABLE[:-1], "is no voice"), (np.where(TABLE > 0.9, np.nan, TABLE), "not finite")],
)
def test_what_is_no_voice_is_refused(
    numbers: np.ndarray, said: str, download: Path, tmp_path: Path
) -> None:
    voice_file(download / "voices/af_nova.pt", numbers.astype("<f4"))

    with pytest.raises(hub.BadDownload, match=rf"af_nova\.pt.*{said}"):
        hub.convert(download, tmp_path / "model", KNOWN)


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "af_nova.pt"
    path.write_bytes(b"<html>not found</html>")

    with pytest.raises(hub.BadDownload, match=r"af_nova\.pt is no voice"):
        hub.read_voice(path)
