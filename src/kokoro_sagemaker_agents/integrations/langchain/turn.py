"""A turn: what an agent says in answer to one input, as speech."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, Unpack
from uuid import UUID

from kokoro_sagemaker_agents.config import UtteranceOptions
from kokoro_sagemaker_agents.errors import InvalidInput, KokoroAgentsError, LocalProtocolError
from kokoro_sagemaker_agents.events import ChunkStarted, Heard, SpeechEvent
from kokoro_sagemaker_agents.text import TextChunk
from kokoro_sagemaker_agents.utterance import Utterance

from .script import Script, Speaker

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

logger = logging.getLogger(__name__)

# A long text is chunked in pieces of this size, and for so long at a stretch, so that others get
# their turn: the chunker takes about a microsecond for each character (measured).
_PIECE_CHARS: Final = 4096
_WORK_S: Final = 0.005


class MakesUtterances(Protocol):
    """What a turn needs of a session: a `SpeechSession` or a `SessionPool`, open."""

    def utterance(self, **options: Unpack[UtteranceOptions]) -> Utterance:
        """A new utterance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStarted:
    """The chunks that follow are of this message of the agent.

    Args:
        run_id: The model's run.
        start: Where the message begins in the turn's text.
        node: The node of the graph that called the model, if there is a graph.
        agent: The agent's name, if it has one.
    """

    run_id: UUID
    start: int
    node: str | None
    agent: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFailed:
    """Nothing more can be spoken in this turn. The last event; the agent is not disturbed.

    Args:
        error: Why: what an `Utterance` would have raised.
    """

    error: Exception


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMessage:
    """A message of the agent in a turn, and what was heard of it.

    Args:
        run_id: The model's run.
        message_id: The id that LangChain gave the message; None until its first token.
        after_id: The id of the message that it answers, if that has one.
        text: What was written of it so far.
        heard: The beginning of `text` that was heard, to the word.
        complete: Whether that is all of it, and it was written to its end.
    """

    run_id: UUID
    message_id: str | None
    after_id: str | None
    text: str
    heard: str
    complete: bool


@dataclass(slots=True)
class _Called:
    """A call of a model in the turn; known also of those that come too late to be spoken."""

    speaker: Speaker
    after_id: str | None
    message_id: str | None = None
    replaced: bool = False  # it failed, and another attempt took its place


TurnEvent: TypeAlias = SpeechEvent | MessageStarted | TurnFailed

_NOTHING_HEARD: Final = Heard(
    text="", spoken="", complete=False, char_end=0, samples=0, played_s=0.0
)


class SpeechTurn:
    """The speech of one turn; made by `KokoroSpeechCallbackHandler.turn`.

    Enter it, run the agent inside the block, and iterate over it, there or in another task: the
    events come in playback order, `UtteranceDone`, `UtteranceCancelled` or `TurnFailed` as the
    last. Leaving the block before that cancels what is still to be spoken.

    Positions (`ChunkStarted.start`, `WordTime.char_start`) count characters of the turn's text: its
    messages one after the other, with a line break between two where there is none.

    A failure of the speech is the event `TurnFailed`, never an exception in the agent.
    """

    def __init__(
        self,
        session: MakesUtterances,
        options: UtteranceOptions,
        *,
        runs: int | None,
        skip_prefix: bool,
        opened: Callable[[SpeechTurn], None] = lambda turn: None,
        closed: Callable[[SpeechTurn], None] = lambda turn: None,
    ) -> None:
        self._session = session
        self._options = options
        self._runs_left = runs
        self._open_runs = 0
        self._skip_prefix = skip_prefix
        self._opened = opened
        self._closed = closed
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._utterance: Utterance | None = None
        self._script: Script | None = None
        self._failure: Exception | None = None
        self._called: dict[UUID, _Called] = {}
        self.failed: dict[UUID | None, UUID] = {}
        """Of what ran above a model: the last call of the model that failed midway."""
        self._calls: deque[Callable[[], None]] = deque()
        self._scheduled = False
        self._stopped = False  # no more text is taken
        self._ending: asyncio.Task[None] | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._spoke_at_s = 0.0
        self._next: deque[TurnEvent] = deque()
        self._announced: UUID | None = None
        self._over = False

    # --- its life ---

    async def __aenter__(self) -> SpeechTurn:
        """Begin the turn.

        Raises:
            InvalidInput: an option that the server does not offer. Anything else that keeps it
                from speaking is told as `TurnFailed`.
        """
        self._open()
        self._opened(self)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _open(self) -> None:
        if self._loop is not None:
            raise LocalProtocolError("a turn is entered once; make another one with turn()")
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        try:
            self._utterance = self._session.utterance(**self._options)
        except InvalidInput:
            raise
        except KokoroAgentsError as failure:
            logger.warning("a turn cannot be spoken: %s", failure)
            self._failure = failure
            self._stopped = True
            return
        self._script = Script(self._utterance.config.chunker, skip_prefix=self._skip_prefix)

    async def aclose(self) -> None:
        """Cancel what is still to be spoken, and take no more text. Idempotent."""
        self._closed(self)
        self._stop()
        if self._utterance is not None:
            await self._utterance.aclose()
        if self._ending is not None:
            await asyncio.wait([self._ending])

    async def end(self) -> None:
        """No more text comes, whatever runs there are; for a turn made with `runs=None`."""
        self._put(self._end_text)

    async def interrupt(self) -> Heard:
        """Stop speaking at once (barge-in). The agent is not stopped: cancel its task.

        Returns:
            What the listener has heard of the turn, to the word; see `Utterance.cancel`.
        """
        self._stop()
        if self._utterance is None:
            return _NOTHING_HEARD
        return await self._utterance.cancel()

    # --- what was heard ---

    def played(self, samples: int) -> None:
        """Tell how much was really played; see `Utterance.played`."""
        if self._utterance is not None:
            self._utterance.played(samples)

    def heard(self) -> Heard:
        """What the listener has heard of the turn by now; see `Utterance.heard`."""
        return _NOTHING_HEARD if self._utterance is None else self._utterance.heard()

    @property
    def messages(self) -> tuple[TurnMessage, ...]:
        """The agent's messages so far, each with what was heard of it.

        Without those that failed and were tried again.
        """
        char_end = self.heard().char_end
        called = [one for one in list(self._called.values()) if not one.replaced]
        return tuple(self._message(one, char_end) for one in called)

    def _message(self, called: _Called, char_end: int) -> TurnMessage:
        message = self._script.get(called.speaker.run_id) if self._script else None
        text = message.written if message else ""
        heard = text[: message.heard(char_end)].rstrip() if message else ""
        return TurnMessage(
            run_id=called.speaker.run_id,
            message_id=called.message_id,
            after_id=called.after_id,
            text=text,
            heard=heard,
            complete=message is not None and message.over and len(heard) == len(text.rstrip()),
        )

    async def commit_heard(
        self,
        graph: Any,
        config: RunnableConfig,
        *,
        messages_key: str = "messages",
        as_node: str = "__start__",
    ) -> Heard:
        """Write into the thread's checkpoint that the agent said what was heard, and no more.

        Interrupts the turn unless that was done before. Call it once the agent's task is over
        (cancelled, and awaited) and before the thread's next input.

        A message that is in the checkpoint is replaced under its own id; one that was cut off
        before it got there is added; one of which nothing was heard goes. A tool call without a
        result gets one that says so, so that the history stays one that every provider takes.

        Args:
            graph: The compiled graph (`create_agent` returns one), with a checkpointer.
            config: With the `thread_id`, as the agent was called.
            messages_key: Where the state has its messages; a list reduced by `add_messages`.
            as_node: The node in whose name the checkpoint is written.

        Returns:
            What was heard of the whole turn.

        Raises:
            InvalidInput: the state has no such messages.
            Exception: whatever the graph or its checkpointer raises.
        """
        from .history import commit

        heard = await self.interrupt()
        await commit(graph, config, self.messages, messages_key, as_node)
        return heard

    # --- events out ---

    def __aiter__(self) -> SpeechTurn:
        return self

    async def __anext__(self) -> TurnEvent:
        """The next event, in playback order."""
        if self._next:
            return self._next.popleft()
        if self._over:
            raise StopAsyncIteration
        if self._loop is None:
            raise LocalProtocolError("the turn was not entered: use `async with speech.turn()`")
        if self._utterance is None:
            assert self._failure is not None, "a turn without an utterance has failed"
            self._over = True
            return TurnFailed(error=self._failure)
        try:
            event = await anext(self._utterance)
        except StopAsyncIteration:
            self._over = True
            raise
        except LocalProtocolError:
            raise  # two readers: a mistake of the caller's
        except Exception as failure:
            logger.warning("a turn cannot be spoken any further: %s", failure)
            self._over = True
            self._stop()
            return TurnFailed(error=failure)
        return self._announcing(event) if isinstance(event, ChunkStarted) else event

    def _announcing(self, event: ChunkStarted) -> TurnEvent:
        """The event, after that of its message if it is the message's first."""
        assert self._script is not None, "there is a script where there is an utterance"
        message = self._script.message_at(event.start)
        if message is None or message.speaker.run_id == self._announced:
            return event
        speaker = message.speaker
        self._announced = speaker.run_id
        self._next.append(event)
        return MessageStarted(
            run_id=speaker.run_id, start=message.base, node=speaker.node, agent=speaker.agent
        )

    # --- text in: called by the handler, in any thread, in the order of LangChain's callbacks ---

    def run_began(self) -> None:
        """A call of an agent or model began that belongs to the turn."""
        self._put(self._count_run)

    def run_ended(self, *, goes_on: bool = False) -> None:
        """Such a call is over; it does not count if the same agent will call again."""
        self._put(self._pause_run if goes_on else self._uncount_run)

    def start(self, speaker: Speaker, retry_of: UUID | None, after_id: str | None) -> None:
        """A model that is spoken was called."""
        self._called[speaker.run_id] = _Called(speaker, after_id)
        if retry_of in self._called:
            self._called[retry_of].replaced = True
        self._put(lambda: self._to_script().start(speaker, retry_of))

    def name(self, run_id: UUID, message_id: str) -> None:
        """The id of its message."""
        self._called[run_id].message_id = message_id

    def say(self, run_id: UUID, text: str) -> None:
        """Text of its message."""
        if len(text) <= _PIECE_CHARS:
            self._put(lambda: self._speak(self._to_script().say(run_id, text)))
            return
        for start in range(0, len(text), _PIECE_CHARS):
            self.say(run_id, text[start : start + _PIECE_CHARS])

    def flush(self, run_id: UUID) -> None:
        """Its message pauses."""
        self._put(lambda: self._speak(self._to_script().flush(run_id)))

    def finish(self, run_id: UUID, *, failed: bool) -> None:
        """Its message is over."""
        self._put(lambda: self._speak(self._to_script().end(run_id, failed=failed)))

    def _put(self, call: Callable[[], None]) -> None:
        """Have something done in the turn's own event loop, after what was put before."""
        if self._stopped or self._loop is None:
            return
        self._calls.append(call)
        if self._scheduled:
            return
        self._scheduled = True
        try:
            if threading.get_ident() == self._thread:
                self._loop.call_soon(self._work)
            else:
                self._loop.call_soon_threadsafe(self._work)
        except RuntimeError:  # the loop is closed: nobody listens any more
            self._stopped = True

    def _work(self) -> None:
        """Do what was put, for so long that others get their turn."""
        assert self._loop is not None, "the turn is open"
        self._scheduled = False
        until_s = self._loop.time() + _WORK_S
        try:
            while self._calls:
                self._calls.popleft()()
                if self._loop.time() > until_s:
                    break
        except Exception as failure:
            self._stop()
            if not isinstance(failure, KokoroAgentsError):
                logger.exception("a turn is given up because of an error of our own")
            if self._utterance is not None:
                self._utterance.fail(failure)  # nothing if that is where it came from
        if self._calls and not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._work)

    # --- in the turn's event loop ---

    def _to_script(self) -> Script:
        assert self._script is not None, "nothing is put into a turn that has failed to open"
        return self._script

    def _count_run(self) -> None:
        self._open_runs += 1

    def _pause_run(self) -> None:
        self._open_runs -= 1

    def _uncount_run(self) -> None:
        self._open_runs -= 1
        if self._runs_left is None:
            return
        self._runs_left -= 1
        if self._runs_left <= 0 and not self._open_runs:
            self._end_text()

    def _speak(self, chunks: list[TextChunk]) -> None:
        utterance = self._utterance
        assert utterance is not None, "nothing is put into a turn that has failed to open"
        if chunks:
            utterance.check_takes_text()
            utterance.add(chunks)
        assert self._loop is not None, "the turn is open"
        self._spoke_at_s = self._loop.time()
        if self._idle_timer is None:
            self._idle_timer = self._loop.call_later(utterance.config.idle_flush_s, self._on_idle)

    def _on_idle(self) -> None:
        """The text may have stalled: a sentence that reads as finished is spoken."""
        self._idle_timer = None
        if self._stopped or self._utterance is None or not self._to_script().pending:
            return
        assert self._loop is not None, "the turn is open"
        idle_s = self._loop.time() - self._spoke_at_s
        missing_s = self._utterance.config.idle_flush_s - idle_s
        if missing_s > 0 or self._calls:
            self._idle_timer = self._loop.call_later(max(missing_s, 0.001), self._on_idle)
        else:
            chunks = self._to_script().poll(idle_s)
            if chunks:
                self._put(lambda: self._speak(chunks))

    def _end_text(self) -> None:
        self._stop()
        assert self._loop is not None, "the turn is open"
        assert self._utterance is not None, "nothing is put into a turn that has failed to open"
        self._ending = self._loop.create_task(self._utterance.end(), name="kokoro-turn-end")

    def _stop(self) -> None:
        self._stopped = True
        self._calls.clear()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
