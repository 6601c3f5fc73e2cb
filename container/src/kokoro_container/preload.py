"""Phrases that a session will need, spoken into the phrase cache while nobody waits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from kokoro_sagemaker_agents.errors import InvalidInput, OverloadedError
from kokoro_sagemaker_agents.protocol import SpeechOptions
from kokoro_sagemaker_agents.text import SentenceChunker

from .engines.base import SAMPLE_RATE
from .scheduler import Job, Scheduler, Stream
from .synthesis import Rendered, Speech, Synthesizer
from .text.lexicon import Lexicon

PHRASE_CHARS: Final = 500
"""Longest phrase: half a minute of speech. What is longer would fill the cache alone."""


class Preload(Stream):
    """One `preload` on its way; `Scheduler.close` ends it early.

    A phrase is spoken as each of the two ways in which it may be asked for later: as one text, and
    in the chunks that a session's chunker makes of it. What both have in common is made once. Only
    one of them waits in the scheduler's queue at a time, however many there are.

    Args:
        synthesizer: must have a phrase cache.
        scheduler: whose idle moments are used.
        phrases: what to say.
        options: the session's; rate and encoding don't matter.
        lexicon: the session's.
        opening_chunks: so many chunks of a context begin with a short piece.
        warn: told of a phrase that could not be made.
    """

    def __init__(
        self,
        synthesizer: Synthesizer,
        scheduler: Scheduler,
        phrases: Sequence[str],
        options: SpeechOptions,
        lexicon: Lexicon | None,
        *,
        opening_chunks: int,
        warn: Callable[[str], object],
    ) -> None:
        super().__init__(self, math.inf)
        self._synthesizer = synthesizer
        self._scheduler = scheduler
        self._options = msgspec.structs.replace(
            options, sample_rate=SAMPLE_RATE, encoding="pcm_s16le"
        )
        self._lexicon = lexicon
        self._opening_chunks = opening_chunks
        self._warn = warn
        self._waiting = self._speeches(phrases)

    def go_on(self) -> None:
        """Queues what is next behind everything that somebody waits for."""
        try:
            number, speech = next(self._waiting, (0, None))
            if speech is not None:
                self._scheduler.add(self, speech, number)
        except (InvalidInput, OverloadedError) as error:
            self._warn(f"preload: the phrases that are left are not made: {error}")

    def _speeches(self, phrases: Sequence[str]) -> Iterator[tuple[int, Speech]]:
        for number, phrase in enumerate(phrases):
            if len(phrase) > PHRASE_CHARS:
                self._warn(
                    f"preload: phrase {number} has {len(phrase)} characters, more than"
                    f" {PHRASE_CHARS}, and is not kept ready"
                )
                continue
            yield number, self._speech(phrase, 0)
            chunks = self._chunks(phrase)
            if len(chunks) > 1:
                for index, chunk in enumerate(chunks):
                    yield number, self._speech(chunk, index)

    def _chunks(self, phrase: str) -> list[str]:
        voices = self._synthesizer.voices
        chunker = SentenceChunker(self._options.language or voices.language(self._options.voice))
        return [chunk.spoken for chunk in [*chunker.feed(phrase), *chunker.flush()]]

    def _speech(self, text: str, index: int) -> Speech:
        return self._synthesizer.speech(
            text,
            self._options,
            opening=index < self._opening_chunks,
            lexicon=self._lexicon,
            keep=True,
        )

    def on_audio(self, job: Job, audio: Rendered) -> None:
        """It is in the cache already; nobody listens."""

    def on_done(self, job: Job) -> None:
        """Takes the next one."""
        self.go_on()

    def on_failed(self, job: Job, error: Exception) -> None:
        """Tells whoever asked for it."""
        self._warn(f"preload: phrase {job.chunk_id} could not be made: {type(error).__name__}")
        self.go_on()
