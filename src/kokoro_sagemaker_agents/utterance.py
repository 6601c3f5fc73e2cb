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
from .multiplexer import Multiplexer
from .protocol import ClientEvent
from .text import SentenceChunker, TextChunk
from .text_input import TextInput
from .timeline import Timeline
from .unsent import Request, Unsent

# A text that brings a server down each time it is asked for must not go round for ever, nor take
# others with it: after the first of these it is tried alone.
_SUSPICIOUS_INTERRUPTIONS: Final = 2
_MOST_INTERRUPTIONS: Final = 3


class Utterance:
    """A run of text spoken in one voice; made by `SpeechSession.utterance`.

    Push text, end it, and iterate over its events, in one task or in several. Leaving the block of
    `async with utterance` before its last event cancels it, and so does cancelling a task that
    waits for its next event, or dropping the last reference to it.
    """

    def __init__(
        self,
        utterance_id: str,
        multiplexer: Multiplexer,
        config: UtteranceConfig,
        *,
        chunker: SentenceChunker | None = None,
        answer_timeout_s: float,
    ) -> None:
        self._id = utterance_id
        self._multiplexer = multiplexer
        self._config = config
        self._answer_timeout_s = answer_timeout_s
        self._loop = asyncio.get_running_loop()
        self._input = TextInput(lambda: chunker or config.chunker(), config.idle_flush_s)
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
        self._interruptions = 0  # since the server last did something for us

    @property
    def id(self) -> str:
        """Its name, unique in its session; also in the server's log."""
        return self._id

    @property
    def config(self) -> UtteranceConfig:
        """Its options, with the session's where it has none of its own."""
        return self._config

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
        self.check_takes_text()
        _check_type(text, str)
        await self._input.push(text, self)

    async def push_chunk(self, chunk: TextChunk) -> None:
        """Add a chunk as it is, for callers that chunk themselves.

        Raises:
            LocalProtocolError: `push` was used before.
            InvalidInput: and the others, as `push`.
        """
        self.check_takes_text()
        _check_type(chunk, TextChunk)
        self._input.push_chunk(chunk, self)

    async def flush(self) -> None:
        """Speak all that was pushed so far, finished sentence or not; more text may follow."""
        if not self._text_is_over:
            self._input.flush(self)

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
            self._multiplexer.text_waits(self)
        else:  # nothing to speak in it: the server need not know
            self._finish(self._timeline.done())

    async def room(self) -> None:
        """Wait until `push` takes text again, should too much of it wait."""
        await self._unsent.room()

    def check_takes_text(self) -> None:
        """Raise if `push` would."""
        if self._failure is not None:
            raise self._failure
        if self._text_is_over:
            raise SessionClosed("the utterance was ended or cancelled; use a new one for more text")
        if self._unsent.full:
            raise OverloadedError(
                f"{self._unsent.chars} characters wait to be spoken; await room() before more",
                code=protocol.ErrorCode.QUEUE_FULL,
            )

    def add(self, chunks: list[TextChunk]) -> None:
        """Take chunks as they are complete (`text_input.TakesChunks`)."""
        for chunk in chunks:
            chunk_id = self._timeline.add(chunk)
            if chunk_id is not None:
                self._unsent.add(chunk_id, chunk.spoken)
        if self._unsent:
            self._multiplexer.text_waits(self)

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
            self._multiplexer.grant(self._id, grant)
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
            if self._multiplexer.owes(self):
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
        self._multiplexer.cancel(self._id)
        self._end_text()
        self._inbox.clear()

    def _end_text(self) -> None:
        self._text_is_over = True
        self._input.stop()
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
            self._loop.call_soon_threadsafe(self._multiplexer.cancel, self._id)

    # --- what its connection needs; see `OnConnection` ---

    @property
    def text_is_over(self) -> bool:
        """Whether no text follows what is unsent."""
        return self._text_is_over

    def open_account(self) -> int:
        """Samples that a server may be ahead of the reader at first."""
        return self._inbox.open_account()

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
        self._interruptions = 0
        match event:
            case protocol.AudioReceived():
                self._inbox.put(*self._timeline.audio(event))
                self._check_overrun()
            case protocol.WordTimestamps():
                self._inbox.put(*self._timeline.words(event))
            case protocol.ChunkDone():
                self._unsent.answered(event.chunk_id)
                self._inbox.put(*self._timeline.chunk_done(event))
            case protocol.Error(chunk_id=int() as chunk_id) if (
                event.code != protocol.ErrorCode.CHUNK_ID_REUSED
            ):
                self._unsent.answered(chunk_id)
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

    @property
    def suspect(self) -> bool:
        """Whether connections have ended again and again since it was last answered."""
        return self._interruptions >= _SUSPICIOUS_INTERRUPTIONS

    def interrupted(self, error: KokoroAgentsError) -> bool:
        """The connection is over, but there may be another; returns whether to go on with it."""
        if self._over:
            return False
        if self._unsent.first_sent is not None:
            self._interruptions += 1
        if self._interruptions > _MOST_INTERRUPTIONS:
            self._fail(error)
            return False
        if self._ended and not self._timeline.unanswered:
            self._finish(self._timeline.done())  # only the word that it is done was lost
            return False
        return True

    def move(self, multiplexer: Multiplexer) -> None:
        """Go on with another connection: ask again for all that was not answered."""
        same_model = multiplexer.model == self._multiplexer.model
        self._multiplexer = multiplexer
        sent = self._unsent.first_sent
        resumption = self._timeline.resumption(same_model) if sent else None
        if sent and resumption:
            text = sent.text[resumption.chars :]
            self._unsent.put_back(Request(sent.chunk_id, text, resumption.from_sample))
        elif sent:
            self._unsent.answered(sent.chunk_id)
            self._inbox.put(*self._timeline.chunk_failed(_cut_off(self._id), sent.chunk_id))
            self._unsent.put_back()
        self._wake.set()
        if self._unsent or self._ended:
            self._multiplexer.text_waits(self)

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


def _check_type(given: object, kind: type) -> None:
    if not isinstance(given, kind):
        raise InvalidInput(
            f"an utterance takes {kind.__name__}, not {type(given).__name__};"
            " pass the text of the message, chunk or delta"
        )


def _cut_off(utterance_id: str) -> protocol.Error:
    """The answer for a chunk of which a part has come, nobody knows how much."""
    return protocol.Error(
        code=protocol.ErrorCode.INTERNAL,
        message="the connection was lost in the middle of this chunk, and mp3 and opus cannot be"
        " continued there; use a PCM encoding to have it resumed to the sample",
        retryable=True,
        context_id=utterance_id,
    )
