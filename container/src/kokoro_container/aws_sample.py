"""The AWS Kokoro sample's WebSocket messages, so that its clients work unchanged; without I/O.

    client  {"text", "voice"?, "speed"?, "sample_rate"?, "request_id"?, "request_timestamp"?}
            {"type": "close"}
    server  {"type": "synthesis_start", "request_id"}, binary PCM,
            {"type": "synthesis_complete", "request_id", "total_duration_s", "elapsed_s"}, or
            {"type": "error", "request_id", "message"}, here with `code` and `retryable` as well

(aws-samples/sample-kokoro-tts-for-ai-agents, `serve.py` at 43ec9b2.) Its messages are answered one
after the other. So those that wait together become the chunks of one context of our protocol, whose
order is the same; once all are answered the context is ended, and the next message opens another.
What the protocol's machine sends of such a context comes out in the sample's words.

A client's first message that speaks settles which of the two vocabularies its session has. In the
other one nothing would tell it whose audio a frame is, so that is refused from then on.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.protocol import (
    RETRYABLE,
    ErrorCode,
    ServerEvent,
    ServerProtocol,
    SpeakRequested,
)

from .faults import QUEUE_SATURATED
from .requests import check_age, new_request_id, request_id_of, written

_SHARED: Final = ("text", "voice", "speed", "sample_rate")
# The sample's clients look for these names in an error's message.
_SAMPLES_CODE: Final[dict[str, str]] = {
    ErrorCode.OVERLOADED: QUEUE_SATURATED,
    ErrorCode.QUEUE_FULL: QUEUE_SATURATED,
}


@dataclass(slots=True)
class _Request:
    """A message that is not answered yet."""

    chunk_id: int
    request_id: str
    started_at: float | None = None


class SampleMessages:
    """Stands before a connection's machine and speaks for it to the sample's clients.

    `receive` and `data_to_send` are the machine's own verbs, and for any other client do what those
    do. `settle` is to be called after the machine was told of a chunk's end.

    Args:
        machine: the connection's.
        max_age_s: a message with an older `request_timestamp` is refused as `request_stale`.
        clock: monotonic seconds.
        wall_clock: seconds since the epoch.
    """

    def __init__(
        self,
        machine: ServerProtocol,
        max_age_s: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._machine = machine
        self._max_age_s = max_age_s
        self._clock = clock
        self._wall_clock = wall_clock
        self._is_sample: bool | None = None  # None: it did not speak yet
        self._waiting: deque[_Request] = deque()
        self._contexts = 0
        self._chunks = 0  # of the current context
        self._closing = False
        self._outgoing: list[str | bytes] = []

    def receive(self, frame: str | bytes) -> list[ServerEvent]:
        """Takes a frame from the client, and returns what the machine makes of it."""
        if self._machine.closed or self._closing:
            return []
        fields = None if self._is_sample is False else _fields(frame, typed=bool(self._is_sample))
        if self._is_sample is None and fields is not None:
            self._is_sample = True
        if fields is None:
            return self._ours(frame)
        if fields.get("type") == "close":
            self._closing = True
            return []
        if fields.get("type") is None:
            return self._speak(fields)
        if fields["type"] == "speak":
            self._refuse(
                new_request_id(),
                ErrorCode.INVALID_MESSAGE,
                "this session speaks the AWS sample's messages; leave out `type`, or open another",
            )
            return []
        return self._ours(frame)

    def settle(self) -> bool:
        """Puts what the machine has to say into the sample's words.

        Returns:
            True once the client said `close` and all its messages are answered: the machine is
            closed, and the connection is to be.
        """
        if not self._is_sample:
            return False
        self._translate()
        if self._chunks and not self._waiting:
            self._machine.receive(json.dumps({"type": "end", "context_id": self._context_id}))
            self._translate()
            self._contexts += 1
            self._chunks = 0
        self._announce()
        if self._closing and not self._waiting and not self._machine.closed:
            self._machine.receive('{"type": "close"}')
            return True
        return False

    def data_to_send(self) -> list[str | bytes]:
        """The frames to send now, in order."""
        if not self._is_sample:
            return self._machine.data_to_send()
        self._translate()
        frames, self._outgoing = self._outgoing, []
        return frames

    @property
    def _context_id(self) -> str:
        return f"aws-sample-{self._contexts}"

    def _ours(self, frame: str | bytes) -> list[ServerEvent]:
        events = self._machine.receive(frame)
        if self._is_sample is None and any(isinstance(e, SpeakRequested) for e in events):
            self._is_sample = False
        return events

    def _speak(self, fields: dict[str, Any]) -> list[ServerEvent]:
        request_id = new_request_id()
        try:
            request_id = request_id_of(fields) or request_id
            check_age(fields, self._wall_clock(), self._max_age_s)
            text = fields.get("text")
            if not isinstance(text, str) or not text.strip():
                raise InvalidInput("text is required; give something to say")
            message = written(self._speak_of(fields))
        except InvalidInput as problem:
            self._refuse(request_id, problem.code, str(problem))
            return []
        self._waiting.append(_Request(self._chunks, request_id))
        self._chunks += 1
        return self._machine.receive(message)

    def _speak_of(self, fields: dict[str, Any]) -> dict[str, Any]:
        ids = {"type": "speak", "context_id": self._context_id, "chunk_id": self._chunks}
        return {name: fields[name] for name in _SHARED if fields.get(name) is not None} | ids

    # --- to the client ---

    def _announce(self) -> None:
        """Says that the first message's turn has come; its audio is next."""
        if self._waiting and self._waiting[0].started_at is None:
            first = self._waiting[0]
            first.started_at = self._clock()
            self._send("synthesis_start", first.request_id)

    def _translate(self) -> None:
        for frame in self._machine.data_to_send():
            message = None if isinstance(frame, bytes) else json.loads(frame)
            if message is None or message.get("context_id") != self._context_id:
                self._outgoing.append(frame)
            elif message["type"] == "chunk_done":
                self._complete(message)
            elif message["type"] == "error":
                self._fail(message)

    def _complete(self, message: dict[str, Any]) -> None:
        self._announce()
        request = self._waiting.popleft()
        assert request.started_at is not None
        more = {"warnings": message["warnings"]} if message.get("warnings") else {}
        self._send(
            "synthesis_complete",
            request.request_id,
            total_duration_s=round(message["duration"], 3),
            elapsed_s=round(self._clock() - request.started_at, 3),
            **more,
        )
        self._announce()

    def _fail(self, message: dict[str, Any]) -> None:
        for request in list(self._waiting):
            if request.chunk_id == message.get("chunk_id"):
                self._waiting.remove(request)
                self._refuse(request.request_id, message["code"], message["message"])
        self._announce()

    def _refuse(self, request_id: str, code: str, why: str) -> None:
        code = _SAMPLES_CODE.get(code, code)
        retryable = code in RETRYABLE or code == QUEUE_SATURATED
        self._send(
            "error", request_id, message=f"{code}: {why}", code=str(code), retryable=retryable
        )

    def _send(self, kind: str, request_id: str, **fields: Any) -> None:
        self._outgoing.append(json.dumps({"type": kind, "request_id": request_id, **fields}))


def _fields(frame: str | bytes, *, typed: bool) -> dict[str, Any] | None:
    """A sample's message; None for any other frame, which it must not cost much to tell.

    Args:
        frame: as it came.
        typed: take those with a `type` as well.
    """
    # Inside a JSON string the quotes would be escaped: no other client's message gets further.
    if not typed and (b'"type"' in frame if isinstance(frame, bytes) else '"type"' in frame):
        return None
    try:
        fields = json.loads(frame)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or not (typed or "text" in fields):
        return None
    return fields
