"""The demo's timeline as a picture: what is heard when, in each mode, on one time axis."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .timeline import STREAMING, WAITING, WAITING_WHOLE, Mode, Run, find, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TITLES: Final[dict[Mode, tuple[str, str]]] = {
    STREAMING: ("Streaming", "each sentence is sent as soon as it is written"),
    WAITING: ("Waiting", "the whole reply is sent once it is written; its audio streams back"),
    WAITING_WHOLE: ("Waiting twice", "the whole reply is sent, and comes back as one WAV file"),
}
_COLOURS: Final[dict[Mode, str]] = {
    STREAMING: "#0f766e",
    WAITING: "#b45309",
    WAITING_WHOLE: "#9f1239",
}
_INK: Final = "#1f2937"
_FAINT: Final = "#6b7280"
_SENTENCE_FILLS: Final = ("#99d5cd", "#c5e8e3")
_PLAIN_FILL: Final = "#e7d3bd"
_GAP: Final = "#dc2626"

_WIDTH_IN: Final = 15.0
_ROW_IN: Final = 0.77
#: Characters of 9 point text that fit into an inch.
_CHARS_PER_INCH: Final = 13.5
#: Share of the figure's width that the time axis has.
_AXIS_SHARE: Final = 0.86
#: Heights in a run's drawing, from below: what is heard, arrivals, first sound, what was sent.
_HEARD_Y: Final = 0.45
_ARRIVALS: Final = (0.9, 1.3)
_FIRST_SOUND_Y: Final = 1.7
_SENT_FROM: Final = 2.05


def draw(runs: Sequence[Run], reply: str, path: Path, footnote: str) -> None:
    """Draw the reply's runs one below the other and save them as a PNG.

    Args:
        runs: all that was measured; only this reply's are drawn.
        reply: its name.
        path: the file to write.
        footnote: where and with what it was measured.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [run for run in runs if run.reply == reply]
    until_s = _axis_end_s(shown)
    heights = [1.0, *(_SENT_FROM + _sent_rows(run) for run in shown)]
    figure, axes = pyplot.subplots(
        len(shown) + 1,
        1,
        sharex=True,
        figsize=(_WIDTH_IN, _ROW_IN * sum(heights)),
        gridspec_kw={"height_ratios": heights, "hspace": 0.42},
    )
    figure.subplots_adjust(left=0.1, right=0.1 + _AXIS_SHARE, top=0.915, bottom=0.095)
    _draw_tokens(axes[0], find(runs, reply, STREAMING))
    for axis, run in zip(axes[1:], shown, strict=True):
        _draw_run(axis, run, until_s)
    _draw_time_axis(axes, shown[0].llm_done_s, until_s)
    figure.text(0.1, 0.955, _headline(runs, reply), fontsize=17, weight="bold", color=_INK)
    figure.text(0.1, 0.015, footnote, fontsize=9, color=_FAINT)
    if any(start_s < until_s for run in shown for start_s, _ in run.gaps()):
        figure.text(
            0.1 + _AXIS_SHARE, 0.965, "hatched: silence, audio is late", ha="right", color=_GAP
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _headline(runs: Sequence[Run], reply: str) -> str:
    run = find(runs, reply, STREAMING)
    return (
        f"First sound after {run.first_audio_s:.1f} s instead of"
        f" {find(runs, reply, WAITING).first_audio_s:.1f} s:"
        f" {ratio(runs, reply):.1f} times sooner"
    )


def _axis_end_s(runs: Sequence[Run]) -> float:
    """Far enough to compare streaming with waiting; what is much later runs off the edge."""
    waiting_s = find(runs, runs[0].reply, WAITING).first_audio_s
    last_s = max(max(run.first_audio_s, run.llm_done_s) for run in runs)
    heard_s = max(run.playback()[-1].end_s for run in runs)
    return min(max(1.3 * last_s, heard_s), 2.2 * waiting_s)


def _sent_rows(run: Run) -> float:
    """Height of the topmost row, in rows: several sentences need more room than one."""
    return 1.0 if len(run.sentences) < 2 else 2.0


def _draw_tokens(axis: Axes, run: Run) -> None:
    axis.set_ylim(0, 1)
    axis.vlines(run.tokens, 0.15, 0.85, color="#4f46e5", linewidth=0.7)
    axis.text(
        run.llm_done_s,
        0.5,
        f"  the model has written its last of {len(run.tokens)} tokens"
        f" after {run.llm_done_s:.1f} s",
        va="center",
        fontsize=10,
        color=_INK,
    )
    _label_row(axis, 0.5, "LLM's tokens")


def _draw_run(axis: Axes, run: Run, until_s: float) -> None:
    """Three rows: what was sent, when its audio came, what was heard."""
    sent_rows = _sent_rows(run)
    axis.set_ylim(0, _SENT_FROM + sent_rows)
    name, meaning = _TITLES[run.mode]
    axis.set_title(f"{name}: {meaning}", loc="left", fontsize=12, weight="bold", color=_INK, pad=5)
    _label_row(axis, _SENT_FROM + sent_rows / 2, "from sent\nto first sound")
    _label_row(axis, sum(_ARRIVALS) / 2, "audio arrives")
    _label_row(axis, _HEARD_Y, "listener hears")
    _draw_sent(axis, run)
    arrivals = [piece.at_s for piece in run.audio]
    axis.vlines(arrivals, *_ARRIVALS, color=_COLOURS[run.mode], linewidth=1.6)
    if run.mode == STREAMING:
        for number, sentence in enumerate(s for s in run.sentences if s.audio_start_s is not None):
            begin_s = sentence.audio_start_s or 0.0
            audio = (begin_s, begin_s + sentence.audio_s)
            _draw_heard(axis, run, audio, sentence.text, _SENTENCE_FILLS[number % 2], until_s)
    else:
        _draw_heard(axis, run, (0.0, run.audio_s), "the reply", _PLAIN_FILL, until_s)
    for start_s, end_s in run.gaps():
        _bar(axis, start_s, end_s, _HEARD_Y, "none", 0.7, edge=_GAP, hatch="////")
    _mark_first_sound(axis, run, until_s)


def _draw_sent(axis: Axes, run: Run) -> None:
    """A bar per sentence from its sending to its first audio; none hides another."""
    lanes: list[float] = []
    bars = []
    for sentence in run.sentences:
        end_s = sentence.first_audio_s if sentence.first_audio_s is not None else sentence.sent_s
        lane = next((i for i, free_s in enumerate(lanes) if free_s <= sentence.sent_s), len(lanes))
        lanes[lane:] = [end_s] if lane == len(lanes) else [end_s, *lanes[lane + 1 :]]
        bars.append((sentence.sent_s, end_s, lane))
    rows = _sent_rows(run)
    height = (rows - 0.2) / max(len(lanes), 1)
    for start_s, end_s, lane in bars:
        y = _SENT_FROM + rows - 0.1 - height * (lane + 0.5)
        _bar(axis, start_s, end_s, y, _COLOURS[run.mode], height * 0.6)


def _draw_heard(
    axis: Axes, run: Run, audio: tuple[float, float], text: str, fill: str, until_s: float
) -> None:
    """Bars where this range of the reply's audio is heard, its text in the first of them."""
    for part in run.playback():
        shift_s = part.start_s - part.audio_start_s
        start_s = max(audio[0] + shift_s, part.start_s)
        end_s = min(audio[1] + shift_s, part.end_s)
        if start_s < min(end_s, until_s):
            _bar(axis, start_s, end_s, _HEARD_Y, fill, 0.7)
            _text_in(axis, text, start_s, end_s, _HEARD_Y, until_s)
            text = ""


def _text_in(axis: Axes, text: str, start_s: float, end_s: float, y: float, until_s: float) -> None:
    """As much of the text as fits between two times, at the left."""
    width_in = (min(end_s, until_s) - start_s) / until_s * _WIDTH_IN * _AXIS_SHARE
    room = int(width_in * _CHARS_PER_INCH) - 1
    words = textwrap.shorten(" ".join(text.split()), max(room, 1), placeholder="…")
    if words.strip("… "):
        axis.text(start_s, y, f" {words}", va="center", fontsize=9, color=_INK, clip_on=True)


def _mark_first_sound(axis: Axes, run: Run, until_s: float) -> None:
    label = f"first sound after {run.first_audio_s:.1f} s"
    off_the_edge = run.first_audio_s > until_s
    if off_the_edge:
        label = f"{label}, beyond this edge →"
    else:
        axis.vlines(run.first_audio_s, 0.0, _SENT_FROM, color=_INK, linewidth=2.0)
    axis.annotate(
        label,
        xy=(min(run.first_audio_s, until_s), _FIRST_SOUND_Y),
        xytext=(-4 if off_the_edge else 8, 0),
        textcoords="offset points",
        ha="right" if off_the_edge else "left",
        va="center",
        fontsize=12,
        weight="bold",
        color=_INK,
        bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "none"},
    )


def _draw_time_axis(axes: Any, llm_done_s: float, until_s: float) -> None:
    for axis in axes:
        axis.set_xlim(0, until_s)
        axis.set_yticks([])
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
        axis.spines["bottom"].set_color("#d1d5db")
        axis.tick_params(axis="x", color="#d1d5db", labelsize=10)
        axis.axvline(llm_done_s, color="#4f46e5", linewidth=1.0, linestyle=(0, (4, 3)), zorder=0)
    axes[-1].set_xlabel("seconds since the language model was asked", fontsize=11, color=_INK)


def _bar(
    axis: Axes,
    start_s: float,
    end_s: float,
    y: float,
    fill: str,
    height: float,
    *,
    edge: str = "white",
    hatch: str = "",
) -> None:
    axis.barh(
        y,
        max(end_s - start_s, 0.0),
        left=start_s,
        height=height,
        color=fill,
        edgecolor=edge,
        hatch=hatch,
        linewidth=0.8,
    )


def _label_row(axis: Axes, y: float, text: str) -> None:
    axis.annotate(
        text,
        xy=(0, y),
        xycoords=("axes fraction", "data"),
        xytext=(-8, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=10,
        color=_FAINT,
    )
