"""Frames to messages and back: the only place that knows JSON.

A message travels as one text frame of JSON. To the server it may also come in a binary frame (a
SageMaker payload part without a data type arrives as one); from the server binary is always audio.

Reading a client's frame has a fast and a slow way. The fast one is msgspec's strict decoder. What
it refuses is read again by the standard library, which also takes NaN, infinities and lone
surrogates: so the sender is told *which field* is wrong, and which chunk it was about, instead of
only that the JSON was bad. The slow way accepts nothing that the messages' own checks refuse.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from kokoro_sagemaker_agents.errors import InvalidInput, RemoteProtocolError

from .fields import (
    ENCODINGS,
    SAMPLE_RATES,
    SPEED_MAX,
    SPEED_MIN,
    ErrorCode,
    is_context_id,
    is_count,
    shown,
)
from .messages import ClientMessage, Configure, ServerMessage

_ENCODER = msgspec.json.Encoder()
_CLIENT_DECODER: Final = msgspec.json.Decoder(ClientMessage)
_SERVER_DECODER: Final = msgspec.json.Decoder(ServerMessage)
_CLIENT_TYPES: Final = ("configure", "speak", "window", "end", "cancel", "ping", "close")

# JSON holds no control characters but these; text with others is audio or some other binary.
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_FIELD = re.compile(r"\$\.(\w+)")  # msgspec names the field it refused: "… - at `$.speed`"
_REASON_CHARS: Final = 200
# A field of the wrong type: the code it has, and what it should be.
_HINT_OF_FIELD: Final = {
    "context_id": (ErrorCode.INVALID_CONTEXT_ID, "give a string that names the context"),
    "voice": (ErrorCode.INVALID_VOICE, "give a voice's name, such as af_heart"),
    "speed": (ErrorCode.INVALID_SPEED, f"give a number from {SPEED_MIN} to {SPEED_MAX}"),
    "language": (ErrorCode.UNSUPPORTED_LANGUAGE, "give a language tag, such as en-us"),
    "sample_rate": (
        ErrorCode.UNSUPPORTED_SAMPLE_RATE,
        f"give one of {', '.join(map(str, SAMPLE_RATES))}",
    ),
    "encoding": (ErrorCode.UNSUPPORTED_ENCODING, f"give one of {', '.join(ENCODINGS)}"),
    "timestamps": (ErrorCode.INVALID_MESSAGE, "give word or none"),
    "markup": (ErrorCode.INVALID_MESSAGE, "give inline or none"),
    "lexicon": (ErrorCode.INVALID_LEXICON, "give {language: {word: how to say it}}"),
    "preload": (ErrorCode.INVALID_PRELOAD, "give a list of phrases"),
}


class InvalidFrame(InvalidInput):
    """A client's frame that is no valid message, with what could be read of it all the same.

    Args:
        message: what is wrong and what to send instead.
        code: an `ErrorCode`.
        type: the frame's `type`, if it has a known one.
        context_id: its context, if it names one.
        chunk_id: its chunk, if it names one.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        type: str | None = None,
        context_id: str | None = None,
        chunk_id: int | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.type = type
        self.context_id = context_id
        self.chunk_id = chunk_id


def encode(message: ClientMessage | ServerMessage) -> str:
    """The message as the text frame that carries it."""
    return _ENCODER.encode(message).decode()


def decode_client(frame: str | bytes) -> ClientMessage:
    """The client message in a text or binary frame.

    Raises:
        InvalidFrame: the frame is no valid client message, whatever it is. Nothing else is raised.
    """
    try:
        return _CLIENT_DECODER.decode(frame)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        found = _read_leniently(frame)
    try:
        message: ClientMessage = msgspec.convert(found, ClientMessage)
        return message
    except msgspec.MsgspecError as error:
        code, reason = _explain(error, found)
    except UnicodeError:
        code, reason = ErrorCode.INVALID_MESSAGE, "a name in it holds a lone surrogate"
    raise _invalid(found, code, reason)


def decode_server(frame: str) -> ServerMessage:
    """The server message in a text frame.

    Raises:
        RemoteProtocolError: the frame is no server message of this protocol version.
    """
    try:
        return _SERVER_DECODER.decode(frame)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise RemoteProtocolError(
            f"the server sent a text frame that is no message of this protocol ({error});"
            " open a new session, and check that both sides have the same version"
        ) from error


def decode_query(fields: Mapping[str, str]) -> Configure:
    """The `configure` made of a query string's parameters, whose values are all strings.

    Raises:
        InvalidInput: a value cannot be used; `code` says which kind.
    """
    try:
        return msgspec.convert(dict(fields), Configure, strict=False)
    except msgspec.MsgspecError as error:
        code, reason = _explain(error, fields)
    except UnicodeError:
        code, reason = ErrorCode.INVALID_MESSAGE, "a value in it holds a lone surrogate"
    raise InvalidInput(f"query string: {reason}", code=code)


def _read_leniently(frame: str | bytes) -> Any:
    """What is in the frame, with NaN and lone surrogates allowed; `InvalidFrame` if not JSON."""
    try:
        text = frame if isinstance(frame, str) else frame.decode()
    except UnicodeDecodeError:
        raise _audio(frame) from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if isinstance(frame, bytes) and _BINARY.search(frame):
            raise _audio(frame) from None
        if isinstance(error, json.JSONDecodeError):
            reason = f"it stops being JSON at character {error.pos}"
        else:
            reason = "it is nested too deeply or holds a number of thousands of digits"
        raise InvalidFrame(
            f"the frame cannot be read: {reason}; send one JSON object with a `type`",
            code=ErrorCode.INVALID_JSON,
        ) from None


def _audio(frame: str | bytes) -> InvalidFrame:
    return InvalidFrame(
        f"a binary frame of {len(frame)} bytes is not JSON; this server takes text and sends"
        " audio, it takes none",
        code=ErrorCode.UNEXPECTED_AUDIO,
    )


def _explain(error: msgspec.MsgspecError, found: Any) -> tuple[str, str]:
    """The code and the reason in words for a frame that is JSON but no message."""
    if isinstance(error.__cause__, InvalidInput):
        return error.__cause__.code, str(error.__cause__)
    if not isinstance(found, Mapping):
        return ErrorCode.INVALID_MESSAGE, "a message is a JSON object with a `type`"
    kind = found.get("type")
    if isinstance(kind, str) and kind not in _CLIENT_TYPES:
        known = ", ".join(_CLIENT_TYPES)
        return ErrorCode.UNKNOWN_TYPE, f"type {shown(kind)} is not one of {known}"
    field = _FIELD.search(str(error))
    code, hint = _HINT_OF_FIELD.get(field[1] if field else "", (ErrorCode.INVALID_MESSAGE, ""))
    reason = str(error)
    if len(reason) > _REASON_CHARS:  # it quotes a long value
        reason = f"{field[1]} is not usable" if field else "a field is not usable"
    return code, f"{reason}; {hint}" if hint else reason


def _invalid(found: Any, code: str, reason: str) -> InvalidFrame:
    fields = found if isinstance(found, dict) else {}
    kind, context_id, chunk_id = (fields.get(key) for key in ("type", "context_id", "chunk_id"))
    return InvalidFrame(
        reason,
        code=code,
        type=kind if kind in _CLIENT_TYPES else None,
        context_id=context_id if is_context_id(context_id) else None,
        chunk_id=chunk_id if is_count(chunk_id) else None,
    )
