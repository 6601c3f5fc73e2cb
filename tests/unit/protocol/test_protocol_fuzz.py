"""Level: unit, property. Hostile frames into both machines: nothing raises, and life goes on."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_sagemaker_agents.errors import RemoteProtocolError
from kokoro_sagemaker_agents.protocol import (
    ChunkDone,
    ClientProtocol,
    ContextCancelled,
    ContextDone,
    Error,
    InvalidFrame,
    Limits,
    ProtocolViolated,
    Ready,
    ServerMessage,
    ServerProtocol,
    SpeakRequested,
    decode_client,
    decode_server,
    encode,
)

READY = Ready(
    instance_id="i",
    model="m",
    engine="tone",
    voices=("af_heart",),
    languages=("en-us",),
    limits=Limits(contexts=2, queued_chunks=2, text_chars=20, queued_chars=40),
)
TYPES_TO_SERVER = ["configure", "speak", "window", "end", "cancel", "ping", "close"]
TYPES_TO_CLIENT = [
    "ready", "chunk_started", "word_timestamps", "chunk_done", "context_done", "context_cancelled",
    "error", "pong", "draining", "warning",
]  # fmt: skip

odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(), max_size=20),
    st.sampled_from(["", "a", "b", "\ud800", "x" * 300, 10**30, -1, 0, 1, 2, 0.5, 1.0, [], {}]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
ids = st.sampled_from(["a", "b", "c"])
small = st.integers(0, 3)


def mostly(good: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Five times good to once odd, so that a whole message is often good."""
    return st.integers(0, 5).flatmap(lambda n: good if n else odd_values)


def messages(types: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects that are nearly messages: real field names, values mostly right."""
    return st.fixed_dictionaries(
        {"type": mostly(st.sampled_from(types))},
        optional={
            "context_id": mostly(ids),
            "chunk_id": mostly(small),
            "text": mostly(st.text(max_size=30)),
            "samples": mostly(small),
            "from_sample": mostly(small),
            "first_sample": mostly(small),
            "sample_rate": mostly(st.sampled_from([8000, 24000])),
            "encoding": mostly(st.sampled_from(["pcm_s16le", "mp3"])),
            "voice": mostly(st.just("af_heart")),
            "speed": mostly(st.floats(0.5, 2.0)),
            "id": mostly(small),
            "code": mostly(st.sampled_from(["internal", "chunk_id_reused"])),
            "message": mostly(st.text(max_size=5)),
            "retryable": mostly(st.booleans()),
            "duration": mostly(st.floats(0, 1)),
            "chunks": mostly(small),
            "words": mostly(st.just([])),
            "lexicon": odd_values,
            "preload": odd_values,
        },
    )


@st.composite
def mutated(draw: st.DrawFn, types: list[str]) -> str | bytes:
    """A nearly-message as text or bytes, sometimes damaged."""
    text = json.dumps(draw(messages(types)))
    cut = draw(st.integers(0, 12))
    if cut == 0:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.text(max_size=3)) + text[at + draw(st.integers(0, 3)) :]
    if draw(st.integers(0, 4)) == 0:
        return text.encode("utf-8", "surrogatepass")
    return text


def frames(types: list[str]) -> st.SearchStrategy[str | bytes]:
    return st.one_of(mutated(types), mutated(types), st.text(max_size=40), st.binary(max_size=40))


def read(server: ServerProtocol) -> list[ServerMessage]:
    return [decode_server(f) for f in server.data_to_send() if isinstance(f, str)]


def is_message(frame: str | bytes) -> bool:
    try:
        decode_client(frame)
    except InvalidFrame:
        return False
    return True


@settings(max_examples=400, deadline=None)
@given(frames(TYPES_TO_SERVER))
def test_one_bad_frame_gives_one_error_and_the_session_lives(frame: str | bytes) -> None:
    server = ServerProtocol(READY)
    server.ready()
    read(server)
    events = server.receive(frame)
    errors = [m for m in read(server) if isinstance(m, Error)]
    if not is_message(frame):
        assert events == []
        assert len(errors) == 1
    assert len(events) + len(errors) <= 1
    if server.closed:
        return
    [event] = server.receive('{"type":"speak","context_id":"fresh","chunk_id":0,"text":"Hi."}')
    assert isinstance(event, SpeakRequested)
    assert server.audio("fresh", 0, b"xxxx"[: 4 if event.options.encoding == "mp3" else 2], 1)
    assert server.chunk_done("fresh", 0)
    assert isinstance(read(server)[-1], ChunkDone)


@settings(max_examples=120, deadline=None)
@given(
    st.lists(frames(TYPES_TO_SERVER), min_size=6, max_size=25), st.randoms(use_true_random=False)
)
def test_a_hostile_client_gets_every_rule_kept(hostile: list[str | bytes], random: Any) -> None:
    """Also with clashing ids and full queues: one answer per request, nothing after the end."""
    server = ServerProtocol(READY)
    server.ready()
    requested: list[tuple[str, int]] = []
    out: list[ServerMessage] = []
    for frame in hostile:
        requested += [
            (event.context_id, event.chunk_id)
            for event in server.receive(frame)
            if isinstance(event, SpeakRequested)
        ]
        if random.random() < 0.3:
            for name in server.contexts:
                for chunk_id in server.unanswered(name)[:1]:
                    server.chunk_done(name, chunk_id)
        out += read(server)
        assert len(server.contexts) <= READY.limits.contexts
    for name in server.contexts:
        for chunk_id in server.unanswered(name):
            server.chunk_done(name, chunk_id)
    out += read(server)

    assert len(requested) == len(set(requested))
    over: set[str] = set()
    answers: list[tuple[str, int]] = []
    for message in out:
        assert getattr(message, "context_id", None) not in over
        if isinstance(message, (ContextDone, ContextCancelled)):
            over.add(message.context_id)
        if isinstance(message, ChunkDone):
            answers.append((message.context_id, message.chunk_id))
    assert len(answers) == len(set(answers))
    if not server.closed:
        assert all(pair in answers or pair[0] in over for pair in requested)


@settings(max_examples=120, deadline=None)
@given(st.lists(frames(TYPES_TO_CLIENT), min_size=6, max_size=25))
def test_a_hostile_server_cannot_make_the_client_raise(hostile: list[str | bytes]) -> None:
    client = ClientProtocol()
    client.receive(encode(READY))
    for name in "ab":
        client.speak(name, "One.")
        client.speak(name, "Two.")
    client.end("a")
    client.cancel("b")
    terminals: list[str] = []
    for frame in hostile:
        before = client.contexts
        for event in client.receive(frame):
            if isinstance(event, (ContextDone, ContextCancelled)):
                assert event.context_id in before
                terminals.append(event.context_id)
            about = getattr(event, "context_id", None)
            assert about != "b" or isinstance(event, (ContextDone, ContextCancelled))
        if isinstance(frame, str):
            assert not undecodable(frame) or isinstance(client.receive(frame)[0], ProtocolViolated)
    assert len(terminals) == len(set(terminals))


def undecodable(frame: str) -> bool:
    try:
        decode_server(frame)
    except RemoteProtocolError:
        return True
    return False
