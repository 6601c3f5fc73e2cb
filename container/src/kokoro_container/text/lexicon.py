"""How particular words are said: a session's own list, and the one beside the model.

An entry is a word or several, and a respelling ("Nguyen": "win") or, between slashes, IPA. It is
found where it stands as a whole, in any case unless it is written with capitals itself. At one
place the longest entry counts, and a session's before the server's.

Finding is linear in the text: at each place where a word begins, one look for each length that an
entry with this first character has, and there are at most `WORD_CHARS` of them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.protocol import ErrorCode

from .cleaning import CJK, clean
from .ipa import pronunciation
from .spans import MappedText

WORD_CHARS: Final = 100
"""Longest word and longest way to say it; the same as the protocol's `lexicon_chars`."""

_ENCLOSING: Final = frozenset('[](){}<>"“”')
_APOSTROPHES: Final = frozenset("'’")
_RESPELLING_MARKS: Final = frozenset(" -'’.,")
# Languages that drop a vowel before another: "l'Oréal" holds the word "Oréal".
_ELIDING: Final = frozenset({"fr", "it"})

_CJK: Final = re.compile(f"[{CJK}]")
# A tag is not said, an address of some kind is said as a whole by the normaliser: words are not
# picked out of either.
_TAG: Final = r"</?[A-Za-z][^<>]{0,300}>|\[pause[^\[\]]{0,20}\]"
_TOKEN: Final = re.compile(rf"(?P<tag>{_TAG})|<|[^\s<{CJK}]+", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"://|@|[A-Za-z]\.[A-Za-z]")

_VOICELESS: Final = frozenset("ptkfθ")
_SIBILANT: Final = frozenset("szʃʒʧʤ")


class Found(NamedTuple):
    """An entry in a text.

    Attributes:
        start: where it begins.
        end: where it ends, exclusive.
        phonemes: how it sounds, in the model's symbols; empty if it has a respelling.
        respelling: what to read in its place.
    """

    start: int
    end: int
    phonemes: str
    respelling: str


@dataclass(frozen=True, slots=True)
class _Words:
    """One language's entries: pronunciations begin with a slash."""

    exact: Mapping[str, str]  # written with capitals
    folded: Mapping[str, str]
    lengths: Mapping[str, tuple[int, ...]]  # by folded first character; longest first

    @classmethod
    def of(cls, entries: Mapping[str, str]) -> _Words:
        exact: dict[str, str] = {}
        folded: dict[str, str] = {}
        lengths: dict[str, set[int]] = {}
        for word, said in entries.items():
            (folded if word == _folded(word) else exact)[word] = said
            lengths.setdefault(_folded(word[0]), set()).add(len(word))
        ordered = {first: tuple(sorted(each, reverse=True)) for first, each in lengths.items()}
        return cls(exact, folded, ordered)

    def at(self, text: str, folded: str, start: int) -> Iterator[tuple[int, str]]:
        """Ends of the entries that begin here, longest first, and how each is said."""
        for length in self.lengths.get(folded[start], ()):
            end = start + length
            said = self.exact.get(text[start:end]) or self.folded.get(folded[start:end])
            if said:
                yield end, said


class Lexicon:
    """Checked entries of all languages. Never changes, so sessions may share it."""

    def __init__(self, layers: tuple[Mapping[str, _Words], ...] = ()) -> None:
        self._layers = layers

    @classmethod
    def of(cls, entries: Mapping[str, Mapping[str, str]]) -> Lexicon:
        """The lexicon with these entries: language to word to how it is said.

        Raises:
            InvalidInput: `invalid_lexicon`, with the entry that cannot be used and why.
        """
        layer = {
            language: _Words.of(
                dict(_checked(word, said, language) for word, said in words.items())
            )
            for language, words in entries.items()
            if words
        }
        return cls((layer,) if layer else ())

    @classmethod
    def load(cls, path: Path, languages: tuple[str, ...]) -> Lexicon:
        """The lexicon in a JSON file; an empty one where there is no file.

        Args:
            path: of the file: `{language: {word: how to say it}}`.
            languages: those it may have.

        Raises:
            ValueError: the file cannot be used; the message says which entry it is.
        """
        if not path.is_file():
            return cls()
        try:
            entries = json.loads(path.read_text("utf-8"))
        except ValueError as error:
            raise ValueError(f"{path.name} is not JSON in UTF-8: {error}; correct it") from error
        if not _is_nested(entries):
            raise ValueError(f"{path.name} must be {{language: {{word: how to say it}}}}")
        if unknown := [language for language in entries if language not in languages]:
            raise ValueError(
                f"{path.name}: language {unknown[0]!r} is not one of {', '.join(languages)}"
            )
        try:
            return cls.of(entries)
        except InvalidInput as error:
            raise ValueError(f"{path.name}: {error}") from error

    def over(self, other: Lexicon) -> Lexicon:
        """Both together; where both have something to say, this one says it."""
        return Lexicon((*self._layers, *other._layers))

    def __bool__(self) -> bool:
        return bool(self._layers)

    def find(self, text: str, language: str) -> Iterator[Found]:
        """The entries in a cleaned text, in order and not overlapping.

        Args:
            text: as `clean` leaves it.
            language: whose entries are looked for.
        """
        layers = [layer[language] for layer in self._layers if language in layer]
        if not layers:
            return
        folded = _folded(text)
        unbroken = _unbroken(text)
        at = 0
        while at < len(text):
            if _begins(text, at, language):
                found = _longest(layers, text, folded, at, language)
                if found is not None and not _inside(unbroken, found, text):
                    yield found
                    at = found.end
                    continue
            at += 1


def _longest(
    layers: list[_Words], text: str, folded: str, start: int, language: str
) -> Found | None:
    for words in layers:
        for end, said in words.at(text, folded, start):
            if not _ends(text, end):
                continue
            if said.startswith("/"):
                return _with_s(text, Found(start, end, said[1:], ""), language)
            return Found(start, end, "", said)
    return None


def _with_s(text: str, found: Found, language: str) -> Found:
    """In English the 's of a word with given sounds is part of them: "NVIDIA's"."""
    if not language.startswith("en") or text[found.end : found.end + 1] not in _APOSTROPHES:
        return found
    if text[found.end + 1 : found.end + 2] not in ("s", "S"):
        return found
    last = found.phonemes.rstrip("ː")[-1:]
    if last in _SIBILANT:
        sound = "ᵻz" if language == "en-us" else "ɪz"
    else:
        sound = "s" if last in _VOICELESS else "z"
    return Found(found.start, found.end + 2, found.phonemes + sound, "")


def _begins(text: str, at: int, language: str) -> bool:
    """Whether a word may begin here."""
    if text[at] == " ":
        return False
    if at == 0:
        return True
    before = text[at - 1]
    if before in _APOSTROPHES and at > 1 and language not in _ELIDING:
        before = text[at - 2]
    return not _joined(before, text[at])


def _ends(text: str, end: int) -> bool:
    """Whether a word may end here; before an 's it may."""
    if end >= len(text):
        return True
    if text[end] in _APOSTROPHES and end + 1 < len(text):
        rest = text[end + 1 : end + 3]
        if rest[0] in "sS" and not (rest[1:] and _is_part(rest[1])):
            return True
        return not _joined(text[end - 1], rest[0])
    return not _joined(text[end - 1], text[end])


def _joined(left: str, right: str) -> bool:
    """Whether two neighbours belong to one word, as far as letters tell: scripts that are written
    without spaces don't."""
    return _is_part(left) and _is_part(right) and not (_CJK.match(left) or _CJK.match(right))


def _is_part(char: str) -> bool:
    return char.isalnum() or char == "_" or unicodedata.category(char)[0] == "M"


def _unbroken(text: str) -> list[tuple[int, int]]:
    """The tags and addresses of a text."""
    return [m.span() for m in _TOKEN.finditer(text) if m["tag"] or _ADDRESS.search(m.group())]


def _inside(unbroken: list[tuple[int, int]], found: Found, text: str) -> bool:
    """Whether an entry is in a tag, or only a part of an address."""
    place = bisect_right(unbroken, (found.start, len(text))) - 1
    if place < 0 or found.start >= unbroken[place][1]:
        return False
    start, end = unbroken[place]
    rest = text[start : found.start] + text[found.end : max(end, found.end)]
    return text[start] in "<[" or any(map(str.isalnum, rest))


def _folded(text: str) -> str:
    """Lower case, character for character: "İ" would become two."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _checked(word: str, said: str, language: str) -> tuple[str, str]:
    """An entry as it is looked up and used."""
    key = _cleaned(word)
    if not key or len(word) > WORD_CHARS or _ENCLOSING.intersection(key):
        raise _refused(word, "a word has 1 to 100 characters, brackets and quotes not among them")
    if not any(map(str.isalnum, key)):
        raise _refused(word, "it has no letter or digit")
    if len(said) > WORD_CHARS:
        raise _refused(word, f"the way to say it has {len(said)} characters; at most {WORD_CHARS}")
    if len(said) > 2 and said[0] == said[-1] == "/":
        try:
            return key, "/" + pronunciation(said[1:-1], language)
        except ValueError as error:
            raise _refused(word, f"{error}; write IPA, such as /ˈkoʊkəɹoʊ/") from None
    respelling = _cleaned(said)
    strange = dict.fromkeys(c for c in respelling if not _may_respell(c))
    if strange or not any(map(str.isalnum, respelling)):
        named = f", not {' '.join(list(strange)[:5])}" if strange else ""
        raise _refused(word, f"a respelling is made of letters, digits and spaces{named}")
    return key, respelling


def _cleaned(text: str) -> str:
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()  # the same, in no time: a session may bring a thousand entries
    return clean(MappedText.of(text)).text


def _may_respell(char: str) -> bool:
    return char in _RESPELLING_MARKS or (_is_part(char) and char != "_")


def _refused(word: str, reason: str) -> InvalidInput:
    shown = repr(word if len(word) <= 40 else word[:39] + "…")
    return InvalidInput(f"lexicon: {shown}: {reason}", code=ErrorCode.INVALID_LEXICON)


def _is_nested(entries: object) -> bool:
    return isinstance(entries, dict) and all(
        isinstance(words, dict) and all(isinstance(said, str) for said in words.values())
        for words in entries.values()
    )
