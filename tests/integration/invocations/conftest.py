"""A session by POSTs: aiobotocore, the emulator and a container, all on this machine."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

import pytest

from kokoro_sagemaker_agents import (
    AudioChunk,
    ChunkFailed,
    SpeechSession,
    UtteranceDone,
    WordTimestamps,
)

NEEDED = ("aiobotocore", "h2", "h11", "cryptography", "kokoro_container")
if not all(map(importlib.util.find_spec, NEEDED)):
    collect_ignore_glob = ["test_*.py"]

DEADLINE_S = 30
TEXT = "Hello there, Dr. Smith. It costs 4 dollars. And that was the third sentence."


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Some, and nothing of this machine's own configuration."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@pytest.fixture(autouse=True)
async def _nothing_is_left() -> AsyncIterator[None]:
    """A test's end is the end of every task that its sessions began."""
    yield
    left = [task for task in asyncio.all_tasks() if task.get_name().startswith("kokoro")]
    if left:
        await asyncio.wait(left, timeout=10)
    assert [task.get_name() for task in left if not task.done()] == []


@pytest.fixture
def emulating(serving: Any) -> Callable[..., AbstractAsyncContextManager[Any]]:
    """Starts an emulator in front of a container of its own."""
    from kokoro_sagemaker_agents.emulator import Emulator, Settings

    @asynccontextmanager
    async def start(engine: Any = None, **options: Any) -> AsyncIterator[Emulator]:
        options.setdefault("settings", Settings(restart_s=0.3))  # of a killed container
        async with serving(engine) as server, Emulator(server.url, **options) as emulator:
            yield emulator

    return start


@pytest.fixture
async def emulator(emulating: Any) -> AsyncIterator[Any]:
    async with emulating() as started:
        yield started


def session_of(
    emulator: Any, endpoint: str = "kokoro", transport: Any = "invocations", **options: Any
) -> SpeechSession:
    """A session through the emulator, as one to SageMaker would be made."""
    return SpeechSession.sagemaker(
        endpoint,
        region="us-east-1",
        endpoint_url=emulator.endpoint_url,
        ca_bundle=str(emulator.ca_path),
        transport=transport,
        **options,
    )


def tuned(emulator: Any, knobs: dict[str, Any], **options: Any) -> SpeechSession:
    """The same with other limits of the transport, so that a test need not wait for the real."""
    from kokoro_sagemaker_agents.transports.invocations import InvocationsTransport
    from kokoro_sagemaker_agents.transports.sagemaker import SageMakerEndpoint

    target = SageMakerEndpoint(
        "kokoro",
        region="us-east-1",
        endpoint_url=emulator.endpoint_url,
        ca_bundle=str(emulator.ca_path),
    )
    return SpeechSession(partial(InvocationsTransport, target, **knobs), **options)


async def collect(events: Any) -> list[Any]:
    async with asyncio.timeout(DEADLINE_S):
        return [event async for event in events]


class Take:
    """What a listener got of an utterance."""

    def __init__(self, events: list[Any]) -> None:
        self.events = events
        self.pcm = b"".join(event.pcm for event in events if isinstance(event, AudioChunk))
        self.words = [w for e in events if isinstance(e, WordTimestamps) for w in e.words]
        self.failed = [event for event in events if isinstance(event, ChunkFailed)]
        self.done = events[-1] if events and isinstance(events[-1], UtteranceDone) else None

    def __eq__(self, other: object) -> bool:
        """Whether both heard the same, to the sample and the word."""
        assert isinstance(other, Take)
        return (self.pcm, self.words, self.done) == (other.pcm, other.words, other.done)

    __hash__ = None  # type: ignore[assignment]  # compared, never looked up
