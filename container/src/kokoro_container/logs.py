"""The server's log: one line a record, as JSON or to be read, and never with a user's words.

Our own modules log no text that a user sent, at no level. Others may: `websockets` writes every
frame at DEBUG, and what an exception says may quote what it stumbled over. So other packages are
kept at INFO, and of an exception only its type and its places are logged.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Literal, TypeAlias, get_args

Format: TypeAlias = Literal["json", "text"]
FORMATS: Final[tuple[str, ...]] = get_args(Format)

OUR_PACKAGES: Final = ("kokoro_container", "kokoro_sagemaker_agents")

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {
    "asctime",
    "message",
    "color_message",  # uvicorn's, the message once more with terminal colours
}
_EXTRA_CHARS: Final = 256


def configure(form: str = "text", level: str = "INFO") -> None:
    """Sets up the process's log on standard error.

    Args:
        form: one of `FORMATS`.
        level: of our own packages, such as `DEBUG`; others stay at INFO or above.

    Raises:
        ValueError: an unknown form or level.
    """
    if form not in FORMATS:
        raise ValueError(f"log format {form!r} is not one of {', '.join(FORMATS)}")
    known = logging.getLevelNamesMapping()
    if level.upper() not in known:
        raise ValueError(f"log level {level!r} is not one of {', '.join(known)}")
    number = known[level.upper()]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logging.basicConfig(handlers=[handler], level=max(number, logging.INFO), force=True)
    for name in OUR_PACKAGES:
        logging.getLogger(name).setLevel(number)


class TextFormatter(logging.Formatter):
    """A line to be read: time, level, logger, message, and the extras as `name=value`."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line without an exception."""
        extras = "".join(f" {name}={value}" for name, value in _extras(record).items())
        return super().formatMessage(record) + extras

    def formatException(self, ei: Any) -> str:
        """Type and places of an exception."""
        return "\n".join(f"  {line}" for line in _exception(*ei))


class JsonFormatter(logging.Formatter):
    """A line of JSON: `time`, `level`, `logger`, `message`, the extras, `exception`."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        at = datetime.fromtimestamp(record.created, UTC)
        fields: dict[str, Any] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_extras(record),
        }
        if record.exc_info and record.exc_info[0] is not None:
            fields["exception"] = _exception(*record.exc_info)
        return json.dumps(fields, ensure_ascii=False)


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    """What was given as `extra`, as far as JSON knows it; long strings are cut."""
    return {
        name: value[:_EXTRA_CHARS] if isinstance(value, str) else value
        for name, value in vars(record).items()
        if name not in _STANDARD and isinstance(value, str | int | float | None)
    }


def _exception(
    kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
) -> list[str]:
    """Its type and where it was raised, outermost place first, and the same of its causes."""
    told: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        told.append(f"{type(error).__module__}.{type(error).__qualname__}")
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            told.append(f"at {code.co_filename}:{trace.tb_lineno} in {code.co_name}")
            trace = trace.tb_next
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return told
