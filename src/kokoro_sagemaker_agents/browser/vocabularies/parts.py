"""What all vocabularies speak of."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """What is needed to play audio; one channel.

    Args:
        sample_rate: Hertz.
        encoding: `pcm_s16le` and so on, as the wire protocol names them.
    """

    sample_rate: int
    encoding: str

    @property
    def mime_type(self) -> str:
        """The same as a MIME type, `audio/pcm;rate=24000`."""
        kind = {
            "pcm_s16le": "pcm",
            "pcm_mulaw": "PCMU",
            "pcm_alaw": "PCMA",
            "mp3": "mpeg",
            "opus": "ogg;codecs=opus",
        }.get(self.encoding, self.encoding)
        return (
            f"audio/{kind};rate={self.sample_rate}" if "pcm" in self.encoding else f"audio/{kind}"
        )


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a reply ended too early.

    Args:
        code: Stable snake_case.
        message: For people, with what to do; nothing that only the server's owner may know.
        retryable: Whether the same may work later.
    """

    code: str
    message: str
    retryable: bool


def to_base64(data: bytes) -> str:
    """Bytes as text."""
    return base64.b64encode(data).decode("ascii")
