"""Hostile frames over a real socket, beside a session that must not notice.

Level: fuzz. No session ends but by the client's own `close`, nothing is left unanswered, and a good
request is spoken as ever.
"""

import asyncio
import json
from random import Random
from typing import Any

import websockets

from kokoro_container.engines.tone import ToneEngine, spell
from kokoro_container.server import running_server

from .mutations import Mutator

STREAM = "/invocations-bidirectional-stream"
SESSIONS = 50
FRAMES = 40  # of each
ANSWER_S = 30.0
LAST = 10**9  # the id of the ping behind a session's frames


async def receive(socket: websockets.ClientConnection) -> dict[str, Any] | bytes:
    frame = await asyncio.wait_for(socket.recv(), ANSWER_S)
    if isinstance(frame, bytes):
        return frame
    message = json.loads(frame)
    for inside in ("Traceback", "Error(", ".py", "object at 0x"):
        assert inside not in message.get("message", "")
    assert message.get("code") != "internal", message
    return message


async def says(socket: websockets.ClientConnection, context_id: str) -> bytes:
    """A good request from beginning to end; its audio."""
    speak = {"type": "speak", "context_id": context_id, "chunk_id": 0, "text": "Still here."}
    await socket.send(json.dumps(speak))
    await socket.send(json.dumps({"type": "end", "context_id": context_id}))
    audio = b""
    while True:
        frame = await receive(socket)
        if isinstance(frame, bytes):
            audio += frame
        elif frame["type"] == "context_done":
            return audio


async def bad_session(url: str, mutator: Mutator, random: Random) -> str:
    """Sends its frames and reads all answers; how it ended."""
    make = mutator.sample_frame if random.random() < 0.2 else mutator.frame
    async with websockets.connect(url, max_size=None) as socket:
        try:
            for _ in range(FRAMES):
                await socket.send(make())
            await socket.send(json.dumps({"type": "ping", "id": LAST}))
            while True:
                answer = await receive(socket)
                if isinstance(answer, dict) and answer.get("id") == LAST:
                    return "well"
        except websockets.ConnectionClosed:
            assert socket.close_code == 1000
            return "closed by itself"


async def test_a_bad_session_ends_well_and_disturbs_no_other() -> None:
    mutator, random = Mutator(700), Random(700)
    ends: list[str] = []
    async with running_server(ToneEngine, phonemize=spell) as server:
        async with websockets.connect(server.url + STREAM, max_size=None) as bystander:
            await receive(bystander)
            expected = await says(bystander, "first")
            for number in range(SESSIONS):
                ends.append(await bad_session(server.url + STREAM, mutator, random))
                assert await says(bystander, f"c{number}") == expected
        await asyncio.wait_for(server.service.scheduler.wait_idle(), ANSWER_S)

    assert expected
    assert ends.count("well") > SESSIONS // 2
