"""Level: unit. Everything bad that issue 2 lists and that the protocol can see.

Each frame gets exactly one `error`, no event, and the session goes on.
"""

import json

import pytest

from kokoro_sagemaker_agents.protocol import (
    Error,
    Ready,
    ServerMessage,
    ServerProtocol,
    SpeakRequested,
    decode_server,
)


def spoken(**fields: object) -> str:
    return json.dumps({"type": "speak", "context_id": "c", "chunk_id": 0, "text": "Hi.", **fields})


def raw(speed: str) -> str:
    return f'{{"type":"speak","context_id":"c","chunk_id":0,"text":"Hi.","speed":{speed}}}'


DEEP = '{"type":"ping","x":' + "[" * 50_000 + "]" * 50_000 + "}"

NOT_JSON: list[tuple[str | bytes, str]] = [
    ("", "invalid_json"),
    ("hello", "invalid_json"),
    ('{"type":"ping"', "invalid_json"),
    ("{'type':'ping'}", "invalid_json"),
    ('{"type":"ping"} {"type":"ping"}', "invalid_json"),
    ('{"type":"ping","id":' + "9" * 5000 + ",}", "invalid_json"),
    (DEEP, "invalid_json"),
    (DEEP.encode(), "invalid_json"),
    (b'{"type":"ping"', "invalid_json"),
    (b"", "invalid_json"),
    ("\ufeff" + '{"type":"ping"}', "invalid_json"),
    (b"\0" * 960, "unexpected_audio"),  # PCM silence
    (b"\xff" * 160, "unexpected_audio"),  # mu-law silence
    (b"\xd5" * 160, "unexpected_audio"),  # A-law silence
    (b"RIFF\x24\x00\x00\x00WAVEfmt ", "unexpected_audio"),
    (b"OggS\x00\x02", "unexpected_audio"),
    ('{"type":"ping"}'.encode("utf-16"), "unexpected_audio"),
]
NOT_A_MESSAGE: list[tuple[str | bytes, str]] = [
    ("null", "invalid_message"),
    ("3", "invalid_message"),
    ("NaN", "invalid_message"),
    ('"ping"', "invalid_message"),
    ("[]", "invalid_message"),
    ('[{"type":"ping"}]', "invalid_message"),
    ("[" * 500 + "]" * 500, "invalid_message"),
    ("{}", "invalid_message"),
    ('{"text":"Hi."}', "invalid_message"),
    ('{"type":null}', "invalid_message"),
    ('{"type":["ping"]}', "invalid_message"),
    ('{"type":"sing"}', "unknown_type"),
    ('{"type":"ready"}', "unknown_type"),
    ('{"type":"Speak"}', "unknown_type"),
    ('{"type":"\\ud800"}', "invalid_message"),
    (json.dumps({"type": "x" * 10_000}), "unknown_type"),
    ('{"type":"ping","id":-1}', "invalid_message"),
    ('{"type":"ping","id":' + "9" * 400 + "}", "invalid_message"),
    ('{"type":"ping","\\ud800":1,"id":"x"}', "invalid_message"),
    ('{"type":"speak","text":"Hi."}', "invalid_message"),
    ('{"type":"end"}', "invalid_message"),
    ('{"type":"end","context_id":""}', "invalid_context_id"),
    ('{"type":"cancel","context_id":7}', "invalid_context_id"),
    (json.dumps({"type": "end", "context_id": "x" * 10_000}), "invalid_context_id"),
    ('{"type":"end","context_id":"\\ud800"}', "invalid_context_id"),
    ('{"type":"window","context_id":"c"}', "invalid_message"),
    ('{"type":"window","context_id":"c","samples":1.5}', "invalid_message"),
    ('{"type":"configure","voice":7}', "invalid_voice"),
    ('{"type":"configure","speed":NaN}', "invalid_speed"),
    ('{"type":"configure","preload":7}', "invalid_preload"),
]
BAD_SPEAKS: list[tuple[str | bytes, str]] = [
    (spoken(voice="v" * 10_000), "invalid_voice"),
    (spoken(voice="af\ud800"), "invalid_voice"),
    (spoken(voice="af\0"), "invalid_voice"),
    (spoken(voice=["af_heart"]), "invalid_voice"),
    *((raw(speed), "invalid_speed") for speed in ("0", "-1", "NaN", "Infinity", "-Infinity")),
    *((raw(speed), "invalid_speed") for speed in ('"fast"', "100", "1e999", "9" * 400, "true")),
    (spoken(sample_rate=11025), "unsupported_sample_rate"),
    (spoken(sample_rate=10**300), "unsupported_sample_rate"),
    (spoken(sample_rate="24000"), "unsupported_sample_rate"),
    (spoken(encoding="opus", sample_rate=44100), "unsupported_sample_rate"),
    (spoken(encoding="wav"), "unsupported_encoding"),
    (spoken(encoding="e" * 10_000), "unsupported_encoding"),
    (spoken(language="tlh"), "unsupported_language"),
    (spoken(language={"a": "b"}), "unsupported_language"),
    ('{"type":"speak","context_id":"c","chunk_id":0}', "invalid_message"),
    (spoken(timestamps="char"), "invalid_message"),
    (spoken(text=None), "invalid_message"),
    (spoken(text=["Hi."]), "invalid_message"),
    (spoken(from_sample=-1), "invalid_message"),
    (spoken(text="a" * 100_000), "text_too_long"),
    (spoken(text="\U0001f44b" * 100_000), "text_too_long"),
    (raw("0").encode(), "invalid_speed"),
]


def answers(server: ServerProtocol) -> list[ServerMessage]:
    frames = server.data_to_send()
    assert all(isinstance(frame, str) for frame in frames)
    return [decode_server(frame) for frame in frames if isinstance(frame, str)]


def brief(frame: object) -> str:
    return ascii(frame)[:60]


@pytest.mark.parametrize(("frame", "code"), NOT_JSON + NOT_A_MESSAGE, ids=brief)
def test_a_frame_that_is_no_message(server: ServerProtocol, frame: str | bytes, code: str) -> None:
    assert server.receive(frame) == []
    [error] = answers(server)
    assert isinstance(error, Error)
    assert (error.code, error.retryable, error.chunk_id) == (code, False, None)
    assert 10 < len(error.message) < 400
    [event] = server.receive(spoken())
    assert isinstance(event, SpeakRequested)


@pytest.mark.parametrize(("frame", "code"), BAD_SPEAKS, ids=brief)
def test_a_bad_speak_is_answered_by_the_error_of_its_chunk(
    server: ServerProtocol, frame: str | bytes, code: str
) -> None:
    assert server.receive(frame) == []
    [error] = answers(server)
    assert isinstance(error, Error)
    assert (error.code, error.context_id, error.chunk_id) == (code, "c", 0)
    assert 10 < len(error.message) < 400
    # it counts as answered: the next one is fine and the context can end
    [event] = server.receive(spoken(chunk_id=1))
    assert isinstance(event, SpeakRequested)
    server.receive('{"type":"end","context_id":"c"}')
    server.chunk_done("c", 1)
    assert [type(message).__name__ for message in answers(server)] == ["ChunkDone", "ContextDone"]


@pytest.mark.parametrize("verb", ["end", "cancel"])
def test_a_context_of_nothing_but_a_bad_speak_has_its_terminal(
    server: ServerProtocol, verb: str
) -> None:
    server.receive(raw("0"))
    server.receive(json.dumps({"type": verb, "context_id": "c"}))
    kinds = [type(message).__name__ for message in answers(server)]
    assert kinds == ["Error", "ContextDone" if verb == "end" else "ContextCancelled"]


@pytest.mark.parametrize(
    "text",
    ["", " \n", "...!?", "👋👋", "\0", "a\0b", "مرحبا بالعالم", "9" * 50, "a\u202eb", "\u200b"],
)
def test_odd_text_is_passed_on_as_it_is(server: ServerProtocol, text: str) -> None:
    [event] = server.receive(spoken(text=text))
    assert isinstance(event, SpeakRequested)
    assert event.text == text


def test_lone_surrogates_arrive_as_replacement_characters(server: ServerProtocol) -> None:
    [event] = server.receive(spoken(text="a\ud83d b\udc00"))  # json.dumps escapes them
    assert isinstance(event, SpeakRequested)
    assert event.text == "a\ufffd b\ufffd"
    [event] = server.receive('{"type":"speak","context_id":"d","chunk_id":0,"text":"\ud800"}')
    assert isinstance(event, SpeakRequested)
    assert event.text == "\ufffd"
    assert answers(server) == []


def test_json_in_a_binary_frame_is_taken(server: ServerProtocol) -> None:
    [event] = server.receive(spoken(text="héllo").encode())
    assert isinstance(event, SpeakRequested)
    assert event.text == "héllo"


def test_a_second_connection_knows_nothing_of_the_first(announcement: Ready) -> None:
    one, other = ServerProtocol(announcement), ServerProtocol(announcement)
    for server in (one, other):
        server.ready()
    one.receive(spoken())
    one.receive("garbage")
    assert other.contexts == ()
    assert len(answers(other)) == 1  # its own ready
    assert len(other.receive(spoken())) == 1
