"""The life of a context, as one table for both sides.

Everything about *when* a message is allowed lives in this file; it does not know which side we are.

A context is one utterance: a run of `speak`s whose audio is heard in that order. Many live at once
on a connection and none disturbs another. It begins with the first message that names it and ends
with exactly one of two frames, `context_done` or `context_cancelled`, after which its name is spent
for this connection: no frame of it follows, in either direction, that means anything.

    UNKNOWN ── speak, window ──▸ OPEN ── end ──▸ ENDING ── context_done ──▸ FINISHED
       └───────────── end ────────────────────────▴                           ▴
                     OPEN, ENDING ── cancel ──▸ CANCELLING ── either terminal ┘
                     OPEN, ENDING ── context_cancelled (the server's own wish) ──▸ FINISHED

Client and server walk the same table at different times, one flight apart. CANCELLING is where this
shows: for a server it lasts no time, since it answers `cancel` at once; for a client it lasts until
the answer arrives, and what still arrives before that was sent in good faith and is dropped. In the
same way a server may get a `cancel`, `window` or `end` for what it has just finished, so these are
allowed, and mean nothing, in FINISHED. `speak` is not: no client speaks after its own `end` or
`cancel`.

A message with no entry breaks the rules. Who sent it decides what follows: a caller of ours gets
`LocalProtocolError`, a client gets an `error` frame, a server's frame becomes `ProtocolViolated`.

Inside a context, chunks are numbered upwards by the client. The first unanswered one is its *head*:
only the head is heard and only the head can be done; an `error` may answer any of them.
"""

from collections import OrderedDict
from enum import Enum, auto
from typing import Final, Generic, TypeVar

import msgspec

from .messages import (
    Cancel,
    ChunkDone,
    ChunkStarted,
    ContextCancelled,
    ContextDone,
    End,
    Error,
    ServerWarning,
    Speak,
    Window,
    WordTimestamps,
)

# Names of finished contexts that a connection remembers, so that a repeated one is noticed. Memory
# must be bounded and a 30-minute connection (SageMaker's limit) with a turn every 5 s makes 360, so
# the rule "never reuse a name" is enforced over the last 1 024; an older name would start afresh.
FINISHED_REMEMBERED: Final = 1024


class ContextState(Enum):
    """Where a context is in its life; see the picture above."""

    UNKNOWN = auto()
    OPEN = auto()
    ENDING = auto()
    CANCELLING = auto()
    FINISHED = auto()


def _staying(state: ContextState, *messages: type) -> dict[type, ContextState]:
    return dict.fromkeys(messages, state)


_S = ContextState
_OF_A_CHUNK: Final = (ChunkStarted, WordTimestamps, ChunkDone, Error, ServerWarning)

TRANSITIONS: Final[dict[ContextState, dict[type, ContextState]]] = {
    _S.UNKNOWN: {
        Speak: _S.OPEN,
        Window: _S.OPEN,
        End: _S.ENDING,
        Cancel: _S.UNKNOWN,
    },
    _S.OPEN: {
        **_staying(_S.OPEN, Speak, Window, *_OF_A_CHUNK),
        End: _S.ENDING,
        Cancel: _S.CANCELLING,
        ContextCancelled: _S.FINISHED,
    },
    _S.ENDING: {
        **_staying(_S.ENDING, Window, End, *_OF_A_CHUNK),
        Cancel: _S.CANCELLING,
        ContextDone: _S.FINISHED,
        ContextCancelled: _S.FINISHED,
    },
    _S.CANCELLING: {
        **_staying(_S.CANCELLING, Window, End, Cancel, *_OF_A_CHUNK),
        ContextDone: _S.FINISHED,
        ContextCancelled: _S.FINISHED,
    },
    _S.FINISHED: {
        **_staying(_S.FINISHED, Window, End, Cancel),
    },
}


def after(state: ContextState, message: type) -> ContextState | None:
    """The state that this kind of message leads to; None if it is not allowed in `state`."""
    return TRANSITIONS[state].get(message)


class Chunk(msgspec.Struct, kw_only=True):
    """A `speak` not yet answered; `position` is its next sample to be sent or received."""

    from_sample: int
    position: int


ChunkT = TypeVar("ChunkT", bound=Chunk)


class Context(msgspec.Struct, Generic[ChunkT], kw_only=True):
    """A live context: where it is in its life, and its unanswered chunks in order."""

    state: ContextState = ContextState.UNKNOWN
    chunks: dict[int, ChunkT] = {}
    last_chunk_id: int = -1

    def allows(self, message: type) -> bool:
        """Whether this kind of message has an entry in the table."""
        return after(self.state, message) is not None

    def step(self, message: type) -> None:
        """Take the table's step; only for a message that it `allows`."""
        self.state = TRANSITIONS[self.state][message]

    def head(self) -> int | None:
        """The first unanswered chunk, the only one that may be heard; None without any."""
        return next(iter(self.chunks), None)


class FinishedContexts:
    """The last `FINISHED_REMEMBERED` names of finished contexts; the oldest are forgotten."""

    def __init__(self, remembered: int = FINISHED_REMEMBERED) -> None:
        self._remembered = remembered
        self._names: OrderedDict[str, None] = OrderedDict()

    def add(self, context_id: str) -> None:
        """Remember it, forgetting the oldest one if there is no room."""
        self._names[context_id] = None
        if len(self._names) > self._remembered:
            self._names.popitem(last=False)

    def __contains__(self, context_id: str) -> bool:
        return context_id in self._names
