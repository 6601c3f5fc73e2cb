"""`kokoro-agents demo`: a scripted language model, spoken streaming and waiting, and measured."""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

from . import machine, measure, picture, timeline
from .arguments import Commands, add_engine, rate
from .failure import OK
from .local_server import LocalServer, local_server
from .progress import ProgressLine
from .scripted_llm import LONG, PACE, SHORT, Reply
from .speaking import DEFAULT_VOICE
from .timeline import Run
from .wav import WavWriter

_ABOUT = """\
Play a scripted language model at a real one's pace and speak what it writes, three ways:

  streaming       each sentence is sent while the next one is still being written
  waiting         the whole reply is sent once it is written; the server streams its audio
  waiting-whole   the same, but the server answers with one finished WAV file

Writes reply.wav (the long reply, streamed), first-audio.png (what is heard when) and timeline.json
(every figure), and prints a table. Needs no account, no GPU and no network; takes some two minutes.
"""
_EXAMPLES = """\
examples:
  kokoro-agents demo
  kokoro-agents demo --quick                  without the slowest part, waiting-whole
  kokoro-agents demo --engine tone            with test tones: the path, not the voice

All times count from the moment the language model is asked. A gap is a moment in which a player
that starts with the first audio has nothing to play.
"""


def register(commands: Commands) -> argparse.ArgumentParser:
    """Add the command."""
    parser = commands.add_parser(
        "demo", help="measure streaming against waiting", description=_ABOUT, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out"), metavar="FOLDER", help="default: out"
    )
    parser.add_argument("--voice", default=DEFAULT_VOICE, help=f"default: {DEFAULT_VOICE}")
    parser.add_argument(
        "--pace",
        type=rate,
        default=PACE,
        metavar="TOKENS_PER_S",
        help=f"of the scripted model (default {PACE:g})",
    )
    parser.add_argument("--quick", action="store_true", help="leave out waiting-whole")
    parser.add_argument("--json", action="store_true", help="print timeline.json, not the table")
    add_engine(parser)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Measure, write the three files, print the table."""
    args.out.mkdir(parents=True, exist_ok=True)
    progress = ProgressLine(quiet=args.json)
    runs, engine = asyncio.run(_measure(args, progress))
    about = {
        "machine": machine.describe(),
        "versions": machine.versions(),
        "engine": engine,
        "voice": args.voice,
        "tokens_per_s": args.pace,
    }
    figures = timeline.timeline(runs, LONG.name, about)
    text = json.dumps(figures, indent=1, ensure_ascii=False)
    (args.out / "timeline.json").write_text(f"{text}\n", encoding="utf-8")
    progress.show("drawing the picture")
    picture.draw(runs, LONG.name, args.out / "first-audio.png", _footnote(about))
    progress.clear()
    print(text if args.json else _table(runs, about, args.out))
    return OK


async def _measure(args: argparse.Namespace, progress: ProgressLine) -> tuple[list[Run], str]:
    """Both replies in every mode, one after the other, by one server; and its engine's name."""
    from kokoro_sagemaker_agents import SpeechSession

    runs: list[Run] = []
    async with local_server(args.engine, progress, debug=args.debug) as server:
        async with SpeechSession.connect(server.url, voice=args.voice) as session:
            engine = session.ready.engine
            for reply in (SHORT, LONG):
                progress.show(f"speaking the {reply.name} reply while it is written")
                runs.append(await _stream(session, reply, args))
        for reply in (SHORT, LONG):
            runs += await _wait(server, reply, args, progress)
    return runs, engine


async def _stream(session: Any, reply: Reply, args: argparse.Namespace) -> Run:
    if reply is not LONG:
        return await measure.stream(session, reply, args.pace)
    with WavWriter(str(args.out / "reply.wav"), measure.SAMPLE_RATE) as wav:
        return await measure.stream(session, reply, args.pace, wav)


async def _wait(
    server: LocalServer, reply: Reply, args: argparse.Namespace, progress: ProgressLine
) -> list[Run]:
    runs = []
    for whole in (False,) if args.quick else (False, True):
        how = "all at once" if whole else "streamed"
        progress.show(f"speaking the {reply.name} reply once it is written, {how}")
        runs.append(await measure.wait(server.http_url, reply, args.pace, args.voice, whole=whole))
    return runs


def _table(runs: list[Run], about: dict[str, Any], out: Path) -> str:
    lines = [
        "reply  mode           first audio  LLM done  heard while   audio  real-time  gaps",
        "                              (s)       (s)  LLM writes      (s)     factor  (s in all)",
    ]
    for run in sorted(runs, key=lambda run: run.reply != LONG.name):
        row = run.summary()
        lines.append(
            f"{row['reply']:<5}  {row['mode']:<13}  {row['first_audio_s']:>11.2f}"
            f"  {row['llm_done_s']:>8.2f}  {'yes' if row['while_llm_writes'] else 'no':<11}"
            f"  {row['audio_s']:>6.1f}  {row['rtf']:>9.2f}  {row['gaps']} ({row['gaps_s']:.1f})"
        )
    lines += [
        f"The {reply.name} reply is heard {timeline.ratio(runs, reply.name):.1f} times sooner"
        " when it streams than when the whole of it is waited for."
        for reply in (LONG, SHORT)
    ]
    lines.append(f"{out}/reply.wav  {out}/first-audio.png  {out}/timeline.json")
    return "\n".join([_footnote(about), "", *lines])


def _footnote(about: dict[str, Any]) -> str:
    machine_, versions = about["machine"], about["versions"]
    return (
        f"{machine_['cpu']}, {machine_['cores']} cores; engine {about['engine']};"
        f" voice {about['voice']}; "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
    )
