"""`kokoro-agents demo`: a scripted language model, spoken streaming and waiting, and measured."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from . import machine, measure, picture, timeline
from .arguments import Commands, add_engine, rate
from .failure import OK, CommandFailed
from .local_server import LocalServer, local_server
from .progress import ProgressLine
from .scripted_llm import LONG, PACE, SHORT, Reply
from .speaking import DEFAULT_VOICE
from .timeline import Run
from .wav import WavWriter

if TYPE_CHECKING:
    from kokoro_sagemaker_agents import SpeechSession

_SAGEMAKER_MODULES: Final = ("aws_sdk_sagemaker_runtime_http2", "botocore", "h2", "cryptography")
_EMULATOR_KEYS: Final = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "local-emulator-only",
}
_ABOUT = """\
Play a scripted language model at a real one's pace and speak what it writes, three ways:

  streaming       each sentence is sent while the next one is still being written
  waiting         the whole reply is sent once it is written; the server streams its audio
  waiting-whole   the same, but the server answers with one finished WAV file

With the AWS SDK (Python 3.12) the streamed speech goes through it and an emulated SageMaker
endpoint, as it would in production; without, straight to the container.

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
    parser.add_argument(
        "--sagemaker",
        choices=("auto", "on", "off"),
        default="auto",
        help="through the AWS SDK and an emulated endpoint (default auto: if installed)",
    )
    add_engine(parser)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Measure, write the three files, print the table."""
    through_sagemaker = _through_sagemaker(args.sagemaker)
    args.out.mkdir(parents=True, exist_ok=True)
    progress = ProgressLine(quiet=args.json)
    runs, engine = asyncio.run(_measure(args, progress, through_sagemaker))
    about = {
        "machine": machine.describe(),
        "versions": machine.versions(),
        "engine": engine,
        "path": "AWS SDK, SageMaker emulator" if through_sagemaker else "WebSocket",
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


def _through_sagemaker(wanted: str) -> bool:
    """Whether speech goes through AWS's SDK and the emulator."""
    missing = [name for name in _SAGEMAKER_MODULES if find_spec(name) is None]
    if wanted == "on" and missing:
        raise CommandFailed(
            f"the path through SageMaker needs {', '.join(missing)}; with Python 3.12 run"
            " pip install -e '.[local,sagemaker,emulator]' -e ./container, or use --sagemaker off"
        )
    return wanted != "off" and not missing


def _session(server: LocalServer, voice: str) -> SpeechSession:
    from kokoro_sagemaker_agents import SpeechSession

    if not server.endpoint_url:
        return SpeechSession.connect(server.url, voice=voice)
    # The emulator checks no signatures unless asked to, and these keys open nothing.
    for name, value in _EMULATOR_KEYS.items():
        os.environ.setdefault(name, value)
    return SpeechSession.sagemaker(
        "kokoro",
        region="us-east-1",
        endpoint_url=server.endpoint_url,
        ca_bundle=server.ca_path,
        voice=voice,
    )


async def _measure(
    args: argparse.Namespace, progress: ProgressLine, through_sagemaker: bool
) -> tuple[list[Run], str]:
    """Both replies in every mode, one after the other, by one server; and its engine's name."""
    runs: list[Run] = []
    async with local_server(
        args.engine, progress, debug=args.debug, sagemaker=through_sagemaker
    ) as server:
        async with _session(server, args.voice) as session:
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
        f" by {about['path']};"
        f" voice {about['voice']}; "
        + ", ".join(f"{name} {version}" for name, version in versions.items())
    )
