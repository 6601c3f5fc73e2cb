"""Character classes shared by the filters and the boundary rules.

The sentinels are Unicode noncharacters: reserved for internal use, never part of interchanged
text. The filters replace them where a source contains them, put their own into the visible
text, and `VisibleText` takes them out again before anything is spoken.
"""

from __future__ import annotations

from typing import Final

#: Everything before it is complete: the end of a heading, a blank line, a list marker, a block.
BREAK: Final = "\ufdd0"
#: Encloses literal text in which no boundary may fall: a tag, inline code, `[pause:0.5s]`.
ATOM_OPEN: Final = "\ufdd1"
ATOM_CLOSE: Final = "\ufdd2"
#: Encloses the name of an emoji, closed by ATOM_CLOSE; it stays with the sentence before it.
NAME_OPEN: Final = "\ufdd3"
#: Stands after an emoji, named or not: it ends a sentence that has no other mark.
EMOJI_END: Final = "\ufdd4"
SENTINELS: Final = BREAK + ATOM_OPEN + ATOM_CLOSE + NAME_OPEN + EMOJI_END

#: Marks that end a sentence at once, whatever follows (scripts without letter case).
WIDE_MARKS: Final = "。！？｡．।॥۔؟։።။។"
#: Marks whose meaning depends on what follows.
LOUD_MARKS: Final = "!?‼⁇⁈⁉‽"
ELLIPSIS: Final = "…"
MARKS: Final = "." + LOUD_MARKS + ELLIPSIS + WIDE_MARKS

#: Quotes and brackets that may close right after a mark and then belong to it. The straight
#: quotes, “ and « open in some languages and close in others; context decides.
CLOSERS: Final = "\"'”’»›)]}」』】》〉）］｝〕〗〙〛｣“«"
AMBIGUOUS_QUOTES: Final = "\"'“«"
OPENERS: Final = "\"'“‘«‹([{「『【《〈（［｛〔〖〘〚｢¿¡„‚"

#: A visible character that shows the sentence goes on after a mark and a space.
CONTINUERS: Final = ",;:)]}%/&=+，、；：）】」』》〉”’»"

CJK_OPENERS: Final = "「『【《〈（［｛〔〖〘〚｢"
CJK_CLOSERS: Final = "」』】》〉）］｝〕〗〙〛｣"


def is_cjk(character: str) -> bool:
    """Whether `character` is a Han character or kana: scripts written without spaces."""
    return is_kana(character) or is_han(character)


def is_wide(character: str) -> bool:
    """Whether `character` is Chinese or Japanese text, its punctuation included."""
    full_width = "\u3000" <= character <= "\u303f" or "\uff00" <= character <= "\uff60"
    return full_width or is_cjk(character)


def is_kana(character: str) -> bool:
    """Whether `character` is hiragana or katakana, half-width included."""
    return "\u3040" <= character <= "\u30ff" or "\uff66" <= character <= "\uff9f"


def is_han(character: str) -> bool:
    """Whether `character` is a Han character."""
    return (
        "\u4e00" <= character <= "\u9fff"
        or "\u3005" <= character <= "\u3007"
        or "\u3400" <= character <= "\u4dbf"
        or "\uf900" <= character <= "\ufaff"
        or "\U00020000" <= character <= "\U0003ffff"
    )


def is_hangul(character: str) -> bool:
    """Whether `character` is a Hangul syllable or letter."""
    return "\uac00" <= character <= "\ud7af" or "\u1100" <= character <= "\u11ff"


def is_caseless(character: str) -> bool:
    """Whether `character` is a letter of a script without upper and lower case."""
    return character.isalpha() and character.lower() == character.upper()
