"""Where something was measured: the machine and the versions that matter for speed."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

_DISTRIBUTIONS: Final = ("kokoro-sagemaker-agents", "kokoro-sagemaker-container", "onnxruntime")


def describe() -> dict[str, Any]:
    """Processor, cores this process may use, system."""
    return {"cpu": _cpu(), "cores": usable_cores(), "system": platform.platform(terse=True)}


def versions() -> dict[str, str]:
    """Of Python and of the packages that are installed of those that do the work."""
    found = {"Python": platform.python_version()}
    for name in _DISTRIBUTIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def usable_cores() -> int:
    """How many cores this process may run on (a container may have fewer than the machine)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu() -> str:
    """The processor's name, as Linux knows it; elsewhere its kind."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
