"""The client's side of one connection, without I/O.

Three verbs, the server's mirrored. The *requests* (`configure`, `speak`, `window`, `end`, `cancel`,
`ping`, `close`) say what is wanted; what goes to the server because of them waits in order in
`data_to_send()`. `receive(frame)` takes what the server sent and returns what it means. When each
message is allowed is the table in `states.py`.

What the machine takes off its caller's hands:

* Binary frames come out as `AudioReceived`, with their context, chunk and exact position. PCM is
  counted sample by sample and held against the server's own counts, so a lost or doubled piece is
  noticed, not heard.
* After `cancel` nothing of that context comes out any more but its terminal.
* A server that breaks the rules gives `ProtocolViolated`, never an exception: `receive` raises
  nothing, whatever arrives. Its frames cannot be trusted from there on; open a new connection and
  ask again for what `unanswered` lists.

A request that this side's caller must not make raises `LocalProtocolError` or `InvalidInput`, and
then nothing was sent. Requests may be made before `ready` arrived.

Not thread-safe. `data_to_send` is to be taken after every call.
"""

from typing import TypeAlias

import msgspec

from kokoro_sagemaker_agents.errors import LocalProtocolError, ProtocolError, RemoteProtocolError

from .codec import decode_server, encode
from .fields import BYTES_PER_SAMPLE, Encoding, ErrorCode, Markup, Timestamps
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
    Ping,
    Pong,
    Ready,
    ServerMessage,
    ServerWarning,
    Speak,
    Window,
    WordTimestamps,
)
from .states import Chunk, Context, ContextState, FinishedContexts


class AudioReceived(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a chunk's audio.

    Args:
        context_id: its context.
        chunk_id: its chunk.
        data: the bytes, in `encoding`.
        sample_rate: hertz.
        encoding: one of `ENCODINGS`.
        first_sample: position in the chunk of its first sample. `mp3` and `opus` cannot be counted
            without decoding: there it is what `chunk_started` said for the first piece after it,
            and None for the pieces after that.
        samples: how many it holds; None for `mp3` and `opus`.
    """

    context_id: str
    chunk_id: int
    data: bytes
    sample_rate: int
    encoding: str
    first_sample: int | None
    samples: int | None


class ProtocolViolated(msgspec.Struct, frozen=True, kw_only=True):
    """The server broke the protocol's rules; `message` says which. Give up this connection."""

    message: str


# The server's messages are passed on as they came; `chunk_started` shows in AudioReceived.
ClientEvent: TypeAlias = (
    AudioReceived
    | Ready
    | WordTimestamps
    | ChunkDone
    | ContextDone
    | ContextCancelled
    | Error
    | Pong
    | Draining
    | ServerWarning
    | ProtocolViolated
)

_OfContext: TypeAlias = (
    ChunkStarted
    | WordTimestamps
    | ChunkDone
    | ContextDone
    | ContextCancelled
    | Error
    | ServerWarning
)


class _Chunk(Chunk):
    """A `speak` not yet answered, with the last `chunk_started` it had.

    `position` is exact for PCM; compressed audio leaves it unknown until the next `chunk_started`.
    """

    started: ChunkStarted | None = None
    position_is_known: bool = True


class _Context(Context[_Chunk]):
    """A context that was begun and has no terminal yet."""


class ClientProtocol:
    """One connection seen from the client; see the module's text."""

    def __init__(self) -> None:
        self._contexts: dict[str, _Context] = {}
        self._finished = FinishedContexts()
        self._current: tuple[str, int] | None = None
        self._ready: Ready | None = None
        self._closed = False
        self._outbox: list[str] = []

    # --- what is known ---

    @property
    def ready(self) -> Ready | None:
        """What the server announced; None until it did."""
        return self._ready

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @property
    def contexts(self) -> tuple[str, ...]:
        """The contexts without a terminal yet, oldest first; cancelled ones included."""
        return tuple(self._contexts)

    def unanswered(self, context_id: str) -> tuple[int, ...]:
        """The context's chunks without `chunk_done` or `error` yet, in order."""
        context = self._contexts.get(context_id)
        return tuple(context.chunks) if context else ()

    # --- requests ---

    def configure(
        self,
        *,
        voice: str | None = None,
        speed: float | None = None,
        language: str | None = None,
        sample_rate: int | None = None,
        encoding: Encoding | None = None,
        timestamps: Timestamps | None = None,
        markup: Markup | None = None,
        lexicon: dict[str, dict[str, str]] | None = None,
        preload: tuple[str, ...] | None = None,
    ) -> None:
        """Set defaults for the `speak`s that follow; see `Configure` for the arguments.

        Raises:
            InvalidInput: an option no server could take.
            LocalProtocolError: `close` was called.
        """
        self._send(
            Configure(
                voice=voice,
                speed=speed,
                language=language,
                sample_rate=sample_rate,
                encoding=encoding,
                timestamps=timestamps,
                markup=markup,
                lexicon=lexicon,
                preload=preload,
            )
        )

    def speak(
        self,
        context_id: str,
        text: str,
        *,
        chunk_id: int | None = None,
        from_sample: int = 0,
        voice: str | None = None,
        speed: float | None = None,
        language: str | None = None,
        sample_rate: int | None = None,
        encoding: Encoding | None = None,
        timestamps: Timestamps | None = None,
        markup: Markup | None = None,
    ) -> int:
        """Ask for a text to be spoken after the context's earlier ones; see `Speak`.

        Args:
            context_id: a new context, or one that was neither ended nor cancelled.
            text: what to say.
            chunk_id: above the context's last one; by default the next number, from 0.
            from_sample: leave out this many samples at the start.
            voice: for this chunk only, as all that follow.
            speed: 0.5 to 2.0.
            language: such as `en-us`.
            sample_rate: hertz.
            encoding: of the audio.
            timestamps: `word` or `none`.
            markup: `inline` or `none`.

        Returns:
            The chunk's id.

        Raises:
            InvalidInput: a value no server could take.
            LocalProtocolError: the context is over or ended, the id used, or `close` was called.
        """
        context = self._contexts.get(context_id, _Context())
        if chunk_id is None:
            chunk_id = context.last_chunk_id + 1
        message = Speak(
            context_id=context_id,
            chunk_id=chunk_id,
            text=text,
            from_sample=from_sample,
            voice=voice,
            speed=speed,
            language=language,
            sample_rate=sample_rate,
            encoding=encoding,
            timestamps=timestamps,
            markup=markup,
        )
        if context_id in self._finished or not context.allows(Speak):
            raise LocalProtocolError(
                f"context {context_id!r} was ended or cancelled; use a new context_id for more text"
            )
        if chunk_id <= context.last_chunk_id:
            raise LocalProtocolError(
                f"chunk_id {chunk_id} of context {context_id!r} is not above"
                f" {context.last_chunk_id}, its last; count upwards"
            )
        self._send(message)
        self._contexts[context_id] = context
        context.step(Speak)
        context.last_chunk_id = chunk_id
        context.chunks[chunk_id] = _Chunk(from_sample=from_sample, position=from_sample)
        return chunk_id

    def window(self, context_id: str, samples: int) -> None:
        """Let the server send this many more samples of the context; see `Window`.

        Sends nothing for a context that is cancelled or over.

        Raises:
            InvalidInput: no possible name or count.
            LocalProtocolError: `close` was called.
        """
        message = Window(context_id=context_id, samples=samples)
        if self._begin(context_id, Window):
            self._send(message)

    def end(self, context_id: str) -> None:
        """Say that no more text comes; sends nothing if that is known or the context is over.

        Raises:
            InvalidInput: no possible name.
            LocalProtocolError: `close` was called.
        """
        message = End(context_id=context_id)
        context = self._contexts.get(context_id)
        known = context is not None and context.state is not ContextState.OPEN
        if not known and self._begin(context_id, End):
            self._send(message)

    def cancel(self, context_id: str) -> bool:
        """Stop a context; from now on only its terminal comes out of `receive`.

        Returns:
            Whether a terminal is still to come: False if the context never began or is over.

        Raises:
            InvalidInput: no possible name.
            LocalProtocolError: `close` was called.
        """
        message = Cancel(context_id=context_id)
        self._check_open()
        context = self._contexts.get(context_id)
        if context is None:
            return False
        if context.state is not ContextState.CANCELLING:
            self._send(message)
            context.step(Cancel)
            context.chunks.clear()
        return True

    def ping(self, id: int | None = None) -> None:
        """Ask for a `pong`, with this `id` if given.

        Raises:
            InvalidInput: `id` is no count.
            LocalProtocolError: `close` was called.
        """
        self._send(Ping(id=id))

    def close(self) -> None:
        """Say goodbye. Everything unfinished is dropped and nothing comes out of `receive` again.

        Calling it twice is no error.
        """
        if not self._closed:
            self._send(Close())
            self._closed = True
            self._contexts.clear()
            self._current = None

    def data_to_send(self) -> list[str]:
        """The text frames to send now, in order."""
        frames, self._outbox = self._outbox, []
        return frames

    def _begin(self, context_id: str, message: type) -> bool:
        """Step a new or live context; False, and no step, where the message would mean nothing."""
        self._check_open()
        if context_id in self._finished:
            return False
        context = self._contexts.setdefault(context_id, _Context())
        if context.state is ContextState.CANCELLING:
            return False
        context.step(message)
        return True

    def _check_open(self) -> None:
        if self._closed:
            raise LocalProtocolError("close() was called on this connection; open another one")

    def _send(self, message: ClientMessage) -> None:
        self._check_open()
        self._outbox.append(encode(message))

    # --- the server's frames ---

    def receive(self, frame: str | bytes) -> list[ClientEvent]:
        """Take one frame as it came and return what it means, often nothing or one event.

        Text frames are messages and binary frames audio. Never raises: what breaks the rules comes
        back as `ProtocolViolated`. After `close` every frame is ignored.
        """
        if self._closed:
            return []
        try:
            event = self._audio(frame) if isinstance(frame, bytes) else self._message(frame)
        except ProtocolError as error:
            return [ProtocolViolated(message=str(error))]
        return [] if event is None else [event]

    def _message(self, frame: str) -> ClientEvent | None:
        message = decode_server(frame)
        if isinstance(message, Ready):
            return self._on_ready(message)
        if self._ready is None:
            raise RemoteProtocolError(f"{_name(message)} came before `ready`")
        if isinstance(message, (Pong, Draining)) or message.context_id is None:
            return message
        return self._of_context(message, message.context_id)

    def _on_ready(self, message: Ready) -> ClientEvent:
        if self._ready is not None:
            raise RemoteProtocolError("`ready` came twice on one connection")
        self._ready = message
        if message.protocol != PROTOCOL_VERSION:
            raise RemoteProtocolError(
                f"the server speaks protocol {message.protocol}, this client {PROTOCOL_VERSION};"
                " install versions that fit"
            )
        return message

    def _of_context(self, message: _OfContext, context_id: str) -> ClientEvent | None:
        context = self._contexts.get(context_id)
        if context is None or not context.allows(type(message)):
            known = context is not None or context_id in self._finished
            raise RemoteProtocolError(
                f"{_name(message)} came for a context that is "
                + ("not at that point or over" if known else "none of ours")
            )
        wanted = context.state is not ContextState.CANCELLING
        match message:
            case ContextDone() | ContextCancelled():
                self._finish(message, context)
                return message
            case ChunkStarted():
                self._on_chunk_started(message, context, wanted)
                return None
            case ChunkDone() if wanted:
                self._check_done(message, context)
            case WordTimestamps() if wanted:
                self._chunk(message, context, message.chunk_id)
            case Error() if wanted and message.chunk_id is not None:
                if message.code != ErrorCode.CHUNK_ID_REUSED:
                    self._chunk(message, context, message.chunk_id)
            case _:
                pass
        if isinstance(message, (ChunkDone, Error)):
            self._answered(context, context_id, message)
        return message if wanted else None

    def _on_chunk_started(self, message: ChunkStarted, context: _Context, wanted: bool) -> None:
        self._current = None  # whatever is wrong below, no audio goes to the wrong chunk
        if wanted:
            chunk = self._chunk(message, context, message.chunk_id, head=True)
            before = chunk.started
            countable = before is None or before.encoding in BYTES_PER_SAMPLE
            if countable and message.first_sample != chunk.position:
                raise RemoteProtocolError(
                    f"chunk_started says that chunk {message.chunk_id} goes on at sample"
                    f" {message.first_sample}, but {chunk.position} is next"
                )
            if before is not None and _format(before) != _format(message):
                raise RemoteProtocolError(
                    f"chunk {message.chunk_id} changed from {_format(before)} to"
                    f" {_format(message)} midway"
                )
            chunk.started = message
            chunk.position = message.first_sample
            chunk.position_is_known = True
        self._current = (message.context_id, message.chunk_id)

    def _check_done(self, message: ChunkDone, context: _Context) -> None:
        chunk = self._chunk(message, context, message.chunk_id, head=True)
        countable = chunk.started is None or chunk.started.encoding in BYTES_PER_SAMPLE
        if countable and message.samples != chunk.position:
            raise RemoteProtocolError(
                f"chunk_done says that chunk {message.chunk_id} has {message.samples} samples, but"
                f" audio came up to {chunk.position}"
            )

    def _answered(self, context: _Context, context_id: str, message: ChunkDone | Error) -> None:
        if message.chunk_id is None:
            return
        if self._current == (context_id, message.chunk_id):
            self._current = None
        if isinstance(message, ChunkDone) or message.code != ErrorCode.CHUNK_ID_REUSED:
            context.chunks.pop(message.chunk_id, None)

    def _finish(self, message: ContextDone | ContextCancelled, context: _Context) -> None:
        if isinstance(message, ContextDone) and context.chunks:
            raise RemoteProtocolError(
                f"context_done came while chunks {list(context.chunks)} were unanswered"
            )
        if self._current is not None and self._current[0] == message.context_id:
            self._current = None
        del self._contexts[message.context_id]
        self._finished.add(message.context_id)

    def _chunk(
        self, message: ServerMessage, context: _Context, chunk_id: int, *, head: bool = False
    ) -> _Chunk:
        """The unanswered chunk that a message is about."""
        chunk = context.chunks.get(chunk_id)
        if chunk is None:
            raise RemoteProtocolError(
                f"{_name(message)} came for chunk {chunk_id}, never asked for or answered already"
            )
        if head and context.head() != chunk_id:
            raise RemoteProtocolError(
                f"{_name(message)} came for chunk {chunk_id} before chunk {context.head()} was done"
            )
        return chunk

    def _audio(self, data: bytes) -> AudioReceived | None:
        if self._current is None:
            raise RemoteProtocolError(
                f"{len(data)} bytes of audio came while no chunk was announced by `chunk_started`"
            )
        context_id, chunk_id = self._current
        context = self._contexts[context_id]
        if context.state is ContextState.CANCELLING:
            return None
        chunk = context.chunks[chunk_id]
        assert chunk.started is not None
        size = BYTES_PER_SAMPLE.get(chunk.started.encoding)
        if size is not None and len(data) % size:
            raise RemoteProtocolError(
                f"{len(data)} bytes are not whole {chunk.started.encoding} samples of {size} bytes"
            )
        samples = None if size is None else len(data) // size
        first_sample = chunk.position if chunk.position_is_known else None
        if samples is None:
            chunk.position_is_known = False
        else:
            chunk.position += samples
        return AudioReceived(
            context_id=context_id,
            chunk_id=chunk_id,
            data=data,
            sample_rate=chunk.started.sample_rate,
            encoding=chunk.started.encoding,
            first_sample=first_sample,
            samples=samples,
        )


def _name(message: ServerMessage) -> str:
    return str(type(message).__struct_config__.tag)


def _format(started: ChunkStarted) -> str:
    return f"{started.encoding} at {started.sample_rate} Hz"
