"""One utterance: text in as it is written, events out as they are heard.

Text goes through the chunker and its sentences to the server as they are complete; audio comes back
at its own pace. Neither waits for the other: `push` never waits for audio, and audio that nobody
takes stops coming once `window_s` of it waits here.
"""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Any, Final

from . import protocol
from .config import UtteranceConfig
from .connection import Connection
from .errors import (
    DeadlineExceeded,
    InvalidInput,
    KokoroAgentsError,
    LocalProtocolError,
    OverloadedError,
    RemoteProtocolError,
    SessionClosed,
    SpeechFailed,
)
from .events import Heard, SpeechEvent, UtteranceCancelled
from .inbox import Inbox
from .protocol import ClientEvent
from .text import SentenceChunker, TextChunk
from .timeline import Timeline
from .unsent import Unsent

# A long text is chunked in pieces of this size, so that others get their turn: the chunker takes
# about a microsecond a character.
_PUSH_PIECE_CHARS: Final = 4096


class Utterance:
    """A run of text spoken in one voice; made by `SpeechSession.utterance`.

    Push text, end it, and iterate over its events, in one task or in several. Leaving the block of
    `async with utterance` before its last event cancels it, and so does cancelling a task that
    waits for its next event, or dropping the last reference to it.
    """

    def __init__(
        self,
        utterance_id: str,
        connection: Connection,
        config: UtteranceConfig,
        *,
        chunker: SentenceChunker | None = None,
        answer_timeout_s: float,
    ) -> None:
        self._id = utterance_id
        self._connection = connection
        self._config = config
        self._answer_timeout_s = answer_timeout_s
        self._loop = asyncio.get_running_loop()
        self._own_chunker = chunker
        self._chunker: SentenceChunker | None = None  # once text was pushed
        self._pushing = False
        self._pushed_at_s = 0.0
        self._idle_timer: asyncio.TimerHandle | None = None
        self._timeline = Timeline(config.sample_rate)
        self._unsent = Unsent()
        self._text_is_over = False  # because it ended, or because nobody wants it any more
        self._ended = False
        self._inbox = Inbox(config.window, config.sample_rate)
        self._wake = asyncio.Event()
        self._reading = False
        self._active_at_s = 0.0  # when the server last did something for us, or was asked to
        self._over = False  # the last event is in the inbox, or was taken
        self._failure: BaseException | None = None
        self._server_error: protocol.Error | None = None
        self._heard: Heard | None = None

    @property
    def id(self) -> str:
        """Its name, unique in its session; also in the server's log."""
        return self._id

    # --- text in ---

    async def push(self, text: str) -> None:
        """Add text, in pieces of any size; sentences are spoken as they are complete.

        Does not wait for audio or for the network.

        Raises:
            InvalidInput: not a string.
            OverloadedError: a million characters are waiting already.
            SessionClosed: the utterance was ended or cancelled.
            ConnectionLost: or whatever else has ended it; nothing can be spoken any more.
        """
        self._check_takes_text(text, str)
        if self._chunker is None:
            if self._timeline.chunks:
                raise LocalProtocolError("use either push or push_chunk in one utterance")
            self._chunker = self._own_chunker or self._config.chunker()
        self._pushing = True  # the text is all there: no stall inside it, however busy the loop
        try:
            for start in range(0, len(text), _PUSH_PIECE_CHARS):
                if start:
                    await asyncio.sleep(0)
                    self._check_takes_text(text, str)
                self._add(self._chunker.feed(text[start : start + _PUSH_PIECE_CHARS]))
        finally:
            self._pushing = False
        self._pushed_at_s = self._loop.time()
        if self._idle_timer is None:
            self._idle_timer = self._loop.call_later(self._config.idle_flush_s, self._on_idle)

    async def push_chunk(self, chunk: TextChunk) -> None:
        """Add a chunk as it is, for callers that chunk themselves.

        Raises:
            LocalProtocolError: `push` was used before.
            InvalidInput: and the others, as `push`.
        """
        self._check_takes_text(chunk, TextChunk)
        if self._chunker is not None:
            raise LocalProtocolError("use either push or push_chunk in one utterance")
        self._add([chunk])

    async def flush(self) -> None:
        """Speak all that was pushed so far, finished sentence or not; more text may follow."""
        self._stop_idle_timer()
        if self._chunker is not None and not self._text_is_over:
            self._add(self._chunker.flush())

    async def end(self) -> None:
        """No more text comes: the rest is spoken, then the utterance is done.

        Does not wait for that. Does nothing if the utterance is over.
        """
        if self._text_is_over:
            return
        await self.flush()
        self._text_is_over = self._ended = True
        if self._timeline.chunks:
            self._active_at_s = self._loop.time()
            self._wake.set()
            self._connection.text_waits(self)
        else:  # nothing to speak in it: the server need not know
            self._finish(self._timeline.done())

    async def room(self) -> None:
        """Wait until `push` takes text again, should too much of it wait."""
        await self._unsent.room()

    def _check_takes_text(self, given: object, kind: type) -> None:
        if not isinstance(given, kind):
            raise InvalidInput(
                f"an utterance takes {kind.__name__}, not {type(given).__name__};"
                " pass the text of the message, chunk or delta"
            )
        if self._failure is not None:
            raise self._failure
        if self._text_is_over:
            raise SessionClosed("the utterance was ended or cancelled; use a new one for more text")
        if self._unsent.full:
            raise OverloadedError(
                f"{self._unsent.chars} characters wait to be spoken; await room() before more",
                code=protocol.ErrorCode.QUEUE_FULL,
            )

    def _add(self, chunks: list[TextChunk]) -> None:
        for chunk in chunks:
            chunk_id = self._timeline.add(chunk)
            if chunk_id is not None:
                self._unsent.add(chunk_id, chunk.spoken)
        if self._unsent:
            self._connection.text_waits(self)

    def _on_idle(self) -> None:
        """The text may have stalled (a tool call): speak a sentence that reads as finished."""
        self._idle_timer = None
        if self._chunker is None or self._text_is_over:
            return
        idle_s = self._loop.time() - self._pushed_at_s
        missing_s = self._config.idle_flush_s - idle_s
        if self._pushing or missing_s > 0:
            delay_s = max(missing_s, 0.001)
            self._idle_timer = self._loop.call_later(delay_s, self._on_idle)
        else:
            self._add(self._chunker.poll(idle_s))

    def _stop_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    # --- events out ---

    def __aiter__(self) -> Utterance:
        return self

    async def __anext__(self) -> SpeechEvent:
        """The next event; `UtteranceDone` or `UtteranceCancelled` is the last.

        Raises:
            ConnectionLost: the connection ended before the utterance did.
            DeadlineExceeded: the server gave no sign of life, or nothing of what it owes.
            SpeechFailed: the server gave up the whole utterance.
            SessionClosed: the session was closed.
        """
        if self._reading:
            raise LocalProtocolError("another task is already reading this utterance's events")
        self._reading = True
        try:
            if not self._inbox:
                await self._wait_for_event()
        finally:
            self._reading = False
        if not self._inbox:
            raise StopAsyncIteration
        event, grant = self._inbox.take(self._loop.time())
        if grant:
            self._connection.grant(self._id, grant)
        return event

    async def _wait_for_event(self) -> None:
        """Until there is an event or there will be none."""
        since_s = self._loop.time()
        while not self._inbox:
            if self._failure is not None:
                raise self._failure
            if self._over:
                return
            deadline_s = None
            if self._connection.owes(self):
                deadline_s = max(since_s, self._active_at_s) + self._answer_timeout_s
            self._wake.clear()
            try:
                async with asyncio.timeout_at(deadline_s):
                    await self._wake.wait()
            except TimeoutError:
                self.fail(
                    DeadlineExceeded(
                        f"the server is connected but sent nothing of this utterance for"
                        f" {self._answer_timeout_s:g} s (answer_timeout_s); it may be overloaded:"
                        " speak again, on another instance if there is one"
                    )
                )
            except asyncio.CancelledError:
                self._cancel()
                raise

    # --- what was heard ---

    def played(self, samples: int) -> None:
        """Tell how much was really played, so that `heard` and `cancel` need not guess.

        Args:
            samples: From the utterance's first one, altogether. For `mp3` and `opus`, as decoded.
        """
        self._inbox.clock.report(samples)

    def heard(self) -> Heard:
        """What the listener has heard by now, to the word; after `cancel`, what it returned."""
        if self._heard is not None:
            return self._heard
        played = self._inbox.clock.position(self._loop.time())
        return self._timeline.heard(played, self._ended)

    async def cancel(self) -> Heard:
        """Stop at once (barge-in): nothing more is spoken, and events not yet taken are dropped.

        Only this utterance stops. An iteration gets `UtteranceCancelled` as its last event. Does
        not wait for the server.

        Returns:
            What the listener has heard: by `played` if that was called, else as if each piece of
            audio was played in real time from the moment it was taken. Also right after the last
            event, while the end is still being played.
        """
        self._cancel()
        return self.heard()

    def _cancel(self) -> None:
        if self._heard is not None:
            return
        self._heard = self.heard()
        unread = not self._over or len(self._inbox) > 0
        self._stop()
        if unread and self._failure is None:
            self._finish(UtteranceCancelled(heard=self._heard))

    def fail(self, error: BaseException) -> None:
        """Cancel, and raise this to the reader instead of any further event."""
        if not self._over:
            self._stop()
            self._fail(error)

    def _stop(self) -> None:
        """No more text goes out and no more audio comes in."""
        self._connection.cancel(self._id)
        self._end_text()
        self._inbox.clear()

    def _end_text(self) -> None:
        self._text_is_over = True
        self._stop_idle_timer()
        self._unsent.clear()

    def _finish(self, event: SpeechEvent) -> None:
        self._inbox.put(event)
        self._over = True
        self._wake.set()

    def _fail(self, error: BaseException) -> None:
        self._failure = error
        self._over = True
        self._end_text()
        self._wake.set()

    async def aclose(self) -> None:
        """Cancel it unless it is done; leaving its `async with` block does this."""
        if not self._over:
            self._cancel()

    async def __aenter__(self) -> Utterance:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        if getattr(self, "_over", True):
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed, and the connection with it
            self._loop.call_soon_threadsafe(self._connection.cancel, self._id)

    # --- what its connection needs; see `OnConnection` ---

    @property
    def text_is_over(self) -> bool:
        """Whether no text follows what is unsent."""
        return self._text_is_over

    @property
    def window(self) -> int:
        """Samples that the server may be ahead of the reader at first."""
        return self._inbox.window

    @property
    def unsent(self) -> Unsent:
        """Its chunks that are still to be sent."""
        return self._unsent

    def sent_one(self) -> dict[str, Any]:
        """Take the first of them as sent; returns the options to send with it."""
        self._unsent.take()
        self._active_at_s = self._loop.time()
        self._wake.set()  # the reader's deadline begins
        return self._config.overrides

    def receive(self, event: ClientEvent) -> None:
        """Take an event from the server."""
        if self._over:
            return
        self._active_at_s = self._loop.time()
        match event:
            case protocol.AudioReceived():
                self._inbox.put(*self._timeline.audio(event))
                self._check_overrun()
            case protocol.WordTimestamps():
                self._inbox.put(*self._timeline.words(event))
            case protocol.ChunkDone():
                self._inbox.put(*self._timeline.chunk_done(event))
            case protocol.Error(chunk_id=int() as chunk_id) if (
                event.code != protocol.ErrorCode.CHUNK_ID_REUSED
            ):
                self._inbox.put(*self._timeline.chunk_failed(event, chunk_id))
            case protocol.Error():
                self._server_error = event
            case protocol.ServerWarning():
                self._timeline.warning(event)
            case protocol.ContextDone():
                self._finish(self._timeline.done())
            case protocol.ContextCancelled():
                self._fail(self._given_up())
            case _:
                pass
        self._wake.set()

    def lost(self, error: KokoroAgentsError) -> None:
        """The connection is over: what has come may still be read, unless the owner closed it."""
        if self._over:
            return
        if isinstance(error, SessionClosed):
            self._inbox.clear()
        self._fail(error)

    def _check_overrun(self) -> None:
        if self._inbox.overrun:
            self.fail(
                RemoteProtocolError(
                    "the server sends audio without regard to `window`, more than there is room"
                    " for; update the container"
                )
            )

    def _given_up(self) -> SpeechFailed:
        """Why the server cancelled the utterance by its own wish."""
        error = self._server_error
        if error is None:
            return SpeechFailed(
                "the server gave up the utterance without saying why; speak again",
                code="context_cancelled",
                retryable=True,
                context_id=self._id,
            )
        kind = OverloadedError if error.retryable else SpeechFailed
        return kind(error.message, code=error.code, retryable=error.retryable, context_id=self._id)
