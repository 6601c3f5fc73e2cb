"""How a rewrite is expressed: a pattern, and what a person would say for a match of it.

A rule only ever sees the text, never the offsets: ``apply`` turns what it says into edits that
keep the way back to the original. Patterns must be linear in the text's length: a repetition that
may be followed by something required is possessive or bounded, and a look-behind lets a run be
tried from its start only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from kokoro_container.text.spans import MappedText

Saying = str | Mapping[str, str] | None
"""Words for the whole match, or for some of its groups (by name, so that the words of the source
stay apart), or nothing: the text is better left as it is."""

DIGIT = frozenset("0123456789")
LETTER = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

# How far what is written together is followed, and what ends it besides a space.
_TOKEN_CHARS = 40
_TOKEN_START = re.compile(r"[^\s()\[\]\"“”—…;]*[^\s()\[\]\"“”—…;.,:!?'’]")
_TOKEN_END = re.compile(r"[^\s()\[\]\"“”—…;]+\Z")

START = r"(?<!\w)(?<!\w[.,:/'’+-])(?<![$€£¥₹])"
"""Before a number: not behind a letter or digit, nor joined to one by a mark."""

END = r"(?!\w)(?![.,:/]\d)"
"""Behind a number: no letter or digit, nor a mark that continues the number."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rewrite.

    Attributes:
        pattern: what to look for.
        say: what to say for a match.
        needs: the rule is skipped for a text with none of these characters. Empty: always tried.
        joined: what is said belongs to the whole of what is written without a space around it, so
            that "~5" or "x=1" is one word to whoever reads along.
    """

    pattern: re.Pattern[str]
    say: Callable[[re.Match[str]], Saying]
    needs: frozenset[str] = DIGIT
    joined: bool = False


def drop(_: re.Match[str]) -> str:
    """A ``say`` that says nothing."""
    return ""


def one_of(symbols: Iterable[str]) -> str:
    """A pattern for any of these, the longest first."""
    return "|".join(map(re.escape, sorted(symbols, key=lambda s: (-len(s), s))))


def apply(rules: Iterable[Rule], text: MappedText) -> MappedText:
    """The text with the rules applied one after the other."""
    for rule in rules:
        if rule.needs and rule.needs.isdisjoint(text.text):
            continue
        edits = list(_edits(rule, text.text))
        if edits:
            text = _edited(text, edits, joined=rule.joined)
    return text


def _edits(rule: Rule, text: str) -> Iterator[tuple[int, int, str]]:
    """Ascending, not overlapping: start, end, new words."""
    for match in rule.pattern.finditer(text):
        saying = rule.say(match)
        if saying is None:
            continue
        if isinstance(saying, str):
            yield match.start(), match.end(), saying
        else:
            for (start, end), words in sorted((match.span(g), w) for g, w in saying.items()):
                yield start, end, words


def _edited(text: MappedText, edits: Iterable[tuple[int, int, str]], *, joined: bool) -> MappedText:
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for start, end, words in (*edits, (len(text.text), len(text.text), "")):
        parts += text.text[done:start], words
        starts += text.starts[done:start]
        ends += text.ends[done:start]
        if words:
            first, last = text.span(*(_token(text.text, start, end) if joined else (start, end)))
            starts += [first] * len(words)
            ends += [last] * len(words)
        done = end
    return MappedText("".join(parts), starts, ends)


def _token(text: str, start: int, end: int) -> tuple[int, int]:
    """The range and what touches it on both sides."""
    before = _TOKEN_END.search(text, max(0, start - _TOKEN_CHARS), start)
    behind = _TOKEN_START.match(text, end, end + _TOKEN_CHARS)
    return before.start() if before else start, behind.end() if behind else end
