import json
import subprocess
import sys

import pytest

from .conftest import Cli


def chunks(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_chunk_names_the_token_that_released_it(cli: Cli) -> None:
    tokens = ["Hel", "lo there", ".", " How", " are", " you", "? ", "Fi", "ne"]

    done = cli("chunk", "--json", stdin="\n".join(map(json.dumps, tokens)).encode())

    assert done.returncode == 0
    assert [(c["token"], c["text"]) for c in chunks(done)] == [
        (3, "Hello there."),
        (7, " How are you?"),
        (None, " Fine"),
    ]


def test_text_and_positions_are_the_sources_and_spoken_is_without_markup(cli: Cli) -> None:
    done = cli("chunk", "--json", stdin=b'"Yes. This is **very** good."')

    _, chunk = chunks(done)
    assert chunk["text"] == " This is **very** good."
    assert chunk["spoken"] == "This is very good."
    assert (chunk["start"], chunk["end"]) == (4, 27)


def test_raw_text_needs_no_json(cli: Cli) -> None:
    done = cli("chunk", "--raw", stdin="Dr. Lee pays 4,50 €. Größe passt.".encode())

    assert done.stdout.decode().split("\n")[1].endswith('"Größe passt."')


def test_half_an_emoji_in_a_token_is_no_obstacle(cli: Cli) -> None:
    done = cli("chunk", "--json", stdin=b'"Good \\ud83d"\n"\\ude00 day."')

    assert done.returncode == 0
    assert chunks(done)[0]["token"] is None


@pytest.mark.parametrize("line", [b"Hello", b"12", b'{"token": "a"}', b"\xff\xfe"])
def test_a_line_that_is_no_json_string_is_named(cli: Cli, line: bytes) -> None:
    done = cli("chunk", stdin=b'"ok"\n' + line)

    assert done.returncode == 1
    assert b"line 2 is not a JSON string" in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_unknown_language_lists_the_known_ones(cli: Cli) -> None:
    done = cli("chunk", "--language", "tlh")

    assert done.returncode == 2
    assert b"'tlh'" in done.stderr
    assert b"pt-br" in done.stderr


def test_a_chunk_is_shown_before_the_next_token_is_there() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "kokoro_sagemaker_agents.cli.main", "chunk", "--json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(b'"It is late. "\n"Go "\n')
        process.stdin.flush()

        first = json.loads(process.stdout.readline())  # the input is still open

        assert first["text"] == "It is late."
        process.stdin.close()
        assert process.wait(30) == 0


def test_a_reader_that_has_enough_ends_the_command_without_a_complaint() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "kokoro_sagemaker_agents.cli.main", "chunk", "--raw"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()

    _, complaint = process.communicate(b"It is late. Go home. " * 5000, timeout=30)

    assert complaint == b""
    assert process.returncode == 1
