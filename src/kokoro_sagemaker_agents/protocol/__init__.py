"""The wire protocol, version 1, without I/O: what both sides say and when they may say it.

* `fields.py`: what a field may hold; error codes. `messages.py`: the vocabulary.
* `codec.py`: frames ↔ messages. `options.py`: a chunk's options from defaults and overrides.
* `states.py`: the life of a context, one table for both sides.
* `client.py`, `server.py`: the two machines; frames in → events out, calls in → frames out.

Needs msgspec and nothing else.
"""

from .client import AudioReceived, ClientEvent, ClientProtocol, ProtocolViolated
from .codec import InvalidFrame, decode_client, decode_server, encode
from .fields import (
    BYTES_PER_SAMPLE,
    ENCODINGS,
    RETRYABLE,
    SAMPLE_RATES,
    SPEED_MAX,
    SPEED_MIN,
    VOICE_CHARS,
    Encoding,
    ErrorCode,
    Markup,
    Timestamps,
)
from .messages import (
    PROTOCOL_VERSION,
    Cancel,
    ChunkDone,
    ChunkStarted,
    ClientMessage,
    Close,
    Configure,
    ContextCancelled,
    ContextDone,
    Draining,
    End,
    Error,
    Limits,
    Ping,
    Pong,
    Ready,
    ServerMessage,
    ServerWarning,
    Speak,
    Window,
    Word,
    WordTimestamps,
)
from .options import SpeechOptions, check_options, options_from_query
from .server import Configured, ServerEvent, ServerProtocol, SpeakRequested
from .states import ContextState

__all__ = [
    "BYTES_PER_SAMPLE",
    "ENCODINGS",
    "PROTOCOL_VERSION",
    "RETRYABLE",
    "SAMPLE_RATES",
    "SPEED_MAX",
    "SPEED_MIN",
    "VOICE_CHARS",
    "AudioReceived",
    "Cancel",
    "ChunkDone",
    "ChunkStarted",
    "ClientEvent",
    "ClientMessage",
    "ClientProtocol",
    "Close",
    "Configure",
    "Configured",
    "ContextCancelled",
    "ContextDone",
    "ContextState",
    "Draining",
    "Encoding",
    "End",
    "Error",
    "ErrorCode",
    "InvalidFrame",
    "Limits",
    "Markup",
    "Ping",
    "Pong",
    "ProtocolViolated",
    "Ready",
    "ServerEvent",
    "ServerMessage",
    "ServerProtocol",
    "ServerWarning",
    "Speak",
    "SpeakRequested",
    "SpeechOptions",
    "Timestamps",
    "Window",
    "Word",
    "WordTimestamps",
    "check_options",
    "decode_client",
    "decode_server",
    "encode",
    "options_from_query",
]
