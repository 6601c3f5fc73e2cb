"""What one server process has and is: the model and its scheduler, from loading to draining."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, Protocol

from kokoro_sagemaker_agents.protocol import Limits, Ready, SpeechOptions

from .audio import PCM_ENCODINGS
from .engines.base import CancelToken, Engine
from .scheduler import MAX_JOBS, Scheduler
from .synthesis import Phonemize, Synthesizer
from .text import LANGUAGES, Phonemizer
from .voices import Voices

logger = logging.getLogger(__name__)

VOICES_FOLDER: Final = Path("/opt/ml/model/voices")  # SageMaker puts a model's files there

# A short and a long call: the runtime sets its memory up for both kinds.
WARM_UP_TEXTS: Final = (
    "Hello there.",
    "The first words are ready now, and everything that comes behind them will be ready in time.",
)


class State(Enum):
    """Where a server is in its life."""

    LOADING = "loading"
    READY = "ready"
    DRAINING = "draining"
    FAILED = "failed"


class Session(Protocol):
    """A connection that wants to know when the server is about to close."""

    def draining(self, deadline_s: float) -> None:
        """The server closes in `deadline_s` seconds at the latest."""
        ...

    async def wait_quiet(self) -> None:
        """Returns when no context is open and everything was sent."""
        ...


@dataclass(frozen=True)
class Settings:
    """What an operator may choose.

    Attributes:
        limits: what one connection may ask for; also of a POST, as far as it applies.
        sessions: connections at a time. An idle one costs some kilobytes.
        queued_chunks: unfinished chunks of all sessions and POSTs; more are refused as overloaded.
        post_patience_s: within which a POST that is answered whole should be ready; its deadline.
        drain_s: how long a closing server goes on speaking. SageMaker kills it after 30 s.
        voices_folder: voices beside those of the package.
        languages: loaded before the server is ready; any other one with its first text, which
            then waits a second or two.
    """

    limits: Limits = field(default_factory=Limits)
    sessions: int = 256
    queued_chunks: int = MAX_JOBS
    post_patience_s: float = 10.0
    drain_s: float = 20.0
    voices_folder: Path = VOICES_FOLDER
    languages: tuple[str, ...] = ("en-us", "en-gb")


class NotReady(Exception):
    """The server cannot speak: it is still loading, or loading failed."""


class Service:
    """One server's model and everything shared around it.

    Args:
        load_engine: gives the model; called once, in a thread.
        phonemize: the G2P; by default the real one.
        settings: what an operator may choose.
    """

    def __init__(
        self,
        load_engine: Callable[[], Engine],
        *,
        phonemize: Phonemize | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.scheduler = Scheduler(max_jobs=self.settings.queued_chunks)
        self.sessions: set[Session] = set()
        self.state = State.LOADING
        self.stage = "starting"
        self.error: Exception | None = None
        self._load_engine = load_engine
        self._phonemize = phonemize
        self._synthesizer: Synthesizer | None = None
        self._announcement: Ready | None = None
        self._loaded = asyncio.Event()

    # --- loading ---

    async def load(self) -> None:
        """Loads and warms up everything. The outcome shows in `state`; nothing is raised."""
        try:
            synthesizer = await asyncio.to_thread(self._load)
        except Exception as error:  # whatever it was, the process says so and ends
            logger.error("loading failed at %s: %s: %s", self.stage, type(error).__name__, error)
            self.error, self.state = error, State.FAILED
        else:
            self._synthesizer = synthesizer
            self._announcement = Ready(
                instance_id=f"kokoro-{uuid.uuid4().hex[:12]}",
                model=synthesizer.engine.model,
                engine=synthesizer.engine.name,
                voices=synthesizer.voices.names,
                languages=LANGUAGES,
                encodings=PCM_ENCODINGS,
                limits=self.settings.limits,
            )
            if self.state is State.LOADING:
                self.state = State.READY
        self._loaded.set()

    def _load(self) -> Synthesizer:
        started = time.perf_counter()
        with ThreadPoolExecutor(1) as aside:
            phonemizer = aside.submit(self._load_phonemizer)  # takes as long as the model
            with _Stage(self, "model"):
                engine = self._load_engine()
            with _Stage(self, "voices"):
                voices = Voices(self.settings.voices_folder)
            with _Stage(self, "phonemes"):
                phonemize = phonemizer.result()
        synthesizer = Synthesizer(engine, phonemize, voices)
        with _Stage(self, "warm-up"):
            for text in WARM_UP_TEXTS:
                _speak_aside(synthesizer, text)
        logger.info("ready after %.1f s: engine %s", time.perf_counter() - started, engine.name)
        return synthesizer

    def _load_phonemizer(self) -> Phonemize:
        if self._phonemize is not None:
            return self._phonemize
        phonemizer = Phonemizer()
        phonemizer.warm_up(self.settings.languages)
        return phonemizer

    async def ready(self) -> Ready:
        """What the server announces to a client, once it is loaded.

        Raises:
            NotReady: loading failed.
        """
        await self._loaded.wait()
        if self._announcement is None:
            raise NotReady(f"the server could not load its model at {self.stage}; see its log")
        return self._announcement

    @property
    def synthesizer(self) -> Synthesizer:
        """Text to audio; only after `ready`.

        Raises:
            NotReady: it is not loaded.
        """
        if self._synthesizer is None:
            raise NotReady(f"the server is loading ({self.stage}); ask again when /ping says 200")
        return self._synthesizer

    def check(self, options: SpeechOptions) -> None:
        """Raises `InvalidInput` for a voice that is not here; the rest is the protocol's check."""
        self.synthesizer.voices.check(options.voice)

    # --- closing ---

    async def drain(self) -> None:
        """Tells every session, goes on until all contexts are finished or the time is over."""
        self.state = State.DRAINING
        logger.info("draining: %d sessions, %d chunks", len(self.sessions), self.scheduler.jobs)
        for session in list(self.sessions):
            session.draining(self.settings.drain_s)
        try:
            async with asyncio.timeout(self.settings.drain_s):
                for session in list(self.sessions):
                    await session.wait_quiet()
                await self.scheduler.wait_idle()  # the POSTs
        except TimeoutError:
            logger.warning("not all was finished in time: %d chunks", self.scheduler.jobs)

    async def aclose(self) -> None:
        """Ends what still runs and gives the model back."""
        await self.scheduler.aclose()
        if self._synthesizer is not None:
            self._synthesizer.engine.close()


class _Stage:
    """Logs how long a part of loading took, and says which one it is meanwhile."""

    def __init__(self, service: Service, name: str) -> None:
        self._service = service
        self._name = name

    def __enter__(self) -> None:
        self._service.stage = self._name
        self._started = time.perf_counter()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            logger.info("loaded %s in %.1f s", self._name, time.perf_counter() - self._started)


def _speak_aside(synthesizer: Synthesizer, text: str) -> None:
    """Speaks a text for nobody, without the scheduler."""
    speech = synthesizer.speech(text, SpeechOptions())
    for piece in speech.phonemise().pieces:
        speech.render(piece, CancelToken())
