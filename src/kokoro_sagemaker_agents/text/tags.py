"""Tags in LLM output: which are reasoning or tool calls, which are formatting, which are text."""

from __future__ import annotations

import re
from typing import Final

from .languages import words

#: Longest tag that is waited for (SSML's `phoneme` with two attributes fits several times).
MAX_TAG: Final = 200

_REASONING: Final = words(
    "think thinking thought thoughts thought_process reasoning reason reflection reflect analysis "
    "scratchpad inner_monologue internal_monologue monologue planning"
)
_TOOL: Final = words(
    "tool tools tool_call tool_calls toolcall tool_use tool_result tool_results tool_response "
    "tool_output tool_outputs tool_code function function_call function_calls function_result "
    "function_results function_response invoke parameter script style"
)
_INLINE_HTML: Final = words(
    "a abbr b bdi bdo big cite code del dfn em font i ins kbd mark q ruby rb rt s samp small span "
    "strike strong sub sup tt u var wbr"
)
_BLOCK_HTML: Final = words(
    "address article aside blockquote body br center dd details div dl dt footer h1 h2 h3 h4 h5 h6 "
    "header hr html img li main nav ol p pre section summary table tbody td tfoot th thead tr "
    "ul"
)

_OPENING: Final = re.compile(r"</?[A-Za-z][\w:-]*")
_ATTRIBUTES: Final = re.compile(
    r"(?:\s+[\w:.@-]+(?:=(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=`]+))?)*\s*/?>"
)
_OPEN_ATTRIBUTES: Final = re.compile(
    r"(?:\s+[\w:.@-]+(?:=(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=`]+))?)*"
    r"(?:\s*/?|\s+[\w:.@-]*(?:=(?:\"[^\"<>]*|'[^'<>]*|[^\s\"'<>=`]*)?)?)\Z"
)
_AUTOLINK: Final = re.compile(
    r"<((?:https?|ftp|mailto):[^\s<>]{1,180}|[\w.+-]{1,60}@[\w.-]{1,80})>"
)
_AUTOLINK_PREFIX: Final = re.compile(
    r"<(?:https?|ftp|mailto)?(?::[^\s<>]{0,180})?\Z|<[\w.+-]{1,60}@?[\w.-]{0,80}\Z"
)
_CONTROL: Final = re.compile(r"<\|[\w .-]{1,40}\|>")
_CONTROL_PREFIX: Final = re.compile(r"<\|[\w .-]{0,40}\|?\Z")


#: What a `<` begins, the tag's name, and where it ends. The first is `text` (no tag: the `<` is
#: literal), `link` (`<https://…>`), `block` (reasoning, tool calls: everything to the closing tag
#: is dropped), `inline` or `break` (HTML formatting: the tag is dropped), `comment`, or `keep`
#: (SSML and other XML: stays in one piece).
Tag = tuple[str, str, int]


def tag(data: str, i: int, final: bool) -> Tag | None:
    """What the `<` at `data[i]` begins; None when `data` ends before it can be told."""
    text = ("text", "", i + 1)
    following = data[i + 1 : i + 2]
    if not following:
        return text if final else None
    if following == "!":
        return _comment(data, i, final, text)
    if following == "|":
        match = _CONTROL.match(data, i)
        if match:
            return ("inline", "", match.end())
        return None if not final and _CONTROL_PREFIX.match(data, i) else text
    if not (following.isalnum() or following in "/_"):
        return text
    link = _AUTOLINK.match(data, i)
    if link:
        return ("link", "", link.end())
    opening = _OPENING.match(data, i)
    if opening:
        found = _element(data, i, opening.end(), final)
        if found != text:
            return found
    elif following == "/" and len(data) == i + 2 and not final:
        return None
    if not final and len(data) - i < MAX_TAG and _AUTOLINK_PREFIX.match(data, i):
        return None
    return text


def _comment(data: str, i: int, final: bool, text: Tag) -> Tag | None:
    if data.startswith("<!--", i):
        return ("comment", "", i + 4)
    return None if not final and "<!--".startswith(data[i:]) else text


def _element(data: str, i: int, name_end: int, final: bool) -> Tag | None:
    """The element tag whose name ends at `name_end`."""
    text = ("text", "", i + 1)
    rest = _ATTRIBUTES.match(data, name_end)
    if rest is None or rest.end() - i > MAX_TAG:
        waiting = not final and len(data) - i < MAX_TAG and _OPEN_ATTRIBUTES.match(data, name_end)
        return None if waiting and not _prose(data[name_end:], 1) else text
    if _prose(data[name_end : rest.end() - 1], 0):
        return text
    closing = data[i + 1] == "/"
    name = data[i + 1 + closing : name_end].lower()
    return (_kind(name, closing, data[rest.end() - 2] == "/"), name, rest.end())


def _prose(attributes: str, begun: int) -> bool:
    """Whether what follows a tag's name reads as words rather than attributes ("a<b and c>d").

    `begun` words may still become attributes.
    """
    return "=" not in attributes and len(attributes.rstrip("/").split()) > begun


def _kind(name: str, closing: bool, self_closing: bool) -> str:
    bare = name.rsplit(":", 1)[-1].replace("-", "_")
    if bare in _REASONING or bare in _TOOL:
        return "break" if closing or self_closing else "block"
    if bare in _INLINE_HTML:
        return "inline"
    return "break" if bare in _BLOCK_HTML else "keep"
