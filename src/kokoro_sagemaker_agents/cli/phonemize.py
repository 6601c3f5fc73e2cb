"""`kokoro-agents phonemize`: shows what the model is given for a text."""

from __future__ import annotations

import argparse
import json

from .arguments import Commands
from .failure import OK, UsageError
from .local_server import require_container

_ABOUT = """\
Show how texts are spoken: the text with its numbers, prices and signs as words, and the model's
phonemes for it. What is left out because it has no pronunciation is named.
"""
_EXAMPLES = """\
examples:
  kokoro-agents phonemize "Dr. Lee paid $4.50."
  kokoro-agents phonemize --language fr "Ça va ?" "Merci."
  kokoro-agents phonemize --json "Hello." "Bye."      one JSON object per text:
    {"text": "Hello.", "spoken": "Hello.", "phonemes": "həlˈO."}
"""


def register(commands: Commands) -> argparse.ArgumentParser:
    """Add the command."""
    parser = commands.add_parser(
        "phonemize", help="show a text's phonemes", description=_ABOUT, epilog=_EXAMPLES
    )
    parser.add_argument("text", nargs="+", metavar="TEXT", help="a text, or several")
    parser.add_argument(
        "--language",
        default="en-us",
        help="en-us (default), en-gb, es, fr, hi, it, ja, pt-br or zh",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per text")
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the phonemes of each text."""
    require_container()
    from kokoro_container.text import LANGUAGES, Phonemizer, spoken_text

    if args.language not in LANGUAGES:
        raise UsageError(
            f"no phonemes for language {args.language!r}; choose one of {', '.join(LANGUAGES)}"
        )
    phonemize = Phonemizer()
    for text in args.text:
        said = phonemize(text, args.language)
        spoken = spoken_text(text, args.language)
        if args.json:
            shown: dict[str, object] = {"text": text, "spoken": spoken, "phonemes": said.phonemes}
            if said.warnings:
                shown["warnings"] = said.warnings
            print(json.dumps(shown, ensure_ascii=False), flush=True)
        else:
            print(f"{text}\n  spoken    {spoken}\n  phonemes  {said.phonemes}")
            for warning in said.warnings:
                print(f"  warning   {warning}")
    return OK
