"""Level: unit. The vocabulary, its JSON and the options."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kokoro_sagemaker_agents.errors import InvalidInput, RemoteProtocolError
from kokoro_sagemaker_agents.protocol import (
    RETRYABLE,
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
    ErrorCode,
    InvalidFrame,
    Limits,
    Ping,
    Pong,
    Ready,
    ServerMessage,
    ServerWarning,
    Speak,
    SpeechOptions,
    Window,
    Word,
    WordTimestamps,
    check_options,
    decode_client,
    decode_server,
    encode,
    options_from_query,
)

CLIENT_MESSAGES: list[ClientMessage] = [
    Configure(),
    Configure(
        voice="af_bella(2)+af_sky(1)",
        speed=1.25,
        language="en-us",
        sample_rate=8000,
        encoding="pcm_mulaw",
        timestamps="word",
        lexicon={"en-us": {"Kokoro": "/kˈOkəɹO/"}},
        preload=("Hello!", "One moment."),
    ),
    Speak(context_id="turn-1", chunk_id=0, text="Héllo 你好 \x00 👋"),
    Speak(context_id="turn-1", chunk_id=7, text="", speed=0.5, from_sample=12_000),
    Window(context_id="turn-1", samples=48_000),
    End(context_id="turn-1"),
    Cancel(context_id="turn-1"),
    Ping(),
    Ping(id=3),
    Close(),
]
SERVER_MESSAGES: list[ServerMessage] = [
    Ready(instance_id="i", model="m", engine="onnx", voices=("af_heart",), languages=("en-us",)),
    ChunkStarted(
        context_id="c", chunk_id=1, sample_rate=24000, encoding="pcm_s16le", first_sample=9
    ),
    WordTimestamps(
        context_id="c",
        chunk_id=1,
        words=(Word(text="Hi", start=0.1, end=0.4, char_start=0, char_end=2),),
    ),
    ChunkDone(context_id="c", chunk_id=1, samples=24000, duration=1.0, warnings=("⚠",)),
    ContextDone(context_id="c", chunks=1, samples=24000, duration=1.0),
    ContextCancelled(context_id="c", chunks=0, samples=0, duration=0.0),
    Error(code="unknown_voice", message="no", retryable=False, context_id="c", chunk_id=1),
    Pong(id=3),
    Draining(deadline_s=30.0),
    ServerWarning(message="late", context_id="c"),
]


@pytest.mark.parametrize("message", CLIENT_MESSAGES)
def test_a_client_message_survives_text_and_binary_frames(message: ClientMessage) -> None:
    frame = encode(message)
    assert decode_client(frame) == message
    assert decode_client(frame.encode()) == message


@pytest.mark.parametrize("message", SERVER_MESSAGES)
def test_a_server_message_survives_a_text_frame(message: ServerMessage) -> None:
    assert decode_server(encode(message)) == message


def test_the_tags_are_the_design_s() -> None:
    assert {json.loads(encode(m))["type"] for m in CLIENT_MESSAGES} == {
        "configure", "speak", "window", "end", "cancel", "ping", "close",
    }  # fmt: skip
    assert {json.loads(encode(m))["type"] for m in SERVER_MESSAGES} == {
        "ready", "chunk_started", "word_timestamps", "chunk_done", "context_done",
        "context_cancelled", "error", "pong", "draining", "warning",
    }  # fmt: skip


def test_unset_options_stay_off_the_wire_and_limits_do_not() -> None:
    assert json.loads(encode(Speak(context_id="c", chunk_id=0, text="x"))) == {
        "type": "speak",
        "context_id": "c",
        "chunk_id": 0,
        "text": "x",
    }
    ready = json.loads(encode(SERVER_MESSAGES[0]))
    assert ready["protocol"] == 1
    assert ready["limits"]["text_chars"] == Limits().text_chars
    assert "pcm_s16le" in ready["encodings"]


def test_fields_of_a_newer_version_are_ignored() -> None:
    assert decode_client('{"type":"ping","id":1,"mood":"good"}') == Ping(id=1)
    assert decode_server('{"type":"pong","id":1,"mood":["good"]}') == Pong(id=1)


@given(st.text())
def test_any_text_that_utf8_has_arrives_as_it_was(text: str) -> None:
    message = decode_client(encode(Speak(context_id="c", chunk_id=0, text=text)))
    assert isinstance(message, Speak)
    assert message.text == text


def test_lone_surrogates_become_one_replacement_each() -> None:
    for text in ("a\ud83d b", "a\ude00 b", "\udfffx", "\ud83d"):
        spoken = Speak(context_id="c", chunk_id=0, text=text).text
        assert len(spoken) == len(text)
        assert "\ufffd" in spoken
        spoken.encode()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"voice": "x" * 201}, ErrorCode.INVALID_VOICE),
        ({"voice": ""}, ErrorCode.INVALID_VOICE),
        ({"voice": "af\n"}, ErrorCode.INVALID_VOICE),
        ({"voice": "af\ud800"}, ErrorCode.INVALID_VOICE),
        ({"speed": 0}, ErrorCode.INVALID_SPEED),
        ({"speed": -1}, ErrorCode.INVALID_SPEED),
        ({"speed": 0.4999}, ErrorCode.INVALID_SPEED),
        ({"speed": 2.0001}, ErrorCode.INVALID_SPEED),
        ({"speed": float("nan")}, ErrorCode.INVALID_SPEED),
        ({"speed": float("inf")}, ErrorCode.INVALID_SPEED),
        ({"language": ""}, ErrorCode.UNSUPPORTED_LANGUAGE),
        ({"language": "x" * 36}, ErrorCode.UNSUPPORTED_LANGUAGE),
        ({"sample_rate": 11025}, ErrorCode.UNSUPPORTED_SAMPLE_RATE),
        ({"encoding": "flac"}, ErrorCode.UNSUPPORTED_ENCODING),
        ({"timestamps": "char"}, ErrorCode.INVALID_MESSAGE),
        ({"context_id": ""}, ErrorCode.INVALID_CONTEXT_ID),
        ({"context_id": "x" * 129}, ErrorCode.INVALID_CONTEXT_ID),
        ({"context_id": "two words"}, ErrorCode.INVALID_CONTEXT_ID),
        ({"context_id": "é"}, ErrorCode.INVALID_CONTEXT_ID),
        ({"context_id": "c\n"}, ErrorCode.INVALID_CONTEXT_ID),
        ({"chunk_id": -1}, ErrorCode.INVALID_MESSAGE),
        ({"chunk_id": 2**53}, ErrorCode.INVALID_MESSAGE),
        ({"from_sample": -1}, ErrorCode.INVALID_MESSAGE),
    ],
)
def test_no_invalid_speak_can_be_made(fields: dict[str, object], code: ErrorCode) -> None:
    whole: dict[str, object] = {"context_id": "c", "chunk_id": 0, "text": "x", **fields}
    with pytest.raises(InvalidInput) as caught:
        Speak(**whole)  # type: ignore[arg-type]  # values of the wrong kind on purpose
    assert caught.value.code == code
    assert len(str(caught.value)) < 250

    with pytest.raises(InvalidFrame) as told:  # and none can be received
        decode_client(json.dumps({"type": "speak", **whole}))
    assert told.value.code == code


@pytest.mark.parametrize(
    "lexicon", [{"en-us": {"": "x"}}, {"en-us": {"x": ""}}, {"en-us": {"x": "a\x07"}}]
)
def test_a_lexicon_has_printable_words(lexicon: dict[str, dict[str, str]]) -> None:
    with pytest.raises(InvalidInput) as caught:
        Configure(lexicon=lexicon)
    assert caught.value.code == ErrorCode.INVALID_LEXICON


def test_voices_that_look_like_paths_are_left_to_the_server() -> None:
    for voice in ("../../etc/passwd", "/etc/hostname.pt", "af_bella(2)+af_sky(1)"):
        assert Speak(context_id="c", chunk_id=0, text="x", voice=voice).voice == voice


def test_a_server_frame_that_is_none_is_a_remote_error() -> None:
    for frame in ("", "{", "[]", '{"type":"speak"}', '{"type":"pong","id":-1}', "[" * 100_000):
        with pytest.raises(RemoteProtocolError):
            decode_server(frame)


def test_what_may_work_later_is_retryable() -> None:
    assert ErrorCode.OVERLOADED in RETRYABLE
    assert "queue_full" in RETRYABLE
    assert ErrorCode.UNKNOWN_VOICE not in RETRYABLE


# --- options ---


def test_a_speak_s_options_stand_over_the_session_s() -> None:
    session = SpeechOptions().overridden(Configure(voice="bf_emma", sample_rate=16000))
    chunk = session.overridden(Speak(context_id="c", chunk_id=0, text="x", speed=1.5))
    assert chunk == SpeechOptions(voice="bf_emma", sample_rate=16000, speed=1.5)
    assert session.speed == 1.0


def test_options_from_a_query_string() -> None:
    assert options_from_query("voice=af_sky&speed=1.5&sample_rate=8000&encoding=pcm_alaw&x=1") == (
        Configure(voice="af_sky", speed=1.5, sample_rate=8000, encoding="pcm_alaw")
    )
    assert options_from_query({"language": "ja", "timestamps": "word"}) == (
        Configure(language="ja", timestamps="word")
    )
    assert options_from_query("voice=af_bella(2)%2Baf_sky(1)").voice == "af_bella(2)+af_sky(1)"
    assert options_from_query("") == Configure()


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("speed=fast", ErrorCode.INVALID_SPEED),
        ("speed=nan", ErrorCode.INVALID_SPEED),
        ("speed=1e999", ErrorCode.INVALID_SPEED),
        ("speed=", ErrorCode.INVALID_SPEED),
        ("sample_rate=24e3x", ErrorCode.UNSUPPORTED_SAMPLE_RATE),
        ("sample_rate=1", ErrorCode.UNSUPPORTED_SAMPLE_RATE),
        ("encoding=wav", ErrorCode.UNSUPPORTED_ENCODING),
        ("voice=", ErrorCode.INVALID_VOICE),
        ("voice=%00", ErrorCode.INVALID_VOICE),
    ],
)
def test_a_bad_query_string_says_what_is_bad(query: str, code: ErrorCode) -> None:
    with pytest.raises(InvalidInput) as caught:
        options_from_query(query)
    assert caught.value.code == code


def test_options_a_server_does_not_offer(announcement: Ready) -> None:
    check_options(SpeechOptions(language="ja", encoding="opus"), announcement)
    for options, code in (
        (SpeechOptions(language="de"), ErrorCode.UNSUPPORTED_LANGUAGE),
        (SpeechOptions(encoding="opus", sample_rate=44100), ErrorCode.UNSUPPORTED_SAMPLE_RATE),
    ):
        with pytest.raises(InvalidInput) as caught:
            check_options(options, announcement)
        assert caught.value.code == code


def test_importing_the_protocol_is_light() -> None:
    script = (
        "import sys; import kokoro_sagemaker_agents.protocol;"
        "print([m for m in ('asyncio', 'numpy', 'websockets', 'http') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
