"""How a session begins and ends, on purpose and otherwise."""

import asyncio
import socket
from typing import Any

import pytest
from websockets.asyncio.server import serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from kokoro_sagemaker_agents import (
    AudioChunk,
    ConnectionFailed,
    ConnectionLost,
    DeadlineExceeded,
    InvalidInput,
    LocalProtocolError,
    RemoteProtocolError,
    SessionClosed,
    SpeechFailed,
    SpeechSession,
    UtteranceDone,
)
from kokoro_sagemaker_agents.protocol import Cancel

LONG = "This goes on for quite a while. " * 20


async def collect(events: Any) -> list[Any]:
    async with asyncio.timeout(20):
        return [event async for event in events]


async def collect_into(found: list[Any], events: Any) -> None:
    async for event in events:
        found.append(event)  # noqa: PERF401  (what came before an exception counts)


async def first_audio(events: Any) -> AudioChunk:
    async with asyncio.timeout(20):
        while not isinstance(event := await anext(events), AudioChunk):
            pass
    return event


# --- the beginning ---


async def test_ready_tells_what_the_server_is(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        assert session.ready.instance_id == "i-1"
        assert session.ready.voices == ("af_heart", "bf_emma")
        assert not session.draining


async def test_headers_path_and_query_reach_the_server() -> None:
    seen: list[Request] = []

    def refuse(_: Any, request: Request) -> Response:
        seen.append(request)
        return Response(403, "Forbidden", Headers())

    async with serve(lambda _: asyncio.sleep(0), "127.0.0.1", 0, process_request=refuse) as server:
        port = server.sockets[0].getsockname()[1]
        for url in (f"http://127.0.0.1:{port}", f"ws://127.0.0.1:{port}/other?a=1#part"):
            session = SpeechSession.connect(url, headers={"Authorization": "Bearer secret"})
            with pytest.raises(ConnectionFailed, match=r"HTTP 403.*headers=") as caught:
                await session.open()
            assert "secret" not in str(caught.value)

    assert [request.path for request in seen] == ["/invocations-bidirectional-stream", "/other?a=1"]
    assert seen[0].headers["Authorization"] == "Bearer secret"


async def test_where_nobody_listens_the_message_says_what_to_do() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            session = SpeechSession.connect(f"ws://user:password@{host}:{port}")
            with pytest.raises(ConnectionFailed, match="kokoro-agents serve") as caught:
                await session.open()
            assert "password" not in str(caught.value)
            await session.close()


async def test_a_server_that_is_no_websocket_is_recognised() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ConnectionFailed, match="check port and scheme"):
            await SpeechSession.connect(f"ws://127.0.0.1:{port}").open()
        with pytest.raises(ConnectionFailed, match="ws://"):
            await SpeechSession.connect(f"wss://127.0.0.1:{port}").open()


async def test_a_server_that_never_answers_the_handshake_is_given_up() -> None:
    held: list[asyncio.StreamWriter] = []

    async def hold(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        session = SpeechSession.connect(f"ws://127.0.0.1:{port}", connect_timeout_s=0.1)
        with pytest.raises(ConnectionFailed, match=r"connect_timeout_s = 0\.1 s"):
            await session.open()
        for writer in held:
            writer.close()


async def test_a_server_that_never_gets_ready_is_given_up(faking: Any) -> None:
    async with faking(says_ready=False) as fake:
        session = SpeechSession.connect(fake.url, connect_timeout_s=0.1)
        with pytest.raises(DeadlineExceeded, match="not ready within connect_timeout_s"):
            await session.open()
        await fake.until(lambda: not fake.connections)


async def test_a_server_that_breaks_off_before_it_is_ready(faking: Any) -> None:
    async with faking(says_ready=False) as fake:
        opening = asyncio.create_task(SpeechSession.connect(fake.url).open())
        await fake.until(lambda: fake.connections)
        fake.vanish()
        with pytest.raises(ConnectionFailed, match="before the server was ready"):
            await opening


async def test_another_protocol_version_is_told_at_once(faking: Any) -> None:
    async def speak_nonsense(connection: Any) -> None:
        await connection.send('{"type": "hello", "version": 9}')
        await connection.wait_closed()

    async with serve(speak_nonsense, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(RemoteProtocolError, match="same version"):
            await SpeechSession.connect(f"ws://127.0.0.1:{port}").open()


async def test_options_that_the_server_refuses_fail_the_opening(fake: Any) -> None:
    with pytest.raises(InvalidInput, match="voice 'nobody' is not one of") as caught:
        await SpeechSession.connect(fake.url, voice="nobody").open()

    assert caught.value.code == "unknown_voice"
    await fake.until(lambda: not fake.connections)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8080", "ftp://host", "ws://", "ws://h:99999", None])
def test_an_address_that_is_none_is_refused(url: Any) -> None:
    with pytest.raises(InvalidInput, match=r"ws://127\.0\.0\.1:8080"):
        SpeechSession.connect(url)


def test_options_are_checked_before_anything_is_opened() -> None:
    for options in ({"speed": 0}, {"keepalive_s": 0}, {"window_s": float("inf")}):
        with pytest.raises(InvalidInput):
            SpeechSession.connect("ws://h", **options)
    with pytest.raises(TypeError, match="voise"):
        SpeechSession.connect("ws://h", voise="x")


async def test_a_session_is_opened_once_and_used_while_open(fake: Any) -> None:
    session = SpeechSession.connect(fake.url)
    with pytest.raises(LocalProtocolError, match="not open"):
        session.utterance()
    await session.close()  # nothing to close, and no error
    async with session:
        with pytest.raises(LocalProtocolError, match="opened once"):
            await session.open()
    with pytest.raises(SessionClosed):
        session.utterance()


async def test_cancelling_an_opening_leaves_no_socket(faking: Any) -> None:
    async with faking(says_ready=False) as fake:
        opening = asyncio.create_task(SpeechSession.connect(fake.url).open())
        await fake.until(lambda: fake.connections)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await fake.until(lambda: not fake.connections)


async def test_closing_while_opening_leaves_no_socket(faking: Any) -> None:
    async with faking(says_ready=False) as fake:
        session = SpeechSession.connect(fake.url)
        opening = asyncio.create_task(session.open())
        await asyncio.sleep(0)  # it has begun, and has no socket yet
        await session.close()
        with pytest.raises(SessionClosed):
            await opening
        await fake.until(lambda: not fake.connections)


# --- the end ---


async def test_close_says_goodbye_leaves_no_socket_and_may_be_repeated(fake: Any) -> None:
    session = SpeechSession.connect(fake.url)
    await session.open()
    await asyncio.gather(session.close(), session.close())
    await session.close()

    await fake.until(lambda: not fake.connections)
    assert fake.protocols[0].closed


async def test_what_is_still_being_spoken_when_the_session_closes_says_so(fake: Any) -> None:
    fake.allow(1)
    async with SpeechSession.connect(fake.url) as session:
        reading = session.speak(LONG)
        await first_audio(reading)
        reader = asyncio.create_task(collect(reading))
        await asyncio.sleep(0)
        idle = session.utterance()

    with pytest.raises(SessionClosed, match="the session was closed"):
        await reader
    with pytest.raises(SessionClosed):
        await anext(idle)
    with pytest.raises(SessionClosed):
        await idle.push("More.")


async def test_audio_that_has_come_can_be_read_after_the_close(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push("All of this has come.")
        await utterance.end()
        await fake.until(lambda: not fake.protocols[0].contexts)
        await collect(session.speak("And so has this."))

    assert isinstance((await collect(utterance))[-1], UtteranceDone)


async def test_a_server_that_vanishes_mid_audio_ends_every_utterance(fake: Any) -> None:
    fake.allow(6)
    loop = asyncio.get_running_loop()
    async with SpeechSession.connect(fake.url, reconnect_s=0) as session:
        readers = [asyncio.create_task(collect(session.speak(LONG))) for _ in range(3)]
        await fake.until(lambda: fake.pieces_left == 0)
        at_s = loop.time()

        fake.vanish()

        for reader in readers:
            with pytest.raises(ConnectionLost, match="open a new session"):
                await reader
        assert loop.time() - at_s < 5  # and not the 40 of the keepalive
        with pytest.raises(ConnectionLost):
            session.speak("More.")


async def test_what_came_before_the_connection_was_lost_is_not_lost(fake: Any) -> None:
    fake.allow(3)
    async with SpeechSession.connect(fake.url, reconnect_s=0) as session:
        utterance = session.utterance()
        await utterance.push(LONG)
        await fake.until(lambda: fake.pieces_left == 0)
        fake.vanish()
        await fake.until(lambda: not fake.connections)
        events: list[Any] = []
        with pytest.raises(ConnectionLost):
            await collect_into(events, utterance)

    pcm = b"".join(event.pcm for event in events if isinstance(event, AudioChunk))
    assert fake.pcm("This goes on for quite a while.").startswith(pcm)
    assert len(pcm) == 3 * 2400 * 2


async def test_a_server_that_goes_silent_is_noticed(fake: Any) -> None:
    fake.allow(2)
    async with SpeechSession.connect(fake.url, keepalive_s=0.1, reconnect_s=0) as session:
        speech = session.speak(LONG)
        await first_audio(speech)
        fake.answers = False
        with pytest.raises(DeadlineExceeded, match=r"no sign of life for 0\.2 s"):
            await collect(speech)
        with pytest.raises(DeadlineExceeded):
            session.utterance()


async def test_a_server_that_lives_but_never_speaks_is_noticed(fake: Any) -> None:
    fake.allow(0)
    async with SpeechSession.connect(fake.url, keepalive_s=0.1, answer_timeout_s=0.5) as session:
        with pytest.raises(DeadlineExceeded, match="answer_timeout_s"):
            await collect(session.speak("Hello."))
        fake.allow(float("inf"))
        assert isinstance((await collect(session.speak("Again.")))[-1], UtteranceDone)


async def test_waiting_for_text_has_no_deadline(fake: Any) -> None:
    async with SpeechSession.connect(fake.url, keepalive_s=0.1, answer_timeout_s=0.2) as session:
        utterance = session.utterance()
        reader = asyncio.create_task(collect(utterance))
        await asyncio.sleep(0.5)  # (time passing is the subject here)
        await utterance.push("At last.")
        await utterance.end()
        assert isinstance((await reader)[-1], UtteranceDone)


async def test_a_server_that_ignores_windows_ends_only_the_utterance_it_floods(
    faking: Any,
) -> None:
    text = "This is a very long sentence that goes on and on. " * 300
    async with (
        faking(ignores_windows=True) as fake,
        SpeechSession.connect(fake.url, window_s=0.1) as session,
    ):
        flooded = session.speak(text)
        await anext(flooded)
        await fake.until(lambda: fake.asked(Cancel))
        assert fake.sent_samples["u1"] < 150 * 24_000
        with pytest.raises(RemoteProtocolError, match="without regard to `window`"):
            await collect(flooded)
        assert isinstance((await collect(session.speak("Next.")))[-1], UtteranceDone)


async def test_an_utterance_that_the_server_gives_up_says_why(fake: Any) -> None:
    fake.allow(0)
    async with SpeechSession.connect(fake.url) as session:
        speech = session.speak(LONG)
        reader = asyncio.create_task(collect(speech))
        await fake.until(lambda: len(fake.texts()) == 20)
        fake.protocols[0].warning("the lexicon has a word twice")
        fake.protocols[0].cancelled("u1")
        fake.allow(float("inf"))

        with pytest.raises(SpeechFailed, match="speak again") as caught:
            await reader
        assert (caught.value.code, caught.value.retryable) == ("context_cancelled", True)
        assert isinstance((await collect(session.speak("Next.")))[-1], UtteranceDone)
        assert session.warnings == ("the lexicon has a word twice",)


async def test_a_server_whose_frames_make_no_sense_ends_the_session(fake: Any) -> None:
    fake.allow(1)
    async with SpeechSession.connect(fake.url) as session:
        speech = session.speak(LONG)
        await first_audio(speech)
        (connection,) = fake.connections
        await connection.send(b"odd")  # no whole sample
        with pytest.raises(RemoteProtocolError, match="broke the protocol"):
            await collect(speech)
        await fake.until(lambda: not fake.connections)
