"""Level: unit, property. Both machines against each other, with a model of a server between.

Every sample says whose it is: context, chunk and position are in its two bytes. So whatever the
interleaving of speaks, ends, cancels, deliveries and synthesis, each sample that comes out can be
held against the place it came out at.
"""

import struct
from collections import deque

from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_sagemaker_agents.protocol import (
    AudioReceived,
    ChunkDone,
    ChunkStarted,
    ClientEvent,
    ClientProtocol,
    ContextCancelled,
    ContextDone,
    Error,
    Limits,
    ProtocolViolated,
    Ready,
    ServerMessage,
    ServerProtocol,
    SpeakRequested,
    Word,
    WordTimestamps,
    decode_server,
)

NAMES = ("c0", "c1", "c2")
# Chunk k of a context is planned in these pieces, in samples; [] is silence, None fails midway.
PLANS: tuple[tuple[int | None, ...], ...] = ((3, 4, 2), (), (5,), (2, None), (None,), (1, 1, 1, 1))


def plan_of(name: str, chunk_id: int) -> tuple[int | None, ...]:
    return PLANS[(int(name[1]) * 2 + chunk_id) % len(PLANS)]


def sample(name: str, chunk_id: int, position: int) -> int:
    return int(name[1]) << 12 | chunk_id << 8 | position


def pcm(name: str, chunk_id: int, first: int, count: int) -> bytes:
    values = [sample(name, chunk_id, first + i) for i in range(count)]
    return struct.pack(f"<{count}H", *values)


class Engine:
    """A server's synthesis: works on any context's first chunk, and only stops when told False."""

    def __init__(self, server: ServerProtocol) -> None:
        self.server = server
        self.queues: dict[str, deque[SpeakRequested]] = {}
        self.progress: dict[tuple[str, int], int] = {}
        self.late = 0

    def request(self, event: SpeakRequested) -> None:
        self.queues.setdefault(event.context_id, deque()).append(event)

    def work(self, name: str) -> bool:
        """One piece, or the end, of the context's first chunk; False if there is nothing to do."""
        queue = self.queues.get(name)
        if not queue:
            return False
        request = queue[0]
        chunk_id, plan = request.chunk_id, plan_of(name, request.chunk_id)
        step = self.progress.get((name, chunk_id), 0)
        self.progress[name, chunk_id] = step + 1
        if step == len(plan):
            wanted = self.server.chunk_done(name, chunk_id)
        elif (size := plan[step]) is None:
            wanted = self.server.chunk_failed(name, chunk_id, "synthesis_failed", "model")
        else:
            first = sum(piece or 0 for piece in plan[:step])
            skipped = max(0, min(size, request.from_sample - first))
            word = Word(text="w", start=first / 24000, end=0.1, char_start=0, char_end=1)
            self.server.words(name, chunk_id, [word])
            data = pcm(name, chunk_id, first + skipped, size - skipped)
            wanted = self.server.audio(name, chunk_id, data)
        answered = step >= len(plan) or plan[step] is None
        if answered or not wanted:
            queue.popleft()
        if not wanted:
            self.late += 1
            queue.clear()
        return True


class Conversation:
    """A client and a server with two queues of frames between them."""

    def __init__(self) -> None:
        self.client = ClientProtocol()
        self.server = ServerProtocol(
            Ready(
                instance_id="i",
                model="m",
                engine="tone",
                voices=(),
                languages=("en-us",),
                limits=Limits(contexts=len(NAMES), queued_chunks=16),
            )
        )
        self.engine = Engine(self.server)
        self.up: deque[str | bytes] = deque()
        self.down: deque[str | bytes] = deque()
        self.wire: list[str | bytes] = []
        self.events: list[ClientEvent] = []
        self.spoken: dict[str, list[int]] = {name: [] for name in NAMES}
        self.ended: set[str] = set()
        self.cancelled_at: dict[str, int] = {}
        self.server.ready()

    def act(self, action: str, name: str) -> None:
        over = name in self.ended or name in self.cancelled_at
        match action:
            case "speak" if not over and len(self.spoken[name]) < 12:
                self.spoken[name].append(self.client.speak(name, "text"))
            case "end" if not over:
                self.ended.add(name)
                self.client.end(name)
            case "cancel" if name not in self.cancelled_at:
                if self.client.cancel(name):
                    self.cancelled_at[name] = len(self.events)
            case "window":
                self.client.window(name, 10)
            case "ping":
                self.client.ping()
            case "garbage":
                self.up.append(b"\0\0")
            case "up" if self.up:
                for event in self.server.receive(self.up.popleft()):
                    if isinstance(event, SpeakRequested):
                        self.engine.request(event)
                    # Cancel is not heeded: the engine's thread is already running.
            case "down" if self.down:
                self.events += self.client.receive(self.down.popleft())
            case "work":
                self.engine.work(name)
        self.up.extend(self.client.data_to_send())
        frames = self.server.data_to_send()
        self.down.extend(frames)
        self.wire += frames

    def finish(self) -> None:
        """Let everything asked for happen."""
        while self.up or self.down or any(self.engine.queues.values()):
            for action in ("up", "work", "down"):
                for name in NAMES:
                    self.act(action, name)


ACTION = st.tuples(
    st.sampled_from(
        ("speak", "speak", "end", "cancel", "window", "ping", "garbage")
        + ("up", "work", "down") * 4  # so that what is asked for also happens
    ),
    st.sampled_from(NAMES),
)
# Short ones shrink well; long ones reach states that short ones do not.
ACTIONS = st.one_of(st.lists(ACTION, max_size=20), st.lists(ACTION, min_size=50, max_size=150))


def check_wire(wire: list[str | bytes]) -> None:
    """The rules of DESIGN section 4, told once more without the machines' help."""
    current: tuple[str, int] | None = None
    over: set[str] = set()
    answered: set[tuple[str, int]] = set()
    for number, frame in enumerate(wire):
        if isinstance(frame, bytes):
            assert current is not None, "audio with no current chunk"
            continue
        message: ServerMessage = decode_server(frame)
        assert isinstance(message, Ready) == (number == 0)
        name = getattr(message, "context_id", None)
        if name is None:
            continue
        assert name not in over, "a frame after the context's end"
        match message:
            case ChunkStarted():
                assert (name, message.chunk_id) not in answered
                current = (name, message.chunk_id)
            case ChunkDone() | Error() if message.chunk_id is not None:
                assert (name, message.chunk_id) not in answered, "answered twice"
                answered.add((name, message.chunk_id))
                current = None if current == (name, message.chunk_id) else current
            case ContextDone() | ContextCancelled():
                over.add(name)
                current = None if current and current[0] == name else current


@settings(max_examples=250, deadline=None)
@given(ACTIONS)
def test_any_interleaving_keeps_order_and_never_mixes_audio(
    actions: list[tuple[str, str]],
) -> None:
    talk = Conversation()
    for action, name in actions:
        talk.act(action, name)
    talk.finish()
    check_wire(talk.wire)
    assert not [event for event in talk.events if isinstance(event, ProtocolViolated)]
    for name in NAMES:
        check_context(talk, name)
    garbage = sum(action == "garbage" for action, _ in actions)
    reported = [e for e in talk.events if isinstance(e, Error) and e.context_id is None]
    assert [error.code for error in reported] == ["unexpected_audio"] * garbage


def check_context(talk: Conversation, name: str) -> None:
    mine = [
        (at, event)
        for at, event in enumerate(talk.events)
        if getattr(event, "context_id", None) == name
    ]
    terminals = [at for at, e in mine if isinstance(e, (ContextDone, ContextCancelled))]
    assert len(terminals) == (name in talk.ended or name in talk.cancelled_at)
    assert not terminals or mine[-1][0] == terminals[0], "an event after the terminal"
    if name in talk.cancelled_at:
        assert [at for at, _ in mine if at >= talk.cancelled_at[name]] == terminals
    else:
        assert talk.client.unanswered(name) == ()

    position: dict[int, int] = {}
    answers: list[int] = []
    for _, event in mine:
        match event:
            case AudioReceived():
                first = event.first_sample
                assert first == position.get(event.chunk_id, 0)
                assert event.samples is not None
                assert event.data == pcm(name, event.chunk_id, first, event.samples)
                position[event.chunk_id] = first + event.samples
                assert event.chunk_id not in answers
                assert all(i in answers for i in talk.spoken[name] if i < event.chunk_id)
            case WordTimestamps():
                assert event.chunk_id not in answers
            case ChunkDone():
                plan = plan_of(name, event.chunk_id)
                assert event.samples == position.get(event.chunk_id, 0) == sum(p or 0 for p in plan)
                answers.append(event.chunk_id)
            case Error():
                assert None in plan_of(name, event.chunk_id or 0)
                answers.append(event.chunk_id or 0)
    if name in talk.cancelled_at:
        assert answers == talk.spoken[name][: len(answers)]
    else:
        assert answers == talk.spoken[name]


@settings(max_examples=150, deadline=None)
@given(ACTIONS, st.integers(0, 200))
def test_a_cut_connection_is_resumed_without_a_lost_or_doubled_sample(
    actions: list[tuple[str, str]], cut: int
) -> None:
    """What a session does: the unfinished chunks again, `from_sample` on, over a new connection."""
    actions = [(a, name) for a, name in actions if a not in ("cancel", "garbage", "ping")]
    first = Conversation()
    for action, name in actions[:cut]:
        first.act(action, name)
    second = Conversation()
    for name in NAMES:
        for chunk_id in first.client.unanswered(name):
            heard = [
                event.samples or 0
                for event in first.events
                if isinstance(event, AudioReceived)
                and (event.context_id, event.chunk_id) == (name, chunk_id)
            ]
            second.client.speak(name, "text", chunk_id=chunk_id, from_sample=sum(heard))
        second.client.end(name)
    second.act("up", NAMES[0])
    second.finish()
    check_wire(second.wire)
    assert not [event for event in second.events if isinstance(event, ProtocolViolated)]
    for name in NAMES:
        for chunk_id in first.spoken[name]:
            both = [
                event
                for event in first.events + second.events
                if isinstance(event, AudioReceived)
                and (event.context_id, event.chunk_id) == (name, chunk_id)
            ]
            length = sum(event.samples or 0 for event in both)
            assert b"".join(event.data for event in both) == pcm(name, chunk_id, 0, length)
            assert length == sum(piece or 0 for piece in plan_of(name, chunk_id))
