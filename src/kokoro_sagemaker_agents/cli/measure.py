"""Speaking a scripted reply in each mode of the demo, with a stopwatch."""

from __future__ import annotations

import asyncio
import http.client
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from .failure import CommandFailed
from .scripted_llm import Reply
from .timeline import (
    STREAMING,
    WAITING,
    WAITING_WHOLE,
    Arrival,
    Run,
    Sentence,
)
from .tokens import paced
from .watched import WatchedChunker
from .wav import SAMPLE_BYTES, WavWriter

if TYPE_CHECKING:
    from kokoro_sagemaker_agents import SpeechSession

SAMPLE_RATE: Final = 24_000
_WAV_HEADER_BYTES: Final = 44
_READ_BYTES: Final = 65_536
#: For a whole reply on a slow machine; this only ends a hopeless wait.
_ANSWER_TIMEOUT_S: Final = 300.0


class _Stopwatch:
    def __init__(self) -> None:
        self._started_s = time.monotonic()

    def __call__(self) -> float:
        return time.monotonic() - self._started_s


async def stream(
    session: SpeechSession, reply: Reply, pace: float, wav: WavWriter | None = None
) -> Run:
    """Speak a reply while its tokens come.

    Args:
        session: takes the tokens.
        reply: what the scripted model writes.
        pace: tokens per second.
        wav: gets the audio as it arrives.

    Raises:
        CommandFailed: a sentence could not be spoken.
    """
    from kokoro_sagemaker_agents import events

    run = Run(reply.name, STREAMING)
    sent: list[tuple[int, float]] = []  # where each sentence ends in the text, and when it went
    now_s = _Stopwatch()
    chunker = WatchedChunker("en-us", lambda chunk: sent.append((chunk.end, now_s())))

    async def tokens() -> AsyncIterator[str]:
        async for token in paced(reply.tokens, pace):
            run.tokens.append(now_s())
            yield token

    async for event in session.speak(tokens(), chunker=chunker):
        match event:
            case events.ChunkStarted():
                # A session may join short sentences that wait: the last one of them counts.
                sent_s = next(at_s for end, at_s in sent if end >= event.end)
                run.sentences.append(
                    Sentence(event.spoken, sent_s, audio_start_s=event.first_sample / SAMPLE_RATE)
                )
            case events.AudioChunk():
                run.audio.append(Arrival(now_s(), event.duration_s))
                sentence = run.sentences[-1]
                sentence.audio_s += event.duration_s
                if sentence.first_audio_s is None:
                    sentence.first_audio_s = now_s()
                if wav is not None:
                    wav.write(event.pcm)
            case events.ChunkDone():
                run.model_s += event.timings.synthesis_ms / 1000
            case events.ChunkFailed():
                raise CommandFailed(f"the server could not speak a sentence: {event.message}")
    return run


async def wait(http_url: str, reply: Reply, pace: float, voice: str, *, whole: bool) -> Run:
    """Speak a reply once it is written to its end.

    Args:
        http_url: the server.
        reply: what the scripted model writes.
        pace: tokens per second.
        voice: who speaks.
        whole: let the server answer with a finished file, not with audio as it is made.

    Raises:
        CommandFailed: the server refused, or stopped in the middle.
    """
    run = Run(reply.name, WAITING_WHOLE if whole else WAITING)
    now_s = _Stopwatch()
    text = ""
    async for token in paced(reply.tokens, pace):
        run.tokens.append(now_s())
        text += token
    sent_s = now_s()
    request = {
        "text": text,
        "voice": voice,
        "sample_rate": SAMPLE_RATE,
        "format": "wav",
        "stream": not whole,
    }
    run.audio = await asyncio.to_thread(_post, http_url, request, now_s)
    run.sentences = [Sentence(text, sent_s, run.first_audio_s, 0.0, run.audio_s)]
    run.model_s = now_s() - sent_s
    return run


def _post(http_url: str, request: dict[str, Any], now_s: Callable[[], float]) -> list[Arrival]:
    """The audio of an answer, piece by piece as it came."""
    address = urlsplit(http_url)
    connection = http.client.HTTPConnection(address.netloc, timeout=_ANSWER_TIMEOUT_S)
    arrivals: list[Arrival] = []
    try:
        connection.request("POST", "/invocations", json.dumps(request).encode())
        answer = connection.getresponse()
        if answer.status != 200:
            raise CommandFailed(f"the server refused the reply: {answer.read().decode()}")
        answer.read(_WAV_HEADER_BYTES)
        while piece := answer.read1(_READ_BYTES) if answer.chunked else answer.read():
            arrivals.append(Arrival(now_s(), len(piece) / SAMPLE_BYTES / SAMPLE_RATE))
    except (OSError, http.client.HTTPException) as error:
        raise CommandFailed(
            f"the server's answer broke off ({type(error).__name__}); run it again with --debug"
        ) from error
    finally:
        connection.close()
    if not arrivals:
        raise CommandFailed("the server answered without any audio; run it again with --debug")
    return arrivals
