"""The examples run as they stand."""

import subprocess
import sys
import wave
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("speak_a_stream.py", "speaking: Good morning.\nspeaking: The train leaves at 9:40, so"),
        ("blocking.py", "s  Hello\n"),
    ],
)
def test_an_example_speaks(tone_server: str, tmp_path: Path, name: str, shown: str) -> None:
    path = tmp_path / "a.wav"

    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), tone_server, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert shown in done.stdout
    with wave.open(str(path)) as wav:
        assert wav.getparams()[:3] == (1, 2, 24_000)
        assert wav.getnframes() / 24_000 > 2.0
