"""How an argument's value is read and refused; the types that argparse calls."""

from __future__ import annotations

import argparse
import math
from typing import TypeAlias

from kokoro_sagemaker_agents.protocol import SPEED_MAX, SPEED_MIN

#: What each command's `register` is given.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

ENGINES = ("auto", "onnx", "torch", "tone")


def speed(text: str) -> float:
    """A speed: 0.5 to 2.0."""
    value = _number(text)
    if not SPEED_MIN <= value <= SPEED_MAX:
        raise argparse.ArgumentTypeError(f"{text} is not from {SPEED_MIN} to {SPEED_MAX}")
    return value


def rate(text: str) -> float:
    """A pace: a finite number above 0."""
    value = _number(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def count(text: str) -> int:
    """A whole number above 0."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number above 0")
    return value


def port(text: str) -> int:
    """A TCP port."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 65_535:
        raise argparse.ArgumentTypeError(f"{text} is not a port, 0 to 65535")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a number") from None


def add_engine(parser: argparse._ActionsContainer) -> None:
    """`--engine`, for a command that may start a server."""
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="speech model of the server started here: auto (default) takes the best there is,"
        " onnx is Kokoro on the CPU, torch is Kokoro on a GPU, tone makes test tones",
    )
