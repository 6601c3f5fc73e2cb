"""Web and e-mail addresses, file names: "https://example.com/path?x=1", "README.md"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from .rules import Rule, Saying, one_of
from .tables import Table, listed

# An address is ASCII, so it ends where a script without spaces goes on.
_CHAR = r"[!#-;=?-~]"
_LAST = r"[\w/=&#%+~@$-]"
_URL = rf"(?<!\w)(?:https?|ftp|wss?)://(?P<url>{_CHAR}{{0,2000}}{_LAST})"
_HOST = r"(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,5}"
# Tops that are no word of a language, or a full stop without a space behind it would be a "dot".
_TOP = (
    "com|org|net|edu|gov|info|io|ai|dev|app|co|tv|xyz|tech|cloud|"
    "uk|fr|jp|cn|br|pt|mx|ca|au|nz|ch|nl|eu|ru|kr"
)
_BARE = (
    rf"(?<![\w@.-])(?P<host>www\.{_HOST}[a-z]{{2,12}}|localhost(?=:\d)|{_HOST}(?:{_TOP}))"
    rf"(?P<port>:\d{{2,5}}(?!\d))?(?P<path>/(?:{_CHAR}{{0,2000}}{_LAST})?)?(?![\w@-])(?!\.\w)"
)
_MAIL = r"(?<![\w.+-])(?P<user>[\w.+-]{1,64})@(?P<host>[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})(?![\w@-])"
_FILE = r"(?<![\w/.@-])(?P<stem>[\w-]{1,60}(?:\.[\w-]{1,20})?)\.(?P<ending>%s)(?![\w@/-])(?!\.\w)"

# Beyond these an address is not read to its end: nobody could follow.
_MOST_PATH_PARTS = 3
_LONGEST_PATH_CHARS = 60
_LONGEST_QUERY_CHARS = 24
_LONGEST_NUMBER_DIGITS = 2
_SHORTEST_SHOUTED_CHARS = 4

_PART = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_CASE_BORDER = re.compile(r"(?<=[a-z])(?=[A-Z])")


def rules(table: Table) -> Iterable[Rule]:
    """Addresses with their scheme first, then those without, then file names."""
    if not table.web:
        return ()
    speaker = _Speaker(table)
    return (
        Rule(re.compile(_URL, re.ASCII | re.IGNORECASE), speaker.url, frozenset("/")),
        Rule(re.compile(_MAIL, re.ASCII), speaker.mail, frozenset("@")),
        Rule(re.compile(_BARE, re.ASCII), speaker.bare, frozenset(".:")),
        Rule(re.compile(_FILE % one_of(_ENDINGS), re.ASCII), speaker.file, frozenset(".")),
    )


# A file name's ending, or the top of an address, by what is said for it.
_ENDINGS: Mapping[str, str] = {
    **{
        e: e.upper()
        for e in listed("md py js ts rs cpp csv css html xml pdf png svg mp3 mp4 sh db")
    },
    "txt": "text",
    **{e: e for e in listed("doc docx zip exe log conf java toml json yaml yml jpg jpeg gif")},
    **{e: e.upper() for e in listed("tsx jsx ini lock wav sql ipynb xls xlsx ppt pptx")},
}
_SPELLED = frozenset(listed("io ai tv uk us fr jp cn br pt mx nz ch nl eu ru kr hk tw sg ca"))


class _Speaker:
    def __init__(self, table: Table) -> None:
        self._numbers = table.numbers
        self._words = table.web

    def url(self, match: re.Match[str]) -> Saying:
        return self._address(match["url"])

    def bare(self, match: re.Match[str]) -> Saying:
        return self._address(match["host"] + (match["port"] or "") + (match["path"] or ""))

    def mail(self, match: re.Match[str]) -> Saying:
        return f"{self._read(match['user'])} {self._words['@']} {self._read(match['host'])}"

    def file(self, match: re.Match[str]) -> Saying:
        stem = _CASE_BORDER.sub(" ", match["stem"])
        # "README" would be spelled
        stem = stem.lower() if len(stem) >= _SHORTEST_SHOUTED_CHARS and stem.isupper() else stem
        stem = " ".join(self._part(p) for p in _PART.findall(stem) if p not in "-_")
        return f"{stem} {self._words['.']} {_ENDINGS[match['ending']]}"

    def _address(self, address: str) -> str:
        address, _, _ = address.partition("#")
        address, _, query = address.partition("?")
        host, *path = address.removeprefix("www.").rstrip("/").split("/")
        words = self._read(host.rpartition("@")[2])
        if len(path) <= _MOST_PATH_PARTS and sum(map(len, path)) <= _LONGEST_PATH_CHARS:
            words += "".join(f" {self._words['/']} {self._read(part)}" for part in path)
            if query and len(query) <= _LONGEST_QUERY_CHARS:
                words += f" {self._words['?']} {self._read(query)}"
        return words

    def _read(self, text: str) -> str:
        parts = (self._part(part) for part in _PART.findall(_CASE_BORDER.sub(" ", text)))
        return " ".join(filter(None, parts))

    def _part(self, part: str) -> str:
        if part.isdigit():
            if len(part) > _LONGEST_NUMBER_DIGITS or part[0] == "0":
                return self._numbers.spell(part)
            return self._numbers.cardinal(int(part))
        if part in self._words:
            return self._words[part]
        return part.upper() if part in _SPELLED else part
