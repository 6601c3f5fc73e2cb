"""Mandarin Chinese; the English data serves for the English inside it."""

from __future__ import annotations

from dataclasses import replace

from .en import LANGUAGE as ENGLISH

LANGUAGE = replace(
    ENGLISH,
    code_notice="这里有一段代码。",
    phonemes_per_char=4.29,
    first_clause_chars=7,
)
