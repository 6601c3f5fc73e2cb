"""What happened when, in one run of the demo: the figures behind its table and its picture.

All times are seconds since the language model was asked for the reply; all audio is counted in
seconds of sound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, Final, Literal

#: How a reply becomes sound: sentence by sentence while it is written; as a whole once it is
#: finished, to a container that streams what it speaks; the same, to one that answers with a file.
Mode = Literal["streaming", "waiting", "waiting-whole"]
STREAMING: Final = "streaming"
WAITING: Final = "waiting"
WAITING_WHOLE: Final = "waiting-whole"

#: A pause of the player shorter than this is not counted: a sound card's buffer (10 to 20 ms in
#: every common audio system) covers it.
SHORTEST_GAP_S: Final = 0.01


@dataclass(slots=True)
class Sentence:
    """A piece of text that was sent on its own.

    Args:
        text: as it was sent.
        sent_s: when it went to the server.
        first_audio_s: when the first of its audio came; None before that.
        audio_start_s: where in the reply's audio it begins.
        audio_s: how long it is.
    """

    text: str
    sent_s: float
    first_audio_s: float | None = None
    audio_start_s: float | None = None
    audio_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Arrival:
    """Audio that arrived: when, and how much."""

    at_s: float
    audio_s: float


@dataclass(frozen=True, slots=True)
class Played:
    """A stretch of the reply's audio that was heard without a pause.

    Args:
        start_s: when it began to sound.
        end_s: when it was over.
        audio_start_s: where in the reply's audio it begins.
    """

    start_s: float
    end_s: float
    audio_start_s: float


@dataclass(slots=True)
class Run:
    """One reply, spoken in one mode.

    Args:
        reply: the reply's name.
        mode: how it was spoken.
        tokens: when each of the model's tokens was there.
        sentences: in the order they were sent.
        audio: in the order it arrived.
        model_s: how long the server's speech model worked, or what came nearest to that from
            outside (the time from the request to the whole answer).
    """

    reply: str
    mode: Mode
    tokens: list[float] = field(default_factory=list)
    sentences: list[Sentence] = field(default_factory=list)
    audio: list[Arrival] = field(default_factory=list)
    model_s: float = 0.0

    @property
    def llm_done_s(self) -> float:
        """When the reply was written to its end."""
        return self.tokens[-1]

    @property
    def first_audio_s(self) -> float:
        """When the listener could hear something."""
        return self.audio[0].at_s

    @property
    def audio_s(self) -> float:
        """How long the spoken reply is."""
        return sum(piece.audio_s for piece in self.audio)

    @property
    def rtf(self) -> float:
        """Real-time factor: seconds of work per second of speech."""
        return self.model_s / self.audio_s

    def playback(self) -> list[Played]:
        """What a player does that starts with the first audio and pauses whenever it runs dry."""
        return play(self.audio)

    def gaps(self) -> list[tuple[float, float]]:
        """Start and end of every pause the listener heard because audio was late."""
        played = self.playback()
        return [(before.end_s, after.start_s) for before, after in pairwise(played)]

    def summary(self) -> dict[str, Any]:
        """The figures of the demo's table."""
        gaps = self.gaps()
        return {
            "reply": self.reply,
            "mode": self.mode,
            "first_audio_s": round(self.first_audio_s, 3),
            "llm_done_s": round(self.llm_done_s, 3),
            "while_llm_writes": self.first_audio_s < self.llm_done_s,
            "audio_s": round(self.audio_s, 3),
            "rtf": round(self.rtf, 3),
            "gaps": len(gaps),
            "gaps_s": round(sum(end - start for start, end in gaps), 3),
        }

    def record(self) -> dict[str, Any]:
        """Everything, for `timeline.json`."""
        return {
            **self.summary(),
            "gap_times": [[round(start, 3), round(end, 3)] for start, end in self.gaps()],
            "tokens": [round(at_s, 3) for at_s in self.tokens],
            "sentences": [_rounded(asdict(sentence)) for sentence in self.sentences],
            "audio": [_rounded(asdict(piece)) for piece in self.audio],
        }


def play(audio: Iterable[Arrival]) -> list[Played]:
    """Plays audio as it arrives: from its first piece on, pausing when it runs dry."""
    played: list[Played] = []
    total_s = 0.0
    for piece in audio:
        if played and piece.at_s - played[-1].end_s < SHORTEST_GAP_S:
            last = played.pop()
            start_s, from_s = last.start_s, last.audio_start_s
            end_s = last.end_s + piece.audio_s
        else:
            start_s, from_s = piece.at_s, total_s
            end_s = start_s + piece.audio_s
        played.append(Played(start_s, end_s, from_s))
        total_s += piece.audio_s
    return played


def find(runs: Sequence[Run], reply: str, mode: Mode) -> Run:
    """The run of this reply in this mode."""
    return next(run for run in runs if (run.reply, run.mode) == (reply, mode))


def ratio(runs: Sequence[Run], reply: str) -> float:
    """How many times sooner the reply is heard when it streams than when everything waits."""
    waiting = find(runs, reply, WAITING).first_audio_s
    return waiting / find(runs, reply, STREAMING).first_audio_s


def timeline(runs: Sequence[Run], reply: str, about: dict[str, Any]) -> dict[str, Any]:
    """The content of `timeline.json`.

    Args:
        runs: all that was measured.
        reply: whose figures stand at the top level.
        about: where and with what it was measured; added at the top level.
    """
    streaming, waiting = find(runs, reply, STREAMING), find(runs, reply, WAITING)
    return {
        **about,
        "reply": reply,
        "llm_done_s": round(streaming.llm_done_s, 3),
        STREAMING: streaming.summary(),
        WAITING: waiting.summary(),
        "waiting_to_streaming_ratio": round(ratio(runs, reply), 2),
        "runs": [run.record() for run in runs],
    }


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in values.items()
    }
