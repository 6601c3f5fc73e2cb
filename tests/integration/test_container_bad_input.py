"""Bad input over real sockets: a clear error or sensible silence, and everyone else goes on.

One server process goes through all of it.
"""

import json

import httpx
import pytest
import pytest_asyncio

from kokoro_container.engines.tone import ToneEngine, spell
from kokoro_container.server import running_server

pytestmark = pytest.mark.asyncio(loop_scope="module")

STRANGE_VOICES = ["../../etc/passwd", "/etc/hostname.pt", "nobody", "af_heart(0)"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server():
    async with running_server(ToneEngine, phonemize=spell) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def http(server):
    async with httpx.AsyncClient(base_url=server.http_url, timeout=20) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def bystander(server, connect):
    """Another session, which must be able to speak after whatever the test did."""
    async with connect(server.url) as other:
        yield other
        await other.says()


@pytest_asyncio.fixture(loop_scope="module")
async def client(server, connect, bystander):
    """The session that sends the bad input, which must be able to speak after it as well."""
    async with connect(server.url) as one:
        yield one
        await one.says()


async def answer(client, chunk=("a", 0)) -> dict:
    """The one answer of a chunk."""
    while True:
        message = await client.receive()
        if isinstance(message, dict) and message["type"] in ("chunk_done", "error"):
            assert (message["context_id"], message["chunk_id"]) == chunk
            return message


# --- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "   \n", "?!…", "—", "😀🎉", "\x00", "\u202e", "(“”)"])
async def test_nothing_to_speak_is_silence_with_a_warning(client, text: str) -> None:
    await client.speak("a", text)

    done = await answer(client)

    assert done["type"] == "chunk_done"
    assert done["samples"] == 0
    assert done["warnings"]


async def test_a_text_that_is_too_long_is_refused_whole(client) -> None:
    await client.speak("a", "word " * 20_000)

    error = await answer(client)

    assert error["code"] == "text_too_long"
    assert "100000" in error["message"]


async def test_the_longest_text_is_spoken_and_can_be_cancelled(client) -> None:
    await client.speak("a", "word " * 4000)
    await client.until("chunk_started", "a")
    await client.send("cancel", context_id="a")
    await client.until("context_cancelled", "a")


@pytest.mark.parametrize(
    "text",
    [
        "null\x00byte",
        "lone \ud800 surrogate \udfff word",
        "שלום עולם hello مرحبا",
        "9" * 310,
        "a" * 5000,
        "[" * 4000 + "word",
        "word\u202eright to left\u202c",
        "<speak>&amp;</speak> {json: [1, 2]}",
    ],
)
async def test_strange_text_is_answered(client, text: str) -> None:
    await client.speak("a", text)  # json.dumps writes lone surrogates as escapes

    assert (await answer(client))["type"] == "chunk_done"


async def test_a_lone_surrogate_in_raw_utf_8_is_no_text_frame_but_a_binary_one_is_answered(
    client,
) -> None:
    frame = b'{"type":"speak","context_id":"a","chunk_id":0,"text":"a \xed\xa0\x80 b"}'
    await client.socket.send(frame)

    assert (await client.receive())["type"] == "error"


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize("voice", [*STRANGE_VOICES, "x" * 10_000, "", "af\x00", 7, ["af_heart"]])
async def test_a_voice_that_is_not_here_fails_the_chunk(client, voice: object) -> None:
    await client.speak("a", "hello", voice=voice)

    error = await answer(client)

    assert error["code"] in ("unknown_voice", "invalid_voice")
    assert not error["retryable"]
    assert len(error["message"]) < 400


@pytest.mark.parametrize("speed", [0, -1, float("nan"), float("inf"), -float("inf"), "fast", 100])
async def test_a_speed_that_cannot_be_fails_the_chunk(client, speed: object) -> None:
    await client.speak("a", "hello", speed=speed)

    error = await answer(client)

    assert error["code"] == "invalid_speed"
    assert "0.5 to 2.0" in error["message"]


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("language", "tlh", "unsupported_language"),
        ("sample_rate", 11_025, "unsupported_sample_rate"),
        ("sample_rate", 10**300, "unsupported_sample_rate"),
        ("encoding", "flac", "unsupported_encoding"),
        ("encoding", "aac", "unsupported_encoding"),
        ("timestamps", "phoneme", "invalid_message"),
        ("from_sample", -1, "invalid_message"),
    ],
)
async def test_other_options_are_checked_too(client, field: str, value: object, code: str) -> None:
    await client.speak("a", "hello", **{field: value})

    assert (await answer(client))["code"] == code


async def test_a_bad_chunk_does_not_hold_up_the_next_one(client) -> None:
    await client.speak("a", "hello", voice="nobody")
    await client.speak("a", "hello", 1)
    await client.send("end", context_id="a")

    assert (await answer(client))["type"] == "error"
    assert (await answer(client, ("a", 1)))["type"] == "chunk_done"
    done, _, _ = await client.until("context_done", "a")
    assert done["chunks"] == 1


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("?voice=../../etc/passwd", "unknown_voice"),
        ("?speed=nan", "invalid_speed"),
        ("?speed=fast", "invalid_speed"),
        ("?sample_rate=1", "unsupported_sample_rate"),
        ("?voice=%ff%00", "invalid_voice"),
    ],
)
async def test_a_bad_query_string_is_told_and_the_session_goes_on(
    server, connect, query: str, code: str
) -> None:
    async with connect(server.url, query) as session:
        error, _, _ = await session.until("error")
        await session.says()

    assert error["code"] == code


# --- frames --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("{", "invalid_json"),
        ("", "invalid_json"),
        ("null", "invalid_message"),
        ("[]", "invalid_message"),
        ('"speak"', "invalid_message"),
        ("{}", "invalid_message"),
        ('{"type": 3}', "invalid_message"),
        ('{"type": "sing"}', "unknown_type"),
        ('{"type": "speak"}', "invalid_message"),
        ("[" * 100_000, "invalid_json"),
        ('{"type": "window", "context_id": "a", "samples": 1e400}', "invalid_message"),
        (b"\x00\x01\x02\xff" * 5000, "unexpected_audio"),
        (b"\xff\xfe", "unexpected_audio"),
        (b"", "invalid_json"),
    ],
)
async def test_a_frame_that_is_no_message_is_answered_by_one_error(
    client, frame: str | bytes, code: str
) -> None:
    await client.socket.send(frame)
    await client.send("ping", id=7)

    _, _, messages = await client.until("pong")

    assert [message["type"] for message in messages] == ["error", "pong"]
    assert messages[0]["code"] == code


async def test_an_oversized_frame_ends_its_session_only(server, connect, bystander) -> None:
    async with connect(server.url) as session:
        await session.socket.send("x" * (3 * 1024 * 1024))
        await session.socket.wait_closed()

    assert session.socket.close_code == 1009


async def test_many_contexts_at_once_are_bounded(client) -> None:
    limit = client.ready["limits"]["contexts"]
    for number in range(limit + 1):
        await client.send("window", context_id=f"c{number}", samples=1)

    error, _, _ = await client.until("error")

    assert error["code"] == "too_many_contexts"
    for number in range(limit):
        await client.send("cancel", context_id=f"c{number}")


async def test_a_flood_of_nonsense_is_answered_and_forgotten(client) -> None:
    for _ in range(500):
        await client.socket.send("nonsense")
    await client.send("ping")

    _, _, messages = await client.until("pong")

    assert len(messages) == 501


# --- POST ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "invalid_json"),
        (b"{", 400, "invalid_json"),
        (b"\xff\xfe\x00", 400, "invalid_json"),
        (b"[" * 100_000, 400, "invalid_json"),
        (b"[]", 400, "invalid_message"),
        (b"{}", 400, "invalid_message"),
        (b'{"text": 3}', 400, "invalid_message"),
        (b'{"text": ""}', 400, "invalid_message"),
        (b'{"text": "  "}', 400, "invalid_message"),
        (b'{"text": "a", "voice": "../../etc/passwd"}', 400, "unknown_voice"),
        (b'{"text": "a", "voice": "/etc/hostname.pt"}', 400, "unknown_voice"),
        (b'{"text": "a", "voice": "' + b"x" * 10_000 + b'"}', 400, "invalid_voice"),
        (b'{"text": "a", "speed": 0}', 400, "invalid_speed"),
        (b'{"text": "a", "speed": NaN}', 400, "invalid_speed"),
        (b'{"text": "a", "speed": 1e999}', 400, "invalid_speed"),
        (b'{"text": "a", "speed": "fast"}', 400, "invalid_speed"),
        (b'{"text": "a", "speed": true}', 400, "invalid_speed"),
        (b'{"text": "a", "language": "tlh"}', 400, "unsupported_language"),
        (b'{"text": "a", "sample_rate": 1}', 400, "unsupported_sample_rate"),
        (b'{"text": "a", "format": "aac"}', 400, "unsupported_encoding"),
        (b'{"text": "a", "format": ["wav"]}', 400, "unsupported_encoding"),
        (b'{"text": "a", "format": {}}', 400, "unsupported_encoding"),
        (b'{"text": "a", "encoding": "pcm_mulaw"}', 400, "unsupported_encoding"),
        (b'{"text": "a", "stream": "yes"}', 400, "invalid_message"),
        (json.dumps({"text": "a " * 50_000}).encode(), 413, "text_too_long"),
        (b'{"text": "' + b"a" * 3_000_000 + b'"}', 413, "text_too_long"),
    ],
)
async def test_a_bad_post_is_refused_as_json(
    http, bystander, body: bytes, status: int, code: str
) -> None:
    response = await http.post("/invocations", content=body)

    assert response.status_code == status
    error = response.json()["error"]
    assert error["code"] == code
    assert len(error["message"]) < 400


@pytest.mark.parametrize("text", ["?!", "😀", "\x00"])
async def test_a_post_with_nothing_to_speak_is_an_empty_wav(http, bystander, text: str) -> None:
    response = await http.post("/invocations", json={"text": text})

    assert response.status_code == 200
    assert len(response.content) == 44
    assert "nothing to speak" in response.headers["x-kokoro-warnings"]


@pytest.mark.parametrize("text", ["null\x00byte", "9" * 310 + " a", "שלום hello", "a \ud800 b"])
async def test_a_post_with_strange_text_is_spoken(http, bystander, text: str) -> None:
    response = await http.post("/invocations", content=json.dumps({"text": text}))

    assert response.status_code == 200
    assert len(response.content) > 44


@pytest.mark.parametrize(("method", "path"), [("GET", "/invocations"), ("GET", "/nothing")])
async def test_other_routes_and_methods_are_refused(http, bystander, method, path) -> None:
    assert (await http.request(method, path)).status_code in (404, 405)
