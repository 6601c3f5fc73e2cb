"""What the protocol's tests share: a server that offers something, and frames read back."""

from collections.abc import Callable

import pytest

from kokoro_sagemaker_agents.protocol import (
    Limits,
    Ready,
    ServerMessage,
    ServerProtocol,
    decode_server,
)

Read = Callable[[ServerProtocol], list[ServerMessage | bytes]]


@pytest.fixture
def announcement() -> Ready:
    return Ready(
        instance_id="i-1",
        model="kokoro-82m-v1.0",
        engine="tone",
        voices=("af_heart", "bf_emma"),
        languages=("en-us", "en-gb", "ja"),
        limits=Limits(
            text_chars=50, contexts=3, queued_chunks=4, queued_chars=120, preload_phrases=2
        ),
    )


@pytest.fixture
def server(announcement: Ready) -> ServerProtocol:
    """A server that has said `ready`, and whose `ready` was read."""
    machine = ServerProtocol(announcement)
    machine.ready()
    machine.data_to_send()
    return machine


@pytest.fixture
def read() -> Read:
    """What the server has to send, its text frames decoded."""

    def read(machine: ServerProtocol) -> list[ServerMessage | bytes]:
        return [
            decode_server(frame) if isinstance(frame, str) else frame
            for frame in machine.data_to_send()
        ]

    return read
