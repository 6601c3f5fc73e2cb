"""Endpoints without a stream, and containers that are not ours."""

import asyncio
import json
import logging
import struct
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from kokoro_sagemaker_agents import ConnectionFailed, InvalidInput, SpeechSession

from .conftest import TEXT, Take, collect, session_of

RATE = 24_000
SENTENCES = ["Hello there, Dr. Smith.", "It costs 4 dollars.", "And that was the third sentence."]
NEW = sys.version_info >= (3, 12)


def audio_of(text: str) -> bytes:
    """Samples that count up from the text's length; an odd number of parts of a page each."""
    samples = 400 * len(text)
    return struct.pack(f"<{samples}h", *(n % 30_000 for n in range(len(text), len(text) + samples)))


class PlainContainer:
    """What the AWS sample's container does with a POST, and no WebSocket."""

    def __init__(self) -> None:
        self.url = ""
        self.bodies: list[dict[str, Any]] = []
        self.content_type = "audio/wav"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = [line for line in head.split("\r\n") if line.startswith("content-length:")]
        body = await reader.readexactly(int(length[0].split(":")[1])) if length else b""
        fields = json.loads(body) if body else {}
        if not head.startswith("post /invocations "):
            await self._answer(writer, "404 Not Found", "text/plain", b"no such route")
        elif not fields.get("text"):
            await self._answer(writer, "400 Bad Request", "text/plain", b"text is required")
        else:
            self.bodies.append(fields)
            endless = b"\xff\xff\xff\xff"
            wav = (
                b"RIFF"
                + endless
                + b"WAVEfmt "
                + struct.pack("<IHHIIHH", 16, 1, 1, RATE, 48_000, 2, 16)
            )
            wav += b"LIST" + struct.pack("<I", 3) + b"abc\0" + b"data" + endless
            await self._answer(writer, "200 OK", self.content_type, wav + audio_of(fields["text"]))
        writer.close()

    async def _answer(
        self, writer: asyncio.StreamWriter, status: str, kind: str, data: bytes
    ) -> None:
        head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + data[:21])
        await writer.drain()
        writer.write(data[21:])
        await writer.drain()


@pytest.fixture
def plainly() -> Callable[..., AbstractAsyncContextManager[tuple[Any, PlainContainer]]]:
    """Starts an emulator in front of a plain container."""
    from kokoro_sagemaker_agents.emulator import Emulator

    @asynccontextmanager
    async def start() -> AsyncIterator[tuple[Any, PlainContainer]]:
        container = PlainContainer()
        server = await asyncio.start_server(container.serve, "127.0.0.1", 0)
        async with server:
            container.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            async with Emulator(container.url) as emulator:
                yield emulator, container

    return start


# --- a container that is not ours ---


async def test_a_plain_container_speaks_without_word_times(plainly: Any) -> None:
    async with plainly() as (emulator, container), session_of(emulator, speed=1.1) as session:
        take = Take(await collect(session.speak(TEXT, first_chunk="sentence")))

        assert session.ready.voices == ()
        with pytest.raises(InvalidInput, match="mp3"):
            session.utterance(encoding="mp3")

    assert take.pcm == b"".join(map(audio_of, SENTENCES))
    assert take.words == []
    assert take.done is not None
    assert take.done.samples * 2 == len(take.pcm)
    assert [body["text"] for body in container.bodies] == SENTENCES
    assert [(body["voice"], body["speed"], body["stream"]) for body in container.bodies] == [
        ("af_heart", 1.1, True)
    ] * 3


@pytest.mark.parametrize("fault", ["abort", "model_error", "stream_failure"])
async def test_a_plain_answer_that_breaks_goes_on_where_it_was(plainly: Any, fault: str) -> None:
    async with plainly() as (emulator, container), session_of(emulator) as session:
        emulator.faults.add(f"{fault}@audio:1")
        take = Take(await collect(session.speak(TEXT, first_chunk="sentence")))
        assert not emulator.faults.pending

    assert take.pcm == b"".join(map(audio_of, SENTENCES))
    assert len(container.bodies) == 4


async def test_an_answer_that_is_no_audio_fails_the_chunk_and_names_it(plainly: Any) -> None:
    async with plainly() as (emulator, container), session_of(emulator) as session:
        container.content_type = "text/html"
        take = Take(await collect(session.speak("Hello there.")))

    assert take.pcm == b""
    assert "text/html" in take.failed[0].message


# --- which way ---


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [r for r in caplog.records if r.name.endswith("transports.routes")]
    assert all(record.levelno == logging.WARNING for record in found)
    return [record.getMessage() for record in found]


@pytest.mark.skipif(
    not NEW, reason="AWS's SDK needs Python 3.12: there is nothing to fall back from"
)
async def test_a_container_without_a_websocket_is_spoken_to_by_posts(
    plainly: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with plainly() as (emulator, container):
        with pytest.raises(ConnectionFailed, match="transport='invocations'"):
            await session_of(emulator, transport="stream").open()
        async with session_of(emulator, transport="auto") as session:
            assert Take(await collect(session.speak(TEXT))).done
            session.rotate()  # the next connection knows it from the start
            assert Take(await collect(session.speak(TEXT))).done

    assert container.bodies
    assert len(warnings_of(caplog)) == 1
    assert "takes no bidirectional stream" in warnings_of(caplog)[0]


@pytest.mark.skipif(
    not NEW, reason="AWS's SDK needs Python 3.12: there is nothing to fall back from"
)
async def test_a_region_without_streams_is_spoken_to_by_posts(
    emulator: Any, caplog: pytest.LogCaptureFixture
) -> None:
    emulator.faults.add("error,status=404,error=UnknownOperationException")
    async with session_of(emulator, transport="auto") as session:
        take = Take(await collect(session.speak(TEXT)))

    assert take.done
    assert take.words
    assert len(warnings_of(caplog)) == 1


async def test_without_the_sdk_posts_are_made(
    emulator: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "aws_sdk_sagemaker_runtime_http2", None)
    async with session_of(emulator, transport="auto") as session:
        assert Take(await collect(session.speak(TEXT))).done
    assert len(warnings_of(caplog)) == 1


@pytest.mark.skipif(not NEW, reason="AWS's SDK needs Python 3.12")
async def test_where_there_are_streams_they_are_used(
    emulator: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with session_of(emulator, transport="auto") as session:
        assert Take(await collect(session.speak(TEXT))).done
        assert emulator.counters.streams == 1
        assert emulator.counters.container_connections == 1
    assert warnings_of(caplog) == []


@pytest.mark.skipif(not NEW, reason="AWS's SDK needs Python 3.12")
async def test_what_would_fail_either_way_is_told_and_no_second_way_tried(
    emulator: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ConnectionFailed, match="was not found"):
        await session_of(emulator, "nowhere", transport="auto").open()
    assert warnings_of(caplog) == []


def test_a_way_that_does_not_exist_is_told_at_once() -> None:
    with pytest.raises(InvalidInput, match="auto, stream, invocations"):
        SpeechSession.sagemaker("kokoro", transport="pigeon")  # type: ignore[arg-type]  # the point


def test_the_streams_port_is_left_out_of_awss_own_addresses() -> None:
    from kokoro_sagemaker_agents.transports.aws.rest import rest_url

    aws = "https://runtime.sagemaker.eu-west-1.amazonaws.com"
    china = "https://vpce-1-a.runtime.sagemaker.cn-north-1.vpce.amazonaws.com.cn"
    assert rest_url(f"{aws}:8443") == aws
    assert rest_url(f"{china}:8443") == china
    assert rest_url("https://localhost:8443") == "https://localhost:8443"
    assert rest_url(None) is None
