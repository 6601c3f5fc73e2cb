"""`demo` and `doctor` with the tone engine: what they write and print."""

import json
import sys
import wave
from pathlib import Path

import pytest

from .conftest import Cli


@pytest.fixture(scope="module")
def demo(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The demo's folder and what it printed; ten times a model's pace, to be quick."""
    out = tmp_path_factory.mktemp("demo") / "out"
    done = cli("demo", "--engine", "tone", "--pace", "500", "--out", str(out))
    assert done.returncode == 0, done.stderr
    return out, done.stdout.decode()


def test_the_timeline_has_the_fixed_names(demo: tuple[Path, str]) -> None:
    figures = json.loads((demo[0] / "timeline.json").read_text("utf-8"))

    assert figures["llm_done_s"] == pytest.approx(0.5, rel=0.3)
    assert figures["waiting"]["first_audio_s"] > figures["llm_done_s"]
    assert {(run["reply"], run["mode"]) for run in figures["runs"]} == {
        (reply, mode)
        for reply in ("long", "short")
        for mode in ("streaming", "waiting", "waiting-whole")
    }
    assert figures["machine"]["cores"] >= 1
    assert "kokoro-sagemaker-agents" in figures["versions"]


def test_the_first_audio_comes_while_the_model_still_writes(demo: tuple[Path, str]) -> None:
    figures = json.loads((demo[0] / "timeline.json").read_text("utf-8"))

    assert 0 < figures["streaming"]["first_audio_s"] < figures["llm_done_s"]


def test_every_run_tells_its_tokens_sentences_and_audio(demo: tuple[Path, str]) -> None:
    figures = json.loads((demo[0] / "timeline.json").read_text("utf-8"))

    for run in figures["runs"]:
        assert run["tokens"] == sorted(run["tokens"])
        assert run["first_audio_s"] == pytest.approx(run["audio"][0]["at_s"], abs=0.001)
        assert run["audio_s"] == pytest.approx(
            sum(piece["audio_s"] for piece in run["audio"]), abs=0.01
        )
        for sentence in run["sentences"]:
            assert sentence["sent_s"] <= sentence["first_audio_s"]
    (streamed,) = [r for r in figures["runs"] if (r["reply"], r["mode"]) == ("long", "streaming")]
    assert len(streamed["sentences"]) >= 8
    assert sum(s["sent_s"] < figures["llm_done_s"] for s in streamed["sentences"]) >= 7


def test_the_reply_can_be_played(demo: tuple[Path, str]) -> None:
    figures = json.loads((demo[0] / "timeline.json").read_text("utf-8"))

    with wave.open(str(demo[0] / "reply.wav")) as wav:
        assert wav.getparams()[:3] == (1, 2, 24_000)
        assert wav.getnframes() / 24_000 == pytest.approx(figures["streaming"]["audio_s"], abs=0.01)


def test_the_picture_is_a_png_of_a_readable_size(demo: tuple[Path, str]) -> None:
    data = (demo[0] / "first-audio.png").read_bytes()

    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(data[16:20], "big") >= 1200  # its width in pixels


def test_the_table_has_a_line_per_run_and_the_ratio(demo: tuple[Path, str]) -> None:
    lines = demo[1].splitlines()

    for reply in ("long", "short"):
        for mode in ("streaming", "waiting", "waiting-whole"):
            assert sum(line.split()[:2] == [reply, mode] for line in lines) == 1
    assert any("times sooner" in line for line in lines)


def test_doctor_tells_what_works_and_what_is_not_installed(cli: Cli) -> None:
    done = cli("doctor", "--quick", "--json")

    told = json.loads(done.stdout)
    assert done.returncode == (0 if told["works"] else 1)
    checks = told["checks"]
    assert checks["python"]["state"] == "ok"
    assert checks["container"]["state"] == "ok"
    # AWS's SDK needs Python 3.12.
    assert checks["sagemaker"]["state"] == ("ok" if sys.version_info >= (3, 12) else "off")
    assert checks["weights"]["state"] == "ok"
    assert "af_heart" in checks["voices"]["names"]
    assert set(checks["languages"]["names"]) >= {"en-us", "ja", "hi"}
    assert "speech" not in checks


def test_doctor_speaks_a_sentence_and_tells_how_fast(cli: Cli) -> None:
    done = cli("doctor", "--engine", "tone", timeout_s=110)

    assert done.returncode == 0, done.stdout
    (line,) = [line for line in done.stdout.decode().splitlines() if "speech " in line]
    assert line.startswith("ok  speech")
    assert "real-time factor" in line


def test_doctor_says_what_to_do_about_missing_weights(cli: Cli, tmp_path: Path) -> None:
    done = cli("doctor", "--quick", KOKORO_MODEL_DIR=str(tmp_path))

    assert done.returncode == 1
    assert b"NO  weights" in done.stdout
    assert b"KOKORO_MODEL_DIR" in done.stdout
    assert b"Traceback" not in done.stderr


def test_a_server_that_cannot_start_says_why(cli: Cli, tmp_path: Path) -> None:
    done = cli(
        *("say", "Hello.", "--engine", "onnx", "-o", str(tmp_path / "a.wav")),
        KOKORO_MODEL_DIR=str(tmp_path),
        KOKORO_CACHE_DIR=str(tmp_path),
    )

    assert done.returncode == 1
    assert b"KOKORO_MODEL_DIR" in done.stderr
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "a.wav").exists()
