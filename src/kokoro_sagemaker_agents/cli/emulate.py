"""`kokoro-agents emulate`: a SageMaker endpoint on this machine."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .arguments import Commands, add_engine, port, rate
from .failure import OK, CommandFailed, UsageError
from .local_server import local_server
from .progress import ProgressLine

if TYPE_CHECKING:
    from kokoro_sagemaker_agents.emulator import Credentials, Emulator

_ABOUT: Final = """\
A SageMaker runtime on this machine, in front of a container: bidirectional streams over HTTP/2 with
TLS, the REST invocations and the control plane that a deployment uses. AWS's SDKs talk to it when
the lines that it prints are set in their shell. Without --container a local server is started.
Nothing leaves this machine and nothing costs anything.
"""
_EXAMPLES: Final = """\
examples:
  kokoro-agents emulate                                       with a speech server of its own
  kokoro-agents emulate --container ws://127.0.0.1:8080       in front of yours
  kokoro-agents emulate --fault reset@audio:3                 breaks the first stream mid-sentence
  kokoro-agents emulate --fault throttle,times=2              refuses the first two calls
  kokoro-agents emulate --time-scale 60                       the 30-minute limit after 30 s

faults: KIND[@PLACE[:N]][,times=N][,endpoint=NAME][,status=N][,error=NAME][,delay_s=S]
  at the opening (@open):       refuse (424) throttle (a 400) error hang slow reset goaway abort
  in place of frame N at @input, @output or @audio (the default is @audio:0):
                                reset goaway abort stall truncate end model_error stream_failure
                                kill slow drain
  A single request brings its own in the header X-Emulator-Fault.
"""
#: What examples of AWS use for keys that open nothing.
_ACCESS_KEY: Final = "AKIDEXAMPLE"
_SECRET_KEY: Final = "local-emulator-only"


def register(commands: Commands) -> argparse.ArgumentParser:
    """Add the command."""
    parser = commands.add_parser(
        "emulate",
        help="run a SageMaker endpoint here, in front of a container",
        description=_ABOUT,
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "--container",
        action="append",
        metavar="URL",
        help="ws://host:port of a container; several are its instances",
    )
    add_engine(parser)
    parser.add_argument("--host", default="127.0.0.1", help="to listen on (default 127.0.0.1)")
    parser.add_argument(
        "--port", type=port, default=8443, help="to listen on (default 8443, AWS's); 0: a free one"
    )
    parser.add_argument(
        "--endpoint",
        action="append",
        metavar="NAME",
        help="an endpoint that is in service from the start (default kokoro)",
    )
    parser.add_argument(
        "--directory", type=Path, help="where to keep ca.pem (default a temporary folder)"
    )
    parser.add_argument("--json", action="store_true", help="print the settings as one JSON line")
    _add_behaviour(parser)
    parser.set_defaults(run=run)
    return parser


def _add_behaviour(parser: argparse.ArgumentParser) -> None:
    """How it differs from the service, or how strictly it does not."""
    parser.add_argument(
        "--strict", action="store_true", help="check the signature of each request and event"
    )
    parser.add_argument(
        "--fault", action="append", default=[], metavar="FAULT", help="what goes wrong; see below"
    )
    parser.add_argument(
        "--time-scale", type=rate, default=1.0, metavar="X", help="time passes X times as fast"
    )
    parser.add_argument(
        "--accept-s",
        type=rate,
        default=5.0,
        metavar="S",
        help="how long the container may take to accept (default 5; of AWS 0.25 is reported)",
    )


def run(args: argparse.Namespace) -> int:
    """Run until Ctrl-C or SIGTERM."""
    missing = [name for name in ("cryptography", "h11", "h2") if find_spec(name) is None]
    if missing:
        raise CommandFailed(
            f"the emulator needs {', '.join(missing)}; run pip install -e '.[emulator]'"
        )
    asyncio.run(_run(args))
    return OK


async def _run(args: argparse.Namespace) -> None:
    from kokoro_sagemaker_agents.emulator import Clock, Credentials, Emulator, Settings

    ended = asyncio.Event()
    credentials = Credentials(_ACCESS_KEY, _SECRET_KEY)
    async with AsyncExitStack() as stack:
        containers = args.container
        if not containers:
            local = local_server(args.engine, ProgressLine(), debug=args.debug)
            containers = [(await stack.enter_async_context(local)).url]
        try:
            emulator = Emulator(
                containers,
                endpoints=args.endpoint or ["kokoro"],
                host=args.host,
                port=args.port,
                credentials=credentials if args.strict else None,
                faults=args.fault,
                clock=Clock(args.time_scale),
                settings=Settings(accept_s=args.accept_s),
                directory=args.directory,
            )
        except ValueError as error:
            raise UsageError(str(error)) from error
        await stack.enter_async_context(emulator)
        # Not before: until here Ctrl-C breaks off whatever is being started.
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        _print(emulator, credentials, as_json=args.json)
        await ended.wait()


def _print(emulator: Emulator, credentials: Credentials, *, as_json: bool) -> None:
    variables = {
        "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2": emulator.endpoint_url,
        "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME": emulator.endpoint_url,
        "AWS_ENDPOINT_URL_SAGEMAKER": emulator.endpoint_url,
        "AWS_ENDPOINT_URL_APPLICATION_AUTO_SCALING": emulator.endpoint_url,
        "SSL_CERT_FILE": str(emulator.ca_path),
        "AWS_CA_BUNDLE": str(emulator.ca_path),
        "AWS_ACCESS_KEY_ID": credentials.access_key,
        "AWS_SECRET_ACCESS_KEY": credentials.secret_key,
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    if as_json:
        told = {"endpoint_url": emulator.endpoint_url, "ca": str(emulator.ca_path)}
        print(json.dumps({**told, "environment": variables}), flush=True)
        return
    endpoints = ", ".join(emulator.control.endpoints)
    print(f"{emulator.endpoint_url} in front of {', '.join(emulator.fleet.urls)}")
    print(f"endpoints in service: {endpoints}. Ctrl-C ends it. In the client's shell:\n")
    for name, value in variables.items():
        print(f"export {name}={value}")
    print(flush=True)
