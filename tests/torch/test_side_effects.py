"""Loading and speaking leave the host process, and the network, alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from typing import Any

import pytest

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]

SPEAK = textwrap.dedent("""
    import numpy as np
    from kokoro_container.engines.loading import load_engine
    engine = load_engine("torch")
    audio = engine.synthesize("jˈɛlO.", np.zeros(256, np.float32), 1.0)
    assert audio.samples.size
""")

# A host with a log of its own, in which every use of a socket is noted: names or connections, of
# any kind. What is noted after "done" is the test's own, to show that the watch sees something.
HOST = f"""
import json, socket, sys
from loguru import logger
sockets, lines = [], []
sys.addaudithook(lambda event, _: sockets.append(event) if event.startswith("socket.") else None)
logger.remove()
logger.add(lines.append, level=0)
{SPEAK}
used = list(sockets)
socket.socket()
logger.info("still here")
modules = {{name.split(".")[0] for name in sys.modules}}
print(json.dumps({{
    "used": used,
    "watch_works": bool(sockets),
    "lines": lines,
    "imported": sorted(modules & {{"kokoro", "misaki", "spacy"}}),
}}))
"""


def run(script: str) -> str:
    """What a script prints, in a process of its own that has no hub's settings or cache."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=230,
        check=False,
        env={**kept, "HF_HOME": os.devnull},
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def host() -> dict[str, Any]:
    """What a host process found after it loaded the engine and spoke."""
    found: dict[str, Any] = json.loads(run(HOST))
    return found


def test_no_socket_is_used(host: dict[str, Any]) -> None:
    assert host["watch_works"]
    assert host["used"] == []


def test_the_hosts_log_handlers_stay_and_are_told_nothing(host: dict[str, Any]) -> None:
    (line,) = host["lines"]
    assert "still here" in line


def test_the_package_itself_is_not_imported(host: dict[str, Any]) -> None:
    assert host["imported"] == []


def test_a_host_that_has_the_package_keeps_it() -> None:
    """A bare package with kokoro's modules stands in for it: the real one takes long to import."""
    run(
        textwrap.dedent("""
            import importlib.util, sys
            own = importlib.util.module_from_spec(importlib.util.find_spec("kokoro"))
            sys.modules["kokoro"] = own
        """)
        + SPEAK
        + "assert sys.modules['kokoro'] is own and 'kokoro.model' in sys.modules"
    )
