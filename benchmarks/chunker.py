"""Our sentence chunker beside the splitters of Pipecat, LiveKit and RealtimeTTS: one table.

Each runs in a process and an environment of its own and is given the same pseudo-tokens of about
four characters. Ours does the same work just before each of theirs does, so that a change in the
machine's speed meets both; times are CPU time, the median over the rounds. A figure in brackets
is theirs divided by ours. Everything but the times is the same on every run.

    .venv/bin/python benchmarks/chunker.py [--rounds 7] [--json PATH]
    .venv/bin/python benchmarks/chunker.py --prepare    # only make the environments
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _chunk_score as score
import _chunk_texts as texts
from _peers import peer_python
from _worker import Worker

HERE = Path(__file__).resolve().parent
RUN_ON = texts.run_on(16_000)
#: What is timed, and how often in a row: the short one alone would be over too soon to time.
WORK = {
    "prose_us": (texts.prose(16_000), 1),
    "run_on_1k_us": (texts.run_on(1_000), 8),
    "run_on_16k_us": (RUN_ON, 1),
}
Figures = dict[str, Any]


@dataclass(frozen=True)
class Splitter:
    """A column of the table: a worker script, its argument and the environment it runs in."""

    title: str
    script: str
    option: str = ""
    environment: str = ""
    requirements: tuple[str, ...] = ()

    def start(self) -> Worker:
        return Worker(self.python(), HERE / self.script, self.option)

    def python(self) -> str:
        if not self.environment:
            return sys.executable
        return peer_python(self.environment, *self.requirements)


OURS = Splitter("ours", "_chunk_ours.py")
_S2S = ("_chunk_stream2sentence.py", "stream2sentence", ("stream2sentence==1.1.0",))
# What decides where a peer splits is pinned too.
OTHERS = [
    Splitter("ours, eager first", "_chunk_ours.py", "eager"),
    Splitter(
        "Pipecat 1.14.0",
        "_chunk_pipecat.py",
        environment="pipecat",
        requirements=("pipecat-ai==1.14.0", "sentencex==1.0.32"),
    ),
    Splitter(
        "LiveKit 1.8.9",
        "_chunk_livekit.py",
        environment="livekit",
        requirements=("livekit-agents==1.8.9", "livekit-blingfire==1.2.0"),
    ),
    Splitter("stream2sentence 1.1.0", _S2S[0], "", *_S2S[1:]),
    Splitter("the same, auto_context", _S2S[0], "auto", *_S2S[1:]),
]


def release(worker: Worker, language: str, tokens: list[str]) -> list[score.Released]:
    chunks = worker.ask(language=language, tokens=tokens)["chunks"]
    return [score.Released(*chunk) for chunk in chunks]


def quality(worker: Worker) -> Figures:
    """Everything that does not depend on the machine."""
    figures = _hard_set(worker)
    waits: list[int] = []
    for sentences in texts.REPLIES:
        text = " ".join(sentences)
        tokens = texts.tokens(text)
        waits += score.delays(text, tokens, release(worker, "en", tokens), sentences)
    figures |= _delay("replies", waits)
    tokens = texts.tokens(RUN_ON)
    figures["held_chars"] = score.held(RUN_ON, tokens, release(worker, "en", tokens))
    return figures


def _hard_set(worker: Worker) -> Figures:
    right: list[tuple[bool, bool]] = []
    stable: list[bool] = []
    waits: list[int] = []
    for case in texts.hard_set():
        text, language = case["text"], case["lang"]
        tokens = texts.tokens(text)
        chunks = release(worker, language, tokens)
        right.append(score.verdict(case, tokens, chunks))
        spoken = score.squeeze([chunk.spoken for chunk in chunks])
        others = [release(worker, language, cut) for cut in texts.cuts(text).values()]
        stable.append(all(score.squeeze([c.spoken for c in o]) == spoken for o in others))
        sentences = score.wanted(case)
        if sentences:
            waits += score.delays(text, tokens, chunks, sentences)
    return {
        "hard_exact": statistics.mean(exact for exact, _ in right),
        "hard_strict": statistics.mean(strict for _, strict in right),
        "hard_stable": statistics.mean(stable),
        **_delay("hard", waits),
    }


def _delay(name: str, waits: list[int]) -> Figures:
    return {
        f"{name}_delay_mean_tokens": statistics.mean(waits),
        f"{name}_delay_p95_tokens": sorted(waits)[round(0.95 * (len(waits) - 1))],
    }


def stalls(worker: Worker) -> Figures:
    """Which texts come out when the stream stops for a while and does not end."""

    def out(text: str, language: str) -> str:
        # The empty token is the stall: nothing for the peers, whose interface knows none.
        chunks = release(worker, language, [*texts.tokens(text), ""])
        return score.bare("".join(chunk.source for chunk in chunks if not chunk.ended))

    finished = {text: out(text, lang) == score.bare(text) for text, lang in texts.FINISHED.items()}
    unfinished = {text: out(text, lang) == "" for text, lang in texts.UNFINISHED.items()}
    return {
        "stall_released": next(iter(finished.values())),
        "stall_finished_released": sum(finished.values()),
        "stall_unfinished_kept": sum(unfinished.values()),
    }


def speeds(ours: Worker, others: dict[str, Worker], rounds: int) -> dict[str, Figures]:
    """CPU time per token; ours and one other in turns, the ratio taken pair by pair."""
    runs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    our_runs: dict[str, list[float]] = {work: [] for work in WORK}
    for number in range(rounds + 1):
        for work, (text, times) in WORK.items():
            tokens = texts.tokens(text)
            for title, worker in others.items():
                pair = _us(ours, tokens, times), _us(worker, tokens, times)
                if number:  # the first round warms up
                    runs.setdefault((title, work), []).append(pair)
                    our_runs[work].append(pair[0])
    figures = {OURS.title: {work: statistics.median(values) for work, values in our_runs.items()}}
    for (title, work), pairs in runs.items():
        figures.setdefault(title, {})[work] = statistics.median(theirs for _, theirs in pairs)
        ratio = statistics.median(theirs / mine for mine, theirs in pairs)
        figures[title][f"{work}_ratio"] = ratio
    return figures


def _us(worker: Worker, tokens: list[str], times: int) -> float:
    answer = worker.ask(language="en", tokens=tokens, timed=times)
    return float(answer["cpu_s"]) / (times * len(tokens)) * 1e6


def measure(rounds: int) -> dict[str, Figures]:
    with ExitStack() as stack:
        workers = {s.title: stack.enter_context(s.start()) for s in [OURS, *OTHERS]}
        others = {title: worker for title, worker in workers.items() if title != OURS.title}
        figures = speeds(workers[OURS.title], others, rounds)
        for title, worker in workers.items():
            figures[title] |= quality(worker) | stalls(worker)
    mine = figures[OURS.title]
    for other in figures.values():
        for key in ("replies_delay_mean_tokens", "hard_delay_mean_tokens", "held_chars"):
            if other is not mine:
                other[f"{key}_ratio"] = other[key] / mine[key]
    return figures


def _number(key: str, form: str) -> Callable[[Figures], str]:
    def cell(figures: Figures) -> str:
        ratio = figures.get(f"{key}_ratio")
        if ratio is None:
            return f"{figures[key]:{form}}"
        return f"{figures[key]:{form}} ({ratio:.{2 if ratio < 10 else 0}f}×)"

    return cell


ROWS: dict[str, Callable[[Figures], str]] = {
    "µs per token, prose": _number("prose_us", ".1f"),
    "µs per token, run-on of 1k characters": _number("run_on_1k_us", ".1f"),
    "µs per token, run-on of 16k characters": _number("run_on_16k_us", ".1f"),
    "most held in that run-on, characters": _number("held_chars", "d"),
    "delay in replies, tokens, mean": _number("replies_delay_mean_tokens", ".2f"),
    "delay in replies, tokens, p95": _number("replies_delay_p95_tokens", "d"),
    "delay in the hard set, tokens, mean": _number("hard_delay_mean_tokens", ".2f"),
    "delay in the hard set, tokens, p95": _number("hard_delay_p95_tokens", "d"),
    "hard set: exact": _number("hard_exact", ".3f"),
    "hard set: strict": _number("hard_strict", ".3f"),
    "hard set: same for every token split": _number("hard_stable", ".3f"),
    "“Let me check that for you.” out in a stall": lambda figures: (
        "yes" if figures["stall_released"] else "no"
    ),
    f"finished texts out in a stall, of {len(texts.FINISHED)}": _number(
        "stall_finished_released", "d"
    ),
    f"unfinished texts kept in a stall, of {len(texts.UNFINISHED)}": _number(
        "stall_unfinished_kept", "d"
    ),
}


def table(figures: dict[str, Figures]) -> str:
    """A Markdown table, padded so that it reads as text."""
    lines = [["", *figures]]
    lines += [[name, *map(cell, figures.values())] for name, cell in ROWS.items()]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    return "\n".join(
        f"| {line[0]:{widths[0]}} | "
        + " | ".join(f"{text:>{width}}" for text, width in zip(line[1:], widths[1:], strict=True))
        + " |"
        for line in lines
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=7, help="paired timings (default 7)")
    parser.add_argument("--json", metavar="PATH", help="also write the figures there")
    parser.add_argument("--prepare", action="store_true", help="only make the environments")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be 1 or more")
    if arguments.prepare:
        for splitter in OTHERS:
            splitter.python()
        return
    figures = measure(arguments.rounds)
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()},"
        f" {arguments.rounds} rounds"
    )
    print(f"{machine}; (×) is theirs / ours\n\n{table(figures)}")
    if arguments.json:
        result = {"machine": machine, "hard_set": len(texts.hard_set()), "splitters": figures}
        Path(arguments.json).write_text(json.dumps(result, indent=2), "utf-8")


if __name__ == "__main__":
    main()
