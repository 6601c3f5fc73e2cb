"""A text through AWS's SDK (and through aiobotocore), the emulator and a container, and back.

Run by `install_matrix.py` with the Python of the environment that is tried. Prints one line.
"""

import asyncio
import os
import sys
from importlib import metadata
from typing import Any

from kokoro_container.engines.tone import ToneEngine, spell
from kokoro_container.server import running_server
from kokoro_sagemaker_agents import AudioChunk, SpeechSession, UtteranceDone, WordTimestamps
from kokoro_sagemaker_agents.emulator import Emulator

TEXT = "Hello there, my friend. It costs four dollars."
WORDS = 8
SHOWN = ("aws-sdk-sagemaker-runtime-http2", "aiobotocore", "botocore")


async def speak(session: SpeechSession) -> bytes:
    events: list[Any] = []
    async with asyncio.timeout(60), session:
        events.extend([event async for event in session.speak(TEXT)])
    words = [w for event in events if isinstance(event, WordTimestamps) for w in event.words]
    if not isinstance(events[-1], UtteranceDone) or events[-1].failed or len(words) != WORDS:
        sys.exit(f"the text was not spoken whole: {events[-1]}")
    return b"".join(event.pcm for event in events if isinstance(event, AudioChunk))


async def main() -> None:
    async with (
        running_server(ToneEngine, phonemize=spell) as server,
        Emulator(server.url) as emulator,
    ):
        target: dict[str, Any] = {
            "region": "us-east-1",
            "endpoint_url": emulator.endpoint_url,
            "ca_bundle": str(emulator.ca_path),
        }
        heard = [await speak(SpeechSession.connect(server.url))]
        for transport in ("stream", "invocations"):
            session = SpeechSession.sagemaker("kokoro", transport=transport, **target)
            heard.append(await speak(session))
    if len(set(heard)) != 1:
        sys.exit("the ways to the container do not bring the same audio")
    print(", ".join(f"{name} {metadata.version(name)}" for name in SHOWN))


if __name__ == "__main__":
    os.environ |= {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "local"}
    asyncio.run(main())
