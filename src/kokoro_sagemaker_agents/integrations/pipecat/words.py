"""A text that is being spoken: which of its words were said, and which were not.

Without I/O. Positions count characters of the text as Pipecat shows it. What is sent to the server
may differ from it (text transforms), so the words' places in what was sent are mapped back.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from kokoro_sagemaker_agents.events import WordTime

_PIECE: Final = re.compile(r"\w+|\s+|.", re.DOTALL)
_TOKEN: Final = re.compile(r"\s*\S+")
_CHARACTER: Final = re.compile(r"\s*\S")


class SaidText(str):
    """A stretch of a text that was said, as a word of Pipecat's.

    Args:
        text: As it goes into the LLM's context.
        frame_id: Of the frame that it belongs to.
        end: Up to where that frame's text was said.
        last: Whether nothing more of it will be.
        spaced: Whether a space belongs between it and the next one.
    """

    frame_id: int
    end: int
    last: bool
    spaced: bool

    def __new__(
        cls, text: str, frame_id: int, end: int, last: bool, spaced: bool = True
    ) -> SaidText:
        """The text as a string."""
        said = super().__new__(cls, text)
        said.frame_id, said.end, said.last, said.spaced = frame_id, end, last, spaced
        return said


@dataclass(frozen=True, slots=True)
class TimedText:
    """What was said, and when it began, in seconds from the utterance's first sample."""

    said: SaidText
    start_s: float


class Places:
    """Where a position of the text that was sent lies in the text that is shown."""

    def __init__(self, shown: str, sent: str) -> None:
        self._shown = len(shown)
        self._blocks: list[tuple[int, int, int, bool]] = []
        if shown == sent:
            self._blocks = [(len(sent), 0, 0, True)]
            return
        a, b = _PIECE.findall(sent), _PIECE.findall(shown)
        sent_at, shown_at = _offsets(a), _offsets(b)
        matcher = SequenceMatcher(None, a, b, autojunk=False)
        for tag, a1, a2, b1, b2 in matcher.get_opcodes():
            same = tag == "equal"
            to = shown_at[b1] if same else shown_at[b2]
            self._blocks.append((sent_at[a2], sent_at[a1], to, same))

    def end(self, sent_end: int) -> int:
        """Where a stretch that ends there ends; a rewritten one counts as a whole."""
        for end, start, shown, same in self._blocks:
            if sent_end <= end:
                return shown + sent_end - start if same else shown
        return self._shown


class Passage:
    """One text: words come in as the server tells them and go out as their audio is there.

    Args:
        frame_id: Of Pipecat's frame for it.
        text: As it is shown.
        sent: As it is sent to the server.
        spaced: Whether words are separated by spaces; then each word goes out by itself, else with
            the spaces around it.
        apart: Whether white space lies between it and the text before it.
    """

    def __init__(
        self, frame_id: int, text: str, sent: str, *, spaced: bool = True, apart: bool = True
    ) -> None:
        self.frame_id = frame_id
        self.text = text
        self.spaced = spaced
        self._places = Places(text, sent)
        self._lead = " " if apart and not spaced else ""
        self._words: deque[tuple[float, float, int]] = deque()
        self._timed = False  # whether words of the present chunk have come
        self._pos = 0
        self._start_s: float | None = None  # of the word that is not written to its end yet

    @property
    def unsaid(self) -> str:
        """What of it was not said."""
        return self.text[self._pos :].strip()

    def tell(self, words: Iterable[WordTime]) -> None:
        """Words of its present chunk, with their places in what was sent."""
        for word in words:
            self._timed = True
            self._words.append((word.start_s, word.end_s, self._places.end(word.char_end)))

    def heard(self, until_s: float) -> list[TimedText]:
        """Take the words whose audio is there to its end."""
        out: list[TimedText] = []
        while self._words and self._words[0][1] <= until_s:
            start_s, _, end = self._words.popleft()
            out += self._word(start_s, end)
        return out

    def chunk_done(
        self, sent_end: int, start_s: float, end_s: float, last: bool
    ) -> list[TimedText]:
        """Take what is left of a chunk that was spoken to its end.

        Args:
            sent_end: Where it ends in what was sent.
            start_s: When its audio begins.
            end_s: When it ends.
            last: Whether it was the last one.
        """
        out = self.heard(float("inf"))
        end = len(self.text) if last else self._places.end(sent_end)
        if not self._timed:
            out += self._spread(end, start_s, end_s)
        rest_s = self._start_s if self._start_s is not None else end_s
        out += self._take(end, rest_s, last)
        self._timed = False
        return out

    def chunk_failed(self, sent_end: int, last: bool) -> list[TimedText]:
        """Leave out what is left of a chunk that was not spoken."""
        self._words.clear()
        self._timed = False
        self._start_s = None
        self._pos = len(self.text) if last else max(self._pos, self._places.end(sent_end))
        return [TimedText(SaidText("", self.frame_id, self._pos, True), 0.0)] if last else []

    def _word(self, start_s: float, end: int) -> list[TimedText]:
        if self._start_s is None:
            self._start_s = start_s
        while end < len(self.text) and not (self.text[end].isspace() or self.text[end].isalnum()):
            end += 1  # the marks behind a word are its own
        if self.spaced and end < len(self.text) and not self.text[end].isspace():
            return []  # half of "well-known"
        return self._take(end, self._start_s, False)

    def _take(self, end: int, start_s: float, last: bool) -> list[TimedText]:
        text = self.text[self._pos : end]
        self._pos = max(self._pos, end)
        self._start_s = None
        if self.spaced:
            text = text.strip()
        elif text.strip():
            text, self._lead = self._lead + text, ""
        if not text.strip() and not last:
            return []
        said = SaidText(text, self.frame_id, self._pos, last, self.spaced)
        return [TimedText(said, start_s)]

    def _spread(self, end: int, start_s: float, end_s: float) -> list[TimedText]:
        """A chunk without word times, as if it was spoken evenly."""
        out: list[TimedText] = []
        start = self._pos
        pattern = _TOKEN if self.spaced else _CHARACTER
        per_char_s = (end_s - start_s) / max(1, end - start)
        for match in pattern.finditer(self.text, start, end):
            out += self._take(match.end(), start_s + (match.start() - start) * per_char_s, False)
        return out


def _offsets(pieces: list[str]) -> list[int]:
    at = [0]
    for piece in pieces:
        at.append(at[-1] + len(piece))
    return at
