"""`kokoro-agents serve`: the container server on this machine."""

from __future__ import annotations

import argparse
import asyncio
import logging

from .arguments import Commands, add_engine, port
from .failure import OK, CommandFailed
from .local_server import refuse_torch, require_container

_ABOUT = """\
Run the server that the SageMaker container runs, with a speech model on this machine. The first
start prepares the model, which takes up to a minute; /ping answers 200 as soon as it can speak.
Ctrl-C ends it when what is queued has been spoken; a second Ctrl-C ends it at once.
"""
_EXAMPLES = """\
examples:
  kokoro-agents serve                              on port 8080 of this machine
  kokoro-agents serve --host 0.0.0.0 --port 9000   for other machines as well
  kokoro-agents say "Hello." --url ws://127.0.0.1:8080 -o hello.wav
  curl -s 127.0.0.1:8080/invocations -d '{"text": "Hello."}' -o hello.wav
"""


def register(commands: Commands) -> argparse.ArgumentParser:
    """Add the command."""
    parser = commands.add_parser(
        "serve", help="run the container server here", description=_ABOUT, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=port, default=8080, help="port to listen on (default 8080); 0: a free one"
    )
    add_engine(parser)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Run the server until it is told to end."""
    refuse_torch(args.engine)
    require_container()
    from kokoro_container.server import serve
    from kokoro_container.weights import WeightsNotFound

    if not args.debug:
        logging.getLogger().setLevel(logging.INFO)
    try:
        asyncio.run(serve(args.host, args.port, engine=args.engine))
    except (WeightsNotFound, RuntimeError) as error:
        raise CommandFailed(str(error)) from error
    return OK
