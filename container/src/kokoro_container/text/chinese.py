"""Mandarin: jieba's words, pypinyin's readings, misaki's phonemes."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import Any

from .espeak import OtherScripts
from .marks import spaced_marks, split_marks
from .phonemes import Piece, between
from .spans import MappedText

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_IS_HAN = re.compile(f"[{_HAN}]")
_RUN = re.compile(rf"[{_HAN}]+|[^\s{_HAN}]+")

_NUMBER = re.compile(
    r"(?:(?<![\w.])-)?\d+(?:,\d{3})*(?:\.\d+)?"
    r"(?:%|℃|年(?:\d{1,2}月(?:\d{1,2}日)?)?|月(?:\d{1,2}日)?)?"
)
_DIGITS = str.maketrans("0123456789", "零一二三四五六七八九")
_LONGEST_NUMBER_DIGITS = 16  # cn2an reads no longer one
_SIGNS = str.maketrans({"〇": "零"})


class ChineseEngine:
    """Mandarin Chinese."""

    def __init__(self) -> None:
        import cn2an  # type: ignore[import-untyped]  # it has no types
        import jieba  # type: ignore[import-untyped]  # it has no types
        from misaki.zh import ZHG2P

        jieba.setLogLevel(logging.WARNING)  # it prints its loading to stderr
        self._tokenizer = jieba.Tokenizer()
        self._tokenizer.initialize()
        self._to_chinese: Any = cn2an.transform
        self._word_phonemes: Any = ZHG2P.word2ipa
        self._other_scripts = OtherScripts("en-us")

    def speak(self, text: str) -> list[Piece]:
        """The words and marks of a cleaned text, in order."""
        read = MappedText.of(text.translate(_SIGNS))
        read = read.sub(_NUMBER, lambda m: self._number(m.group()))
        pieces: list[Piece] = []
        for piece in self._pieces(read.text):
            start, end = read.span(piece.start, piece.end)
            pieces.append(Piece(piece.phonemes, start, end, piece.is_word))
        return pieces

    def _number(self, number: str) -> str:
        digits = number.replace(",", "")
        count = sum(c.isdigit() for c in digits)
        if count > _LONGEST_NUMBER_DIGITS or (digits.isdigit() and digits[0] == "0"):
            return digits.translate(_DIGITS)
        return str(self._to_chinese(digits, "an2cn"))

    def _pieces(self, text: str) -> Iterator[Piece]:
        for start, end, is_marks in split_marks(text):
            if is_marks:
                yield between(spaced_marks(text[start:end]), start)
                continue
            for i, (word_start, word_end) in enumerate(self._words(text, start, end)):
                if i:
                    yield between(" ", word_start)
                yield from self._word(text, word_start, word_end)

    def _words(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        for run in _RUN.finditer(text, start, end):
            if not _IS_HAN.match(run.group()):
                yield run.span()
                continue
            for _, first, last in self._tokenizer.tokenize(run.group()):
                yield run.start() + first, run.start() + last

    def _word(self, text: str, start: int, end: int) -> Iterator[Piece]:
        word = text[start:end]
        if not _IS_HAN.match(word):
            yield Piece(self._other_scripts(word), start, end)
            return
        try:
            yield Piece(str(self._word_phonemes(word)), start, end)
        except ValueError:  # a character without a reading; the others still have theirs
            if len(word) == 1:
                yield Piece("", start, end)
                return
            for at in range(start, end):
                yield from self._word(text, at, at + 1)
