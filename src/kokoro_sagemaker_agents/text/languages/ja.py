"""Japanese; the English data serves for the English inside it."""

from __future__ import annotations

from dataclasses import replace

from .en import LANGUAGE as ENGLISH

LANGUAGE = replace(
    ENGLISH,
    code_notice="ここにコードの例があります。",
    phonemes_per_char=3.02,
    first_clause_chars=10,
)
