"""`kokoro-agents say`: a text, spoken into a WAV file."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator

from . import speaking
from .arguments import Commands
from .failure import OK, UsageError

_ABOUT = """\
Speak a text into a WAV file: one channel, 16 bit.
"""
_EXAMPLES = """\
examples:
  kokoro-agents say "It costs $4.50, and Dr. Lee said yes." -o answer.wav
  kokoro-agents say "Cheers, mate." --voice bf_emma --speed 1.1
  kokoro-agents say "Bonjour !" --voice ff_siwis --url ws://127.0.0.1:8080
  kokoro-agents say "Hello." -o - | aplay             to a player, while it is made
  kokoro-agents say "Hello there." --json             with word times, in seconds
"""


def register(commands: Commands) -> argparse.ArgumentParser:
    """Add the command."""
    parser = commands.add_parser(
        "say", help="speak a text into a file", description=_ABOUT, epilog=_EXAMPLES
    )
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what to say")
    speaking.add_arguments(parser)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Speak the text."""
    speaking.check(args)
    text = " ".join(args.text)
    if not text.strip():
        raise UsageError('the text is empty; give something to say, as in: say "Hello there."')
    speaking.report(asyncio.run(_say(text, args)), args)
    return OK


async def _say(text: str, args: argparse.Namespace) -> speaking.Spoken:
    async with speaking.open_session(args) as session:
        return await speaking.speak(session, _once(text), args, lambda _at_s, _what: None)


async def _once(text: str) -> AsyncIterator[str]:
    yield text
