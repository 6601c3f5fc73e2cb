"""The log: fields that can be searched, and never a user's words."""

import json
import logging
import subprocess
import sys
from typing import Any

import pytest

from kokoro_container.logs import JsonFormatter, TextFormatter, configure

SECRET = "my card number is 4111"


def record(message: str = "a chunk of %d", *args: object, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("kokoro_container.test", logging.INFO, "f.py", 1, message, args, None)
    vars(made).update(extra)
    return made


def parsed(made: logging.LogRecord) -> dict[str, Any]:
    line = JsonFormatter().format(made)
    assert "\n" not in line
    fields: dict[str, Any] = json.loads(line)
    return fields


def test_a_line_of_json_has_its_fields() -> None:
    fields = parsed(record("a chunk of %d", 3, request_id="r-1", queue_ms=12.5, warm=True))

    assert fields.pop("time").endswith("Z")
    assert fields == {
        "level": "INFO",
        "logger": "kokoro_container.test",
        "message": "a chunk of 3",
        "request_id": "r-1",
        "queue_ms": 12.5,
        "warm": True,
    }


def test_a_message_of_many_lines_is_one_line_of_json() -> None:
    assert parsed(record("one\ntwo"))["message"] == "one\ntwo"


def test_a_line_to_be_read_ends_with_the_extras() -> None:
    line = TextFormatter().format(record("a chunk of %d", 3, request_id="r-1"))

    assert line.endswith("INFO kokoro_container.test: a chunk of 3 request_id=r-1")


def test_extras_that_are_objects_are_left_out_and_long_ones_cut() -> None:
    fields = parsed(record("x", thing=object(), long="a" * 1000))

    assert "thing" not in fields
    assert len(fields["long"]) == 256


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_an_exception_shows_where_it_was_and_not_what_it_quotes(
    formatter: logging.Formatter,
) -> None:
    def inner() -> None:
        raise ValueError(f"cannot say {SECRET}")

    made = record("a step failed")
    try:
        try:
            inner()
        except ValueError as error:
            raise RuntimeError(SECRET) from error
    except RuntimeError:
        made.exc_info = sys.exc_info()
    line = formatter.format(made)

    assert SECRET not in line
    assert "RuntimeError" in line
    assert "ValueError" in line
    assert "test_logs.py" in line
    assert "in inner" in line


def test_other_packages_stay_quiet_when_ours_debug() -> None:
    """In a process of its own: the set-up is the whole process's."""
    code = """if True:
        import logging
        from kokoro_container.logs import configure
        configure("json", "DEBUG")
        logging.getLogger("kokoro_container.x").debug("ours")
        logging.getLogger("websockets.server").debug("theirs")
        logging.getLogger("uvicorn.error").info("running")
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert [json.loads(line)["message"] for line in done.stderr.splitlines()] == ["ours", "running"]


@pytest.mark.parametrize(
    ("form", "level", "says"),
    [("xml", "INFO", "'xml' is not one of json, text"), ("json", "LOUD", "log level 'LOUD'")],
)
def test_a_wrong_choice_is_refused(form: str, level: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        configure(form, level)
