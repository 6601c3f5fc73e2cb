"""What is written for a machine or for the eye: tags, pauses, entities, Markdown, emoticons."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from .rules import Rule, Saying, drop

# Tags of SSML and HTML that would be read out. Others ("List<String>") are left.
_INLINE_TAGS = (
    "a|abbr|audio|b|big|cite|code|del|em|emphasis|font|i|ins|kbd|lang|mark|phoneme|prosody|q|s|"
    "say-as|small|span|spell|strong|strike|sub|sup|tt|u|var|voice|w|amazon:[a-z-]{1,30}|mstts:[a-z-]{1,30}"
)
_BLOCK_TAGS = (
    "blockquote|body|br|break|dd|div|dl|dt|h[1-6]|head|hr|html|img|li|ol|p|pre|script|section|"
    "speak|style|table|tbody|td|th|thead|tr|ul"
)
_ENTITY = r"&(?:[a-z]{2,8}[1-4]?|#\d{1,7}|#x[0-9a-f]{1,6});"


def _tags(names: str) -> re.Pattern[str]:
    return re.compile(rf"</?(?:{names})(?: [^<>]{{0,300}})?/?>", re.IGNORECASE)


def _unescaped(match: re.Match[str]) -> Saying:
    char = html.unescape(match.group())
    if char == match.group() or not char.isprintable():
        return " " if char.isspace() else None
    return char


_STAR = frozenset("*")


def rules() -> Iterable[Rule]:
    """The same for every language, and before everything else."""
    return (
        Rule(_tags(_BLOCK_TAGS), lambda _: " ", frozenset("<")),
        Rule(_tags(_INLINE_TAGS), drop, frozenset("<")),
        # the pause is made by the caller; here it is only not read out
        Rule(
            re.compile(r"\[pause(?:: ?\d{0,4}(?:\.\d{1,4})? ?(?:ms|s)?)?\]", re.IGNORECASE),
            lambda _: " ",
            frozenset("["),
        ),
        # a reference behind a sentence: "so it was.[1][2]"
        Rule(
            re.compile(r"(?<=[.,;!?”\"\])])\[\d{1,3}(?:[-–,] ?\d{1,3}){0,5}+\]"),
            drop,
            frozenset("["),
        ),
        Rule(re.compile(_ENTITY, re.IGNORECASE), _unescaped, frozenset("&")),
        Rule(re.compile(r"(?<!\S)(?:[:;=]-?[()DPp|/]|\^_\^)(?![\w/])"), drop, frozenset(":;=^")),
        Rule(re.compile(r"```[a-z]{0,12}(?!\S)|`+"), drop, frozenset("`")),
        Rule(re.compile(r"(?<![\d) ])\*+|(?<!\d)(?<!\d )\*+(?=\S)|\*{2,}(?! ?\d)"), drop, _STAR),
        Rule(re.compile(r"(?<!\w)_{1,3}(?=\w)|(?<=[^\W_])_{1,3}(?!\w)|~~"), drop, frozenset("_~")),
        Rule(re.compile(r"^(?:> ?)+(?=\D)|(?<![^\s])#{1,6} (?=[A-Z\d])"), drop, frozenset(">#")),
        Rule(
            re.compile(r"(?<=[\w,.!?\"')]) -{2,3} (?=[\w\"'(])|(?<=\w)-{2,3}(?=[^\W\d_])"),
            lambda _: "—",
            frozenset("-"),
        ),
        Rule(re.compile(r"(?<!\S)(?:\[[ xX]?\]|[-=_*]{2,}|\|)(?!\S)"), drop, frozenset("[-=_*|")),
    )
