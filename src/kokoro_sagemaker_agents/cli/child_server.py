"""The server that a command starts for itself, in a process of its own.

`python -m kokoro_sagemaker_agents.cli.child_server ENGINE [--sagemaker]` says in JSON lines on
standard output how far it is, and once it can speak where it is; it ends when its standard input
does. So it never outlives the command that started it, however that ends, and its work does not
disturb what the command measures. With `--sagemaker` an emulated endpoint is in front of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
import threading
import traceback
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kokoro_container.server import RunningServer

#: What the server calls its stages, in words for whoever waits. The model's has words of its own.
_STAGES: Final = {
    "voices": "loading the voices",
    "phonemes": "loading the pronunciation dictionaries",
    "warm-up": "speaking a first text for nobody",
}
_POLL_S: Final = 0.1


class Teller:
    """Says JSON lines on what was standard output; what libraries print goes to standard error."""

    def __init__(self) -> None:
        self._out = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def tell(self, **what: str) -> None:
        """One line, if anybody still listens."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._out, f"{json.dumps(what)}\n".encode())


def main() -> None:
    """Serve until standard input ends."""
    engine, debug = sys.argv[1], "--debug" in sys.argv
    teller = Teller()
    # What fails is told to the command, which says it in its own words.
    logging.basicConfig(level=logging.DEBUG if debug else logging.CRITICAL)
    try:
        asyncio.run(_serve(engine, teller, sagemaker="--sagemaker" in sys.argv))
    except Exception as error:
        if debug:
            traceback.print_exc()
        teller.tell(error=str(error) or type(error).__name__)
        sys.exit(1)


async def _serve(engine: str, teller: Teller, *, sagemaker: bool) -> None:
    from kokoro_container.server import running_server

    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait_for_the_end() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended already
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(
            running_server(
                engine, progress=lambda what, _done: teller.tell(stage=what), wait_ready=False
            )
        )
        await _tell_stages(server, teller)
        endpoint = {}
        if sagemaker:
            from kokoro_sagemaker_agents.emulator import Emulator

            emulator = await stack.enter_async_context(Emulator(server.url))
            endpoint = {"endpoint_url": emulator.endpoint_url, "ca_path": str(emulator.ca_path)}
        teller.tell(url=server.url, http_url=server.http_url, **endpoint)
        await ended.wait()


async def _tell_stages(server: RunningServer, teller: Teller) -> None:
    """Returns when the server can speak."""
    told = ""
    ready = asyncio.ensure_future(server.service.ready())
    while not ready.done():
        stage = server.service.stage
        if stage != told and stage in _STAGES:
            teller.tell(stage=_STAGES[stage])
        told = stage
        await asyncio.wait([ready], timeout=_POLL_S)
    await ready


if __name__ == "__main__":
    main()
