"""Whose words are spoken: the tree of a LangChain call's runs. Without I/O.

A handler hears every model below the call it was given to: the agent, but also what summarises the
history, models inside tools, subagents. A model's run is spoken unless something above it in the
tree, or it itself, says otherwise; `Audience` has the rules. The decision is made once, when the
run starts: only then are its tags and metadata told.

Several threads may be in here at once (a sync tool runs in one of its own).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

# LangChain's and LangGraph's own marks for a model that no user is meant to see.
_NO_STREAM: Final = ("nostream", "langsmith:nostream")
_INTERNAL: Final = "lc_internal_call"

SinkT = TypeVar("SinkT")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRun:
    """A call of a model, as the `when` of a handler is asked about it.

    Args:
        run_id: LangChain's id of the call.
        name: The run's name, such as `ChatOpenAI`.
        tags: Its tags, inherited ones included.
        metadata: Its metadata, inherited ones included.
        inside_tool: Whether a tool (or retriever) is above it.
        structured: Whether the answer is data for a program: a structured output was asked for.
    """

    run_id: UUID
    name: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    inside_tool: bool = False
    structured: bool = False

    @property
    def node(self) -> str | None:
        """The node of the graph that made the call."""
        return self.metadata.get("langgraph_node")

    @property
    def agent(self) -> str | None:
        """The name of the agent that made the call; a nameless subagent inherits its parent's."""
        return self.metadata.get("lc_agent_name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """The rules by which a model's run is spoken.

    Never: what is tagged `nostream`, what LangChain marks as internal (summaries), structured
    output; inside tools only on demand. Beyond that every filter that is given must agree.

    Args:
        nodes: Names of graph nodes.
        tags: One of these is among the run's tags.
        agents: Names of agents.
        when: Decides by itself.
        inside_tools: Speak models that a tool calls, too.
    """

    nodes: Collection[str] | None = None
    tags: Collection[str] | None = None
    agents: Collection[str] | None = None
    when: Callable[[ModelRun], bool] | None = None
    inside_tools: bool = False

    def wants(self, run: ModelRun) -> bool:
        """Whether the run is spoken."""
        if run.structured or run.metadata.get(_INTERNAL):
            return False
        if any(tag in run.tags for tag in _NO_STREAM):
            return False
        if run.inside_tool and not self.inside_tools:
            return False
        if self.nodes is not None and run.node not in self.nodes:
            return False
        if self.agents is not None and run.agent not in self.agents:
            return False
        if self.tags is not None and not any(tag in self.tags for tag in run.tags):
            return False
        return self.when is None or self.when(run)


@dataclass(slots=True)
class Run(Generic[SinkT]):
    """A run that is going on. What a model's run has said is kept by the handler."""

    run_id: UUID
    parent_id: UUID | None
    root: Run[SinkT] | None  # None if it is the root
    sink: SinkT | None
    inside_tool: bool
    model: ModelRun | None = None
    spoken: bool = False
    source: str | None = None  # which of LangChain's two streams brings its text
    said: int = 0  # characters
    held: list[str] = field(default_factory=list)  # text of what may not be the last message
    flushed: bool = True
    named: bool = False
    calls_tool: bool = False
    below: set[UUID] = field(default_factory=set)  # for a root: every open run under it
    unwatch: Callable[[], None] | None = None

    @property
    def top(self) -> Run[SinkT]:
        """The outermost run that is known."""
        return self.root or self

    @property
    def detached(self) -> bool:
        """Whether it is the outermost one only because what is above it was never told."""
        return self.root is None and self.parent_id is not None


class Runs(Generic[SinkT]):
    """The runs that are going on.

    Args:
        sink_for_root: Where the words of a call go, asked once for each; None for nowhere.
    """

    def __init__(self, sink_for_root: Callable[[], SinkT | None]) -> None:
        self._sink_for_root = sink_for_root
        self._runs: dict[UUID, Run[SinkT]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._runs)

    def get(self, run_id: UUID) -> Run[SinkT] | None:
        """The run, if it is going on."""
        return self._runs.get(run_id)

    def start(self, run_id: UUID, parent_id: UUID | None, *, tool: bool = False) -> Run[SinkT]:
        """A run starts."""
        with self._lock:
            known = self._runs.get(run_id)
            if known is not None:  # the handler is attached twice
                return known
            parent = self._runs.get(parent_id) if parent_id is not None else None
            if parent is None:
                run = Run(run_id, parent_id, None, self._sink_for_root(), tool)
            else:
                run = Run(run_id, parent_id, parent.top, parent.sink, parent.inside_tool or tool)
                parent.top.below.add(run_id)
            self._runs[run_id] = run
            return run

    def end(self, run_id: UUID) -> list[Run[SinkT]]:
        """A run is over; returns it after all that were still open under it if it is a root."""
        with self._lock:
            run = self._runs.pop(run_id, None)
            if run is None:
                return []
            if run.root is not None:
                run.root.below.discard(run_id)
                return [run]
            below = [self._runs.pop(child) for child in run.below if child in self._runs]
            return [*below, run]

    def forget(self, sink: SinkT) -> list[Run[SinkT]]:
        """Let go of everything that goes to a sink which is closed; returns what it was."""
        with self._lock:
            gone = [run for run in self._runs.values() if run.sink is sink]
            for run in gone:
                del self._runs[run.run_id]
            return gone
