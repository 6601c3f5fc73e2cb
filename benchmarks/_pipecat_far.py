"""The far side of `pipecat_service.py`, in a process of its own, behind an emulator of SageMaker.

One container that speaks both vocabularies, ours and Deepgram's, with the same model behind them:
the same audio for a text, at the same pace. After a barge-in it is as careless as a container may
be: 600 ms that it had made already still go out before it says that it has stopped. Whoever
connects to `drop_port` breaks every connection. The end of its standard input ends it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from contextlib import AsyncExitStack, suppress

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from kokoro_sagemaker_agents.emulator import Emulator
from kokoro_sagemaker_agents.protocol import Limits, Ready, ServerProtocol, SpeakRequested, Word

RATE = 24_000
FIRST_S = 0.06  # until a sentence's first audio, as on a GPU
PIECE_S = 0.1  # of audio, each
PACE_S = 0.02  # between two pieces: five times as fast as it plays
CHAR_S = 0.06  # of audio for a character
MADE_S = 0.6  # that is on its way when a barge-in comes

connections: set[ServerConnection] = set()


def mark_of(text: str) -> int:
    """The number that stands in a text; 0 if there is none."""
    return int("".join(c for c in text if c.isdigit())[:2] or 0)


def pieces_of(text: str, mark: int) -> list[bytes]:
    """A text's audio: every sample is the turn's number, so that whose it is can be told."""
    count = max(1, round(len(text) * CHAR_S / PIECE_S))
    return [mark.to_bytes(2, "little") * int(PIECE_S * RATE)] * count


async def send_made(socket: ServerConnection) -> None:
    """What was on its way before the barge-in was seen."""
    for _ in range(int(MADE_S / PIECE_S)):
        await socket.send(b"\x63\x00" * int(PIECE_S * RATE))
        await asyncio.sleep(PACE_S)


async def ours(socket: ServerConnection) -> None:
    protocol = ServerProtocol(
        Ready(
            instance_id="far",
            model="none",
            engine="none",
            voices=("af_heart",),
            languages=("en-us",),
            limits=Limits(),
        )
    )
    protocol.ready()
    wake = asyncio.Event()

    async def flush() -> None:
        for frame in protocol.data_to_send():
            await socket.send(frame)

    queue: list[SpeakRequested] = []
    sounding = ""  # the context whose audio is being sent
    stopped = False
    marks: dict[str, int] = {}

    async def speak() -> None:
        nonlocal sounding
        while True:
            sounding = ""
            while not queue:
                wake.clear()
                await wake.wait()
            request = queue.pop(0)
            key = (request.context_id, request.chunk_id)
            await asyncio.sleep(FIRST_S)
            if key[0] not in protocol.contexts:
                continue
            protocol.words(*key, words_of(request.text))
            sounding = key[0]
            marks[key[0]] = mark_of(request.text) or marks.get(key[0], 1)
            for piece in pieces_of(request.text, marks[key[0]]):
                if stopped or key[0] not in protocol.contexts:
                    break
                protocol.audio(*key, piece, None)
                await flush()
                await asyncio.sleep(PACE_S)
            else:
                protocol.chunk_done(*key)
                await flush()

    speaker = asyncio.create_task(speak())
    try:
        await flush()
        async for frame in socket:
            message = json.loads(frame)
            if message.get("type") == "cancel" and message["context_id"] == sounding:
                stopped = True
                await send_made(socket)
                stopped = False
            for event in protocol.receive(frame):
                if isinstance(event, SpeakRequested):
                    queue.append(event)
                    wake.set()
            await flush()
    finally:
        speaker.cancel()


def words_of(text: str) -> list[Word]:
    words, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        words.append(
            Word(text=word, start=start * CHAR_S, end=at * CHAR_S, char_start=start, char_end=at)
        )
    return words


async def deepgram(socket: ServerConnection) -> None:
    speaking: asyncio.Task[None] | None = None

    async def speak(text: str) -> None:
        await asyncio.sleep(FIRST_S)
        with suppress(ConnectionClosed):
            for piece in pieces_of(text, mark_of(text) or 1):
                await socket.send(piece)
                await asyncio.sleep(PACE_S)

    async def speak_in_turn(text: str, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        await speak(text)

    async def flushed(before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        await socket.send(json.dumps({"type": "Flushed", "sequence_id": 0}))

    tasks: list[asyncio.Task[None]] = []
    async for frame in socket:
        message = json.loads(frame)
        match message["type"]:
            case "Speak":
                speaking = asyncio.create_task(speak_in_turn(message["text"], speaking))
                tasks.append(speaking)
            case "Flush":
                tasks.append(asyncio.create_task(flushed(speaking)))
            case "Clear":
                busy = any(not task.done() for task in tasks)
                for task in tasks:
                    task.cancel()
                tasks, speaking = [], None
                if busy:
                    await send_made(socket)
                await socket.send(json.dumps({"type": "Cleared", "sequence_id": 0}))
            case "Close":
                break


async def handle(socket: ServerConnection) -> None:
    connections.add(socket)
    try:
        path = socket.request.path if socket.request is not None else ""
        await (deepgram if "model=aura" in path else ours)(socket)
    except ConnectionClosed:
        pass
    finally:
        connections.discard(socket)


async def main() -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def drop(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for connection in list(connections):
            connection.transport.abort()
        writer.close()

    def read() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read, daemon=True).start()
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(
            serve(handle, "127.0.0.1", 0, compression=None, ping_interval=None)
        )
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        emulator = await stack.enter_async_context(Emulator(url))
        dropper = await stack.enter_async_context(await asyncio.start_server(drop, "127.0.0.1", 0))
        told = {"drop_port": dropper.sockets[0].getsockname()[1]}
        told |= {"endpoint_url": emulator.endpoint_url, "ca": str(emulator.ca_path)}
        print(json.dumps(told), flush=True)
        await ended.wait()


if __name__ == "__main__":
    asyncio.run(main())
