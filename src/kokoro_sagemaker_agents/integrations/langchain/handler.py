"""The callback handler: what LangChain tells of a call becomes the speech of a turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, Unpack, get_args
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, GenerationChunk, LLMResult

from kokoro_sagemaker_agents.config import UtteranceOptions
from kokoro_sagemaker_agents.errors import InvalidInput

from .content import answer_of, calls_tool, event_calls_tool, text_of_event, text_of_token
from .runs import Audience, ModelRun, Run, Runs
from .script import Speaker
from .turn import MakesUtterances, SpeechTurn

logger = logging.getLogger(__name__)

Speak = Literal["all", "final"]
OnRetry = Literal["skip_prefix", "restart"]

_current: ContextVar[SpeechTurn | None] = ContextVar("kokoro_turn", default=None)


class KokoroSpeechCallbackHandler(AsyncCallbackHandler):
    """Speaks what an agent, chain or model says, while it is being written.

        speech = KokoroSpeechCallbackHandler(session, voice="af_heart")
        async with speech.turn() as turn, asyncio.TaskGroup() as tasks:
            tasks.create_task(play(turn))  # async for event in turn: …
            await agent.ainvoke(inputs, {"callbacks": [speech]})

    One handler serves any number of turns at a time: a call belongs to the turn in whose block (or
    in a task begun there) it is made; to the only open turn, if it is made elsewhere.

    No callback waits for anything: the text is handed to the session's event loop, from whatever
    thread, and an agent never waits for speech nor fails because of it.

    Spoken is the answer of the outermost agent; never reasoning, tool calls, what tools return,
    models tagged `nostream`, LangChain's own summaries, structured output; and models inside tools
    (subagents among them) only with `inside_tools`. A graph that also has a router or a classifier
    names the nodes that speak.

    A model that is called without streaming (`ainvoke` of most agents) is spoken when its message
    is complete; `force_streaming` makes it stream.

    Args:
        session: A `SpeechSession` or `SessionPool`; open when a turn is entered.
        nodes: Only models called by these nodes of a graph.
        tags: Only models with one of these tags.
        agents: Only models of these agents (`create_agent(name=…)`).
        when: Only models for which this returns True; asked once for each call.
        inside_tools: Also models that are called inside tools and retrievers.
        speak: `all` messages as they are written, or only the `final` one: each is held back until
            it ends without a tool call, so speech begins only then.
        on_retry: What happens when a call fails midway and is made again: `skip_prefix` leaves out
            the sentences that were said already, `restart` says everything again.
        force_streaming: Have models stream that are called by `invoke` and `ainvoke`. As a side
            effect, `astream_events(version="v2")` of a chain tells fewer `on_chain_stream` events.
        **options: Of its turns' speech: `voice`, `speed` and so on; see `UtteranceOptions`.

    Raises:
        InvalidInput: an unknown value of `speak` or `on_retry`.
    """

    # Awaited in the caller's own task, where a cancellation can be seen. None of the methods is a
    # coroutine, although the base's are: none has anything to wait for, and LangChain runs a
    # coroutine that is called from synchronous code in an event loop made for it, each time.
    run_inline = True

    def __init__(
        self,
        session: MakesUtterances,
        *,
        nodes: Collection[str] | None = None,
        tags: Collection[str] | None = None,
        agents: Collection[str] | None = None,
        when: Callable[[ModelRun], bool] | None = None,
        inside_tools: bool = False,
        speak: Speak = "all",
        on_retry: OnRetry = "skip_prefix",
        force_streaming: bool = False,
        **options: Unpack[UtteranceOptions],
    ) -> None:
        super().__init__()
        _check("speak", speak, get_args(Speak))
        _check("on_retry", on_retry, get_args(OnRetry))
        self._session = session
        self._options = options
        self._audience = Audience(
            nodes=nodes, tags=tags, agents=agents, when=when, inside_tools=inside_tools
        )
        self._only_final = speak == "final"
        self._skip_prefix = on_retry == "skip_prefix"
        self._turns: list[SpeechTurn] = []  # that are open
        self._before: dict[SpeechTurn, SpeechTurn | None] = {}  # of the context they came into
        self._runs = Runs[SpeechTurn](self._turn_of_call)
        self._warned = False
        if force_streaming:
            # What makes LangChain take a handler for one that wants a stream.
            self.tap_output_aiter = self.tap_output_iter = _as_it_is

    def turn(self, *, runs: int | None = 1, **options: Unpack[UtteranceOptions]) -> SpeechTurn:
        """A turn: enter it, and call the agent inside.

        Args:
            runs: After so many calls the turn is complete, once none is going on: 1 for an agent,
                n for a `batch` of n inputs. None for a turn that ends when `end` is called, as for
                a loop of your own around a model, or a handler that was given to the model itself.
            **options: In place of the handler's own; see `UtteranceOptions`.

        Raises:
            InvalidInput: `runs` is less than 1.
        """
        if runs is not None and runs < 1:
            raise InvalidInput(f"runs must be 1 or more, or None, got {runs}")
        return SpeechTurn(
            self._session,
            {**self._options, **options},
            runs=runs,
            skip_prefix=self._skip_prefix,
            opened=self._turn_opened,
            closed=self._turn_closed,
        )

    @contextmanager
    def routed_to(self, turn: SpeechTurn) -> Iterator[None]:
        """Calls that are made in this block, and in tasks begun in it, belong to the turn."""
        before = _current.get()
        _current.set(turn)
        try:
            yield
        finally:
            _current.set(before)

    # --- turns ---

    def _turn_opened(self, turn: SpeechTurn) -> None:
        self._turns.append(turn)
        self._before[turn] = _current.get()
        _current.set(turn)

    def _turn_closed(self, turn: SpeechTurn) -> None:
        if turn in self._turns:
            self._turns.remove(turn)
        before = self._before.pop(turn, None)
        if _current.get() is turn:
            _current.set(before)
        for run in self._runs.forget(turn):
            _unwatch(run)

    def _turn_of_call(self) -> SpeechTurn | None:
        turn = _current.get()
        if turn in self._turns:
            return turn
        if len(self._turns) == 1:
            return self._turns[0]
        if not self._warned:
            self._warned = True
            logger.warning(
                "an agent was called with a speech handler, but %s: it is not spoken. Call it"
                " inside `async with speech.turn() as turn`",
                "outside the block of any of several open turns" if self._turns else "without turn",
            )
        return None

    # --- runs that are not models ---

    def on_chain_start(  # type: ignore[override]  # no coroutine: see `run_inline`
        self,
        serialized: dict[str, Any],
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """A chain, an agent or a node starts."""
        self._start(run_id, parent_run_id)

    def on_tool_start(  # type: ignore[override]  # no coroutine: see `run_inline`
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """A tool starts: nobody speaks inside."""
        self._start(run_id, parent_run_id, tool=True)

    def on_retriever_start(  # type: ignore[override]  # no coroutine: see `run_inline`
        self,
        serialized: dict[str, Any],
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        """A retriever starts, which may ask a model of its own."""
        self._start(run_id, parent_run_id, tool=True)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:  # type: ignore[override]  # no coroutine: see `run_inline`
        """A chain, an agent or a node is over."""
        self._end(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:  # type: ignore[override]  # no coroutine: see `run_inline`
        """It failed, or was cancelled."""
        self._end(run_id)

    on_tool_end = on_retriever_end = on_chain_end  # type: ignore[assignment]  # the same is to do
    on_tool_error = on_retriever_error = on_chain_error  # type: ignore[assignment]  # the same is to do

    # --- models ---

    def on_chat_model_start(  # type: ignore[override]  # no coroutine: see `run_inline`
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A chat model is called."""
        after_id = messages[0][-1].id if messages and messages[0] else None
        self._start_model(run_id, parent_run_id, tags, metadata, after_id, kwargs)

    def on_llm_start(  # type: ignore[override]  # no coroutine: see `run_inline`
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A model that completes text is called."""
        self._start_model(run_id, parent_run_id, tags, metadata, None, kwargs)

    def on_llm_new_token(  # type: ignore[override]  # no coroutine: see `run_inline`
        self,
        token: str | list[str | dict[str, Any]],
        *,
        chunk: GenerationChunk | ChatGenerationChunk | None = None,
        run_id: UUID,
        **kwargs: Any,
    ) -> None:
        """A piece of a model's message."""
        run = self._runs.get(run_id)
        if run is None or not run.spoken:
            return
        text = text_of_token(token, chunk)
        message = chunk.message if isinstance(chunk, ChatGenerationChunk) else None
        if message is not None and not run.named:
            self._name(run, message.id)
        if text:
            self._text(run, text, "tokens")
        if message is not None and (not text or message.content != text) and calls_tool(message):
            self._tool_call(run)

    def on_stream_event(  # type: ignore[override]  # no coroutine: see `run_inline`
        self, event: Mapping[str, Any], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """A piece of a model's message, for `astream_events(version="v3")`."""
        run = self._runs.get(run_id)
        if run is None or not run.spoken:
            return
        if not run.named and event["event"] == "message-start":
            self._name(run, event.get("id"))
        text = text_of_event(event)
        if text:
            self._text(run, text, "events")
        elif event_calls_tool(event):
            self._tool_call(run)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:  # type: ignore[override]  # no coroutine: see `run_inline`
        """A model's message is complete: if it was not streamed it is said now."""
        run = self._runs.get(run_id)
        if run is not None and run.spoken:
            text, message = answer_of(response)
            if message is not None:
                run.named = False  # the streamed id may have been a provisional one
                self._name(run, message.id)
                run.calls_tool = run.calls_tool or calls_tool(message)
            if text and not run.said:
                self._say(run, text)
        self._end(run_id, failed=False)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:  # type: ignore[override]  # no coroutine: see `run_inline`
        """A model's call failed, or was cancelled: what is held back of it is dropped."""
        run = self._runs.get(run_id)
        if run is not None and run.said and run.sink is not None:
            run.sink.failed[run.parent_id] = run_id
        self._end(run_id)

    # --- what they have in common ---

    def _start(
        self, run_id: UUID, parent_id: UUID | None, *, tool: bool = False
    ) -> Run[SpeechTurn]:
        known = self._runs.get(run_id)
        if known is not None:
            return known
        run = self._runs.start(run_id, parent_id, tool=tool)
        if run.root is None and run.sink is not None:
            run.sink.run_began()
        return run

    def _start_model(
        self,
        run_id: UUID,
        parent_id: UUID | None,
        tags: Sequence[str] | None,
        metadata: Mapping[str, Any] | None,
        after_id: str | None,
        details: Mapping[str, Any],
    ) -> None:
        run = self._start(run_id, parent_id)
        if run.unwatch is None:
            _watch(run, self._end)
        if run.model is not None or run.sink is None:
            return
        metadata = metadata or {}
        run.model = ModelRun(
            run_id=run_id,
            name=details.get("name") or "",
            tags=tuple(tags or ()),
            metadata=metadata,
            inside_tool=run.inside_tool or _is_called_by_tool(run, metadata),
            structured=_is_structured(details),
        )
        if not self._audience.wants(run.model):
            return
        run.spoken = True
        retry_of = run.sink.failed.pop(parent_id, None)
        run.sink.start(Speaker(run_id, run.model.node, run.model.agent), retry_of, after_id)

    def _end(self, run_id: UUID, *, failed: bool = True) -> None:
        """A run is over; models under it that were never told to be are over with it."""
        for run in self._runs.end(run_id):
            _unwatch(run)
            if run.sink is None:
                continue
            if run.spoken:
                if run.held and not failed and not run.calls_tool:
                    run.sink.say(run.run_id, "".join(run.held))
                run.sink.finish(run.run_id, failed=failed or run.run_id != run_id)
            if run.root is None:
                run.sink.run_ended(goes_on=run.detached and run.calls_tool)

    def _text(self, run: Run[SpeechTurn], text: str, source: str) -> None:
        """Text of one of LangChain's two streams, either of which may have it, or both."""
        if run.source is None:
            run.source = source
        if run.source == source:
            self._say(run, text)

    def _say(self, run: Run[SpeechTurn], text: str) -> None:
        run.said += len(text)
        run.flushed = False
        if self._only_final:
            run.held.append(text)
        elif run.sink is not None:
            run.sink.say(run.run_id, text)

    def _tool_call(self, run: Run[SpeechTurn]) -> None:
        run.calls_tool = True
        if not run.flushed and not self._only_final and run.sink is not None:
            run.flushed = True
            run.sink.flush(run.run_id)

    def _name(self, run: Run[SpeechTurn], message_id: object) -> None:
        if isinstance(message_id, str) and message_id and run.sink is not None:
            run.named = True
            run.sink.name(run.run_id, message_id)


def _as_it_is(run_id: UUID, output: Any) -> Any:
    return output


def _check(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidInput(f"{name} {value!r} is not one of {', '.join(allowed)}")


def _is_called_by_tool(run: Run[SpeechTurn], metadata: Mapping[str, Any]) -> bool:
    """Whether a tool made the call with callbacks of its own choice, which hide what is above.

    LangGraph names the place in the metadata even then; `tools` is its own name for the node.
    """
    return run.root is None and str(metadata.get("langgraph_checkpoint_ns", "")).startswith("tools")


def _is_structured(details: Mapping[str, Any]) -> bool:
    """Whether a model was asked for JSON, of which no listener would make sense."""
    options = details.get("options") or {}
    wanted = options.get("response_format") or (details.get("invocation_params") or {}).get(
        "response_format"
    )
    if isinstance(wanted, Mapping):
        return wanted.get("type") != "text"
    return bool(wanted or options.get("ls_structured_output_format"))


def _watch(run: Run[SpeechTurn], end: Callable[[UUID], None]) -> None:
    """End the run when its task is cancelled: LangChain does not tell of that in every case."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return  # synchronous code
    if task is None:
        return

    def task_is_over(task: asyncio.Task[Any]) -> None:
        if task.cancelled():  # a task that ends well may have begun a stream that others go on with
            end(run.run_id)

    def unwatch() -> None:
        task.remove_done_callback(task_is_over)

    task.add_done_callback(task_is_over)
    run.unwatch = unwatch


def _unwatch(run: Run[SpeechTurn]) -> None:
    if run.unwatch is not None:
        run.unwatch()
        run.unwatch = None
