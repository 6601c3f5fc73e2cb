"""Hostile frames, tens of thousands, into what stands behind the WebSocket; without I/O.

Level: fuzz. A frame is answered by at most one error in the client's words, never by an exception,
and the session speaks afterwards.
"""

import json
from typing import Any

import pytest

from kokoro_container.aws_sample import SampleMessages
from kokoro_container.encoders import installed_encodings
from kokoro_container.text import LANGUAGES
from kokoro_container.text.lexicon import Lexicon
from kokoro_container.voices import Voices
from kokoro_sagemaker_agents.protocol import (
    BYTES_PER_SAMPLE,
    Ready,
    ServerProtocol,
    SpeakRequested,
)

from .mutations import Mutator

VOICES = Voices()
READY = Ready(
    instance_id="i",
    model="m",
    engine="tone",
    voices=VOICES.names,
    languages=LANGUAGES,
    encodings=installed_encodings(),
)
SESSIONS = 800
FRAMES = 50  # of each session
GOOD = {"type": "speak", "context_id": "good", "chunk_id": 0, "text": "Hello."}
GOOD |= {"voice": "af_heart", "language": "en-us", "encoding": "pcm_s16le", "sample_rate": 24000}
SEEDS = [0, 1, 2, 3]  # one test's sessions are divided among these, so that a failure is found soon


class Session:
    """A connection's machines, and a server that answers what it is asked for at once."""

    def __init__(self) -> None:
        self.machine = ServerProtocol(
            READY,
            validate=lambda options: VOICES.check(options.voice),
            validate_lexicon=lambda entries: void(Lexicon.of(entries)),
        )
        self.messages = SampleMessages(self.machine, 56.0)
        self.machine.ready()
        self.messages.data_to_send()
        self.spoken: list[tuple[str, int]] = []

    def receive(self, frame: str | bytes) -> list[dict[str, Any]]:
        """Takes a frame, speaks what it asks for, and gives what the client is told."""
        asked = [e for e in self.messages.receive(frame) if isinstance(e, SpeakRequested)]
        for request in asked:
            assert len(request.text) <= READY.limits.text_chars
            audio = bytes(2 * BYTES_PER_SAMPLE.get(request.options.encoding, 2))
            self.machine.audio(request.context_id, request.chunk_id, audio, 2)
            if self.machine.chunk_done(request.context_id, request.chunk_id):
                self.spoken.append((request.context_id, request.chunk_id))
        self.messages.settle()
        sent = [f for f in self.messages.data_to_send() if isinstance(f, str)]
        return [json.loads(f) for f in sent]

    def is_well(self) -> bool:
        """Whether it still speaks, in the words it was last spoken to, if it was not closed."""
        for name in self.machine.contexts:
            self.receive(json.dumps({"type": "cancel", "context_id": name}))
        before = len(self.spoken)
        self.receive(json.dumps(GOOD))
        if len(self.spoken) == before:  # a speak that lost its type is a message of the sample's
            self.receive(json.dumps({"text": "Hello."}))
        return self.machine.closed or len(self.spoken) == before + 1


def void(_: object) -> None:
    """Nothing."""


def check(told: list[dict[str, Any]]) -> None:
    errors = [message for message in told if message["type"] == "error"]
    assert len(errors) <= 1
    for error in errors:
        assert error["code"]
        assert 10 < len(error["message"]) < 500
        for inside in ("Traceback", "Error(", ".py", "msgspec", "object at 0x"):
            assert inside not in error["message"]


@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_frames_leave_the_session_well(seed: int) -> None:
    mutator = Mutator(seed)
    for _ in range(SESSIONS // len(SEEDS)):
        session = Session()
        for _ in range(FRAMES):
            check(session.receive(mutator.frame()))
            assert len(session.machine.contexts) <= READY.limits.contexts
        assert session.is_well()


@pytest.mark.parametrize("seed", SEEDS)
def test_hostile_frames_in_the_samples_words_leave_the_session_well(seed: int) -> None:
    mutator = Mutator(100 + seed)
    for _ in range(SESSIONS // len(SEEDS) // 4):
        session = Session()
        session.receive('{"text": "Hello."}')
        for _ in range(FRAMES):
            check(session.receive(mutator.sample_frame()))
        assert session.is_well()
