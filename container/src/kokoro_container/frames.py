"""A POST that is answered in our protocol's frames: `"transport": "frames"`.

It is how a session speaks through an endpoint without bidirectional streaming. The body is a
`speak` message without its context: `text` and options, `chunk_id`, `from_sample`, and the
`lexicon` of a `configure`. The answer (`protocol.framing`) holds what a session would get for it:
`chunk_started`, `word_timestamps`, audio, and `chunk_done` or `error`. A body without `text` is
answered with `ready`: what this server is and can do.

What is wrong with the request is an `error` frame. That there is no room is a 503, like any POST's,
for a client to try elsewhere and for SageMaker to count.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from kokoro_sagemaker_agents.protocol import (
    BYTES_PER_SAMPLE,
    Ready,
    ServerProtocol,
    SpeakRequested,
    SpeechOptions,
)
from kokoro_sagemaker_agents.protocol.framing import FRAMES_TRANSPORT, pack

from .connection import AUDIO_FRAME_BYTES, OPENING_CHUNKS
from .faults import fault_of
from .replies import Reply
from .requests import FRAMES_CONTAINER, Invocation, written
from .scheduler import Job
from .service import Service
from .synthesis import Encoded, Rendered, Speech
from .text.lexicon import Lexicon

# The one context of such an answer; the client knows which of its own it is.
_CONTEXT: Final = "post"


def framed(body: bytes) -> dict[str, Any] | None:
    """The fields of a body that wants frames; None if it does not, whatever it is."""
    if FRAMES_TRANSPORT.encode() not in body:
        return None
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or fields.get("transport") != FRAMES_TRANSPORT:
        return None
    return fields


class FramedReply(Reply):
    """A POST's stream of frames.

    Args:
        fields: Of the body.
        ready: What the server announces.
        service: The server.
        request_id: What the caller calls it.

    Attributes:
        speech: What is to be spoken; None if the answer is complete without.

    Raises:
        InvalidInput: a field is nested too deeply.
    """

    def __init__(
        self, fields: Mapping[str, Any], ready: Ready, service: Service, request_id: str
    ) -> None:
        self._lexicon: Lexicon | None = None
        self._machine = ServerProtocol(
            ready,
            validate=service.check,
            validate_lexicon=self._take_lexicon,
            on_error=service.metrics.error,
        )
        request = None if fields.get("text") is None else self._understood(fields)
        self._machine.ready()
        frames = self._machine.data_to_send()
        text, options = (request.text, request.options) if request else ("", SpeechOptions())
        super().__init__(
            Invocation(
                text=text,
                options=options,
                container=FRAMES_CONTAINER,
                stream=True,
                events=False,
                request_id=request_id,
                dialect="sample",
            ),
            service,
        )
        self._chunk_id = request.chunk_id if request else 0
        self.speech = self._speech(request, service) if request else None
        if self.speech is None:
            # Its `ready`, or what is wrong with it.
            wanted = frames[:1] if fields.get("text") is None else frames[1:]
            self.audio += b"".join(map(pack, wanted))
            self.finished = True

    def _understood(self, fields: Mapping[str, Any]) -> SpeakRequested | None:
        """The request; None if it was refused, which the machine says."""
        if fields.get("lexicon") is not None:
            message = {"type": "configure", "lexicon": fields["lexicon"]}
            if not self._machine.receive(written(message)):
                return None
        speak = {
            **{name: value for name, value in fields.items() if name != "context_id"},
            "type": "speak",
            "context_id": _CONTEXT,
            "chunk_id": fields.get("chunk_id", 0),
        }
        events = self._machine.receive(written(speak))
        request = events[0] if events else None
        return request if isinstance(request, SpeakRequested) else None

    def _take_lexicon(self, entries: Mapping[str, Mapping[str, str]]) -> None:
        self._lexicon = Lexicon.of(entries)

    def _speech(self, request: SpeakRequested, service: Service) -> Speech:
        return service.synthesizer.speech(
            request.text,
            request.options,
            from_sample=request.from_sample,
            # By its number alone: asked for again, it must come out the same.
            opening=request.chunk_id < OPENING_CHUNKS,
            lexicon=self._lexicon,
        )

    # --- from the scheduler ---

    def on_audio(self, job: Job, audio: Rendered) -> None:
        """Keeps a piece's word times and then its audio, as frames."""
        if audio.words and job.speech.options.timestamps == "word":
            self._machine.words(_CONTEXT, self._chunk_id, audio.words)
        super().on_audio(job, audio)

    def on_done(self, job: Job) -> None:
        """Keeps the last audio and the chunk's end."""
        super().on_done(job)
        self._machine.chunk_done(
            _CONTEXT,
            self._chunk_id,
            queue_ms=round(self._queue_s * 1000, 1),
            g2p_ms=round(job.g2p_s * 1000, 1),
            synthesis_ms=round(job.synthesis_s * 1000, 1),
            warnings=job.warnings,
        )
        self._keep()

    def on_failed(self, job: Job, error: Exception) -> None:
        """Keeps the error as the last frame: the answer itself is whole."""
        fault = fault_of(error, self.invocation.request_id)
        self._machine.chunk_failed(_CONTEXT, self._chunk_id, fault.code, fault.message)
        self._keep()
        self.finished = True
        self._changed.set()

    def _note(self, job: Job, audio: Encoded) -> None:
        data, samples = audio
        counted = self.invocation.options.encoding in BYTES_PER_SAMPLE
        for start in range(0, max(1, len(data)), AUDIO_FRAME_BYTES):
            frame = data[start : start + AUDIO_FRAME_BYTES]
            # Compressed frames have no length of their own; the first one stands for all.
            length = None if counted else samples if start == 0 else 0
            self._machine.audio(_CONTEXT, self._chunk_id, frame, length)
        self._keep()
        super()._note(job, Encoded(b"", samples))

    def _keep(self) -> None:
        self.audio += b"".join(map(pack, self._machine.data_to_send()))
