import io
import wave
from pathlib import Path

import pytest

from kokoro_sagemaker_agents.cli.wav import WavWriter, open_ended_header


def test_a_file_has_a_header_that_fits(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "a.wav"

    with WavWriter(str(path), 24_000) as wav:
        wav.write(b"\x01\x00" * 100)
        wav.write(b"\x02\x00" * 20)
        wav.finish()

    with wave.open(str(path)) as written:
        assert written.getparams()[:4] == (1, 2, 24_000, 120)
        assert written.readframes(120) == b"\x01\x00" * 100 + b"\x02\x00" * 20


def test_silence_gives_a_readable_file_without_samples(tmp_path: Path) -> None:
    with WavWriter(str(tmp_path / "a.wav"), 8_000) as wav:
        wav.finish()

    with wave.open(str(tmp_path / "a.wav")) as written:
        assert written.getnframes() == 0


def test_what_fails_before_any_audio_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"precious")

    def fail(wav: WavWriter) -> None:
        with wav:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail(WavWriter(str(path), 24_000))

    assert path.read_bytes() == b"precious"


def test_what_fails_in_the_middle_leaves_a_readable_file(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"

    def fail(wav: WavWriter) -> None:
        with wav:
            wav.write(b"\x01\x00" * 7)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail(WavWriter(str(path), 24_000))

    with wave.open(str(path)) as written:
        assert written.getnframes() == 7


def test_the_header_of_a_stream_is_a_wav_header() -> None:
    with wave.open(io.BytesIO(open_ended_header(16_000) + b"\x01\x00" * 5)) as stream:
        assert stream.getparams()[:3] == (1, 2, 16_000)
        assert stream.readframes(5) == b"\x01\x00" * 5
