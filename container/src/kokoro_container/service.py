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

from kokoro_sagemaker_agents.errors import OverloadedError
from kokoro_sagemaker_agents.protocol import ErrorCode, Limits, Ready, SpeechOptions

from .emf import DEFAULT_SERVICE, Reporter
from .encoders import installed_encodings
from .engines.base import CancelToken, Engine
from .figures import register_gauges
from .g2p_pool import LOAD_S, PhonemizerPool
from .health import STALL_S, Health
from .metrics import Metrics
from .phrases import PhraseCache
from .probe import speak_for_nobody
from .scheduler import G2P_S, MAX_JOBS, Scheduler
from .synthesis import Phonemize, Synthesizer
from .text import LANGUAGES
from .text.lexicon import Lexicon
from .voices import Voices
from .weights import IMAGE_MODEL_DIR

logger = logging.getLogger(__name__)

VOICES_FOLDER: Final = Path("/opt/ml/model/voices")  # SageMaker puts a model's files there
LEXICON_FILE: Final = Path("/opt/ml/model/lexicon.json")

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

    @property
    def contexts(self) -> int:
        """How many are open."""
        ...

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
        max_wait_s: a context or POST that would wait longer for its first words is refused as
            overloaded. A caller gives up after some 20 s; SageMaker gives a POST 60.
        workers: calls of the model at the same time. Several pay on a GPU, which computes them side
            by side; on a CPU they share its cores, and each takes as much longer.
        stall_s: a call that takes this much longer than three times what it should is stuck, and
            `/ping` says so.
        report_every_s: seconds between two reports to CloudWatch on standard output; None for none.
        service_name: what CloudWatch keeps the figures under; best the endpoint's name.
        posts: POSTs at a time, waiting and being answered; more are refused as `queue_saturated`.
        post_patience_s: within which a POST that is answered whole should be ready; its deadline.
        request_age_s: a POST whose `request_timestamp` is older is refused as `request_stale`; the
            default is the AWS sample's, just below SageMaker's own 60 s.
        drain_s: how long a closing server goes on speaking. SageMaker kills it after 30 s.
        voices_folder: voices beside those of the package.
        languages: loaded before the server is ready; any other one with its first text, which
            then waits a second or two.
        g2p_processes: texts that become phonemes at the same time. A stuck one is given up after
            some seconds; until then the others go on in what remains.
        warm_up_text: spoken, after the server's own, before it is ready; None for no more.
        started_epoch_s: when the container started, in seconds since the epoch, for the log.
        lexicon_file: how words are said, for every session that doesn't say otherwise; see
            `text.lexicon`. There need not be one.
        trust_markup: every text may hold pronunciations and pauses, `[word](/ipa/)` and
            `[pause:0.5s]`. Without it a client says with `markup` which texts do: an LLM's should
            not.
        phrase_cache_bytes: memory for finished phrases, 96 kB for a second of speech; 0 keeps none.
            The cache is everybody's: from how soon a phrase comes a session can tell whether
            another one said it.
    """

    limits: Limits = field(default_factory=Limits)
    sessions: int = 256
    queued_chunks: int = MAX_JOBS
    max_wait_s: float = 20.0
    workers: int = 1
    stall_s: float = STALL_S
    report_every_s: float | None = None
    service_name: str = DEFAULT_SERVICE
    posts: int = MAX_JOBS
    post_patience_s: float = 10.0
    request_age_s: float = 56.0
    drain_s: float = 20.0
    voices_folder: Path = VOICES_FOLDER
    languages: tuple[str, ...] = ("en-us", "en-gb")
    g2p_processes: int = 2
    warm_up_text: str | None = None
    started_epoch_s: float | None = None
    lexicon_file: Path = LEXICON_FILE
    trust_markup: bool = False
    phrase_cache_bytes: int = 0


class NotReady(Exception):
    """The server cannot speak: it is still loading, or loading failed."""


class Service:
    """One server's model and everything shared around it.

    Args:
        load_engine: gives the model; called once, in a thread.
        phonemize: the G2P; by default the real one, in processes of its own. A `PhonemizerPool` is
            started and closed by the service.
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
        self.phonemize = phonemize or PhonemizerPool(
            self.settings.languages, workers=self.settings.g2p_processes
        )
        self.metrics = Metrics()
        # A G2P that knows whether it is alive also gives a text up by itself.
        alive: Callable[[], bool] | None = getattr(self.phonemize, "alive", None)
        self.health = Health(stall_s=self.settings.stall_s, alive=alive)
        self.scheduler = Scheduler(
            workers=self.settings.workers,
            phonemisers=self.settings.g2p_processes,
            max_jobs=self.settings.queued_chunks,
            max_wait_s=self.settings.max_wait_s,
            g2p_s=LOAD_S if alive is not None else G2P_S,
            metrics=self.metrics,
            health=self.health,
        )
        self.instance_id = f"kokoro-{uuid.uuid4().hex[:12]}"
        self.sessions: set[Session] = set()
        self.posts: set[object] = set()  # those being answered
        self.state = State.LOADING
        self.stage = "starting"
        self.error: Exception | None = None
        self._load_engine = load_engine
        self._synthesizer: Synthesizer | None = None
        self._announcement: Ready | None = None
        self._loaded = asyncio.Event()
        self._closing = False
        self._tasks: list[asyncio.Task[None]] = []
        register_gauges(self)

    # --- loading ---

    async def load(self) -> None:
        """Loads and warms up everything. The outcome shows in `state`; nothing is raised."""
        try:
            synthesizer = await asyncio.to_thread(self._load)
        except Exception as error:  # whatever it was, the process says so and ends
            if self._closing:
                logger.info("loading was given up at %s: the server is closing", self.stage)
            else:
                name = type(error).__name__
                logger.error("loading failed at %s: %s: %s", self.stage, name, error)
                self.error, self.state = error, State.FAILED
        else:
            self._synthesizer = synthesizer
            self._announcement = Ready(
                instance_id=self.instance_id,
                model=synthesizer.engine.model,
                engine=synthesizer.engine.name,
                voices=synthesizer.voices.names,
                languages=LANGUAGES,
                encodings=installed_encodings(),
                limits=self.settings.limits,
            )
            if self.state is State.LOADING:
                self.state = State.READY
            self._watch()
        self._loaded.set()

    def _watch(self) -> None:
        loop, settings = asyncio.get_running_loop(), self.settings
        self._tasks.append(loop.create_task(self.health.watch(self._probe)))
        if settings.report_every_s is not None:
            reporter = Reporter(
                self.metrics,
                self.instance_id,
                every_s=settings.report_every_s,
                service=settings.service_name,
            )
            self._tasks.append(loop.create_task(reporter.run()))

    async def _probe(self) -> None:
        """Speaks a short text for nobody; raises what that failed with."""
        spoken = self.synthesizer
        # Another synthesizer: this one may have kept the phrase.
        fresh = Synthesizer(spoken.engine, spoken.phonemize, spoken.voices)
        await speak_for_nobody(self.scheduler, fresh.speech(WARM_UP_TEXTS[0], SpeechOptions()))

    def _load(self) -> Synthesizer:
        started = time.perf_counter()
        with ThreadPoolExecutor(1) as aside:
            phonemizer = aside.submit(self._load_phonemizer)  # takes as long as the model
            with _Stage(self, "model"):
                engine = self._load_engine()
            with _Stage(self, "voices"):
                voices = Voices(IMAGE_MODEL_DIR / "voices", self.settings.voices_folder)
            with _Stage(self, "lexicon"):
                lexicon = Lexicon.load(self.settings.lexicon_file, LANGUAGES)
            with _Stage(self, "phonemes"):
                phonemize = phonemizer.result()
        phrase_bytes = self.settings.phrase_cache_bytes
        synthesizer = Synthesizer(
            engine,
            phonemize,
            voices,
            lexicon=lexicon,
            trusted=self.settings.trust_markup,
            phrases=PhraseCache(phrase_bytes) if phrase_bytes else None,
            opens=not engine.quick,
        )
        with _Stage(self, "warm-up"):
            for text in (*WARM_UP_TEXTS, *filter(None, (self.settings.warm_up_text,))):
                self._speak_aside(synthesizer, text)
        logger.info("ready after %.1f s: engine %s", time.perf_counter() - started, engine.name)
        if self.settings.started_epoch_s is not None:
            container_s = time.time() - self.settings.started_epoch_s
            logger.info("ready %.1f s after the container's start", container_s)
        return synthesizer

    def _speak_aside(self, synthesizer: Synthesizer, text: str) -> None:
        """Speaks a text for nobody, without the scheduler, which learns how long it took."""
        speech = synthesizer.speech(text, SpeechOptions())
        for piece in speech.phonemise().pieces:
            rendered = speech.render(piece, CancelToken())
            self.scheduler.pace.note_call(len(piece.phonemes), rendered.model_s)

    def _load_phonemizer(self) -> Phonemize:
        if isinstance(self.phonemize, PhonemizerPool):
            self.phonemize.start()
        return self.phonemize

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
    def problem(self) -> str | None:
        """Why it cannot speak although it is loaded; None if it can."""
        return self.health.problem if self._synthesizer is not None else None

    @property
    def healthy(self) -> bool:
        """Whether a text spoken now would be heard, and one spoken in a while as well."""
        return self.state is State.READY and self.problem is None

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

    def refuse_if_draining(self) -> None:
        """Raises `OverloadedError` for a newcomer when the server is about to close."""
        if self.state is State.DRAINING:
            raise OverloadedError(
                "the server is closing; ask again, and another instance will answer",
                code=ErrorCode.DRAINING,
            )

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
        self._closing = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        ending = [self.scheduler.aclose()]
        if isinstance(self.phonemize, PhonemizerPool):  # at once: it may be stuck with a text
            ending.append(asyncio.to_thread(self.phonemize.close))
        await asyncio.gather(*ending)
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
