"""The same without asyncio, with the time of each word.

kokoro-agents serve &                     # or any other server
python examples/blocking.py ws://127.0.0.1:8080 hello.wav
"""

import sys
import wave

from kokoro_sagemaker_agents import AudioChunk, WordTimestamps
from kokoro_sagemaker_agents.blocking import SpeechSession


def main(url: str, path: str) -> None:
    """Speak a text into a WAV file and print when each word is heard."""
    with (
        SpeechSession.connect(url, voice="bf_emma") as session,
        wave.open(path, "wb") as wav,
    ):
        wav.setparams((1, 2, 24_000, 0, "NONE", ""))
        for event in session.speak("Hello there. It costs $4.50, and Dr. Lee said yes."):
            match event:
                case AudioChunk():
                    wav.writeframes(event.pcm)
                case WordTimestamps():
                    for word in event.words:
                        print(f"{word.start_s:6.2f} s  {word.text}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python examples/blocking.py ws://HOST:PORT FILE.wav")
    main(sys.argv[1], sys.argv[2])
