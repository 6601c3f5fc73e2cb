"""A container that answers a POST with audio and nothing else: the AWS Kokoro sample's. No I/O.

What it takes and gives: aws-samples/sample-kokoro-tts-for-ai-agents, `serve.py` at 093f6fc. Its
streamed WAV has a header without lengths, and its end is the text's.
"""

from __future__ import annotations

from typing import Any, Final

from kokoro_sagemaker_agents.errors import RemoteProtocolError
from kokoro_sagemaker_agents.protocol import Ready, SpeakRequested

_SAMPLE_RATES: Final = (8000, 16000, 22050, 24000)
_SAMPLE_BYTES: Final = 2
_RIFF_BYTES: Final = 12
_CHUNK_HEAD_BYTES: Final = 8
# What stands before the audio; a WAV header with tags of all kinds has some hundreds.
_MOST_HEADER_BYTES: Final = 65_536


def plain_ready(instance_id: str) -> Ready:
    """What can be said of such a container: no word times, one language, any voice."""
    return Ready(
        instance_id=instance_id,
        model="unknown",
        engine="unknown",
        voices=(),
        languages=("en-us",),
        sample_rates=_SAMPLE_RATES,
        encodings=("pcm_s16le",),
    )


def plain_body(request: SpeakRequested) -> dict[str, Any]:
    """A chunk as its `/invocations` takes it."""
    options = request.options
    return {
        "text": request.text,
        "voice": options.voice,
        "speed": options.speed,
        "sample_rate": options.sample_rate,
        "format": "wav",
        "stream": True,
    }


class AudioOnly:
    """16-bit audio out of an answer.

    Args:
        content_type: The answer's.
        skip: Samples that came with an earlier answer.

    Raises:
        RemoteProtocolError: it is no audio that we can take.
    """

    def __init__(self, content_type: str, *, skip: int = 0) -> None:
        kind = content_type.partition(";")[0].strip().lower()
        if kind not in ("audio/wav", "audio/x-wav", "audio/pcm", "audio/l16"):
            raise RemoteProtocolError(
                f"the container answers with {kind[:60] or 'no content type'} instead of audio/wav;"
                " check which container it is"
            )
        self._in_header = "wav" in kind
        self._skip_bytes = skip * _SAMPLE_BYTES
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[str | bytes]:
        """Take the next bytes and return the audio among them, whole samples of it.

        Raises:
            RemoteProtocolError: this is no WAV.
        """
        self._buffer += data
        if self._in_header:
            begin = _begin_of_audio(self._buffer)
            if begin is None:
                return []
            del self._buffer[:begin]
            self._in_header = False
        skipped = min(self._skip_bytes, len(self._buffer))
        del self._buffer[:skipped]
        self._skip_bytes -= skipped
        whole = len(self._buffer) - len(self._buffer) % _SAMPLE_BYTES
        audio = bytes(self._buffer[:whole])
        del self._buffer[:whole]
        return [audio] if audio else []


def _begin_of_audio(header: bytearray) -> int | None:
    """Where the `data` chunk's content begins; None if that is still to come."""
    if len(header) >= _RIFF_BYTES and not (header[:4] == b"RIFF" and header[8:12] == b"WAVE"):
        raise RemoteProtocolError("the container's answer is no WAV; check which container it is")
    at = _RIFF_BYTES
    while len(header) >= at + _CHUNK_HEAD_BYTES:
        if header[at : at + 4] == b"data":
            return at + _CHUNK_HEAD_BYTES
        size = int.from_bytes(header[at + 4 : at + 8], "little")
        at += _CHUNK_HEAD_BYTES + size + size % 2
    if at > _MOST_HEADER_BYTES:
        raise RemoteProtocolError("the container's WAV has no audio where it should begin")
    return None
