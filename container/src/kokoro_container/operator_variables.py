"""Our own environment variables, for the server that a container starts.

    KOKORO_LANGUAGES        en-us,en-gb     loaded before the server is ready
    KOKORO_WORKERS          1               calls of the model at the same time
    KOKORO_MAX_SESSIONS     256             connections at a time
    KOKORO_MAX_CHUNKS       2000            texts that may wait, of all sessions and POSTs
    KOKORO_MAX_WAIT_S       20              who would wait longer for its first words is refused
    KOKORO_METRICS_EVERY_S  60              seconds between two reports to CloudWatch; 0 for none
    KOKORO_SERVICE_NAME     kokoro          what CloudWatch keeps the figures under
    KOKORO_PHRASE_CACHE_MB  0               memory for finished phrases; 0 keeps none
    KOKORO_TRUST_MARKUP     0               1: every text may hold pronunciations and pauses
    KOKORO_MODEL_DIR        /opt/ml/model   has `lexicon.json`, if there is one; see also `weights`

`Settings` says more about each. `KOKORO_LOG_FORMAT` (`json`) and `KOKORO_LOG_LEVEL` (`INFO`) are
the log's, see `logs`. A variable that is set to nothing is as good as not set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from .emf import DEFAULT_EVERY_S
from .service import LEXICON_FILE, Settings

_COUNTS: Final = {
    "KOKORO_WORKERS": "workers",
    "KOKORO_MAX_SESSIONS": "sessions",
    "KOKORO_MAX_CHUNKS": "queued_chunks",
}


def with_own_variables(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """The settings of a container: reports to CloudWatch are on, unless a variable says otherwise.

    Raises:
        ValueError: a variable is not the number it should be; the message names it.
    """
    changed: dict[str, Any] = {"report_every_s": DEFAULT_EVERY_S}
    for name, setting in _COUNTS.items():
        if (count := _number(environ, name)) is not None:
            if count != int(count) or count < 1:
                raise ValueError(f"{name}={environ[name][:40]!r} is no whole number above 0")
            changed[setting] = int(count)
    if (wait_s := _number(environ, "KOKORO_MAX_WAIT_S")) is not None:
        changed["max_wait_s"] = wait_s
    if (every_s := _number(environ, "KOKORO_METRICS_EVERY_S")) is not None:
        changed["report_every_s"] = every_s or None
    if name := environ.get("KOKORO_SERVICE_NAME", "").strip():
        changed["service_name"] = name
    if (phrases_mb := _number(environ, "KOKORO_PHRASE_CACHE_MB")) is not None:
        changed["phrase_cache_bytes"] = int(phrases_mb * 1_000_000)
    if (trust := environ.get("KOKORO_TRUST_MARKUP", "").strip()) not in ("", "0", "1"):
        raise ValueError(f"KOKORO_TRUST_MARKUP={trust[:40]!r} is neither 0 nor 1")
    if trust:
        changed["trust_markup"] = trust == "1"
    if folder := environ.get("KOKORO_MODEL_DIR"):
        changed["lexicon_file"] = Path(folder) / LEXICON_FILE.name
    languages = [language.strip() for language in environ.get("KOKORO_LANGUAGES", "").split(",")]
    if any(languages):
        changed["languages"] = tuple(filter(None, languages))
    return replace(settings, **changed)


def _number(environ: Mapping[str, str], name: str) -> float | None:
    written = environ.get(name, "").strip()
    if not written:
        return None
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise ValueError(f"{name}={written[:40]!r} is no number from 0; mend or unset it")
    return number
