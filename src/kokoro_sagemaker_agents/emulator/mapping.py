"""One PayloadPart is one WebSocket frame, both ways; and what a container's close becomes. No I/O.

AWS's documentation of the container contract: parts are never joined or cut and their bytes never
touched; DataType UTF8 is a text frame, BINARY or none a binary one; PARTIAL … COMPLETE is one
fragmented message.
"""

from __future__ import annotations

import json
from typing import Final

from websockets.frames import Opcode

from .eventstream import InvalidEvent, Message

PAYLOAD_PART: Final = "PayloadPart"
_DATA_TYPES: Final = {"UTF8": Opcode.TEXT, "BINARY": Opcode.BINARY, None: Opcode.BINARY}
_STATES: Final = {"COMPLETE": True, "PARTIAL": False, None: True}
#: The code of a connection that ended without a closing frame (RFC 6455, 7.1.5).
BROKEN: Final = 1006


class PartsToFrames:
    """What a client sends, for the container."""

    def __init__(self) -> None:
        self._inside = False  # a fragmented message

    def frame(self, part: Message) -> tuple[Opcode, bool]:
        """The frame that a part becomes.

        Returns:
            Its opcode and whether FIN is set; the payload stays as it is.

        Raises:
            InvalidEvent: the message is no PayloadPart, or a header has no known value.
        """
        kind = part.text(":event-type")
        if part.text(":message-type") != "event" or kind != PAYLOAD_PART:
            raise InvalidEvent(f"an event of type {kind!r} came; only PayloadPart is known")
        data_type, state = part.headers.get("DataType"), part.headers.get("CompletionState")
        if data_type not in _DATA_TYPES or state not in _STATES:
            raise InvalidEvent(f"DataType {data_type!r} or CompletionState {state!r} is unknown")
        final = _STATES[state]  # type: ignore[index]  # checked in the line above
        opcode = Opcode.CONT if self._inside else _DATA_TYPES[data_type]  # type: ignore[index]  # checked as well
        self._inside = not final
        return opcode, final


class FramesToParts:
    """What a container sends, for the client."""

    def __init__(self) -> None:
        self._data_type = "BINARY"

    def part(self, opcode: Opcode, final: bool, payload: bytes) -> Message:
        """The PayloadPart that a data frame becomes; a continuation keeps its message's type."""
        if opcode is not Opcode.CONT:
            self._data_type = "UTF8" if opcode is Opcode.TEXT else "BINARY"
        headers = {
            ":message-type": "event",
            ":event-type": PAYLOAD_PART,
            ":content-type": "application/octet-stream",
            "DataType": self._data_type,
            "CompletionState": "COMPLETE" if final else "PARTIAL",
        }
        return Message(headers, payload)


def bytes_part(payload: bytes) -> Message:
    """A part of InvokeEndpointWithResponseStream: bytes without a type."""
    headers = {
        ":message-type": "event",
        ":event-type": PAYLOAD_PART,
        ":content-type": "application/octet-stream",
    }
    return Message(headers, payload)


def failure(kind: str, message: str, code: str | None = None) -> Message:
    """An exception inside a stream: `ModelStreamError` or `InternalStreamFailure`."""
    body = {"Message": message}
    if code is not None:
        body["ErrorCode"] = code
    headers = {
        ":message-type": "exception",
        ":exception-type": kind,
        ":content-type": "application/json",
    }
    return Message(headers, json.dumps(body).encode())


def error(code: str, message: str) -> Message:
    """An error that the service's model does not have, such as a wrong signature."""
    return Message({":message-type": "error", ":error-code": code, ":error-message": message})


def closing(code: int, reason: str, *, normal_is_error: bool) -> Message | None:
    """What the client is told of a container's close; None is a plain end of the stream.

    The documentation has status code and reason put into a ModelStreamError and does not except
    1000; whether AWS does is not verified, hence the switch.
    """
    if code == 1000 and not normal_is_error:
        return None
    if code == BROKEN:
        return failure(
            "ModelStreamError",
            "the connection to the model container broke (1006); see its log",
            "StreamBroken",
        )
    return failure(
        "ModelStreamError",
        f"the model container closed the connection: {code} {reason}".rstrip(),
        "ModelClosedStream",
    )
