"""Speak text while it is being written.

    kokoro-agents serve &                     # or any other server
    python examples/speak_a_stream.py ws://127.0.0.1:8080 reply.wav

Put your model's stream in the place of `tokens`.
"""

import asyncio
import sys
import wave
from collections.abc import AsyncIterator

from kokoro_sagemaker_agents import AudioChunk, ChunkFailed, ChunkStarted, SpeechSession

REPLY = "Good morning. The train leaves at 9:40, so we have an hour left."


async def tokens() -> AsyncIterator[str]:
    """What a language model would write, at its pace."""
    for word in REPLY.split(" "):
        await asyncio.sleep(0.05)
        yield f"{word} "


async def main(url: str, path: str) -> None:
    """Speak the tokens into a WAV file; each sentence is heard while the next is written."""
    async with SpeechSession.connect(url, voice="af_heart") as session:
        with wave.open(path, "wb") as wav:
            wav.setparams((1, 2, 24_000, 0, "NONE", ""))
            async for event in session.speak(tokens()):
                match event:
                    case ChunkStarted():
                        print("speaking:", event.spoken)
                    case AudioChunk():
                        wav.writeframes(event.pcm)  # or play it
                    case ChunkFailed():
                        print("not spoken:", event.text, event.message, file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python examples/speak_a_stream.py ws://HOST:PORT FILE.wav")
    asyncio.run(main(sys.argv[1], sys.argv[2]))
