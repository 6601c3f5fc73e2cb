"""`kokoro-agents serve`: the container server on this machine."""

from __future__ import annotations

import argparse
import asyncio

from .arguments import Commands, add_engine, count, port, rate
from .failure import OK, CommandFailed
from .local_server import refuse_missing_torch, require_container

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
    _add_operating(parser)
    parser.set_defaults(run=run)
    return parser


def _add_operating(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("for operators")
    group.add_argument(
        "--workers",
        type=count,
        default=1,
        metavar="N",
        help="model calls at the same time (default 1); more pays on a GPU",
    )
    group.add_argument(
        "--max-sessions",
        type=count,
        default=256,
        metavar="N",
        help="connections at a time (default 256); more are refused",
    )
    group.add_argument(
        "--max-wait",
        type=rate,
        default=20.0,
        metavar="S",
        help="who would wait longer for the first words is refused as overloaded (default 20 s)",
    )
    group.add_argument(
        "--report-every",
        type=rate,
        metavar="S",
        help="print the figures of /metrics for CloudWatch on standard output, every S seconds",
    )
    group.add_argument(
        "--log-format", choices=("text", "json"), default="text", help="of the log (default text)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the server until it is told to end."""
    refuse_missing_torch(args.engine)
    require_container()
    from kokoro_container import logs
    from kokoro_container.server import serve
    from kokoro_container.service import Settings
    from kokoro_container.weights import WeightsNotFound

    logs.configure(args.log_format, "DEBUG" if args.debug else "INFO")
    settings = Settings(
        workers=args.workers,
        sessions=args.max_sessions,
        max_wait_s=args.max_wait,
        report_every_s=args.report_every,
    )
    try:
        asyncio.run(serve(args.host, args.port, engine=args.engine, settings=settings))
    except (WeightsNotFound, RuntimeError) as error:
        raise CommandFailed(str(error)) from error
    return OK
