"""How the process is started, and what it says where it cannot be."""

import pytest

from kokoro_container.entrypoint import WrongStart, check_arguments, port


@pytest.mark.parametrize("arguments", [[], ["serve"], ["serve", "--whatever"]])
def test_it_starts_as_sagemaker_starts_it(arguments: list[str]) -> None:
    check_arguments(arguments)


@pytest.mark.parametrize("argument", ["train", "bash", "", "SERVE"])
def test_anything_else_is_refused_with_what_to_do(argument: str) -> None:
    with pytest.raises(WrongStart, match=f"'{argument}' is nothing this image can do.*`serve`"):
        check_arguments([argument])


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, 8080),
        ({"PORT": "9000"}, 9000),
        ({"SAGEMAKER_BIND_TO_PORT": "15000", "PORT": "9000"}, 15000),
        ({"SAGEMAKER_BIND_TO_PORT": "", "PORT": " 9000 "}, 9000),
    ],
)
def test_sagemakers_port_comes_first(environ: dict[str, str], expected: int) -> None:
    assert port(environ) == expected


@pytest.mark.parametrize("written", ["http", "0", "65536", "-1", "80.5", "８０", "9" * 5000])
def test_what_is_no_port_is_refused_by_name(written: str) -> None:
    with pytest.raises(WrongStart, match=r"PORT='.*' is no port") as refused:
        port({"PORT": written})
    assert len(str(refused.value)) < 200
