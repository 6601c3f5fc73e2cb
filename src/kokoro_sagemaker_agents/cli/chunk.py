"""`kokoro-agents chunk`: shows how a stream of tokens is cut into what is spoken."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any

from kokoro_sagemaker_agents.text import LANGUAGES, SentenceChunker, TextChunk

from .arguments import Commands
from .failure import OK, CommandFailed, UsageError

_ABOUT = """\
Cut a stream of tokens into speakable chunks, as a session does it, and show each chunk as soon as
it is released, with the number of the token that released it (counted from 0; "end" if it took the
end of the text).
"""
_EXAMPLES = """\
examples:
  kokoro-agents chunk < tokens.jsonl          one token per line, each a JSON string: "Hel"
  echo 'Dr. Lee paid $4.50. Good!' | kokoro-agents chunk --raw
  kokoro-agents chunk --json < tokens.jsonl   one JSON object per chunk:
    {"token": 6, "text": "…", "spoken": "…", "start": 0, "end": 23, "kind": "sentence"}

`text` is a slice of the tokens' own text, from `start` to `end`; `spoken` is what is said of it.
"""


def register(commands: Commands) -> argparse.ArgumentParser:
    """Add the command."""
    parser = commands.add_parser(
        "chunk", help="show how tokens are cut into chunks", description=_ABOUT, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--raw", action="store_true", help="read plain text, and cut it into pieces like tokens"
    )
    parser.add_argument("--language", default="en-us", help=f"one of {', '.join(LANGUAGES)}")
    parser.add_argument(
        "--first-chunk",
        choices=("clause", "sentence"),
        default="clause",
        help="whether the first chunk may be a clause, which is heard sooner (default), or must be"
        " a sentence",
    )
    parser.add_argument(
        "--max-phonemes",
        type=int,
        default=400,
        metavar="N",
        help="length, in estimated phonemes, at which a sentence is cut (default 400)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per chunk")
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Read tokens from standard input, print chunks."""
    try:
        chunker = SentenceChunker(
            args.language, first_chunk=args.first_chunk, max_phonemes=args.max_phonemes
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    show = _print_json if args.json else _print_line
    for number, token in enumerate(_raw_tokens() if args.raw else _json_tokens()):
        for chunk in chunker.feed(token):
            show(number, chunk)
    for chunk in chunker.flush():
        show(None, chunk)
    return OK


def _raw_tokens() -> Iterator[str]:
    from .stdin import read_text
    from .tokens import pseudo_tokens

    for text in read_text():
        yield from pseudo_tokens(text)


def _json_tokens() -> Iterator[str]:
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        try:
            token = json.loads(line)
        except ValueError:
            token = None
        if not isinstance(token, str):
            raise CommandFailed(
                f'line {number} is not a JSON string; write one token per line as "Hel", or use'
                " --raw for plain text"
            )
        yield token


def _print_line(token: int | None, chunk: TextChunk) -> None:
    released = "end" if token is None else str(token)
    said = chunk.spoken if chunk.spoken else chunk.text
    print(f"{released:>6}  {chunk.kind:<8}  {json.dumps(said, ensure_ascii=False)}", flush=True)


def _print_json(token: int | None, chunk: TextChunk) -> None:
    shown: dict[str, Any] = {"token": token}
    for name in ("text", "spoken", "start", "end", "kind"):
        shown[name] = getattr(chunk, name)
    print(json.dumps(shown, ensure_ascii=False), flush=True)
