"""Words whose letters don't say how they sound: "C#", "AT&T", "JSON", "btw", "#1"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kokoro_container.text.normalise.rules import LETTER, Rule, one_of

_WORDS = {
    "AT&T": "A.T. and T",
    "C#": "C sharp",
    "F#": "F sharp",
    ".NET": "dot net",
    "CO2": "C O two",
    "CO₂": "C O two",
    "ASP.NET": "A.S.P. dot net",
    "401(k)": "four oh one K",
    "401k": "four oh one K",
    "JSON": "Jason",
    "json": "Jason",
    "YAML": "yammel",
    "yaml": "yammel",
    "PostgreSQL": "Postgres Q L",
    "kubectl": "cube control",
    "nginx": "engine X",
    "NGINX": "engine X",
    "aws": "AWS",
    "ux": "UX",
    "tl;dr": "TLDR",
    "TL;DR": "TLDR",
    "btw": "by the way",
    "idk": "I don't know",
    "imo": "in my opinion",
    "imho": "in my humble opinion",
    "afaik": "as far as I know",
    "lmk": "let me know",
    "thx": "thanks",
    "pls": "please",
    "plz": "please",
    "ppl": "people",
    "tbh": "to be honest",
    "brb": "be right back",
}


_HASH = frozenset("#")


def rules(*, british: bool) -> Iterable[Rule]:
    """Words of the table, hashtags and the keys of a telephone."""
    word = re.compile(rf"(?<![\w@/#&-])(?:{one_of(_WORDS)})(?![\w#&@/])(?!-\w)(?!\.\w)")
    key = r"(?i:(?<=\bpress )|(?<=\bdial )|(?<=\bhit )|(?<=\bthe ))"
    hash_key = "hash" if british else "pound"
    return (
        Rule(word, lambda match: _WORDS[match.group()], LETTER),
        Rule(re.compile(rf"{key}\*(?=[ .,;!?]|$)"), lambda _: "star", frozenset("*")),
        Rule(re.compile(rf"{key}#(?=[ .,;!?]|$)"), lambda _: hash_key, frozenset("#")),
        Rule(re.compile(r"(?<![\w#&/])#(?=\d)"), lambda _: "number ", _HASH, joined=True),
        Rule(re.compile(r"(?<![\w#&/])#(?=[^\W\d_])"), lambda _: "hashtag ", _HASH, joined=True),
        Rule(re.compile(r"(?<![^\s(])I <3 (?=\w)"), lambda _: "I love ", frozenset("<")),
        Rule(re.compile(_HEART), lambda _: "heart", frozenset("<")),
    )


# "<3" is a heart unless something is counted or compared.
_HEART = (
    r"(?<!\d )(?<!\b[a-z] )(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bif )(?<!\bof )(?<!\bbe )"
    r"(?<![\w<=(])<3(?!\w|[.,]\d|%|°| [a-z%°])"
)
