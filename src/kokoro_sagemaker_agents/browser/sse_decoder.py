"""Server-sent events, read: bytes in parts of any size, whole events out. No I/O.

By the HTML standard's rules ("Server-sent events", parsing an event stream): lines end with LF, CR
or CRLF, an event with an empty line, and what the stream's end cuts off is no event.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from kokoro_sagemaker_agents.errors import RemoteProtocolError

#: Ten seconds of audio at 48 kHz in base64 are 1.3 MB.
_MOST_EVENT_BYTES: Final = 16 * 1024 * 1024
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event.

    Args:
        data: Its data lines, joined with line feeds.
        event: Its name; `message` if it has none of its own.
        id: The stream's last event id so far, empty if there was none.
    """

    data: str
    event: str = "message"
    id: str = ""

    def json(self) -> Any:
        """The data, decoded; raises `ValueError` if it is no JSON."""
        return json.loads(self.data)


class SseDecoder:
    """One stream; a new one for each.

    `last_event_id` and `retry_ms` are what the stream last said of them.

    Args:
        most_event_bytes: A longer event is refused: what never ends must not fill the memory.
    """

    def __init__(self, *, most_event_bytes: int = _MOST_EVENT_BYTES) -> None:
        self.last_event_id = ""
        self.retry_ms: int | None = None
        self._most_bytes = most_event_bytes
        self._parts: list[bytes] = []  # of a line that has not ended
        self._event_bytes = 0
        self._after_cr = False
        self._first_line = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that are complete with these bytes.

        Raises:
            RemoteProtocolError: an event is longer than allowed.
        """
        events: list[ServerSentEvent] = []
        if self._after_cr and data:
            data = data.removeprefix(b"\n")  # the rest of a CRLF
            self._after_cr = False
        for line in data.splitlines(keepends=True):  # of bytes: at LF, CR and CRLF only
            self._event_bytes += len(line)
            if self._event_bytes > self._most_bytes:
                raise RemoteProtocolError(
                    f"an event of the stream is longer than {self._most_bytes} bytes; the other"
                    " side does not send events, or send smaller ones (most_event_bytes)"
                )
            self._parts.append(line)
            if line.endswith((b"\n", b"\r")):
                events += self._line(b"".join(self._parts).rstrip(b"\r\n"))
                self._parts.clear()
        if data:
            self._after_cr = data.endswith(b"\r")
        return events

    def _line(self, line: bytes) -> list[ServerSentEvent]:
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            return self._dispatch()
        name, _, value = line.decode("utf-8", errors="replace").partition(":")
        value = value.removeprefix(" ")
        match name:
            case "data":
                self._data.append(value)
            case "event":
                self._name = value
            case "id" if "\0" not in value:
                self.last_event_id = value
            case "retry" if value.isascii() and value.isdigit():
                self.retry_ms = int(value)
            case _:
                pass  # a comment, or a field of the future
        return []

    def _dispatch(self) -> list[ServerSentEvent]:
        name, self._name = self._name, ""
        data, self._data = self._data, []
        self._event_bytes = 0
        if not data:
            return []
        return [ServerSentEvent("\n".join(data), name or "message", self.last_event_id)]
