"""What is said in one turn, and in which order. Without I/O.

A turn has several messages: what the agent says before a tool call, then its answer; in a batch,
several answers. They are spoken one after the other, in the order in which they began, as one text;
a message that begins while another is being said waits for it. Each has a chunker of its own, so
that neither a half sentence nor an open code block of one reaches into the next.

A message that fails loses what was not released yet. When it is tried again, the chunks that the
second attempt begins with and that were said already are not said twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import NamedTuple
from uuid import UUID

from kokoro_sagemaker_agents.text import SentenceChunker, Span, TextChunk


class Speaker(NamedTuple):
    """Who says something.

    Attributes:
        run_id: The model's run.
        node: The node of the graph that called it, if there is a graph.
        agent: The agent's name, if it has one.
    """

    run_id: UUID
    node: str | None = None
    agent: str | None = None


class _Mark(Enum):
    FLUSH = auto()
    END = auto()
    FAIL = auto()


class _Stretch(NamedTuple):
    """Part of a message in the turn's text."""

    turn_start: int
    message_start: int
    length: int


@dataclass(slots=True)
class Message:
    """A message that is being said.

    Args:
        speaker: Who says it.
        retry_of: The message that failed and of which this is another attempt.
    """

    speaker: Speaker
    retry_of: Message | None = None
    chunker: SentenceChunker | None = None  # once the first text is said
    fed: list[str] = field(default_factory=list)
    todo: deque[str | _Mark] = field(default_factory=deque)
    over: bool = False
    base: int = 0  # the turn's position that is the chunker's 0
    skipped: int = 0  # characters that an earlier attempt has said
    stretches: list[_Stretch] = field(default_factory=list)
    chunk_ends: list[int] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of it, as far as its turn has come."""
        return "".join(self.fed)

    @property
    def written(self) -> str:
        """All of it, as far as it was written."""
        return self.text + "".join(item for item in self.todo if isinstance(item, str))

    @property
    def released(self) -> int:
        """How many of its characters are in chunks."""
        return self.chunk_ends[-1] if self.chunk_ends else self.skipped

    def heard(self, char_end: int) -> int:
        """How many of its characters were heard, once those of the turn up to `char_end` were."""
        heard = 0
        for turn_start, message_start, length in self.stretches:
            if char_end > turn_start:
                heard = message_start + min(char_end - turn_start, length)
        return heard


class Script:
    """The messages of a turn, and their chunks.

    Args:
        make_chunker: Gives a fresh chunker for a message.
        skip_prefix: Whether another attempt at a message leaves out what was said before.
    """

    def __init__(
        self, make_chunker: Callable[[], SentenceChunker], *, skip_prefix: bool = True
    ) -> None:
        self._make_chunker = make_chunker
        self._skip_prefix = skip_prefix
        self._messages: dict[UUID, Message] = {}
        self._queue: deque[Message] = deque()  # those that have something to say, in order
        self._said: list[Message] = []  # in the order in which they were first heard
        self._length = 0  # of the turn's text so far
        self._ends_in_space = True

    # --- messages in ---

    def start(self, speaker: Speaker, retry_of: UUID | None = None) -> None:
        """A model was called; it may say something."""
        earlier = self._messages.get(retry_of) if retry_of and self._skip_prefix else None
        self._messages[speaker.run_id] = Message(speaker, earlier)

    def say(self, run_id: UUID, text: str) -> list[TextChunk]:
        """A message goes on; returns the chunks that are to be spoken now."""
        message = self._messages[run_id]
        if not message.fed and not message.todo:
            self._queue.append(message)
        message.todo.append(text)
        return self._go_on()

    def flush(self, run_id: UUID) -> list[TextChunk]:
        """A message pauses, as for a tool call: what is held back of it is spoken."""
        return self._mark(run_id, _Mark.FLUSH)

    def end(self, run_id: UUID, *, failed: bool = False) -> list[TextChunk]:
        """A message is over; of one that failed nothing more is spoken."""
        return self._mark(run_id, _Mark.FAIL if failed else _Mark.END)

    def poll(self, idle_s: float) -> list[TextChunk]:
        """No text came for a while: a sentence that reads as finished is spoken."""
        message = self._queue[0] if self._queue else None
        if message is None or message.chunker is None:
            return []
        return self._release(message, message.chunker.poll(idle_s))

    @property
    def pending(self) -> bool:
        """Whether text waits that `poll` might release."""
        return bool(self._queue and self._queue[0].chunker and self._queue[0].chunker.pending)

    # --- what was said ---

    def get(self, run_id: UUID) -> Message | None:
        """The message of a model's run."""
        return self._messages.get(run_id)

    def message_at(self, position: int) -> Message | None:
        """The message to which a position of the turn's text belongs."""
        for message in reversed(self._said):
            if message.base <= position:
                return message
        return None

    # --- the order ---

    def _mark(self, run_id: UUID, mark: _Mark) -> list[TextChunk]:
        message = self._messages.get(run_id)
        if message is None or (not message.fed and not message.todo):
            return []  # it said nothing
        message.todo.append(mark)
        return self._go_on()

    def _go_on(self) -> list[TextChunk]:
        chunks: list[TextChunk] = []
        while self._queue:
            message = self._queue[0]
            while message.todo and not message.over:
                chunks += self._take(message, message.todo.popleft())
            if not message.over:
                break
            self._queue.popleft()
        return chunks

    def _take(self, message: Message, item: str | _Mark) -> list[TextChunk]:
        if isinstance(item, str):
            message.fed.append(item)
            if message.chunker is None:
                return self._begin(message, final=False)
            return self._release(message, message.chunker.feed(item))
        if item is _Mark.FAIL:
            message.over = True  # what its chunker holds is dropped with it
            message.chunker = None
            return []
        chunks = self._begin(message, final=True) if message.chunker is None else []
        if message.chunker is not None:
            chunks += self._release(message, message.chunker.flush())
        if item is _Mark.END:
            message.over = True
            message.chunker = None
        return chunks

    def _begin(self, message: Message, *, final: bool) -> list[TextChunk]:
        """Say what there is of a message, except what an earlier attempt has said."""
        text = message.text
        skip = _repeated(text, message.retry_of, final)
        if skip is None:
            return []
        earlier = message.retry_of
        if earlier is not None and skip:
            message.stretches = _cut(earlier.stretches, skip)
            message.skipped = skip
        goes_on = earlier is not None and 0 < skip == earlier.released
        chunks = [] if goes_on else self._separator()
        message.base = self._length
        message.chunker = self._make_chunker()
        self._said.append(message)
        return chunks + self._release(message, message.chunker.feed(text[skip:]))

    def _separator(self) -> list[TextChunk]:
        """A line break between two messages, so that their words do not run together."""
        if self._ends_in_space:
            return []
        start = self._length
        self._length += 1
        self._ends_in_space = True
        return [TextChunk(text="\n", spoken="", start=start, end=start + 1, kind="silent")]

    def _release(self, message: Message, chunks: Iterable[TextChunk]) -> list[TextChunk]:
        """The chunks of one message, as they stand in the turn's text."""
        released = []
        for chunk in chunks:
            length = chunk.end - chunk.start
            start = message.skipped + chunk.start
            message.chunk_ends.append(start + length)
            message.stretches.append(_Stretch(self._length, start, length))
            self._length += length
            self._ends_in_space = chunk.text[-1:].isspace()
            released.append(_moved(chunk, message.base))
        return released


def _repeated(text: str, earlier: Message | None, final: bool) -> int | None:
    """How much of a text the earlier attempt has said, in whole chunks; None if not known yet."""
    if earlier is None or not earlier.released:
        return 0
    said = earlier.text[: earlier.released]
    if text.startswith(said):
        return earlier.released
    if said.startswith(text):
        return len(text) if final else None
    same = next(i for i, (a, b) in enumerate(zip(text, said, strict=False)) if a != b)
    return max(end for end in (0, earlier.skipped, *earlier.chunk_ends) if end <= same)


def _cut(stretches: list[_Stretch], length: int) -> list[_Stretch]:
    """Those of the first `length` characters of a message."""
    return [
        stretch._replace(length=min(stretch.length, length - stretch.message_start))
        for stretch in stretches
        if stretch.message_start < length
    ]


def _moved(chunk: TextChunk, by: int) -> TextChunk:
    if not by:
        return chunk
    return replace(
        chunk,
        start=chunk.start + by,
        end=chunk.end + by,
        spans=tuple(Span(a, b, start + by, end + by) for a, b, start, end in chunk.spans),
    )
