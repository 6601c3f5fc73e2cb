"""`kokoro-agents speak`: tokens from standard input, spoken while they come."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator

from . import speaking
from .arguments import Commands, rate
from .failure import OK
from .stdin import stream_text
from .tokens import paced, pseudo_tokens

_ABOUT = """\
Speak what comes in on standard input while it comes in, sentence by sentence, into a WAV file. Says
on standard error when each sentence is sent and when the first audio is there.
"""
_EXAMPLES = """\
examples:
  my-llm --stream | kokoro-agents speak -o reply.wav
  kokoro-agents speak < story.txt
  kokoro-agents speak --pace 50 < story.txt          as if an LLM wrote it, 50 tokens a second
  my-llm --stream | kokoro-agents speak -o - | ffplay -nodisp -autoexit -
"""


def register(commands: Commands) -> argparse.ArgumentParser:
    """Add the command."""
    parser = commands.add_parser(
        "speak", help="speak standard input while it comes", description=_ABOUT, epilog=_EXAMPLES
    )
    speaking.add_arguments(parser)
    parser.add_argument(
        "--pace",
        type=rate,
        metavar="TOKENS_PER_S",
        help="cut the text into pieces like tokens and take so many of them per second"
        " (default: the text as it comes)",
    )
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Speak standard input."""
    speaking.check(args)
    speaking.report(asyncio.run(_speak(args)), args)
    return OK


async def _speak(args: argparse.Namespace) -> speaking.Spoken:
    def note(at_s: float, what: str) -> None:
        if not args.json:
            print(f"{at_s:6.2f} s  {what}", file=sys.stderr, flush=True)

    async with speaking.open_session(args) as session:
        return await speaking.speak(session, _tokens(args.pace), args, note)


async def _tokens(pace: float | None) -> AsyncIterator[str]:
    async for text in stream_text():
        if pace is None:
            yield text
        else:
            async for token in paced(pseudo_tokens(text), pace):
                yield token
