"""Scores of what a splitter released: against the sentences wanted, and against the clock."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any


@dataclass(frozen=True)
class Released:
    """A chunk: after how many tokens it came, whether only at the end, and its text."""

    taken: int
    ended: bool
    spoken: str
    source: str


def squeeze(parts: Sequence[str]) -> list[str]:
    """The parts without their outer and repeated white space, the empty ones left out."""
    return [joined for part in parts if (joined := " ".join(part.split()))]


def bare(text: str) -> str:
    return "".join(text.split())


def held(text: str, tokens: list[str], chunks: list[Released]) -> int:
    """The most characters of the text that had come and were in no chunk yet."""
    outs = zip(chunks, _out_after(text, chunks), strict=True)
    out_at = {chunk.taken: out for chunk, out in outs if not chunk.ended}
    out = most = 0
    for taken, come in enumerate(accumulate(map(len, tokens)), 1):
        out = out_at.get(taken, out)
        most = max(most, come - out)
    return most


def delays(
    text: str, tokens: list[str], chunks: list[Released], sentences: Sequence[str]
) -> list[int]:
    """For each inner sentence end, the tokens from its last character to the chunk holding it."""
    if bare("".join(sentences)) != bare(text):
        raise ValueError("the sentences are not the text")
    come = list(accumulate(map(len, tokens)))
    ends = _positions(text, accumulate(len(bare(sentence)) for sentence in sentences))
    outs = list(zip(chunks, _out_after(text, chunks), strict=True))
    return [
        next(chunk.taken for chunk, out in outs if out >= end) - (bisect_left(come, end) + 1)
        for end in ends[:-1]
    ]


def _out_after(text: str, chunks: list[Released]) -> list[int]:
    """Up to where the text is out after each chunk; white space is not compared."""
    if bare("".join(chunk.source for chunk in chunks)) != bare(text):
        raise RuntimeError(f"the chunks of {text[:60]!r} are not its characters: cannot be scored")
    return _positions(text, accumulate(len(bare(chunk.source)) for chunk in chunks))


def _positions(text: str, counts: Iterable[int]) -> list[int]:
    """Where the text stands after so many characters that are not white space."""
    after = [0, *(i + 1 for i, character in enumerate(text) if not character.isspace())]
    return [after[count] for count in counts]


def wanted(case: dict[str, Any]) -> list[str] | None:
    """The case's sentences if they hold all of its text, so that their ends have places."""
    if "check" in case:
        return None
    for sentences in [case["expected"], *case.get("alt", [])]:
        if bare("".join(sentences)) == bare(case["text"]):
            return list(sentences)
    return None


def verdict(case: dict[str, Any], tokens: list[str], chunks: list[Released]) -> tuple[bool, bool]:
    """Whether the chunks are right, and whether they are the preferred ones."""
    spoken = squeeze([chunk.spoken for chunk in chunks])
    if "check" in case:
        kept = _keeps(case["check"], case["text"], spoken)
        kept = kept and held(case["text"], tokens, chunks) <= 2 * case["check"]["max_chars"]
        return kept, kept
    strict = spoken == squeeze(case["expected"])
    return strict or spoken in [squeeze(parts) for parts in case.get("alt", [])], strict


def _keeps(check: dict[str, Any], text: str, spoken: list[str]) -> bool:
    """Whether the chunks keep the limits of a case that has no one right answer."""
    return (
        max(map(len, spoken)) <= check["max_chars"]
        and len(spoken) >= check.get("min_chunks", 1)
        and (not check.get("lossless") or bare("".join(spoken)) == bare(text))
        and (not check.get("no_midword") or " ".join(spoken).split() == text.split())
    )
