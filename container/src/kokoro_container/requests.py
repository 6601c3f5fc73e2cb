"""A POST's body, understood: the AWS Kokoro sample's fields, ours, or OpenAI's.

A POST is a `speak` that has a connection to itself: its options are read and checked by the same
code as a session's. OpenAI's body is first translated (`openai_api`). The sample's fields and what
it does with them: aws-samples/sample-kokoro-tts-for-ai-agents, `serve.py` at 093f6fc.
"""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.protocol import (
    ErrorCode,
    Limits,
    Ready,
    Speak,
    SpeechOptions,
    check_options,
    decode_client,
)
from kokoro_sagemaker_agents.protocol.framing import FRAMES_MEDIA_TYPE

from . import openai_api
from .faults import REQUEST_STALE

Dialect: TypeAlias = Literal["sample", "openai"]
"""Whose body it was; the answer's events are in the same one's vocabulary."""

TRANSPORTS: Final = ("binary", "sse")
REQUEST_ID_CHARS: Final = 128
CUSTOM_ATTRIBUTES: Final = "X-Amzn-SageMaker-Custom-Attributes"
"""What a caller of the endpoint tells the container, and the container the caller."""

_OPTIONS: Final = ("text", "voice", "speed", "language", "sample_rate", "markup")
FRAMES_CONTAINER: Final = "frames"
"""Not to be asked for by `format`: see `frames`."""

_MEDIA_TYPES: Final = {
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    FRAMES_CONTAINER: FRAMES_MEDIA_TYPE,
}
_FORMATS: Final = ("wav", "pcm", "mp3", "opus")
# What InvokeEndpoint's `Accept` may ask for where the body names no format.
_FORMAT_OF_ACCEPT: Final = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/pcm": "pcm",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/ogg": "opus",
    "audio/opus": "opus",
}
_EVENT_STREAM: Final = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Invocation:
    """A POST's body, understood.

    Attributes:
        text: what to say.
        options: how.
        container: what the audio comes in: `wav`, `pcm`, `mp3` or `opus`.
        stream: send audio as it is made.
        events: as server-sent events, with the audio in base64.
        request_id: what the caller calls it, or a new name.
        dialect: whose vocabulary its events have.
    """

    text: str
    options: SpeechOptions
    container: str
    stream: bool
    events: bool
    request_id: str
    dialect: Dialect

    @property
    def media_type(self) -> str:
        """For `Content-Type`."""
        if self.events:
            return _EVENT_STREAM
        pcm = f"audio/pcm; rate={self.options.sample_rate}; encoding={self.options.encoding}"
        return _MEDIA_TYPES.get(self.container, pcm)


def parse(
    body: bytes,
    ready: Ready,
    *,
    request_id: str | None = None,
    accept: str = "",
    now_s: float = 0.0,
    max_age_s: float = math.inf,
    dialect: Dialect | None = None,
) -> Invocation:
    """Reads a POST's body.

    Args:
        body: JSON with `text`, and optionally `voice`, `speed`, `language`, `sample_rate`,
            `encoding`, `markup`, `format` (`wav`, `pcm`, `mp3`, `opus`), `stream` (false, but true
            for a body with a `request_timestamp`), `transport` (`binary`, `sse`), `request_id`,
            `request_timestamp`; or OpenAI's `input` and what goes with it. What else it holds is
            ignored.
        ready: what this server offers.
        request_id: what the request's headers call it.
        accept: its `Accept` header, for a body that names no format.
        now_s: seconds since the epoch.
        max_age_s: a request with an older `request_timestamp` has nobody waiting any more.
        dialect: whose body it is; None to tell by its fields.

    Raises:
        InvalidInput: it cannot be used; `code` says which kind of mistake it is.
    """
    fields = _json(body)
    if dialect is None:
        dialect = "openai" if openai_api.is_speech_body(fields) else "sample"
    if dialect == "openai":
        fields = openai_api.translated(fields)
    check_age(fields, now_s, max_age_s)
    events = _transport(fields) == "sse"
    container = _container(fields, accept)
    options, text = _options(fields, container, ready)
    return Invocation(
        text=text,
        options=options,
        container=container,
        stream=events or _streamed(fields),
        events=events,
        request_id=request_id_of(fields) or request_id or new_request_id(),
        dialect=dialect,
    )


def check_age(fields: Mapping[str, Any], now_s: float, max_age_s: float) -> None:
    """Refuses a request whose caller has given up by now.

    Args:
        fields: with the caller's `request_timestamp` in seconds since the epoch, or without.
        now_s: seconds since the epoch.
        max_age_s: how long a caller waits.

    Raises:
        InvalidInput: `request_stale` if it is older; `invalid_message` if it is no time.
    """
    sent_s = fields.get("request_timestamp")
    if sent_s is None:
        return
    if isinstance(sent_s, bool) or not isinstance(sent_s, (int, float)) or not abs(sent_s) < 1e15:
        raise InvalidInput("request_timestamp is no time; give seconds since the epoch")
    if now_s - sent_s > max_age_s:
        raise InvalidInput(
            f"the request is older than {max_age_s:g} s by its request_timestamp, so nobody waits"
            " for it any more; send it again with a new one, and check the clock if it was new",
            code=REQUEST_STALE,
        )


def request_id_of(fields: Mapping[str, Any]) -> str | None:
    """The body's `request_id`, None without one.

    Raises:
        InvalidInput: it could not stand in a header or a log line.
    """
    request_id = fields.get("request_id")
    if request_id is None:
        return None
    if not _is_request_id(request_id):
        raise InvalidInput(
            f"request_id must be 1 to {REQUEST_ID_CHARS} printable ASCII characters without spaces"
        )
    assert isinstance(request_id, str)
    return request_id


def request_id_from_headers(headers: Mapping[str, str]) -> str | None:
    """What the headers call a request: SageMaker's custom attributes, else `X-Request-Id`.

    Custom attributes are free text. Of a list such as `request_id=r-1;tenant=a` it is the part so
    named; text that could be an id is one; other text is none.
    """
    attributes = headers.get(CUSTOM_ATTRIBUTES, "")
    for part in attributes.replace(",", ";").split(";"):
        name, equals, value = part.partition("=")
        if equals and name.strip().lower() in ("request_id", "request-id"):
            attributes = value.strip()
            break
    for found in (attributes, headers.get("X-Request-Id", "")):
        if _is_request_id(found):
            return found
    return None


def new_request_id() -> str:
    """A name for a request that has none."""
    return f"req-{uuid.uuid4().hex[:16]}"


def written(value: object) -> str:
    """A value of a client's JSON as JSON again.

    Raises:
        InvalidInput: it is nested so deeply that it could be read but not written.
    """
    try:
        return json.dumps(value)
    except RecursionError:
        raise InvalidInput("a value is nested too deeply; send a plain one") from None


def _is_request_id(value: object) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= REQUEST_ID_CHARS
        and value.isascii()
        and value.isprintable()
        and " " not in value
    )


def _transport(fields: Mapping[str, Any]) -> str:
    transport = fields.get("transport", "binary")
    if transport not in TRANSPORTS:
        raise InvalidInput(
            f"transport {written(transport)[:40]} is not one of {', '.join(TRANSPORTS)}"
        )
    return str(transport)


def _container(fields: Mapping[str, Any], accept: str) -> str:
    compressed = fields.get("encoding")
    if compressed not in ("mp3", "opus"):
        compressed = None
    container = fields.get("format")
    if container is None:
        wanted = accept.partition(",")[0].partition(";")[0].strip().lower()
        return compressed or _FORMAT_OF_ACCEPT.get(wanted, "wav")
    if container not in _FORMATS:
        raise InvalidInput(
            f"format {written(container)[:40]} is not one of {', '.join(_FORMATS)}",
            code=ErrorCode.UNSUPPORTED_ENCODING,
        )
    return str(container)


def _streamed(fields: Mapping[str, Any]) -> bool:
    """Whether audio is sent as it is made.

    A caller who says nothing gets a whole file, whose header names its length. The sample's client
    says nothing either, and relies on its server to stream; its `request_timestamp` gives it away.
    """
    stream = fields.get("stream")
    if stream is None:
        return fields.get("request_timestamp") is not None
    if not isinstance(stream, bool):
        raise InvalidInput("stream is neither true nor false")
    return stream


def _options(fields: Mapping[str, Any], container: str, ready: Ready) -> tuple[SpeechOptions, str]:
    given = {name: fields[name] for name in _OPTIONS if fields.get(name) is not None}
    encoding = fields.get("encoding")
    if encoding is None and container in ("mp3", "opus"):
        encoding = container
    if encoding is not None:
        given["encoding"] = encoding
    # As a speak message, so that every value is checked as there and refused in the same words.
    speak = decode_client(written({**given, "type": "speak", "context_id": "-", "chunk_id": 0}))
    assert isinstance(speak, Speak)
    options = SpeechOptions().overridden(speak)
    check_options(options, ready)
    _check_fit(container, options.encoding)
    _check_text(speak.text, ready.limits)
    return options, speak.text


def _check_fit(container: str, encoding: str) -> None:
    """A container holds its own encoding; `pcm` holds the three that are single samples."""
    holds = {"wav": ("pcm_s16le",), "mp3": ("mp3",), "opus": ("opus",)}
    held = holds.get(container, ("pcm_s16le", "pcm_mulaw", "pcm_alaw"))
    if encoding not in held:
        raise InvalidInput(
            f"format {container} holds {', '.join(held)}, not {encoding}; leave one of the two out,"
            " or use format pcm for mulaw and alaw",
            code=ErrorCode.UNSUPPORTED_ENCODING,
        )


def _json(body: bytes) -> Mapping[str, Any]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInput(
            'the body is not JSON; send an object such as {"text": "Hello.", "voice": "af_heart"}',
            code=ErrorCode.INVALID_JSON,
        ) from None
    if not isinstance(fields, dict):
        raise InvalidInput("the body is JSON, but not an object with a `text`")
    return fields


def _check_text(text: str, limits: Limits) -> None:
    if not text.strip():
        raise InvalidInput("text is empty; give something to say")
    if len(text) > limits.text_chars:
        raise InvalidInput(
            f"the text has {len(text)} characters, more than {limits.text_chars}; nothing of it"
            " is spoken; send it in parts",
            code=ErrorCode.TEXT_TOO_LONG,
        )
