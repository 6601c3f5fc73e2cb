"""How alike two recordings of speech are, whatever their loudness and pace."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

_RATE = 24_000
_WINDOW = 1024
_HOP = 600  # 25 ms, the model's own frame
_BANDS = 32
_FLOOR = 1e-6  # of the loudest band: 60 dB below it is silence


def log_bands(samples: NDArray[np.float32]) -> NDArray[np.float64]:
    """Log power in bands of equal width on a log scale, 80 Hz to 8 kHz, `[frames, bands]`."""
    padded = np.pad(samples.astype(np.float64), _WINDOW // 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::_HOP]
    power = np.abs(np.fft.rfft(windows * np.hanning(_WINDOW))) ** 2
    hertz = np.fft.rfftfreq(_WINDOW, 1 / _RATE)
    edges = np.geomspace(80, 8000, _BANDS + 1)
    bands = [
        power[:, (hertz >= low) & (hertz < max(high, low + _RATE / _WINDOW))].mean(axis=1)
        for low, high in itertools.pairwise(edges)
    ]
    levels = np.stack(bands, axis=1)
    return np.log(np.maximum(levels, levels.max() * _FLOOR))


def correlation(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Of the log spectra over time, after aligning them; each band's mean taken out."""
    a, b = log_bands(one), log_bands(other)
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    rows, columns = _aligned(((a[:, None] - b[None]) ** 2).mean(axis=2))
    a, b = a[rows], b[columns]
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def _aligned(cost: NDArray[np.float64]) -> tuple[list[int], list[int]]:
    """Dynamic time warping: the cheapest way from corner to corner."""
    total = np.full((cost.shape[0] + 1, cost.shape[1] + 1), np.inf)
    total[0, 0] = 0.0
    for i in range(cost.shape[0]):
        for j in range(cost.shape[1]):
            total[i + 1, j + 1] = cost[i, j] + min(total[i, j], total[i, j + 1], total[i + 1, j])
    i, j = cost.shape
    rows: list[int] = []
    columns: list[int] = []
    while i and j:
        rows.append(i - 1)
        columns.append(j - 1)
        i, j = min(((i - 1, j - 1), (i - 1, j), (i, j - 1)), key=lambda at: total[at])
    return rows[::-1], columns[::-1]
