"""The full stop: sentence end, abbreviation, decimal point, initial, list marker or address."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from .boundaries import (
    ADDRESS,
    MORE,
    NO,
    SPLIT,
    Answer,
    Around,
    around,
    ellipsis_mark,
    in_brackets,
    loud,
)
from .characters import BREAK, CONTINUERS, LOUD_MARKS, NAME_OPEN, is_caseless, is_cjk
from .languages import Language, shared
from .lists import ends_marker
from .words import MAX_WORD, first_word, next_word, token_before, word_before, word_before_last

#: Vowel signs and the like, which belong to the letter before them.
_SIGNS: Final = "[\u0900-\u0903\u093a-\u094f\u0300-\u036f]{0,3}"
_DOTTED: Final = re.compile(rf"[^\W\d_]{_SIGNS}(?:\.[^\W\d_]{_SIGNS})+\Z")
_NUMBER: Final = re.compile(r"[\d.,:%°$€£+-]*\d[\d.,:%°]*\Z")
_CLOCK: Final = re.compile(r"\d+(?=[ap]\.m\Z)")
_SEAM_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DASHES: Final = "-–—"
#: Marks that may end the word stuck to a dot; with a letter after them they are inside a name.
_WORD_ENDS: Final = ".,!?;:-…—"
#: Capital letters that are words of their own in one of the languages ("I", "A", "E", "O", "Y").
_ONE_LETTER_WORDS: Final = "IAEOYÀÉÈ"
#: After a house number these are no units: "123 N. Main St."
_COMPASS: Final = frozenset("NSEW")
_NUMERIC_NEXT: Final = "°#№$€£§-("


class Dot(NamedTuple):
    """A full stop and what stands around it.

    Args:
        text: The visible text.
        at: The position of the dot.
        near: What follows it.
        word: The word before it, without the dot.
        start: Where that word begins.
        final: Whether the text is over.
    """

    text: str
    at: int
    near: Around
    word: str
    start: int
    final: bool

    @property
    def following(self) -> str:
        """The next visible character; empty at the end of the text."""
        return self.text[self.near.next : self.near.next + 1]

    @property
    def split(self) -> Answer:
        """A boundary after the dot and its closers."""
        return SPLIT, self.near.end

    @property
    def none(self) -> Answer:
        """No boundary."""
        return NO, self.near.next

    def next_word(self) -> str | None:
        """The next word, None while it may go on."""
        return next_word(self.text, self.near.next, self.final)


class Periods:
    """The rules for the full stop in one language.

    Args:
        language: Its abbreviations and starters.
    """

    def __init__(self, language: Language) -> None:
        self._language = language
        self._listed = (
            language.titles
            | language.numeric
            | language.names
            | language.closing
            | language.never
            | language.times
        )

    def judge(self, text: str, i: int, final: bool) -> Answer:
        """The answer for the dot at `text[i]`."""
        near = around(text, i, final)
        if near.end == len(text):
            return (SPLIT, near.end) if final else (MORE, i)
        word, start = word_before(text, i)
        marks = text[i : near.stop]
        if len(marks) > 1:
            if any(mark in LOUD_MARKS for mark in marks):
                return loud(text, i, final)
            if not self._is_abbreviation(word):
                return ellipsis_mark(text, i, final, self._language.pronoun, near)
        dot = Dot(text, i, near, word, start, final)
        if text[near.end] == BREAK:
            return dot.split
        if near.end == near.next:
            return self._glued(dot)
        if near.next == len(text) and not near.newline:
            return dot.split if near.known else (MORE, i)
        if not word:
            return self._spaced_dot(dot)
        return self._line_end(dot) if near.newline else self._spaced(dot)

    def _spaced_dot(self, dot: Dot) -> Answer:
        """A dot after a blank: part of ". . .", or the end of a spaced-out sentence."""
        before = dot.text[: dot.at].rstrip()
        if dot.following == "." and not dot.near.newline:
            return dot.none
        if before.endswith("."):
            return ellipsis_mark(dot.text, dot.at, dot.final, self._language.pronoun, dot.near)
        return dot.split if before else (NO, dot.at + 1)

    def _line_end(self, dot: Dot) -> Answer:
        """A dot at the end of a line: a boundary unless the line breaks off after it."""
        key = dot.word.lower()
        language = self._language
        breaks_off = key in language.titles or key in language.never
        if not breaks_off and not ends_marker(dot.text, dot.at):
            if len(dot.word) > 2 and not self._is_abbreviation(dot.word):
                return dot.split
            if dot.following:
                return dot.none if dot.following.islower() else dot.split
        if not dot.following:
            return dot.split if dot.near.known else (MORE, dot.at)
        return self._spaced(dot)

    def _spaced(self, dot: Dot) -> Answer:
        """A dot, blanks, and the next visible character."""
        following = dot.following
        if following in CONTINUERS or following in "." + LOUD_MARKS:
            return dot.none
        if ends_marker(dot.text, dot.at):
            return dot.none
        closed = dot.near.end > dot.near.stop
        if following.islower() and (closed or in_brackets(dot.text, dot.at)):
            return dot.none
        if dot.word[-1].isdigit():
            return self._number(dot)
        rule = self._rule(dot)
        if rule is None:
            return self._ordinary(dot)
        if closed and not following.isdigit():
            quoted = dot.text[dot.near.end - 1] not in ")]}"
            rule = self._closing if quoted else self._before_starter
        return rule(dot)

    def _ordinary(self, dot: Dot) -> Answer:
        """Any other word; but "(att. 157" is an abbreviation, listed or not."""
        opened = dot.text[dot.start - 1 : dot.start] in ("(", "[")
        if opened and dot.following.isdigit() and dot.near.end == dot.near.stop:
            return dot.none
        return dot.split

    def _rule(self, dot: Dot) -> Callable[[Dot], Answer] | None:
        """The rule for the abbreviation before the dot; None for an ordinary word."""
        language = self._language
        word = dot.word
        key = word.lower()
        if "." in key:
            key = _CLOCK.sub("", key)
        if key in language.never:
            return self._never
        if key in language.times:
            return self._time
        if key in language.titles:
            return self._title
        if key in language.closing:
            return self._closing
        if key in language.numeric or word in language.proper:
            return self._numeric
        if key in language.names or _DOTTED.match(word) or key.endswith(language.endings):
            return self._before_starter
        if len(word) == 1 and word.isalpha() and not is_caseless(word):
            return self._initial
        return None

    def _is_abbreviation(self, word: str) -> bool:
        listed = word.lower() in self._listed or word in self._language.proper
        return listed or _DOTTED.match(word) is not None

    # -- one rule per class of abbreviation ---------------------------------------------------

    def _never(self, dot: Dot) -> Answer:
        return dot.none

    def _title(self, dot: Dot) -> Answer:
        """`Dr. Smith`; but `St.` and `Dr.` also end addresses: `5 Main St. It is …`."""
        previous, _ = word_before_last(dot.text, dot.start)
        if _NUMBER.match(previous) and dot.word.islower():
            return self._numeric(dot)
        if dot.following.isupper() and previous[:1].isupper():
            following = dot.next_word()
            if following is None:
                return MORE, dot.at
            if following.lower() in self._language.starters:
                return dot.split
        return dot.none

    def _numeric(self, dot: Dot) -> Answer:
        """`No. 5`, `approx. half`, `Fig. A`; a boundary before a capital word."""
        following = dot.following
        if dot.word.lower() == "no":  # the answer, unless it is a number's ("your no. is 5")
            counts = following.isdigit() or (following.islower() and dot.word.islower())
            return dot.none if counts else dot.split
        if is_caseless(following) and is_caseless(dot.word[0]):
            return dot.none
        if not following.isupper():
            goes_on = following.isdigit() or following.islower() or following in _NUMERIC_NEXT
            return dot.none if goes_on else dot.split
        word = dot.next_word()
        if word is None:
            return MORE, dot.at
        if len(word) == 1:
            label = dot.word[0].isupper()  # "Fig. A", "Vol. I", but not "5 oz. I think"
            return dot.split if word in _ONE_LETTER_WORDS and not label else dot.none
        if not set(word) - set("IVXLC"):
            return dot.none
        if word in self._language.proper:  # "Mon. Jan. 5"
            return dot.none
        if self._language.ordinal_dot and word.lower() not in self._language.starters:
            return dot.none
        return dot.split

    def _closing(self, dot: Dot) -> Answer:
        """`etc.`, `Ph.D.`: a boundary before a capital."""
        following = dot.following
        goes_on = following.islower() or following.isdigit() or following in _DASHES + "("
        return dot.none if goes_on else dot.split

    def _before_starter(self, dot: Dot) -> Answer:
        """`Inc.`, `U.S.`: a boundary before a word that begins sentences."""
        following = dot.following
        if following.islower() or following.isdigit() or following in _DASHES + "($":
            return dot.none
        if is_caseless(following) and is_caseless(dot.word[0]):
            return dot.none
        if not following.isupper():
            return dot.split
        word = dot.next_word()
        if word is None:
            return MORE, dot.at
        return dot.split if word.lower() in self._language.starters else dot.none

    def _time(self, dot: Dot) -> Answer:
        """`10 a.m. Tuesday`, `At 5 a.m. Mr. Smith left`, `until 6 p.m. The shop …`."""
        following = dot.following
        if following.islower() or following.isdigit() or following in _DASHES + "(":
            return dot.none
        if not following.isupper():
            return dot.split
        word = dot.next_word()
        if word is None:
            return MORE, dot.at
        key = word.lower()
        if key in self._language.after_time:
            return dot.none
        if key in self._language.starters:
            return dot.split
        opening = first_word(dot.text, dot.text.rfind(": ", 0, dot.at) + 1)
        return dot.none if opening in self._language.time_openers else dot.split

    def _initial(self, dot: Dot) -> Answer:
        """A single letter: an initial, a label (`vitamin C.`), a unit or the pronoun `I`."""
        following = dot.following
        if following.islower() or following.isdigit():
            return dot.none
        previous, at = word_before_last(dot.text, dot.start)
        if not following.isupper():
            return dot.split
        word = dot.next_word()
        if word is None:
            return MORE, dot.at
        after = dot.near.next + len(word)
        if len(word) == 1 and dot.text[after : after + 1] == ".":
            return dot.none
        if _NUMBER.match(previous) and dot.word not in _COMPASS:
            return dot.split
        labels = previous[:1].islower() or not dot.text[:at].strip()
        if previous.lower() in self._language.lettered and labels:
            return dot.split
        return dot.split if word.lower() in self._language.starters else dot.none

    def _number(self, dot: Dot) -> Answer:
        """A number: a label, an ordinal, or the end of the sentence."""
        following = dot.following
        if following.islower():
            return dot.none
        previous, at = word_before_last(dot.text, dot.start)
        if previous.lower() in self._language.labels and not dot.text[:at].strip():
            same_line = following.isupper() and not dot.near.newline
            return dot.none if same_line else dot.split
        if len(dot.word) > 2 or not dot.word.isdigit():
            return dot.split
        if self._language.ordinal_dot and (following in _DASHES or following.isdigit()):
            return dot.none  # "1. - 3. Mai", "3. 5. 2024"
        if not following.isupper():
            return dot.split
        word = dot.next_word()
        nouns = self._language.ordinal_dot
        if word is None:
            begun = dot.text[dot.near.next :].lower()
            month = any(name.startswith(begun) for name in shared.ORDINAL_MONTHS)
            return (MORE, dot.at) if month or nouns else dot.split
        key = word.lower()
        ordinal = key in shared.ORDINAL_MONTHS or (nouns and key not in self._language.starters)
        return dot.none if ordinal else dot.split

    # -- a dot with no blank after it -----------------------------------------------------------

    def _glued(self, dot: Dot) -> Answer:
        """`3.14`, `example.com`, `main.py`; but "thanks.And" is a boundary without its space."""
        text, near, word = dot.text, dot.near, dot.word
        following = text[near.end]
        previous = text[dot.at - 1 : dot.at]
        none = (NO, near.end)
        if following in "¿¡«“「『《" or following == NAME_OPEN:
            return dot.split if previous.isalpha() else none
        if following in "\"'" and previous.isalpha() and len(word) > 1:
            opened = text[near.end + 1 : near.end + 2]
            if not opened and not dot.final:
                return MORE, dot.at
            if opened.isupper():
                return dot.split
        closed = near.end > near.stop
        if is_caseless(following):
            both = (is_caseless(previous) and len(word) > 1) or closed or is_cjk(previous)
            return dot.split if both else none
        if not following.isupper() or not (word or closed):
            return none
        if ADDRESS.search(token_before(text, dot.at)) or (word[-1:].isupper() and not closed):
            return none
        if "." in word and not _NUMBER.match(word):
            return none
        if word.isdigit() and len(word) <= 2:
            return none  # "1.Milk, 2.Bread"
        return self._seam(dot)

    def _seam(self, dot: Dot) -> Answer:
        """Whether the capitalised word stuck to the dot reads as the start of a sentence."""
        text, near = dot.text, dot.near
        match = _SEAM_WORD.match(text, near.end)
        stop = match.end() if match else near.end + 1
        if stop - near.end > MAX_WORD:
            return NO, stop
        after, beyond = text[stop : stop + 1], text[stop + 1 : stop + 2]
        if not beyond and not dot.final and (not after or after in _WORD_ENDS):
            return MORE, dot.at
        if after and not after.isspace() and (after not in _WORD_ENDS or beyond.isalnum()):
            return NO, stop
        word = text[near.end : stop]
        sentence_like = word[1:].islower() if len(word) > 1 else word in _ONE_LETTER_WORDS
        return dot.split if sentence_like else (NO, stop)

    # -- zero look-ahead ------------------------------------------------------------------------

    def plausible_end(self, text: str, i: int, near: Around) -> bool:
        """Whether the dot at `text[i]` reads as a sentence end with nothing after it."""
        if near.stop - i > 1 or ends_marker(text, i):
            return False
        word, start = word_before(text, i)
        if word[-1:].isdigit():
            return near.end < near.next
        token = token_before(text, i)
        if "." in token or ADDRESS.search(token) or token == "www":
            return False
        measure = text[:start].rstrip()[-1:].isdigit()  # "6 in.", but "come in."
        everyday = word in self._language.everyday and not measure
        if not everyday and self._rule(Dot(text, i, near, word, start, False)) is not None:
            return False
        letters = re.sub(r"['’\-]", "", word)
        if not letters.isalpha() and not is_caseless(letters[:1] or "."):
            return False
        # Share of boundaries (UD test sets): 0.96 to 1.00 after a lower-case word, 1.00 after a
        # capitalised word of more than four letters; shorter ones may be unlisted abbreviations.
        # The first word of a sentence has its capital from there.
        opens = len(letters) > 2 and not text[:start].strip()
        lower = letters[0].islower() or opens
        usual = letters[1:].islower() and (lower or len(letters) > 4)
        return usual or is_caseless(letters[0]) or word.lower() in self._language.starters
