"""Frames on a stream of bytes, for ways that know no messages, such as the answer to a POST.

Each frame is a big-endian u32 and its payload: the lower 31 bits are the payload's length, the top
bit says that it is binary (audio) and not text (a message). A way in between may cut the stream
anywhere; `Unpacker` goes by the lengths.
"""

from typing import Final

from kokoro_sagemaker_agents.errors import RemoteProtocolError

#: The media type of such a stream, and the name of it in a POST's `transport`.
FRAMES_MEDIA_TYPE: Final = "application/x-kokoro-frames"
FRAMES_TRANSPORT: Final = "frames"

_BINARY: Final = 1 << 31
_HEAD_BYTES: Final = 4
# As for a WebSocket: the longest piece of audio has 7.7 MB. What says more is no such stream.
_MAX_FRAME_BYTES: Final = 16 * 1024 * 1024


def pack(frame: str | bytes) -> bytes:
    """The bytes that stand for a frame."""
    if isinstance(frame, str):
        payload, kind = frame.encode(), 0
    else:
        payload, kind = frame, _BINARY
    return (len(payload) | kind).to_bytes(_HEAD_BYTES, "big") + payload


class Unpacker:
    """Bytes in, in any pieces; whole frames out."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[str | bytes]:
        """Take the next bytes and return the frames that they complete.

        Raises:
            RemoteProtocolError: this is no stream of frames.
        """
        self._buffer += data
        frames: list[str | bytes] = []
        at = 0
        while len(self._buffer) - at >= _HEAD_BYTES:
            head = int.from_bytes(self._buffer[at : at + _HEAD_BYTES], "big")
            length = head & ~_BINARY
            if length > _MAX_FRAME_BYTES:
                raise RemoteProtocolError(
                    f"the answer holds a frame of {length} bytes, so it is no stream of frames;"
                    " check which container answers there"
                )
            end = at + _HEAD_BYTES + length
            if len(self._buffer) < end:
                break
            payload = bytes(self._buffer[at + _HEAD_BYTES : end])
            frames.append(payload if head & _BINARY else _text(payload))
            at = end
        del self._buffer[:at]
        return frames


def _text(payload: bytes) -> str:
    try:
        return payload.decode()
    except UnicodeDecodeError:
        raise RemoteProtocolError(
            "the answer holds a text frame that is no UTF-8; check which container answers there"
        ) from None
