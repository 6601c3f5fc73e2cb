"""The TTS service: Pipecat's frames on one side, a session on the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from pipecat.frames.frames import (
    AggregatedTextFrame,
    DataFrame,
    EndFrame,
    Frame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    OutputAudioRawFrame,
    TextFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.settings import TTSSettings
from pipecat.transcriptions.language import Language
from pipecat.utils.errors import ErrorCategory
from pipecat.utils.text.base_text_aggregator import TextType
from pipecat.utils.text.phonemes import normalize_ipa
from pipecat.utils.text.transforms.pronunciations import PronunciationTransform
from pipecat.utils.tracing.service_decorators import traced_tts

from kokoro_sagemaker_agents.config import (
    DEFAULT_SAMPLE_RATE,
    SessionOptions,
    UtteranceOptions,
)
from kokoro_sagemaker_agents.errors import (
    InvalidInput,
    KokoroAgentsError,
)
from kokoro_sagemaker_agents.protocol import SAMPLE_RATES
from kokoro_sagemaker_agents.session import SpeechSession
from kokoro_sagemaker_agents.text import SentenceChunker, TextChunk

from .aggregator import UNSPACED, ChunkText, SentenceAggregator
from .failover import successor_of
from .failures import category_of
from .link import Link
from .sequencer import SaidSequencer
from .settings import (
    KokoroSageMakerTTSSettings,
    default_settings,
    language_tag,
    spoken_language,
    utterance_options,
)
from .speaking import SpeakingService
from .turn import Speaker, whole_chunk
from .words import Passage

#: How long a standby waits for us: longer than a reconnect or a queue, shorter than a caller waits.
DEFAULT_FAILOVER_S: Final = 5.0
# A stall of the LLM after which a finished sentence is spoken without its next character.
_STALL_S: Final = 0.2
_INLINE: Final = "](/"


@dataclass
class _StalledFrame(DataFrame):
    """To ourselves: no text has come for a while."""


class KokoroSageMakerTTSService(SpeakingService):
    """Kokoro, behind a SageMaker endpoint or at an address, as Pipecat's text-to-speech.

    Word timestamps, interruption to the word, settings that change while it speaks. Text that was
    not spoken is never given to the LLM's context. A connection that is lost is replaced, without a
    lost or doubled word.

    Under a `ServiceSwitcher` with `ServiceSwitcherStrategyFailover` and another usable service, it
    gives up once nothing that it owes has come for `failover_s`, or at once if it is refused; the
    next service says what was not said. Then it tries the endpoint until it speaks again, and is
    usable from there on. Without a standby it waits as long as its session does
    (`answer_timeout_s`, `reconnect_s`).

    Args:
        endpoint_name: A SageMaker endpoint.
        region: Its region; by default the profile's.
        url: Instead, the address of a container: `ws://host:port`.
        session: Instead, an open `SpeechSession` or `SessionPool`, which others may use too. It is
            not closed by this service.
        endpoint_url: As `SpeechSession.sagemaker`.
        target_variant: As `SpeechSession.sagemaker`.
        profile: As `SpeechSession.sagemaker`.
        ca_bundle: As `SpeechSession.sagemaker`.
        session_options: For a session of its own; see `SessionOptions`.
        failover_s: See above, in seconds.
        fade_out_s: What is being heard is faded out over this time when it is interrupted, instead
            of cut off; 0.02 is enough against a click.
        text_aggregator: In place of a `SentenceAggregator` for the language.
        sample_rate: Of the audio in hertz; by default the pipeline's.
        settings: Voice, language and speed; see `KokoroSageMakerTTSSettings`.
        **kwargs: Pipecat's own, such as `text_transforms`.

    Raises:
        InvalidInput: not exactly one of endpoint, address and session, or an impossible option.
    """

    Settings: ClassVar[type[KokoroSageMakerTTSSettings]] = KokoroSageMakerTTSSettings
    _settings: KokoroSageMakerTTSSettings

    def __init__(
        self,
        *,
        endpoint_name: str | None = None,
        region: str | None = None,
        url: str | None = None,
        session: Speaker | None = None,
        endpoint_url: str | None = None,
        target_variant: str | None = None,
        profile: str | None = None,
        ca_bundle: str | None = None,
        session_options: SessionOptions | None = None,
        failover_s: float = DEFAULT_FAILOVER_S,
        fade_out_s: float = 0.0,
        text_aggregator: SentenceAggregator | None = None,
        sample_rate: int | None = None,
        settings: KokoroSageMakerTTSSettings | None = None,
        **kwargs: Any,
    ) -> None:
        if sum(given is not None for given in (endpoint_name, url, session)) != 1:
            raise InvalidInput("give exactly one of endpoint_name, url and session")
        if not failover_s > 0 or not fade_out_s >= 0:
            raise InvalidInput("failover_s must be more than 0 seconds, fade_out_s 0 or more")
        decided = default_settings()
        if settings is not None:
            decided.apply_update(settings)

        def make() -> SpeechSession:
            options = session_options or SessionOptions()
            if url is not None:
                return SpeechSession.connect(url, **options)
            return SpeechSession.sagemaker(
                endpoint_name or "",
                region=region,
                endpoint_url=endpoint_url,
                target_variant=target_variant,
                profile=profile,
                ca_bundle=ca_bundle,
                **options,
            )

        if session is None:
            make()  # what cannot be is told at once
        super().__init__(
            link=Link(session, make),
            sentences=text_aggregator or SentenceAggregator(spoken_language(decided)),
            failover_s=failover_s,
            keep_audio=fade_out_s > 0,
            push_text_frames=False,
            push_start_frame=True,
            push_stop_frames=True,
            # Silence is judged by `failover_s`; a reply without anything to speak is no failure.
            max_consecutive_zero_audio_contexts=kwargs.pop(
                "max_consecutive_zero_audio_contexts", 0
            ),
            sample_rate=sample_rate,
            settings=decided,
            **kwargs,
        )
        if self._is_streaming_tokens:
            raise InvalidInput(
                "text_aggregation_mode must be SENTENCE: the first sentence is cut at a clause"
                " already, and single words would be spoken without their context"
            )
        self._text_aggregator = self._sentences  # type: ignore[assignment]  # typed as its default
        self._sequencer = SaidSequencer(str(self))
        self._aggregated_frame_sequencer = self._sequencer
        self._fade_out_s = fade_out_s
        self._stray = False  # an interruption came, and no new reply yet
        self._text_at_s = 0.0
        self._stall_timer: asyncio.TimerHandle | None = None

    # --- what Pipecat asks ---

    def can_generate_metrics(self) -> bool:
        """Yes: TTFB, TTFA, usage and text aggregation."""
        return True

    @property
    def supports_processing_metrics(self) -> bool:
        """No: `run_tts` only hands the text over."""
        return False

    def language_to_service_language(self, language: Language) -> str | None:
        """Our tag for one of Pipecat's languages; None if the model does not speak it."""
        return language_tag(language)

    @classmethod
    def format_pronunciation(cls, word: str, ipa: str) -> str | None:
        """`[word](/ipa/)`; None for what cannot be written so."""
        said = normalize_ipa(ipa)
        if not said or any(mark in word for mark in "[]()") or any(mark in said for mark in "/)"):
            return None
        return f"[{word}](/{said}/)"

    async def _update_settings(self, delta: TTSSettings) -> dict[str, Any]:  # type: ignore[override]  # as in TTSService
        changed = await super()._update_settings(delta)
        if "voice" in changed or "language" in changed:
            self._sentences.set_language(spoken_language(self._settings))
        return changed

    def _classify_error(self, exception: BaseException) -> ErrorCategory | None:
        return category_of(exception)

    # --- text in ---

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """See the base class."""
        match frame:
            case _StalledFrame():
                idle_s = asyncio.get_running_loop().time() - self._text_at_s
                await self._speak(self._sentences.poll(idle_s))
                return
            case InterruptionFrame():
                await self._interrupted(frame, direction)
                return
            case EndFrame():
                await self._before_end()
            case _ if _is_speech(frame, direction):
                if (successor := self._successor()) is not None:
                    await successor.queue_frame(frame, direction)
                    return
                await self._before_speech(frame)
        await super().process_frame(frame, direction)
        if _is_speech(frame, direction):
            self._text_at_s = asyncio.get_running_loop().time()
            self._watch_for_stall()

    async def _before_speech(self, frame: Frame) -> None:
        match frame:
            case LLMFullResponseStartFrame():
                self._in_reply, self._stray = True, False
            case LLMFullResponseEndFrame():
                self._in_reply = False
                await self._speak(self._sentences.finish())
            case TTSSpeakFrame():
                # A sentence that only waits for the next character was there first.
                await self._speak(self._sentences.poll(float("inf")))

    async def _before_end(self) -> None:
        """The rest of a text is spoken, unless it is that of a reply which was broken off."""
        if self._in_reply or self._stray:
            await self._sentences.reset()
        await self._speak(self._sentences.finish())

    async def _speak(self, texts: list[ChunkText]) -> None:
        for text in texts:
            await self.stop_text_aggregation_metrics()  # type: ignore[no-untyped-call]  # Pipecat's
            frame = AggregatedTextFrame(text, TextType.SENTENCE, raw_text=str(text))
            await super().process_frame(frame, FrameDirection.DOWNSTREAM)

    def _watch_for_stall(self) -> None:
        if self._stall_timer is None and self._sentences.pending.strip():
            loop = asyncio.get_running_loop()
            self._stall_timer = loop.call_at(self._text_at_s + _STALL_S, self._on_stall)

    def _on_stall(self) -> None:
        self._stall_timer = None
        if self._stopped:
            return
        if asyncio.get_running_loop().time() - self._text_at_s < _STALL_S:
            self._watch_for_stall()
        else:  # as a frame, so that it is handled between two others
            self.create_task(self.queue_frame(_StalledFrame()))

    async def _disconnect(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
        await super()._disconnect()

    async def _interrupted(self, frame: InterruptionFrame, direction: FrameDirection) -> None:
        """What is being heard ends here, in 20 ms if so wished, and what was to come is dropped."""
        faded = None
        playing = self._tts_contexts.get(self._audio_context_manager.playing_context_id or "")
        if playing is None or playing.interruptible:
            faded = self._playout.fade(self.get_clock().get_time(), self._fade_out_s)
            self._playout.reset()
        self._in_reply, self._stray = False, True
        await super().process_frame(frame, direction)
        if faded is not None:
            await self.push_frame(OutputAudioRawFrame(faded[0], faded[1], 1))

    def _successor(self) -> FrameProcessor | None:
        """Who gets text that still reaches us after another service took over."""
        return None if self.is_usable else successor_of(self)

    @traced_tts
    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        """Hand a text to the session; its audio comes in a task of its own."""
        turn = self._turns.get(context_id) or self._begin(context_id)
        passage, chunks = self._cut(text)
        try:
            if chunks:
                await turn.say(passage, chunks, self._utterance_options())
        except KokoroAgentsError as error:
            await self._failed(turn, error)
            return
        if context_id != self._turn_context_id:
            await turn.finish()  # nobody will say that it is complete
        await self.start_tts_usage_metrics(text)
        yield None

    def _cut(self, text: str) -> tuple[Passage, list[TextChunk]]:
        """A text with its chunks: what our aggregator gave is one already."""
        frame = self._sequencer.frame
        shown = frame.text if frame is not None else text
        rules = self._sentences.rules
        passage = Passage(
            frame.id if frame is not None else 0,
            str(shown),
            text,
            spaced=rules not in UNSPACED,
            apart=not isinstance(shown, ChunkText) or shown.apart,
        )
        if isinstance(shown, ChunkText) or _INLINE in text:
            return passage, [whole_chunk(text)]
        chunker = SentenceChunker(rules)
        chunks = chunker.feed(text) + chunker.flush()
        return passage, [chunk for chunk in chunks if chunk.spoken]

    def _utterance_options(self) -> UtteranceOptions:
        rate = self.sample_rate if self.sample_rate in SAMPLE_RATES else DEFAULT_SAMPLE_RATE
        options = utterance_options(self._settings, rate)
        if any(isinstance(made, PronunciationTransform) for _, made in self._text_transforms):
            options["markup"] = "inline"
        return options

    async def flush_audio(self, context_id: str | None = None) -> None:
        """No more text comes for this context."""
        turn = self._turns.get(context_id or self.get_active_audio_context_id() or "")
        if turn is not None:
            await turn.finish()

    async def on_turn_context_completed(self) -> None:
        """A turn of which nothing could be spoken ends here."""
        context_id = self._turn_context_id
        await super().on_turn_context_completed()  # type: ignore[no-untyped-call]  # Pipecat's
        if context_id and context_id not in self._turns:
            await self._close_context(context_id)


def _is_speech(frame: Frame, direction: FrameDirection) -> bool:
    """Whether a frame is text to be spoken, or the beginning or end of such text."""
    if direction is not FrameDirection.DOWNSTREAM or getattr(frame, "skip_tts", False):
        return False
    if isinstance(frame, TranscriptionFrame):
        return False
    kinds = (TextFrame, TTSSpeakFrame, LLMFullResponseStartFrame, LLMFullResponseEndFrame)
    return isinstance(frame, kinds)
