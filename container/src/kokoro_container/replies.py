"""What a POST is answered with: the audio of one text, whole or as it is made, and its figures.

`Reply` stands between the scheduler, which hands it audio, and the answer, which takes it. It knows
nothing of HTTP but the names of the headers that its figures go by.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Final

from .audio import wav_header
from .faults import fault_of
from .requests import CUSTOM_ATTRIBUTES, Invocation
from .scheduler import Job, Stream
from .service import Service
from .sse import events_of
from .synthesis import Encoded, Rendered

HIGH_BYTES: Final = 1_000_000  # of unsent audio, above which a stream gives up the model

EVENT_BYTES: Final = 16_384
"""Audio of one server-sent event at most: readers limit a line's length, aiohttp's to 64 KiB."""

_WARNING_HEADER_CHARS: Final = 1000


class Reply(Stream):
    """A POST's stream: collects audio until the answer takes it.

    Streamed, it is listened to while it is made, like a session's; whole, it has some patience.

    Args:
        invocation: what was asked for.
        service: the server that speaks it.

    Attributes:
        invocation: what was asked for.
        audio: encoded and not taken yet.
        finished: no more audio comes.
        error: what ended it early; None otherwise.
        warnings: what could not be said.
    """

    def __init__(self, invocation: Invocation, service: Service) -> None:
        patience_s = None if invocation.stream else service.settings.post_patience_s
        super().__init__(self, patience_s)
        self.invocation = invocation
        self.audio = bytearray()
        self.finished = False
        self.error: Exception | None = None
        self.warnings: list[str] = []
        self._samples = 0
        self._compute_s = 0.0
        self._queue_s = 0.0
        self._scheduler = service.scheduler
        self._changed = asyncio.Event()

    @property
    def duration_s(self) -> float:
        """Of the audio so far, by the samples that went into the encoder."""
        return self._samples / self.invocation.options.sample_rate

    # --- from the scheduler ---

    def on_audio(self, job: Job, audio: Rendered) -> None:
        """Keeps a piece's audio; too much of it unsent takes the stream off the model."""
        self._note(job, audio.audio)
        if self.invocation.stream and len(self.audio) > HIGH_BYTES:
            self._scheduler.pause(self, True)

    def on_done(self, job: Job) -> None:
        """Keeps the last audio."""
        self.finished = True
        self._note(job, job.speech.rest())

    def on_failed(self, job: Job, error: Exception) -> None:
        """Keeps the error."""
        self.error = error
        self.finished = True
        self._changed.set()

    def _note(self, job: Job, audio: Encoded) -> None:
        self.audio += audio.data
        self._samples += audio.samples
        self.warnings = job.warnings
        self._compute_s = job.g2p_s + job.synthesis_s
        if job.taken_at is not None:
            self._queue_s = max(0.0, job.taken_at - job.arrived_at - job.g2p_s)
        self._changed.set()

    # --- to the answer ---

    async def wait(self, *, whole: bool) -> None:
        """Returns when there is audio (or all of it), or the end."""
        while not self.finished and (whole or not self.audio):
            self._changed.clear()
            await self._changed.wait()

    def whole(self) -> bytes:
        """The file, its header exact; only once it is finished."""
        return self._header(self._samples) + self._taken()

    async def parts(self) -> AsyncIterator[bytes]:
        """The file as it is made, none of its parts empty.

        Raises:
            Exception: what the synthesis failed with, after the audio that came before.
        """
        part = self._header(None)
        while True:
            part += self._taken()
            if part:
                yield part
            part = b""
            if self.finished and not self.audio:
                break
            await self.wait(whole=False)
        if self.error is not None:
            raise self.error

    async def events(self) -> AsyncIterator[bytes]:
        """The file as server-sent events, with a failure as the last of them."""
        vocabulary = events_of(self.invocation)
        yield vocabulary.start()
        try:
            async for part in self.parts():
                for at in range(0, len(part), EVENT_BYTES):
                    yield vocabulary.audio(part[at : at + EVENT_BYTES])
        except Exception as error:  # whatever it was, the client is told
            yield vocabulary.error(fault_of(error, self.invocation.request_id))
            return
        yield vocabulary.end(self.duration_s, self.warnings)

    def headers(self) -> dict[str, str]:
        """The AWS Kokoro sample's headers and ours, for a finished reply; else what is known.

        SageMaker hands none of them to its caller but the custom attributes, so those repeat them.
        """
        request_id = self.invocation.request_id
        if not self.finished:
            return {"X-Request-Id": request_id, CUSTOM_ATTRIBUTES: f"request_id={request_id}"}
        duration = f"{self.duration_s:.3f}"
        factor = f"{self._compute_s / self.duration_s:.3f}" if self._samples else "0"
        attributes = f"request_id={request_id};audio_duration_s={duration};rtf={factor}"
        headers = {
            "X-Request-Id": request_id,
            "X-Audio-Duration": duration,
            "X-RTF": factor,  # G2P and model, without the wait for them
            "X-Inference-Time-Ms": str(round(self._compute_s * 1000)),
            "X-Queue-Time-Ms": str(round(self._queue_s * 1000)),
            "X-Characters-Processed": str(len(self.invocation.text)),
            CUSTOM_ATTRIBUTES: attributes,
        }
        if self.warnings:
            text = json.dumps(self.warnings)  # ASCII, as a header must be
            headers["X-Kokoro-Warnings"] = text[:_WARNING_HEADER_CHARS]
        return headers

    def figures(self) -> dict[str, object]:
        """For the log: no word of the text."""
        return {
            "request_id": self.invocation.request_id,
            "chars": len(self.invocation.text),
            "audio_s": round(self.duration_s, 3),
            "queue_ms": round(self._queue_s * 1000, 1),
            "compute_ms": round(self._compute_s * 1000, 1),
        }

    def _header(self, samples: int | None) -> bytes:
        if self.invocation.container != "wav":
            return b""
        return wav_header(self.invocation.options.sample_rate, samples)

    def _taken(self) -> bytes:
        """The audio that is there; the stream may make more."""
        audio = bytes(self.audio)
        self.audio.clear()
        self._scheduler.pause(self, False)
        return audio
