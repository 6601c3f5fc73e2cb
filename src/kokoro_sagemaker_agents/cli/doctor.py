"""`kokoro-agents doctor`: what works on this machine, and what to do about the rest."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import find_spec
from typing import Any, Final, Literal

from . import machine
from .arguments import Commands, add_engine
from .failure import FAILED, OK, CommandFailed
from .local_server import has_torch, local_server
from .progress import ProgressLine

_ABOUT = """\
Tell what works on this machine: Python, packages, the model's weights and the graph prepared from
them, voices, languages, and a sentence really spoken, with its speed. Each thing that does not work
comes with what to do about it. Exit code 1 if something is broken; what is only not installed, or
not in this version, is no fault.
"""
_EXAMPLES = """\
examples:
  kokoro-agents doctor
  kokoro-agents doctor --quick     without speaking and without loading the languages
  kokoro-agents doctor --json
"""

#: Works; is not here and nobody needs it; should work and does not.
State = Literal["ok", "off", "broken"]
_MARKS: Final[dict[State, str]] = {"ok": "ok", "off": "--", "broken": "NO"}

_INSTALL: Final = "pip install -e '.[local]' -e ./container"
#: A short first clause, a price and an abbreviation: about four seconds of speech.
_SENTENCE: Final = "Good evening, Dr. Lee, your table is ready and it costs $4.50."


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Args:
        name: what.
        state: whether it works.
        detail: what was found.
        todo: what to do about it; empty if there is nothing to do.
        figures: the same for programs.
    """

    name: str
    state: State
    detail: str
    todo: str = ""
    figures: dict[str, Any] = field(default_factory=dict)


def register(commands: Commands) -> argparse.ArgumentParser:
    """Add the command."""
    parser = commands.add_parser(
        "doctor", help="tell what works on this machine", description=_ABOUT, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--quick", action="store_true", help="look only at what takes a moment; speak nothing"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_engine(parser)
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    """Look at everything and print what was found."""
    findings: list[Finding] = []
    if not args.json:
        print(f"{'':4}{'machine':<12}{machine.describe()['cpu']}, {machine.usable_cores()} cores")
    for finding in _look(args):
        findings.append(finding)
        if not args.json:
            print(f"{_MARKS[finding.state]:<4}{finding.name:<12}{finding.detail}", flush=True)
            if finding.todo:
                print(f"{'':16}→ {finding.todo}", flush=True)
    works = all(finding.state != "broken" for finding in findings)
    if args.json:
        print(json.dumps(_as_json(findings, works), indent=1, ensure_ascii=False))
    return OK if works else FAILED


def _as_json(findings: list[Finding], works: bool) -> dict[str, Any]:
    return {
        "works": works,
        "machine": machine.describe(),
        "versions": machine.versions(),
        "checks": {
            finding.name: {
                "state": finding.state,
                "detail": finding.detail,
                **({"todo": finding.todo} if finding.todo else {}),
                **finding.figures,
            }
            for finding in findings
        },
    }


def _look(args: argparse.Namespace) -> Iterator[Finding]:
    yield _python()
    yield _client()
    container = _container()
    yield container
    if container.state == "ok":
        yield _engine()
        yield from _guarded("weights", _weights)
        if not args.quick:
            yield from _guarded("speech", lambda: _speech(args))
        yield from _guarded("prepared", _prepared)
        yield from _guarded("voices", _voices)
        yield from _guarded("languages", lambda: _languages(load=not args.quick))
    yield from _guarded("torch", _torch)
    yield _sagemaker()


def _guarded(name: str, look: Callable[[], Finding]) -> Iterator[Finding]:
    """A look that may fail: then that is what was found."""
    try:
        yield look()
    except Exception as error:  # whatever is broken here, the rest is to be looked at as well
        yield Finding(name, "broken", f"{type(error).__name__}: {error}", f"reinstall: {_INSTALL}")


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= (3, 13):
        return Finding(
            "python", "ok", f"{version}: the client only", "for the local engine use Python 3.12"
        )
    return Finding("python", "ok", version)


def _client() -> Finding:
    missing = [name for name in ("msgspec", "websockets") if find_spec(name) is None]
    if missing:
        return Finding("client", "broken", f"missing: {', '.join(missing)}", "pip install -e .")
    drawing = find_spec("matplotlib") is not None
    return Finding(
        "client",
        "ok",
        f"kokoro-sagemaker-agents {machine.versions()['kokoro-sagemaker-agents']}"
        + ("" if drawing else "; without matplotlib, so without the demo's picture"),
        "" if drawing else f"for the demo: {_INSTALL}",
    )


def _torch() -> Finding:
    if not has_torch():
        todo = "pip install -e './container[torch]' in an environment of its own"
        return Finding("torch", "off", "not installed; onnx speaks on the CPU", todo)
    import torch

    version = str(torch.__version__)
    if not torch.cuda.is_available():
        return Finding("torch", "ok", f"torch {version}, no GPU; onnx is faster on a CPU")
    return Finding("torch", "ok", f"torch {version} on {torch.cuda.get_device_name()}")


def _sagemaker() -> Finding:
    if sys.version_info < (3, 12):
        return Finding(
            "sagemaker", "off", "AWS's SDK needs Python 3.12", "make env PYTHON=python3.12"
        )
    needed = ("aws_sdk_sagemaker_runtime_http2", "botocore", "h2")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        todo = "pip install -e '.[sagemaker]'"
        return Finding("sagemaker", "off", f"not installed: {', '.join(missing)}", todo)
    sdk = metadata.version("aws-sdk-sagemaker-runtime-http2")
    return Finding("sagemaker", "ok", f"aws-sdk-sagemaker-runtime-http2 {sdk}")


def _container() -> Finding:
    if find_spec("kokoro_container") is None:
        return Finding(
            "container",
            "off",
            "not installed: no local server; servers elsewhere can be used with --url",
            f"to speak on this machine: {_INSTALL}",
        )
    needed = ("numpy", "starlette", "uvicorn", "misaki", "spacy", "num2words", "phonemizer")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        return Finding("container", "broken", f"missing: {', '.join(missing)}", _INSTALL)
    version = machine.versions()["kokoro-sagemaker-container"]
    return Finding("container", "ok", f"kokoro-sagemaker-container {version}")


def _engine() -> Finding:
    if find_spec("onnxruntime") is None or find_spec("onnx") is None:
        return Finding("engine", "broken", "onnx or onnxruntime is not installed", _INSTALL)
    cores = machine.usable_cores()
    version = machine.versions()["onnxruntime"]
    return Finding(
        "engine",
        "ok",
        f"onnx: ONNX Runtime {version}, {cores} threads",
        figures={"onnxruntime": version, "threads": cores},
    )


def _weights() -> Finding:
    from kokoro_container.weights import status

    found = status()
    if found.problem is not None:
        return Finding("weights", "broken", found.problem, f"or reinstall: {_INSTALL}")
    return Finding(
        "weights", "ok", f"{found.source}, hash checked", figures={"source": found.source}
    )


def _prepared() -> Finding:
    from kokoro_container.weights import cache_dir, find_prepared

    prepared = find_prepared()
    if prepared is None:
        return Finding(
            "prepared",
            "off",
            f"no graph prepared yet in {cache_dir()}: the first start does it, within a minute",
        )
    return Finding(
        "prepared",
        "ok",
        f"{prepared.path}: {prepared.bytes / 1e6:.0f} MB, prepared in {prepared.prepare_s:.1f} s",
        figures={
            "path": prepared.path,
            "bytes": prepared.bytes,
            "prepare_s": prepared.prepare_s,
        },
    )


def _voices() -> Finding:
    from kokoro_container.service import VOICES_FOLDER
    from kokoro_container.voices import Voices

    names = Voices(VOICES_FOLDER).names
    return Finding(
        "voices", "ok", f"{len(names)}: {', '.join(names)}", figures={"names": list(names)}
    )


def _languages(*, load: bool) -> Finding:
    from kokoro_container.text import LANGUAGES, Phonemizer

    if not load:
        return Finding(
            "languages",
            "ok",
            f"{', '.join(LANGUAGES)} (not loaded: --quick)",
            figures={"names": list(LANGUAGES)},
        )
    phonemizer = Phonemizer()
    failed: dict[str, str] = {}
    started_s = time.monotonic()
    for language in LANGUAGES:
        try:
            phonemizer.warm_up([language])
        except Exception as error:  # one language's library must not hide the others
            failed[language] = f"{type(error).__name__}: {error}"
    works = [language for language in LANGUAGES if language not in failed]
    detail = f"{', '.join(works)}, loaded in {time.monotonic() - started_s:.0f} s"
    figures = {"names": works, "failed": failed}
    if failed:
        detail += "".join(f"; {language}: {why}" for language, why in failed.items())
        return Finding("languages", "broken", detail, f"reinstall: {_INSTALL}", figures)
    return Finding("languages", "ok", detail, figures=figures)


def _speech(args: argparse.Namespace) -> Finding:
    try:
        return asyncio.run(_speak(args))
    except CommandFailed as error:
        return Finding("speech", "broken", str(error), "put right what is broken above")


async def _speak(args: argparse.Namespace) -> Finding:
    """A sentence, through a server of our own and a session, as everything else goes."""
    from kokoro_sagemaker_agents import SpeechSession, events

    first_audio_s = audio_s = model_s = 0.0
    progress = ProgressLine(quiet=args.json)
    async with (
        local_server(args.engine, progress, debug=args.debug) as server,
        SpeechSession.connect(server.url) as session,
    ):
        engine = session.ready.engine
        started_s = time.monotonic()
        async for event in session.speak(_SENTENCE):
            match event:
                case events.AudioChunk():
                    first_audio_s = first_audio_s or time.monotonic() - started_s
                    audio_s += event.duration_s
                case events.ChunkDone():
                    model_s += event.timings.synthesis_ms / 1000
                case events.ChunkFailed():
                    raise CommandFailed(event.message)
    if not audio_s:
        raise CommandFailed("the server spoke a sentence without any audio")
    rtf = model_s / audio_s
    return Finding(
        "speech",
        "ok",
        f"{engine}: {audio_s:.1f} s of speech, first audio after {first_audio_s:.2f} s,"
        f" real-time factor {rtf:.2f}",
        "" if rtf < 1 else "slower than it is spoken: give it more cores, or a quieter machine",
        {
            "engine": engine,
            "audio_s": round(audio_s, 3),
            "first_audio_s": round(first_audio_s, 3),
            "rtf": round(rtf, 3),
        },
    )
