"""`python -m kokoro_container.hub FOLDER`: the published model as a model folder.

Fetches weights, shape and all voices of hexgrad/Kokoro-82M at one revision, checks the hashes, and
writes what the torch engine and `Voices` read. The image's build does this; the server never does.
Needs `huggingface_hub`, which comes with the extra `[torch]`.

Imports nothing of ours: as a file alone it makes an image layer that only its own changes make
anew.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

REPOSITORY: Final = "hexgrad/Kokoro-82M"
REVISION: Final = "f3ff3571791e39611d31c381e3a41a3af07b4987"
"""The repository's head since April 2025, which the AWS sample and others pin too."""

SHA256: Final = {
    "kokoro-v1_0.pth": "496dba118d1a58f5f3db2efc88dbdc216e0483fc89fe6e47ee1f2c53f18ad1e4",
    "config.json": "5abb01e2403b072bf03d04fde160443e209d7a0dad49a423be15196b9b43c17f",
}
VOICES_PACK: Final = "voices/kokoro-v1.0.npz"
VOICE_SHAPE: Final = (510, 256)


class BadDownload(Exception):
    """What came from the hub is not the known model."""


def fetch(folder: Path, revision: str = REVISION) -> int:
    """Makes a model folder from the hub.

    Args:
        folder: is made if need be; files of the same names in it are replaced.
        revision: a commit of the hub's repository.

    Returns:
        How many voices there are.

    Raises:
        BadDownload: the files are not the known ones.
        OSError: the hub or the folder cannot be reached.
    """
    from huggingface_hub import snapshot_download

    with tempfile.TemporaryDirectory() as download:
        patterns = [*SHA256, "voices/*.pt"]
        snapshot_download(
            REPOSITORY, revision=revision, allow_patterns=patterns, local_dir=download
        )
        return convert(Path(download), folder)


def convert(download: Path, folder: Path, known: Mapping[str, str] = SHA256) -> int:
    """Makes a model folder from files as the hub has them.

    Args:
        download: holds them.
        folder: as for `fetch`.
        known: the files to take over, and their hashes.

    Returns:
        How many voices there are.

    Raises:
        BadDownload: a file is missing, or is not the known one, or is no voice.
    """
    for name, expected in known.items():
        _check(download / name, expected)
    voices = {path.stem: read_voice(path) for path in sorted((download / "voices").glob("*.pt"))}
    if not voices:
        raise BadDownload(f"there are no voices in {REPOSITORY} at this revision; take {REVISION}")
    (folder / VOICES_PACK).parent.mkdir(parents=True, exist_ok=True)
    for name in known:
        shutil.copyfile(download / name, folder / name)
    tables: dict[str, Any] = {name: table.astype(np.float16) for name, table in voices.items()}
    np.savez(folder / VOICES_PACK, **tables)
    return len(voices)


def read_voice(path: Path) -> NDArray[np.float32]:
    """The table in a voice file of the hub, `[510, 256]`.

    A `.pt` file is a zip archive with the bare numbers in it. Read this way it needs no torch, and
    its pickle, which could run code, is never opened.

    Raises:
        BadDownload: the file is no voice.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith("/data/0")]
            table = np.frombuffer(archive.read(names[0]), "<f4").reshape(VOICE_SHAPE)
    except (OSError, zipfile.BadZipFile, IndexError, ValueError) as error:
        raise BadDownload(f"{path.name} is no voice of {VOICE_SHAPE} numbers: {error}") from error
    if not np.isfinite(table).all():
        raise BadDownload(f"{path.name} has values that are not finite; fetch it anew")
    return table


def _check(path: Path, expected: str) -> None:
    if not path.is_file():
        raise BadDownload(f"the hub gave no {path.name}; take revision {REVISION}")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != expected:
        raise BadDownload(
            f"{path.name} has SHA-256 {digest}, expected {expected}: damaged on its way, or of"
            f" another revision than {REVISION}"
        )


def main() -> None:
    """Fetches the model into the folder named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--revision", default=REVISION, help="a commit (default %(default)s)")
    arguments = parser.parse_args()
    try:
        voices = fetch(arguments.folder, arguments.revision)
    except (BadDownload, OSError) as error:
        sys.exit(f"no model from {REPOSITORY}: {error}")
    print(f"{arguments.folder}: Kokoro-82M with {voices} voices, revision {arguments.revision}")


if __name__ == "__main__":
    main()
