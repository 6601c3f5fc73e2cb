"""How SageMaker starts this image: with the word `serve`, and a port if it chooses one.

https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-inference-code.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

DEFAULT_PORT: Final = 8080  # SageMaker's

USAGE: Final = (
    "This image speaks text: an inference container. Start it with `serve`, as SageMaker does, or"
    " with nothing."
)

# First found wins. SageMaker sets the first where several containers share an endpoint.
_PORT_VARIABLES: Final = ("SAGEMAKER_BIND_TO_PORT", "PORT")


class WrongStart(Exception):
    """The process was started in a way that it cannot do; the message says what to change."""


def check_arguments(arguments: Sequence[str]) -> None:
    """Does nothing for `serve`, whatever follows it, and for no arguments.

    Raises:
        WrongStart: anything else, for example `train`.
    """
    if arguments and arguments[0] != "serve":
        raise WrongStart(f"{arguments[0][:40]!r} is nothing this image can do. {USAGE}")


def port(environ: Mapping[str, str]) -> int:
    """The port to listen on: `SAGEMAKER_BIND_TO_PORT`, else `PORT`, else 8080.

    Raises:
        WrongStart: what is set there is no port.
    """
    for name in _PORT_VARIABLES:
        written = environ.get(name, "").strip()
        if not written:
            continue
        if not (written.isascii() and written.isdigit() and 0 < int(written[:6]) < 65_536):
            raise WrongStart(f"{name}={written[:40]!r} is no port; give 1 to 65535, or unset it")
        return int(written)
    return DEFAULT_PORT
