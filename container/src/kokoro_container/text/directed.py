"""What a text's author and the lexicons say about how it is spoken, before any G2P.

A text comes from an LLM more often than from a person, so what is written in it is speech and not
instruction, unless whoever sends it says otherwise: only then `[word](/ipa/)` is a pronunciation
and `[pause:0.5s]`, `[pause:500ms]` or `<break time="0.5s"/>` a pause. Lexicons always apply.

The outcome is the text as the G2P reads it, in parts with pauses between them, each with the way
back to the original; `words_of_original` takes that way. The G2P gets pronunciations in the one
form it knows, `[word](/symbols/)`, and only those that were put there here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from .cleaning import clean
from .inline import LINK, LONGEST_PRONUNCIATION
from .ipa import pronunciation
from .lexicon import Lexicon
from .phonemes import Phonemes, SpokenWord
from .spans import MappedText

MAX_PAUSE_S: Final = 10.0
"""Longest pause that one mark makes; SSML's `break` has the same bound with most vendors."""

_DURATION: Final = r"(\d{1,6}(?:\.\d{1,6})?|\.\d{1,6}) ?(ms|s)"
_PAUSE: Final = re.compile(
    rf"\[pause: ?{_DURATION}\]"
    rf"|<break(?: strength=[\"'][a-z-]{{0,10}}[\"'])? time=[\"']{_DURATION}[\"'][^<>]{{0,100}}>",
    re.IGNORECASE,
)
_TARGET: Final = re.compile(r"\](?=\()")
_WORD_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Directed:
    """A text with its directions worked in.

    Attributes:
        parts: texts for the G2P and, between them, pauses in seconds.
        warnings: what was asked for and not done.
    """

    parts: tuple[Part, ...]
    warnings: tuple[str, ...] = ()


Part: TypeAlias = MappedText | float


def direct(text: str, language: str, lexicon: Lexicon, *, inline: bool) -> Directed:
    """Works a text's directions in, in time linear in its length.

    Args:
        text: as it was sent.
        language: whose lexicon entries and sounds.
        lexicon: how words are said.
        inline: the text may hold pronunciations and pauses.
    """
    mapped = clean(MappedText.of(text))
    if not inline:
        return Directed((_with_lexicon(_without_links(mapped), language, lexicon),))
    warnings: list[str] = []
    parts: list[Part] = []
    done = 0
    for match in _PAUSE.finditer(mapped.text):
        seconds = _seconds(match)
        if seconds > MAX_PAUSE_S:
            warnings.append(f"a pause of {seconds:g} s was cut to {MAX_PAUSE_S:g} s")
        parts += mapped.slice(done, match.start()), min(seconds, MAX_PAUSE_S)
        done = match.end()
    parts.append(mapped.slice(done, len(mapped.text)))
    with_words = (
        part if isinstance(part, float) else _with_words(part, language, lexicon, warnings)
        for part in parts
    )
    return Directed(tuple(part for part in with_words if _counts(part, len(parts))), (*warnings,))


def words_of_original(spoken: Phonemes, read: MappedText, text: str) -> Phonemes:
    """What the G2P made of a part, its words again those of the original.

    Several words said for one of the original are that one.

    Args:
        spoken: the G2P's answer to `read.text`.
        read: the part.
        text: the original.
    """
    words: list[SpokenWord] = []
    for word in spoken.words:
        start, end = read.span(word.char_start, word.char_end)
        first = word.phoneme_start
        if words and start < words[-1].char_end:
            last = words.pop()
            start, end, first = last.char_start, max(end, last.char_end), last.phoneme_start
        words.append(SpokenWord(text[start:end], start, end, first, word.phoneme_end))
    return Phonemes(spoken.phonemes, tuple(words), spoken.warnings)


def _counts(part: Part, parts: int) -> bool:
    """Whether a part is kept: beside a pause, marks alone say nothing, and need no warning."""
    return parts == 1 or isinstance(part, float) or any(map(str.isalnum, part.text))


def _seconds(match: re.Match[str]) -> float:
    number, unit = match.group(1, 2) if match[2] else match.group(3, 4)
    return float(number) / (1000 if unit.lower() == "ms" else 1)


def _without_links(text: MappedText) -> MappedText:
    """Links by their words, and nothing left that could be read as one."""
    if "](" not in text.text:
        return text
    return MappedText.join(_spoken_links(text)).sub(_TARGET, "] ")


def _spoken_links(text: MappedText) -> Iterator[MappedText]:
    done = 0
    for match in LINK.finditer(text.text):
        yield text.slice(done, match.start())
        yield text.slice(*match.span(1))
        done = match.end()
    yield text.slice(done, len(text.text))


def _with_words(
    text: MappedText, language: str, lexicon: Lexicon, warnings: list[str]
) -> MappedText:
    """Written pronunciations checked, lexicon entries between them put in."""
    parts: list[MappedText] = []
    done = 0
    for match in LINK.finditer(text.text):
        phonemes = _given(match, language, warnings)
        if phonemes is None:
            continue
        between = _without_links(text.slice(done, match.start()))
        parts += _with_lexicon(between, language, lexicon), _said(text, *match.span(1), phonemes)
        done = match.end()
    rest = _without_links(text.slice(done, len(text.text)))
    return MappedText.join([*parts, _with_lexicon(rest, language, lexicon)])


def _given(match: re.Match[str], language: str, warnings: list[str]) -> str | None:
    """The pronunciation in a link's place; None if it is a link, or cannot be used."""
    word, target = match.groups()
    if len(target) < 2 or target[0] != "/" or target[-1] != "/":
        return None
    try:
        if len(target) > LONGEST_PRONUNCIATION + 2:
            raise ValueError(f"it has more than {LONGEST_PRONUNCIATION} symbols")
        return pronunciation(target[1:-1], language)
    except ValueError as error:
        warnings.append(f"{word[:_WORD_SHOWN]!r} is said as written, not as asked for: {error}")
        return None


def _with_lexicon(text: MappedText, language: str, lexicon: Lexicon) -> MappedText:
    parts: list[MappedText] = []
    done = 0
    for found in lexicon.find(text.text, language):
        parts.append(text.slice(done, found.start))
        if found.phonemes:
            parts.append(_said(text, found.start, found.end, found.phonemes))
        else:
            parts.append(text.inserted(found.start, found.end, found.respelling))
        done = found.end
    return MappedText.join([*parts, text.slice(done, len(text.text))]) if parts else text


def _said(text: MappedText, start: int, end: int, phonemes: str) -> MappedText:
    """A word with its pronunciation, as the G2P takes it."""
    return MappedText.join(
        [
            text.inserted(start, start, "["),
            text.slice(start, end),
            text.inserted(end, end, f"](/{phonemes}/)"),
        ]
    )
