"""Speaking into a WAV file: what `say` and `speak` share."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, get_args

from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.protocol import SAMPLE_RATES, ErrorCode
from kokoro_sagemaker_agents.text import TextChunk
from kokoro_sagemaker_agents.transports.base import SageMakerRoute

from .arguments import add_engine, speed
from .failure import CommandFailed, UsageError
from .local_server import local_server
from .progress import ProgressLine
from .watched import WatchedChunker
from .wav import STDOUT, WavWriter

if TYPE_CHECKING:
    from kokoro_sagemaker_agents import SpeechSession
    from kokoro_sagemaker_agents.config import UtteranceOptions

DEFAULT_OUTPUT: Final = "speech.wav"
DEFAULT_VOICE: Final = "af_heart"
_SHOWN_CHARS: Final = 60

#: Told what happens, as it happens: seconds since the start, and a line for the user.
Note = Callable[[float, str], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How to speak, where to, and through which server."""
    parser.add_argument(
        "-o",
        "--output",
        default=DEFAULT_OUTPUT,
        metavar="FILE",
        help=f"WAV file to write (default {DEFAULT_OUTPUT}); - for standard output",
    )
    voice = parser.add_argument_group("voice")
    voice.add_argument(
        "--voice",
        default=DEFAULT_VOICE,
        help=f"a voice, or a mix such as 'af_bella(2)+af_sky(1)' (default {DEFAULT_VOICE})",
    )
    voice.add_argument(
        "--speed", type=speed, help="0.5 to 2.0; 1.0, the default, is the voice's own"
    )
    voice.add_argument("--language", help="such as en-us or fr (default: the voice's own)")
    voice.add_argument(
        "--sample-rate",
        type=int,
        choices=SAMPLE_RATES,
        default=24_000,
        help="of the file, in hertz (default 24000, the model's own)",
    )
    server = parser.add_argument_group(
        "server",
        "Without --url or --endpoint a server is started here, and ended with the command.",
    )
    server.add_argument("--url", metavar="ws://…", help="a running server, local or not")
    add_engine(server)
    server.add_argument("--endpoint", metavar="NAME", help="a SageMaker endpoint")
    server.add_argument("--region", help="the endpoint's AWS region (default: the profile's)")
    server.add_argument(
        "--endpoint-url", metavar="URL", help="of a VPC endpoint or of kokoro-agents emulate"
    )
    server.add_argument("--variant", metavar="NAME", help="one of the endpoint's variants")
    server.add_argument(
        "--transport",
        choices=get_args(SageMakerRoute),
        help="stream: the endpoint's bidirectional stream; invocations: a call for each sentence;"
        " auto (default): the first where there is one, else the second",
    )
    parser.add_argument(
        "--json", action="store_true", help="print figures and word times as one JSON object"
    )


def check(args: argparse.Namespace) -> None:
    """Raise `UsageError` for arguments that contradict each other."""
    if args.endpoint and args.url:
        raise UsageError("--endpoint and --url name two servers; give one of them")
    if not args.endpoint and (args.region or args.endpoint_url or args.variant or args.transport):
        raise UsageError("--region, --endpoint-url, --variant and --transport need --endpoint NAME")
    if args.json and args.output == STDOUT:
        raise UsageError("--json and -o - both want standard output; give -o a file")


@asynccontextmanager
async def open_session(args: argparse.Namespace) -> AsyncIterator[SpeechSession]:
    """A session with the server that the arguments name, or with one of our own."""
    async with AsyncExitStack() as stack:
        url = args.url
        if url is None and not args.endpoint:
            progress = ProgressLine(quiet=args.json)
            server = await stack.enter_async_context(
                local_server(args.engine, progress, debug=args.debug)
            )
            url = server.url
        try:
            session = await stack.enter_async_context(_session(url, args))
        except InvalidInput as error:
            if error.code != ErrorCode.UNKNOWN_VOICE:
                raise
            raise UsageError(
                f"{error}; kokoro-agents doctor --quick names those of this machine"
            ) from error
        yield session


def _session(url: str | None, args: argparse.Namespace) -> SpeechSession:
    from kokoro_sagemaker_agents import SpeechSession

    if url is not None:
        return SpeechSession.connect(url, **options(args))
    return SpeechSession.sagemaker(
        args.endpoint,
        region=args.region,
        endpoint_url=args.endpoint_url,
        target_variant=args.variant,
        transport=args.transport or "auto",
        **options(args),
    )


def options(args: argparse.Namespace) -> UtteranceOptions:
    """How to speak, as a session takes it."""
    return {
        "voice": args.voice,
        "speed": args.speed,
        "language": args.language,
        "sample_rate": args.sample_rate,
    }


@dataclass(slots=True)
class Spoken:
    """What became of a text. Times are seconds since speaking began, or of sound."""

    sentences: int = 0
    first_audio_s: float | None = None
    elapsed_s: float = 0.0
    model_s: float = 0.0
    audio_s: float = 0.0
    words: list[dict[str, Any]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def figures(self, args: argparse.Namespace) -> dict[str, Any]:
        """For `--json`."""
        return {
            "file": args.output,
            "voice": args.voice,
            "sample_rate": args.sample_rate,
            "sentences": self.sentences,
            "audio_s": round(self.audio_s, 3),
            "first_audio_s": _rounded(self.first_audio_s),
            "elapsed_s": round(self.elapsed_s, 3),
            "rtf": _rounded(self.model_s / self.audio_s if self.audio_s else None),
            "words": self.words,
        }


async def speak(
    session: SpeechSession, tokens: AsyncIterator[str], args: argparse.Namespace, note: Note
) -> Spoken:
    """Speak tokens as they come into the file that the arguments name.

    Args:
        session: takes the tokens.
        tokens: the text, in any pieces.
        args: the command's.
        note: told of each sentence that is sent, and of the first audio.

    Raises:
        CommandFailed: nothing of it could be spoken; what was in the file before is still there.
    """
    spoken = Spoken()
    started_s = time.monotonic()

    def now_s() -> float:
        return time.monotonic() - started_s

    def sent(chunk: TextChunk) -> None:
        note(now_s(), f"sentence sent: {shortened(chunk.spoken)}")

    chunker = WatchedChunker(_chunker_language(args), sent)
    with WavWriter(args.output, args.sample_rate) as wav:
        async for event in session.speak(tokens, chunker=chunker):
            if _take(event, spoken, wav) and spoken.first_audio_s is None:
                spoken.first_audio_s = now_s()
                note(spoken.first_audio_s, "first audio")
        if spoken.failures and not wav.samples:
            raise CommandFailed(spoken.failures[0])
        wav.finish()
        spoken.audio_s = wav.seconds
    spoken.elapsed_s = now_s()
    return spoken


def _take(event: object, spoken: Spoken, wav: WavWriter) -> bool:
    """Keep what an event says; whether it was audio."""
    from kokoro_sagemaker_agents import events

    match event:
        case events.AudioChunk():
            wav.write(event.pcm)
            return True
        case events.WordTimestamps():
            spoken.words += [
                {
                    "text": word.text,
                    "start_s": round(word.start_s, 4),
                    "end_s": round(word.end_s, 4),
                }
                for word in event.words
            ]
        case events.ChunkDone():
            spoken.sentences += 1
            spoken.model_s += event.timings.synthesis_ms / 1000
            for warning in event.warnings:
                print(f"warning: {warning}", file=sys.stderr)
        case events.ChunkFailed():
            spoken.failures.append(f"could not speak {shortened(event.text)}: {event.message}")
    return False


def _chunker_language(args: argparse.Namespace) -> str:
    """The language that a session would chunk this in."""
    from kokoro_sagemaker_agents.config import UtteranceConfig

    return UtteranceConfig().changed(options(args)).chunker_language


def shortened(text: str) -> str:
    """A text as it may stand in a line: quoted, one line, not too long."""
    text = " ".join(text.split())
    return repr(text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…")


def report(spoken: Spoken, args: argparse.Namespace) -> None:
    """Tell the user what was written; raise `CommandFailed` if something is missing in it."""
    if args.json:
        import json

        print(json.dumps(spoken.figures(args), ensure_ascii=False))
    elif args.output != STDOUT:
        print(
            f"{args.output}: {spoken.audio_s:.1f} s of speech, made in {spoken.elapsed_s:.1f} s"
            if spoken.audio_s
            else f"{args.output}: empty, there was nothing to speak in this text"
        )
    if spoken.failures:
        raise CommandFailed(f"{len(spoken.failures)} sentences are missing: {spoken.failures[0]}")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
