"""`kokoro-agents`: reads the command line, runs one command, says in one sentence what failed."""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Final

from kokoro_sagemaker_agents.errors import InvalidInput, KokoroAgentsError

from . import chunk, demo, doctor, emulate, phonemize, say, serve, speak
from .failure import FAILED, USAGE, CommandFailed

_COMMANDS: Final = (say, speak, serve, emulate, chunk, phonemize, demo, doctor)
#: What a shell reports for a program that Ctrl-C ended: 128 + SIGINT.
_INTERRUPTED: Final = 130

_ABOUT: Final = """\
Give an AI agent a voice: text or an LLM's tokens become Kokoro speech, sentence by sentence.
"""
_EXAMPLES: Final = """\
examples:
  kokoro-agents say "Hello there." -o hello.wav      a text, spoken into a file
  my-llm | kokoro-agents speak -o reply.wav          tokens, spoken while they come
  kokoro-agents demo                                 streaming against waiting, measured here
  kokoro-agents doctor                               what works on this machine, and why not

Each command explains itself: kokoro-agents COMMAND --help
Exit codes: 0 done, 1 failed, 2 wrong arguments.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the command line without the program's name; by default the process's own.

    Returns:
        The exit code: 0 done, 1 failed, 2 wrong arguments.
    """
    _speak_utf8()
    parser = _parser()
    args = parser.parse_args(arguments)
    logging.basicConfig(
        level=logging.DEBUG if args.debug else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    try:
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough. Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if args.debug:
            traceback.print_exc()
        print(f"kokoro-agents {args.command}: {_sentence(error)}", file=sys.stderr)
        return _exit_code(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kokoro-agents",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        subparser = command.register(commands)
        subparser.formatter_class = argparse.RawDescriptionHelpFormatter
        subparser.add_argument(
            "--debug", action="store_true", help="on a failure show where; log everything"
        )
    return parser


def _version() -> str:
    from importlib.metadata import version

    return version("kokoro-sagemaker-agents")


def _sentence(error: Exception) -> str:
    """What to tell the user: our own errors say it themselves."""
    message = str(error)
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"cannot use {error.filename}: {error.strerror}; name another one, or make it usable"
    if isinstance(error, (CommandFailed, KokoroAgentsError, OSError)) and message:
        return message
    return (
        f"unexpected {type(error).__name__}: {message or 'no message'};"
        " run it again with --debug to see where, and report it"
    )


def _exit_code(error: Exception) -> int:
    if isinstance(error, CommandFailed):
        return error.exit_code
    return USAGE if isinstance(error, InvalidInput) else FAILED


def _speak_utf8() -> None:
    """Print any text, also in a terminal without UTF-8; half of an emoji is shown as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())
