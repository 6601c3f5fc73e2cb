import pytest

from kokoro_sagemaker_agents.cli.main import main

from .conftest import Cli

COMMANDS = ("say", "speak", "serve", "emulate", "chunk", "phonemize", "demo", "doctor")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])

    shown = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"kokoro-agents {command}" in shown.partition("examples:")[2]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "COMMAND"),
        (["sing"], "sing"),
        (["say"], "TEXT"),
        (["say", "Hi.", "--speed", "fast"], "fast is not a number"),
        (["say", "Hi.", "--speed", "0"], "0.5 to 2.0"),
        (["say", "Hi.", "--speed", "nan"], "0.5 to 2.0"),
        (["say", "Hi.", "--sample-rate", "12345"], "12345"),
        (["say", "Hi.", "--engine", "loud"], "loud"),
        (["speak", "--pace", "0"], "not above 0"),
        (["speak", "--pace", "inf"], "not above 0"),
        (["serve", "--port", "70000"], "70000 is not a port"),
        (["emulate", "--time-scale", "0"], "not above 0"),
        (["chunk", "--max-phonemes", "many"], "many"),
    ],
)
def test_wrong_arguments_are_refused_in_words(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["say", " "], "give something to say"),
        (["say", "Hi.", "--endpoint", "kokoro", "--url", "ws://127.0.0.1:1"], "two servers"),
        (["speak", "--endpoint-url", "https://127.0.0.1:1"], "--endpoint NAME"),
        (["say", "Hi.", "--json", "-o", "-"], "give -o a file"),
        (["say", "Hi.", "--engine", "torch"], "use --engine onnx"),
        (["serve", "--engine", "torch"], "use --engine onnx"),
        (["emulate", "--container", "ws://a", "--fault", "explode"], "use one of reset"),
        (["phonemize", "--language", "de", "Hallo"], "pt-br"),
        (["chunk", "--max-phonemes", "3"], "at least 40"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence_with_advice(
    arguments: list[str], advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2

    shown = capsys.readouterr().err
    assert advice in shown
    assert shown.startswith(f"kokoro-agents {arguments[0]}: ")
    assert shown.count("\n") == 1


def test_a_server_that_is_not_there_is_a_failure_with_advice(cli: Cli) -> None:
    done = cli("say", "Hi.", "--url", "ws://127.0.0.1:1")

    assert done.returncode == 1
    assert b"127.0.0.1:1" in done.stderr
    assert b"Traceback" not in done.stderr


def test_debug_shows_where_it_failed(cli: Cli) -> None:
    done = cli("say", "Hi.", "--url", "ws://127.0.0.1:1", "--debug")

    assert done.returncode == 1
    assert b"Traceback" in done.stderr


def test_the_command_line_loads_nothing_heavy_before_it_is_needed(cli: Cli) -> None:
    import subprocess
    import sys

    program = (
        "import sys, kokoro_sagemaker_agents.cli.main\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    heavy = {"numpy", "matplotlib", "onnxruntime", "kokoro_container", "misaki", "websockets"}
    assert heavy & set(done.stdout.split()) == set()


@pytest.mark.parametrize(
    ("text", "language", "phonemes"),
    [("Hello.", "en-us", "həlˈO."), ("😀", "en-us", "")],
)
def test_phonemize_prints_one_json_object_per_text(
    cli: Cli, text: str, language: str, phonemes: str
) -> None:
    import json

    done = cli("phonemize", "--language", language, "--json", text, "Bye.")

    first, second = map(json.loads, done.stdout.splitlines())
    assert first["text"] == text
    assert first["phonemes"] == phonemes
    assert second["spoken"] == "Bye."


def test_phonemize_shows_a_price_as_it_is_said(cli: Cli) -> None:
    done = cli("phonemize", "It costs $4.50.")

    shown = done.stdout.decode()
    assert "spoken    It costs four dollars and fifty cents." in shown
    assert "phonemes  " in shown
