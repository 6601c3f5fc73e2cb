"""The server's side of one connection, without I/O.

Three verbs. `receive(frame)` takes what the client sent and returns what the server should do about
it. The *answers* (`audio`, `words`, `chunk_done`, `chunk_failed`, …) say what was done. Whatever
goes to the client because of either waits in order in `data_to_send()`. When each message is
allowed is the table in `states.py`.

What the machine takes off its caller's hands:

* A bad frame becomes one `error` frame and no event; the connection goes on. If the frame was a
  `speak` that still names its context and chunk, the error is the answer to that chunk.
* `chunk_started` is put in by itself wherever the audio changes to another chunk, `context_done`
  where a context was ended and its last chunk answered, `pong` after `ping`, and `ready` in front
  of everything.
* A cancelled context is over the moment its `cancel` is read: `context_cancelled` is queued there
  and then. What a synthesis that was already running still reports of it comes too late, is dropped
  and the call returns False. That is not an error; it is how a server learns of the race.

The caller still owes: chunks of a context spoken in the order they were requested (the machine
refuses audio out of order), and each one finished with `chunk_done` or `chunk_failed`.

Memory is bounded by `Limits`: contexts, unanswered chunks in each, their characters altogether.
`data_to_send` is not: take it after every call, and stop producing while the connection is slow.
Not thread-safe: results of worker threads are brought to the thread that owns the connection.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import msgspec

from kokoro_sagemaker_agents.errors import InvalidInput, LocalProtocolError

from .codec import InvalidFrame, decode_client, encode
from .fields import BYTES_PER_SAMPLE, RETRYABLE, ErrorCode, scrub, shown
from .messages import (
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
    Word,
    WordTimestamps,
)
from .options import (
    SpeechOptions,
    check_lexicon,
    check_options,
    check_preload,
    options_from_query,
)
from .states import Chunk, Context, ContextState, FinishedContexts


class Configured(msgspec.Struct, frozen=True, kw_only=True):
    """The session's defaults changed. `lexicon` and `preload` are None where they were not sent."""

    options: SpeechOptions
    lexicon: dict[str, dict[str, str]] | None = None
    preload: tuple[str, ...] | None = None


class SpeakRequested(msgspec.Struct, frozen=True, kw_only=True):
    """Speak this, after the context's earlier chunks, leaving out the first `from_sample`."""

    context_id: str
    chunk_id: int
    text: str
    options: SpeechOptions
    from_sample: int = 0


# Window, End, Cancel and Close are passed on as the client sent them, where they mean something.
ServerEvent: TypeAlias = Configured | SpeakRequested | Window | End | Cancel | Close


class _Chunk(Chunk):
    """A `speak` not yet answered, with how it is to be spoken."""

    options: SpeechOptions
    text_chars: int


class _Context(Context[_Chunk]):
    """A live context, its credit (None: no limit) and the totals of the chunks that are done."""

    credit: int | None = None
    done: int = 0
    samples: int = 0
    duration: float = 0.0


class ServerProtocol:
    """One connection seen from the server; see the module's text.

    Args:
        ready: what this server is and can do; also the limits that are enforced here.
        defaults: options of a `speak` for which neither it nor `configure` says anything.
        validate: called with the options of every `configure` and `speak` that are otherwise fine;
            raises `InvalidInput` (with an `ErrorCode`) to refuse them, say for an unknown voice.
            It must be quick and raise nothing else.
        validate_lexicon: the same for the lexicon of a `configure`, once its languages and sizes
            were found right.
        on_error: told the code of every `error` that is sent.
    """

    def __init__(
        self,
        ready: Ready,
        defaults: SpeechOptions | None = None,
        validate: Callable[[SpeechOptions], None] | None = None,
        validate_lexicon: Callable[[Mapping[str, Mapping[str, str]]], None] | None = None,
        on_error: Callable[[str], None] | None = None,
    ) -> None:
        self._ready = ready
        self._limits = ready.limits
        self._defaults = defaults or SpeechOptions()
        self._validate = validate
        self._validate_lexicon = validate_lexicon
        self._on_error = on_error
        self._contexts: dict[str, _Context] = {}
        self._finished = FinishedContexts()
        self._current: tuple[str, int] | None = None
        self._queued_chars = 0
        self._announced = False
        self._closed = False
        self._outbox: list[str | bytes] = []

    # --- what is known ---

    @property
    def defaults(self) -> SpeechOptions:
        """The options that a `speak` without any of its own gets now."""
        return self._defaults

    @property
    def closed(self) -> bool:
        """Whether the client said `close`; nothing it asked for is wanted any more."""
        return self._closed

    @property
    def contexts(self) -> tuple[str, ...]:
        """The contexts that are live, oldest first."""
        return tuple(self._contexts)

    def unanswered(self, context_id: str) -> tuple[int, ...]:
        """The context's chunks that still need `chunk_done` or `chunk_failed`, in order."""
        context = self._contexts.get(context_id)
        return tuple(context.chunks) if context else ()

    def credit(self, context_id: str) -> int | None:
        """Samples the client still has room for; None if it set no window. Negative: sent over."""
        context = self._contexts.get(context_id)
        return context.credit if context else None

    # --- the client's frames ---

    def receive(self, frame: str | bytes) -> list[ServerEvent]:
        """Take one frame as it came, text or binary, and return what is to be done about it.

        Never raises, whatever the frame holds: a bad one queues an `error` for the client. After
        `close` every frame is ignored.
        """
        if self._closed:
            return []
        try:
            message = decode_client(frame)
        except InvalidFrame as problem:
            self._refuse(problem)
            return []
        return self._apply(message)

    def receive_query(self, query: str | Mapping[str, str]) -> list[ServerEvent]:
        """Take the connection's query string as a `configure`; a bad value queues an `error`."""
        try:
            return self._apply(options_from_query(query))
        except InvalidInput as problem:
            self.error(problem.code, str(problem))
            return []

    def data_to_send(self) -> list[str | bytes]:
        """The frames to send now, in order: str as text frames, bytes as binary ones.

        Nothing comes out before `ready()` was called.
        """
        if not self._announced:
            return []
        frames, self._outbox = self._outbox, []
        return frames

    def _apply(self, message: ClientMessage) -> list[ServerEvent]:
        match message:
            case Speak():
                return self._on_speak(message)
            case Window():
                return self._on_window(message)
            case End():
                return self._on_end(message)
            case Cancel():
                return [message] if self.cancelled(message.context_id) else []
            case Configure():
                return self._on_configure(message)
            case Ping():
                self._send(Pong(id=message.id))
                return []
            case Close():
                self._closed = True
                self._contexts.clear()
                self._current = None
                return [message]

    def _on_configure(self, message: Configure) -> list[ServerEvent]:
        try:
            options = self._resolved(message)
            check_lexicon(message.lexicon or {}, self._ready)
            check_preload(message.preload or (), self._limits)
            if self._validate_lexicon is not None and message.lexicon is not None:
                self._validate_lexicon(message.lexicon)
        except InvalidInput as problem:
            self.error(problem.code, str(problem))
            return []
        self._defaults = options
        return [Configured(options=options, lexicon=message.lexicon, preload=message.preload)]

    def _on_speak(self, message: Speak) -> list[ServerEvent]:
        context = self._register(message.context_id, message.chunk_id)
        if context is None:
            return []
        try:
            self._check_room(context, message.text)
            options = self._resolved(message)
        except InvalidInput as problem:
            self._send_error(problem.code, str(problem), message.context_id, message.chunk_id)
            return []
        context.chunks[message.chunk_id] = _Chunk(
            from_sample=message.from_sample,
            position=message.from_sample,
            options=options,
            text_chars=len(message.text),
        )
        self._queued_chars += len(message.text)
        return [
            SpeakRequested(
                context_id=message.context_id,
                chunk_id=message.chunk_id,
                text=message.text,
                options=options,
                from_sample=message.from_sample,
            )
        ]

    def _on_window(self, message: Window) -> list[ServerEvent]:
        if message.context_id in self._finished:
            return []
        context = self._context(message.context_id, Window)
        if context is None:
            return []
        context.credit = (context.credit or 0) + message.samples
        return [message]

    def _on_end(self, message: End) -> list[ServerEvent]:
        context_id = message.context_id
        if context_id in self._finished:
            return []
        # One that was never spoken in needs no room: it is done at once.
        context = self._contexts.setdefault(context_id, _Context())
        if context.state is ContextState.ENDING:
            return []
        context.step(End)
        self._finish_if_answered(context_id, context)
        return [message]

    def _refuse(self, problem: InvalidFrame) -> None:
        """Answer a frame that is no message: as the chunk's answer if it was a `speak` with ids."""
        context_id, chunk_id = problem.context_id, problem.chunk_id
        if problem.type == "speak" and context_id is not None and chunk_id is not None:
            if self._register(context_id, chunk_id) is not None:
                self._send_error(problem.code, str(problem), context_id, chunk_id)
        else:
            live = context_id if context_id in self._contexts else None
            self._send_error(problem.code, str(problem), live)

    def _register(self, context_id: str, chunk_id: int) -> _Context | None:
        """The context with this chunk counted as requested; None if that was refused already."""
        if context_id in self._finished:  # nothing may follow a context's end, so: no ids
            self.error(
                ErrorCode.CONTEXT_FINISHED,
                f"chunk {chunk_id}: context {shown(context_id)} is finished; use a new context_id",
            )
            return None
        context = self._contexts.get(context_id)
        if context is not None and chunk_id <= context.last_chunk_id:
            self._send_error(
                ErrorCode.CHUNK_ID_REUSED,
                f"chunk_id {chunk_id} is not above {context.last_chunk_id}, the context's last;"
                " count upwards",
                context_id,
                chunk_id,
            )
            return None
        context = self._context(context_id, Speak, chunk_id)
        if context is not None:
            context.last_chunk_id = chunk_id
        return context

    def _context(
        self, context_id: str, message: type, chunk_id: int | None = None
    ) -> _Context | None:
        """The live or new context after this kind of message; None if that was refused."""
        context = self._contexts.get(context_id)
        if context is None:
            if len(self._contexts) >= self._limits.contexts:
                self._send_error(
                    ErrorCode.TOO_MANY_CONTEXTS,
                    f"{self._limits.contexts} contexts are open on this connection; end some, or"
                    " open another connection, and use a new context_id",
                    context_id,
                    chunk_id,
                )
                self._terminate(context_id, _Context(), ContextCancelled)
                return None
            context = self._contexts[context_id] = _Context()
        if not context.allows(message):
            if chunk_id is not None:
                context.last_chunk_id = chunk_id
            self._send_error(
                ErrorCode.CONTEXT_FINISHED,
                "this context was ended; use a new context_id for more text",
                context_id,
                chunk_id,
            )
            return None
        context.step(message)
        return context

    def _resolved(self, message: Configure | Speak) -> SpeechOptions:
        options = self._defaults.overridden(message)
        check_options(options, self._ready)
        if self._validate is not None:
            self._validate(options)
        return options

    def _check_room(self, context: _Context, text: str) -> None:
        limits = self._limits
        if len(text) > limits.text_chars:
            raise InvalidInput(
                f"the text has {len(text)} characters, more than {limits.text_chars}; nothing of"
                " it is spoken; send it in parts",
                code=ErrorCode.TEXT_TOO_LONG,
            )
        if (
            len(context.chunks) >= limits.queued_chunks
            or self._queued_chars + len(text) > limits.queued_chars
        ):
            raise InvalidInput(
                f"the queue is full ({limits.queued_chunks} chunks of a context,"
                f" {limits.queued_chars} characters of a connection); wait for chunk_done",
                code=ErrorCode.QUEUE_FULL,
            )

    # --- the server's answers ---

    def ready(self) -> None:
        """Announce the server, in front of whatever is queued; from here on frames come out.

        Raises:
            LocalProtocolError: it was announced already.
        """
        if self._announced:
            raise LocalProtocolError("ready() was called before; a connection has one `ready`")
        self._announced = True
        self._outbox.insert(0, encode(self._ready))

    def audio(
        self, context_id: str, chunk_id: int, data: bytes, samples: int | None = None
    ) -> bool:
        """Send the next piece of a chunk's audio, in the chunk's encoding.

        Args:
            context_id: the chunk's context.
            chunk_id: the context's first unanswered chunk.
            data: the encoded bytes; none at all sends nothing.
            samples: how many samples it holds. For PCM this follows from the bytes and may be left
                out; for `mp3` and `opus` it is what went into the encoder since the last call.

        Returns:
            False if nobody wants it any more: the context is over or the chunk was answered.

        Raises:
            LocalProtocolError: not this chunk's turn, or `samples` does not fit the bytes.
        """
        found = self._find(context_id, chunk_id, head=True)
        if found is None:
            return False
        context, chunk = found
        samples = _counted(data, chunk.options.encoding, samples)
        if data or samples:  # an encoder may take samples in long before its first bytes
            self._make_current(context_id, chunk_id, chunk)
        if data:
            self._outbox.append(data)
        chunk.position += samples
        if context.credit is not None:
            context.credit -= samples
        return True

    def words(self, context_id: str, chunk_id: int, words: Iterable[Word]) -> bool:
        """Send word times of a chunk, before the audio they describe; False if it is over."""
        if self._find(context_id, chunk_id) is None:
            return False
        self._send(WordTimestamps(context_id=context_id, chunk_id=chunk_id, words=tuple(words)))
        return True

    def chunk_done(
        self,
        context_id: str,
        chunk_id: int,
        *,
        queue_ms: float = 0.0,
        g2p_ms: float = 0.0,
        synthesis_ms: float = 0.0,
        warnings: Iterable[str] = (),
    ) -> bool:
        """The chunk's audio is all sent (none at all is silence); its length was counted here.

        Returns:
            False if nobody wants it any more.

        Raises:
            LocalProtocolError: an earlier chunk of the context is unanswered.
        """
        found = self._find(context_id, chunk_id, head=True)
        if found is None:
            return False
        context, chunk = found
        duration = chunk.position / chunk.options.sample_rate
        context.done += 1
        context.samples += chunk.position
        context.duration += duration
        self._send(
            ChunkDone(
                context_id=context_id,
                chunk_id=chunk_id,
                samples=chunk.position,
                duration=duration,
                queue_ms=queue_ms,
                g2p_ms=g2p_ms,
                synthesis_ms=synthesis_ms,
                warnings=tuple(map(scrub, warnings)),
            )
        )
        self._answered(context_id, context, chunk_id)
        return True

    def chunk_failed(
        self,
        context_id: str,
        chunk_id: int,
        code: str,
        message: str,
        *,
        retryable: bool | None = None,
    ) -> bool:
        """The chunk will not be spoken, or no further; may be any unanswered one.

        Args:
            context_id: the chunk's context.
            chunk_id: the chunk.
            code: an `ErrorCode`.
            message: what happened and what to do; goes to the client, so no traceback.
            retryable: overrides the code's own.

        Returns:
            False if nobody wants to know any more.
        """
        found = self._find(context_id, chunk_id)
        if found is None:
            return False
        self._send_error(code, message, context_id, chunk_id, retryable)
        self._answered(context_id, found[0], chunk_id)
        return True

    def cancelled(self, context_id: str) -> bool:
        """End a live context by the server's own wish, or the client's; False if it is not live."""
        context = self._contexts.get(context_id)
        if context is None:
            return False
        self._terminate(context_id, context, ContextCancelled)
        return True

    def error(self, code: str, message: str, *, retryable: bool | None = None) -> None:
        """Report an error that is about no context."""
        self._send_error(code, message, retryable=retryable)

    def warning(
        self, message: str, context_id: str | None = None, chunk_id: int | None = None
    ) -> bool:
        """Report something that failed nothing; False if it is about a context that is over."""
        if context_id is not None and context_id not in self._contexts:
            return False
        self._send(ServerWarning(message=scrub(message), context_id=context_id, chunk_id=chunk_id))
        return True

    def draining(self, deadline_s: float | None = None) -> None:
        """Tell the client to open a new session; this one goes on for at most `deadline_s`."""
        self._send(Draining(deadline_s=deadline_s))

    def _find(
        self, context_id: str, chunk_id: int, *, head: bool = False
    ) -> tuple[_Context, _Chunk] | None:
        """A chunk that is still wanted; None if it is answered or its context over."""
        context = self._contexts.get(context_id)
        if context is None:
            return None
        chunk = context.chunks.get(chunk_id)
        if chunk is None:
            if chunk_id <= context.last_chunk_id:
                return None
            raise LocalProtocolError(
                f"chunk {chunk_id} of context {context_id!r} was never requested; answer only what"
                " receive() returned as SpeakRequested"
            )
        if head and context.head() != chunk_id:
            raise LocalProtocolError(
                f"chunk {chunk_id} of context {context_id!r} is not next; chunks are spoken in the"
                f" order of their requests: first answer {context.head()}"
            )
        return context, chunk

    def _make_current(self, context_id: str, chunk_id: int, chunk: _Chunk) -> None:
        if self._current == (context_id, chunk_id):
            return
        self._current = (context_id, chunk_id)
        self._send(
            ChunkStarted(
                context_id=context_id,
                chunk_id=chunk_id,
                sample_rate=chunk.options.sample_rate,
                encoding=chunk.options.encoding,
                first_sample=chunk.position,
            )
        )

    def _answered(self, context_id: str, context: _Context, chunk_id: int) -> None:
        self._queued_chars -= context.chunks.pop(chunk_id).text_chars
        if self._current == (context_id, chunk_id):
            self._current = None
        self._finish_if_answered(context_id, context)

    def _finish_if_answered(self, context_id: str, context: _Context) -> None:
        if not context.chunks and context.allows(ContextDone):
            self._terminate(context_id, context, ContextDone)

    def _terminate(
        self,
        context_id: str,
        context: _Context,
        terminal: type[ContextDone] | type[ContextCancelled],
    ) -> None:
        """Send the context's last frame and forget all of it but its name."""
        for chunk in context.chunks.values():
            self._queued_chars -= chunk.text_chars
            if chunk.position > chunk.from_sample:  # only the head can have begun
                context.samples += chunk.position
                context.duration += chunk.position / chunk.options.sample_rate
        if self._current is not None and self._current[0] == context_id:
            self._current = None
        self._contexts.pop(context_id, None)
        self._finished.add(context_id)
        self._send(
            terminal(
                context_id=context_id,
                chunks=context.done,
                samples=context.samples,
                duration=context.duration,
            )
        )

    def _send_error(
        self,
        code: str,
        message: str,
        context_id: str | None = None,
        chunk_id: int | None = None,
        retryable: bool | None = None,
    ) -> None:
        if chunk_id is not None and self._current == (context_id, chunk_id):
            self._current = None  # an error with its ids ends a chunk's turn: announce it anew
        if self._on_error is not None:
            self._on_error(code)
        self._send(
            Error(
                code=code,
                message=scrub(message),
                retryable=code in RETRYABLE if retryable is None else retryable,
                context_id=context_id,
                chunk_id=chunk_id,
            )
        )

    def _send(self, message: ServerMessage) -> None:
        self._outbox.append(encode(message))


def _counted(data: bytes, encoding: str, samples: int | None) -> int:
    """How many samples a piece of audio holds, checked against what the caller says."""
    size = BYTES_PER_SAMPLE.get(encoding)
    if size is None:
        if samples is None or samples < 0:
            raise LocalProtocolError(
                f"{encoding} has no fixed frame size: say how many samples went into this piece"
            )
        return samples
    counted, rest = divmod(len(data), size)
    if rest or samples not in (None, counted):
        expected = "whole" if samples is None else samples
        raise LocalProtocolError(f"{len(data)} bytes of {encoding} are not {expected} samples")
    return counted
