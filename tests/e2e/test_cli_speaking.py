"""`say` and `speak` with the tone engine: the whole path, without the model."""

import io
import json
import subprocess
import time
import wave
from pathlib import Path

import pytest

from .conftest import COMMAND, Cli


def read(path: Path) -> wave.Wave_read:
    return wave.Wave_read(io.BytesIO(path.read_bytes()))


def test_say_writes_a_24_khz_mono_16_bit_wav(cli: Cli, tone_server: str, tmp_path: Path) -> None:
    path = tmp_path / "a.wav"

    done = cli("say", "Hello there. How are you?", "-o", str(path), "--url", tone_server)

    assert done.returncode == 0, done.stderr
    with read(path) as wav:
        assert wav.getparams()[:3] == (1, 2, 24_000)
        assert 1.0 < wav.getnframes() / 24_000 < 6.0
        assert len(set(wav.readframes(wav.getnframes()))) > 50
    assert f"{path}: " in done.stdout.decode()


def test_the_sample_rate_changes_the_file_not_its_length(
    cli: Cli, tone_server: str, tmp_path: Path
) -> None:
    seconds = {}
    for rate in (8_000, 24_000):
        path = tmp_path / f"{rate}.wav"
        done = cli(
            *("say", "Hello there.", "-o", str(path), "--url", tone_server),
            *("--sample-rate", str(rate)),
        )
        assert done.returncode == 0, done.stderr
        with read(path) as wav:
            assert wav.getframerate() == rate
            seconds[rate] = wav.getnframes() / rate

    assert seconds[8_000] == pytest.approx(seconds[24_000], abs=0.01)


def test_json_has_word_times_inside_the_audio(cli: Cli, tone_server: str, tmp_path: Path) -> None:
    path = tmp_path / "a.wav"

    done = cli("say", "One two. Three four.", "-o", str(path), "--url", tone_server, "--json")

    figures = json.loads(done.stdout)
    words = figures["words"]
    assert [word["text"] for word in words] == ["One", "two", "Three", "four"]
    times = [time for word in words for time in (word["start_s"], word["end_s"])]
    assert times == sorted(times)
    with read(path) as wav:
        assert figures["audio_s"] == pytest.approx(wav.getnframes() / 24_000, abs=0.001)
    assert 0 <= times[0] < times[-1] <= figures["audio_s"]


def test_standard_output_takes_a_wav_stream(cli: Cli, tone_server: str, tmp_path: Path) -> None:
    cli("say", "Hello there.", "-o", str(tmp_path / "a.wav"), "--url", tone_server)

    done = cli("say", "Hello there.", "-o", "-", "--url", tone_server)

    with wave.open(io.BytesIO(done.stdout)) as stream, read(tmp_path / "a.wav") as file:
        assert stream.getframerate() == 24_000
        assert done.stdout[44:] == file.readframes(file.getnframes())


def test_a_text_without_anything_to_speak_gives_silence_and_says_so(
    cli: Cli, tone_server: str, tmp_path: Path
) -> None:
    done = cli("say", "...?!", "-o", str(tmp_path / "a.wav"), "--url", tone_server)

    assert done.returncode == 0
    assert "nothing to speak" in done.stdout.decode()
    with read(tmp_path / "a.wav") as wav:
        assert wav.getnframes() == 0


@pytest.mark.parametrize("voice", ["nobody", "../../etc/passwd", "x" * 10_000])
def test_an_unknown_voice_is_one_sentence_and_leaves_the_file_alone(
    cli: Cli, tone_server: str, tmp_path: Path, voice: str
) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"precious")

    done = cli("say", "Hello.", "--voice", voice, "-o", str(path), "--url", tone_server)

    shown = done.stderr.decode()
    assert done.returncode in (1, 2)
    assert shown.startswith("kokoro-agents say: ")
    assert "voice" in shown
    assert shown.count("\n") == 1
    assert len(shown) < 500
    assert path.read_bytes() == b"precious"


def test_a_file_that_cannot_be_written_is_named(cli: Cli, tone_server: str, tmp_path: Path) -> None:
    done = cli("say", "Hello.", "-o", str(tmp_path), "--url", tone_server)

    assert done.returncode == 1
    assert str(tmp_path) in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_speak_takes_a_pipe_and_tells_what_happens(
    cli: Cli, tone_server: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.wav"

    done = cli(
        *("speak", "-o", str(path), "--url", tone_server, "--pace", "200"),
        stdin="It is late, Dr. Lee. The café closes at five. Good night!".encode(),
    )

    assert done.returncode == 0, done.stderr
    told = done.stderr.decode().splitlines()
    sent = [line for line in told if "sentence sent" in line]
    assert [line.partition("sent: ")[2] for line in sent] == [
        "'It is late, Dr. Lee.'",
        "'The café closes at five.'",
        "'Good night!'",
    ]
    assert sum("first audio" in line for line in told) == 1
    with read(path) as wav:
        assert wav.getnframes() / 24_000 > 3.0


def test_speak_says_the_same_as_say(cli: Cli, tone_server: str, tmp_path: Path) -> None:
    text = "It costs $4.50, and Dr. Lee said yes. Will you come, too?"

    cli("say", text, "-o", str(tmp_path / "say.wav"), "--url", tone_server)
    cli(
        *("speak", "-o", str(tmp_path / "speak.wav"), "--url", tone_server, "--pace", "500"),
        stdin=text.encode(),
    )

    assert (tmp_path / "say.wav").read_bytes() == (tmp_path / "speak.wav").read_bytes()


def test_speak_is_heard_while_the_pipe_is_still_open(tone_server: str) -> None:
    process = subprocess.Popen(
        [*COMMAND, "speak", "-o", "-", "--url", tone_server],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(b"The first sentence is here. And then ")
        process.stdin.flush()

        header_and_audio = process.stdout.read(44 + 24_000)  # half a second of it

        assert header_and_audio[:4] == b"RIFF"
        process.stdin.close()
        process.stdout.read()
        assert process.wait(30) == 0


def test_without_a_url_a_server_is_started_and_ended(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    started_s = time.monotonic()

    done = cli("say", "Hello there.", "-o", str(path), "--engine", "tone")

    assert done.returncode == 0, done.stderr
    assert time.monotonic() - started_s < 60
    with read(path) as wav:
        assert wav.getnframes() > 0
    assert "loading the pronunciation dictionaries" in done.stderr.decode()
