"""When each word of a piece is heard, by the frames that the model gave its phonemes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kokoro_sagemaker_agents.protocol import Word

from .engines.base import FRAME_SAMPLES, SAMPLE_RATE, EngineAudio, EngineFailed
from .pieces import Piece

SOUND_AHEAD_FRAMES: Final = 3
"""A phoneme is heard this long before its frames: the decoder looks ahead. Measured at the first
sound of six texts: 20 to 115 ms, mostly 65 to 85; `kokoro`'s own word times move by the same three
frames."""


def phoneme_starts(audio: EngineAudio, piece: Piece) -> NDArray[np.int64]:
    """The sample from which each phoneme is heard, and where the last one ends.

    Raises:
        EngineFailed: the audio cannot be right.
    """
    if len(audio.frames) != len(piece.phonemes) + 2 or not np.isfinite(audio.samples).all():
        raise EngineFailed(
            f"the model gave {len(audio.frames)} durations for {len(piece.phonemes)} phonemes, or"
            " samples that are no numbers; try again, or say it in other words"
        )
    starts = np.cumsum(audio.frames)[:-1] - SOUND_AHEAD_FRAMES
    return np.maximum(starts, 0) * FRAME_SAMPLES


def word_times(
    piece: Piece, starts: NDArray[np.int64], samples: int, position: int, known_s: float
) -> tuple[Word, ...]:
    """The piece's words with their times, those before `known_s` left out."""
    words = []
    for word in piece.words:
        start, end = (
            (position + min(max(int(starts[at]), 0), samples)) / SAMPLE_RATE
            for at in (word.phoneme_start, word.phoneme_end)
        )
        if end > known_s or not known_s:
            words.append(
                Word(
                    text=word.text,
                    start=start,
                    end=end,
                    char_start=word.char_start,
                    char_end=word.char_end,
                )
            )
    return tuple(words)


def moved(piece: Piece, chars: int) -> Piece:
    """The piece of a section that begins so many characters into its text."""
    if not chars:
        return piece
    words = (
        type(word)(
            word.text,
            word.char_start + chars,
            word.char_end + chars,
            word.phoneme_start,
            word.phoneme_end,
        )
        for word in piece.words
    )
    return replace(piece, words=tuple(words))
