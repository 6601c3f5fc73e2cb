"""The voices this server has, and mixes of them.

A voice is a table of 510 styles, one for each length of a phoneme string. Names come from clients,
so a name is only ever compared with the ones that were read at start; no path is made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.protocol import ErrorCode

from .engines.base import MAX_PHONEMES

STYLE_SIZE: Final = 256
MIX_PARTS: Final = 8  # a mix of more voices sounds like no one; the name's length ends there anyway
MIXES_KEPT: Final = 16  # 0.5 MB each; the name is the client's, so there must be an end
_PACK: Final = "kokoro-v1.0-voices-fp16.npz"
_NAMES_SHOWN: Final = 6

_NAME: Final = re.compile(r"[a-z]{2}_[a-z0-9]+")
_PART: Final = re.compile(r"([^()+]*?)(?:\(([^()]*)\))?")
_WEIGHT: Final = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4})?")

# The first letter of a voice's name (hexgrad/Kokoro-82M, VOICES.md).
_LANGUAGE_OF_PREFIX: Final = {
    "a": "en-us",
    "b": "en-gb",
    "e": "es",
    "f": "fr",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt-br",
    "z": "zh",
}


class Voices:
    """The voices of the package, with those of folders on top.

    Safe to use from several threads.

    Args:
        folders: hold more voices: `NAME.npy`, or `.npz` packs of several, each an array
            `[510, 256]` (or `[510, 1, 256]`). A missing folder holds none. Of two voices of one
            name the later folder's counts.

    Raises:
        ValueError: a file in a folder is no voice.
    """

    def __init__(self, *folders: Path) -> None:
        with as_file(files("kokoro_container") / "assets" / _PACK) as pack:
            tables = dict(_read(pack))
        for folder in folders:
            for path in sorted(folder.glob("*.np[yz]")):
                tables.update(_read(path))
        self._tables: Mapping[str, NDArray[np.float16]] = tables
        self._mixed = lru_cache(maxsize=MIXES_KEPT)(self._mix)

    @property
    def names(self) -> tuple[str, ...]:
        """Every voice, in alphabetical order."""
        return tuple(sorted(self._tables))

    def check(self, voice: str) -> None:
        """Does nothing for a voice or a mix that this server can speak with.

        Raises:
            InvalidInput: `unknown_voice` for a name that is not here, `invalid_voice` for a mix
                that is written wrongly.
        """
        self._parts(voice)

    def language(self, voice: str) -> str:
        """The voice's own language; that of the first part for a mix.

        Raises:
            InvalidInput: as `check`.
        """
        return _LANGUAGE_OF_PREFIX[self._parts(voice)[0][0][0]]

    def style(self, voice: str, phonemes: int) -> NDArray[np.float32]:
        """The style for a string of so many phonemes.

        Args:
            voice: a name or a mix; `af_bella(2)+af_sky(1)` is the weighted mean.
            phonemes: 1 to `MAX_PHONEMES`.

        Raises:
            InvalidInput: as `check`.
            ValueError: no such length.
        """
        if not 1 <= phonemes <= MAX_PHONEMES:
            raise ValueError(f"a voice has styles for 1 to {MAX_PHONEMES} phonemes, not {phonemes}")
        style: NDArray[np.float32] = self._mixed(self._parts(voice))[phonemes - 1]
        return style

    def _parts(self, voice: str) -> tuple[tuple[str, float], ...]:
        parts = voice.split("+")
        if len(parts) > MIX_PARTS:
            raise _invalid(f"a mix has at most {MIX_PARTS} voices, this one {len(parts)}")
        return tuple(self._part(part.strip()) for part in parts)

    def _part(self, part: str) -> tuple[str, float]:
        match = _PART.fullmatch(part)
        if match is None:
            raise _invalid(f"{_shown(part)} is no part of a mix")
        name, weight = match[1].strip(), match[2]
        if name not in self._tables:
            known = ", ".join(self.names[:_NAMES_SHOWN])
            raise InvalidInput(
                f"voice {_shown(name)} is not one of the {len(self._tables)} that are here"
                f" ({known}, …); `ready` lists them all",
                code=ErrorCode.UNKNOWN_VOICE,
            )
        if weight is None:
            return name, 1.0
        if not _WEIGHT.fullmatch(weight) or float(weight) == 0:
            raise _invalid(f"weight {_shown(weight)} of {name} is not a number above 0")
        return name, float(weight)

    def _mix(self, parts: tuple[tuple[str, float], ...]) -> NDArray[np.float32]:
        total = sum(weight for _, weight in parts)
        mixed = np.zeros((MAX_PHONEMES, STYLE_SIZE), np.float32)
        for name, weight in parts:
            mixed += self._tables[name].astype(np.float32) * np.float32(weight / total)
        mixed.flags.writeable = False  # it is shared
        return mixed


def _read(path: Path) -> Iterator[tuple[str, NDArray[np.float16]]]:
    loaded = np.load(path, allow_pickle=False)
    tables = {path.stem: loaded} if isinstance(loaded, np.ndarray) else loaded
    for name, table in tables.items():
        if not _NAME.fullmatch(name) or name[0] not in _LANGUAGE_OF_PREFIX:
            raise ValueError(
                f"voice {name!r} in {path.name}: a name is a language letter, m or f, and letters"
                " or digits, as af_heart; rename it"
            )
        rows = table.reshape(len(table), -1) if table.ndim else table
        if rows.shape != (MAX_PHONEMES, STYLE_SIZE) or not np.isfinite(rows).all():
            raise ValueError(
                f"voice {name} in {path.name} has shape {table.shape} or values that are not"
                f" finite; it must be [{MAX_PHONEMES}, {STYLE_SIZE}] finite numbers"
            )
        yield name, rows.astype(np.float16)
    if not isinstance(loaded, np.ndarray):
        loaded.close()


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


def _invalid(reason: str) -> InvalidInput:
    return InvalidInput(
        f"{reason}; write a mix as af_bella(2)+af_sky(1)", code=ErrorCode.INVALID_VOICE
    )
