"""AWS event streams: messages to bytes and bytes to messages. No I/O.

A message is a prelude (two lengths and their CRC-32), named and typed headers, a payload, and a
CRC-32 of all before it; big-endian throughout (AWS's event stream encoding). `smithy` and
`botocore` have codecs too, but the first needs Python 3.12 and the second cannot encode.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias
from uuid import UUID
from zlib import crc32

HeaderValue: TypeAlias = bool | int | bytes | str | datetime | UUID

#: AWS's SDKs take no more (read in smithy-aws-event-stream 0.3.0).
MAX_PAYLOAD_BYTES: Final = 16 * 1024 * 1024
MAX_HEADERS_BYTES: Final = 128 * 1024
_PRELUDE: Final = struct.Struct(">III")
_CRC: Final = struct.Struct(">I")
_OVERHEAD: Final = _PRELUDE.size + _CRC.size
_MAX_BYTES: Final = MAX_PAYLOAD_BYTES + MAX_HEADERS_BYTES + _OVERHEAD

_TRUE, _FALSE, _BYTES, _STRING, _TIMESTAMP, _UUID = 0, 1, 6, 7, 8, 9
_INTEGERS: Final = {2: struct.Struct(">b"), 3: struct.Struct(">h"), 4: struct.Struct(">i")}
_LONG_TYPE: Final = 5
_LONG: Final = struct.Struct(">q")
_LENGTH: Final = struct.Struct(">H")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


class InvalidEvent(ValueError):
    """The bytes are no event stream; nothing after them can be read."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message: headers in order, and a payload."""

    headers: Mapping[str, HeaderValue] = field(default_factory=dict)
    payload: bytes = b""

    def text(self, name: str) -> str | None:
        """A header's value if it is a string."""
        value = self.headers.get(name)
        return value if isinstance(value, str) else None


def encode(message: Message) -> bytes:
    """The bytes of a message.

    Raises:
        InvalidEvent: it is longer than clients accept.
    """
    headers = encode_headers(message.headers)
    if len(message.payload) > MAX_PAYLOAD_BYTES or len(headers) > MAX_HEADERS_BYTES:
        raise InvalidEvent(f"a payload of {len(message.payload)} bytes fits no event; send less")
    lengths = struct.pack(">II", len(headers) + len(message.payload) + _OVERHEAD, len(headers))
    body = b"".join((lengths, _CRC.pack(crc32(lengths)), headers, message.payload))
    return body + _CRC.pack(crc32(body))


def encode_headers(headers: Mapping[str, HeaderValue]) -> bytes:
    """The header block alone, as signatures need it; integers take four bytes."""
    return b"".join(_header(name, value) for name, value in headers.items())


def _header(name: str, value: HeaderValue) -> bytes:
    start = bytes([len(name.encode())]) + name.encode()
    match value:
        case bool():
            return start + bytes([_TRUE if value else _FALSE])
        case int():
            return start + b"\x04" + _INTEGERS[4].pack(value)
        case bytes():
            return start + bytes([_BYTES]) + _LENGTH.pack(len(value)) + value
        case str():
            data = value.encode()
            return start + bytes([_STRING]) + _LENGTH.pack(len(data)) + data
        case datetime():
            return start + bytes([_TIMESTAMP]) + _LONG.pack((value - _EPOCH) // _MILLISECOND)
        case UUID():
            return start + bytes([_UUID]) + value.bytes


class Decoder:
    """Bytes in pieces of any size to whole messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    @property
    def pending_bytes(self) -> int:
        """What has come of a message that is not whole: not 0 at the end means it was cut."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[Message]:
        """Take the next piece.

        Returns:
            The messages it completed.

        Raises:
            InvalidEvent: a length or a checksum is wrong.
        """
        self._buffer += data
        messages = []
        while len(self._buffer) >= _PRELUDE.size:
            total, headers, crc = _PRELUDE.unpack_from(self._buffer)
            if crc != crc32(self._buffer[: _PRELUDE.size - _CRC.size]):
                raise InvalidEvent("the checksum of an event's lengths is wrong")
            if not headers + _OVERHEAD <= total <= _MAX_BYTES:
                raise InvalidEvent(f"an event of {total} bytes is none or too long")
            if len(self._buffer) < total:
                break
            messages.append(_message(bytes(self._buffer[:total]), headers))
            del self._buffer[:total]
        return messages


def decode(data: bytes) -> Message:
    """The one message that these bytes are.

    Raises:
        InvalidEvent: they are not exactly one.
    """
    decoder = Decoder()
    messages = decoder.feed(data)
    if len(messages) != 1 or decoder.pending_bytes:
        raise InvalidEvent(f"{len(data)} bytes are not exactly one event")
    return messages[0]


def _message(data: bytes, headers_length: int) -> Message:
    end = len(data) - _CRC.size
    if _CRC.unpack_from(data, end)[0] != crc32(data[:end]):
        raise InvalidEvent("an event's checksum is wrong")
    payload_at = _PRELUDE.size + headers_length
    try:
        headers = _headers(data[_PRELUDE.size : payload_at])
    except (struct.error, IndexError, ValueError, OverflowError) as error:
        raise InvalidEvent(f"an event's headers cannot be read: {error}") from error
    return Message(headers, data[payload_at:end])


def _headers(data: bytes) -> dict[str, HeaderValue]:
    headers: dict[str, HeaderValue] = {}
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        name = data[at + 1 : name_end].decode()
        headers[name], at = _value(data, name_end + 1, data[name_end])
    if at != len(data):
        raise ValueError("the last one is cut")
    return headers


def _value(data: bytes, at: int, kind: int) -> tuple[HeaderValue, int]:
    """A header's value and where the next header begins."""
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind in _INTEGERS:
        return int(_INTEGERS[kind].unpack_from(data, at)[0]), at + _INTEGERS[kind].size
    if kind == _LONG_TYPE:
        return int(_LONG.unpack_from(data, at)[0]), at + _LONG.size
    if kind == _TIMESTAMP:
        return _EPOCH + _LONG.unpack_from(data, at)[0] * _MILLISECOND, at + _LONG.size
    if kind == _UUID:
        return UUID(bytes=data[at : at + 16]), at + 16
    if kind not in (_BYTES, _STRING):
        raise ValueError(f"type {kind} is unknown")
    start = at + _LENGTH.size
    end = start + _LENGTH.unpack_from(data, at)[0]
    value = data[start:end]
    return (value if kind == _BYTES else value.decode()), end
