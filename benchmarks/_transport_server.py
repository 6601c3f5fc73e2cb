"""The far side of `transport.py`, in a process of its own: an echo, and a server that tells times.

Prints one JSON line with its addresses and ends when its standard input does. Both are behind
emulators of SageMaker; `/times` also stands alone, for a plain WebSocket.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from contextlib import AsyncExitStack

import websockets
from websockets.asyncio.server import ServerConnection, serve

from kokoro_sagemaker_agents.emulator import Emulator
from kokoro_sagemaker_agents.protocol import Limits, Ready, ServerProtocol, SpeakRequested


async def echo(socket: ServerConnection) -> None:
    """Every frame comes back as it is."""
    async for frame in socket:
        await socket.send(frame)


async def tell_times(socket: ServerConnection) -> None:
    """Answers each text at once, without a sample, and warns of when it was there."""
    protocol = ServerProtocol(
        Ready(
            instance_id="times",
            model="none",
            engine="none",
            voices=("af_heart",),
            languages=("en-us",),
            limits=Limits(),
        )
    )
    protocol.ready()
    for frame in protocol.data_to_send():
        await socket.send(frame)
    async for frame in socket:
        now_s = time.monotonic()  # the same clock in every process of a machine
        for event in protocol.receive(frame):
            if isinstance(event, SpeakRequested):
                protocol.chunk_done(event.context_id, event.chunk_id, warnings=[repr(now_s)])
        for answer in protocol.data_to_send():
            await socket.send(answer)


async def main() -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait_for_the_end() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    async with AsyncExitStack() as stack:
        told: dict[str, str] = {"websockets": websockets.__version__}
        for name, handler in (("echo", echo), ("times", tell_times)):
            server = await stack.enter_async_context(
                serve(handler, "127.0.0.1", 0, compression=None, ping_interval=None)
            )
            url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            emulator = await stack.enter_async_context(Emulator(url))
            told |= {
                f"{name}_url": url,
                f"{name}_endpoint_url": emulator.endpoint_url,
                f"{name}_ca": str(emulator.ca_path),
            }
        print(json.dumps(told), flush=True)
        await ended.wait()


if __name__ == "__main__":
    asyncio.run(main())
