"""Speech out of a session and into Pipecat's audio contexts, and what to do when it fails."""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from typing import Any, Final

from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStoppedFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor, FrameProcessorSetup
from pipecat.services.tts_service import TTSService
from pipecat.utils.errors import ErrorCategory

from kokoro_sagemaker_agents.config import UtteranceOptions
from kokoro_sagemaker_agents.errors import (
    ConnectionFailed,
    ConnectionLost,
    DeadlineExceeded,
    KokoroAgentsError,
    LocalProtocolError,
    RemoteProtocolError,
    SessionClosed,
    SpeechFailed,
)
from kokoro_sagemaker_agents.events import AudioChunk, ChunkFailed

from .aggregator import SentenceAggregator
from .failover import standby_of
from .failures import category_of, category_of_code
from .link import Link
from .playout import Playout
from .turn import Said, Sound, Speaker, Turn, whole_chunk
from .words import TimedText

_log = logging.getLogger(__name__)

# Pipecat ends an audio context after 3 s without a frame; it is told sooner that one is in use.
_KEEPALIVE_S: Final = 0.25
_PROBE: Final = whole_chunk("Yes.")
_PROBE_TIMEOUT_S: Final = 10.0
_LONGEST_PAUSE_S: Final = 10.0
_NS: Final = 1_000_000_000
# After these the session is of no use for now, whoever asks.
_UNREACHABLE: Final = (ConnectionLost, ConnectionFailed, SessionClosed, RemoteProtocolError)


class SpeakingService(TTSService):
    """The half of the service that has nothing to do with text: a turn's audio, words and end.

    Args:
        link: To the session.
        sentences: Where text waits that is not cut yet.
        failover_s: How long a standby waits for what is owed, in seconds.
        keep_audio: Whether what is being heard is kept, so that it can be faded out.
        **kwargs: Pipecat's own.
    """

    def __init__(
        self,
        *,
        link: Link,
        sentences: SentenceAggregator,
        failover_s: float,
        keep_audio: bool,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._link = link
        self._sentences = sentences
        self._failover_s = failover_s
        self._turns: dict[str, Turn] = {}
        self._playout = Playout(keep=keep_audio)
        self._connecting: asyncio.Task[None] | None = None
        self._giving_up = False
        self._in_reply = False  # between an LLM's start and end frames
        self._stopped = False

    @abstractmethod
    def _utterance_options(self) -> UtteranceOptions:
        """Those of the present settings."""

    # --- its life ---

    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]  # as in FrameProcessor
        """Begin to connect; text that comes before there is a connection waits for it."""
        await super().setup(setup)
        self._connecting = self.create_task(self._connect())

    async def stop(self, frame: EndFrame) -> None:
        """What was asked for is spoken, then the session ends."""
        for turn in list(self._turns.values()):
            await turn.finish()
        await super().stop(frame)
        await self._disconnect()

    async def cancel(self, frame: CancelFrame) -> None:
        """End at once."""
        await super().cancel(frame)
        await self._disconnect()

    async def cleanup(self) -> None:
        """Free everything."""
        await super().cleanup()  # type: ignore[no-untyped-call]  # Pipecat's
        await self._disconnect()

    async def _connect(self) -> None:
        try:
            await self._link.open()
        except KokoroAgentsError as error:
            await self._call_event_handler("on_connection_error", str(error))
            self._connecting = None
            await self._give_up(error)
            return
        self._connecting = None
        await self._call_event_handler("on_connected")

    async def _disconnect(self) -> None:
        """Idempotent."""
        if self._stopped:
            return
        self._stopped = True
        if self._connecting is not None:
            await self.cancel_task(self._connecting)
            self._connecting = None
        for context_id in list(self._turns):
            await self._drop(context_id)
        await self._link.close()
        await self._call_event_handler("on_disconnected")

    # --- speech out ---

    def _begin(self, context_id: str) -> Turn:
        turn = Turn(context_id, lambda: self._link.speaker)
        self._turns[context_id] = turn
        turn.tasks = [self.create_task(self._read(turn)), self.create_task(self._watch(turn))]
        return turn

    async def _read(self, turn: Turn) -> None:
        """Pass on what is spoken, until all of it was."""
        while not turn.over:
            try:
                async for step in turn.events(self._link.connected):
                    await self._hand_on(turn, step)
            except KokoroAgentsError as error:
                await self._failed(turn, error)
        if self._turns.get(turn.context_id) is turn:
            await self._close_context(turn.context_id)

    async def _hand_on(self, turn: Turn, step: Sound | Said) -> None:
        if isinstance(step, Sound):
            turn.came(self.get_clock().get_time())
        await self._tell(turn, step.said)
        if isinstance(step, Said):
            if step.failure is not None:
                await self._report(step.failure)
            return
        audio = step.audio
        frame = TTSAudioRawFrame(audio.pcm, audio.sample_rate, 1, context_id=turn.context_id)
        turn.appended(audio.samples * _NS // audio.sample_rate)
        await self.append_to_audio_context(turn.context_id, frame)

    async def _tell(self, turn: Turn, words: list[TimedText]) -> None:
        for word in words:
            await self.add_word_timestamps(
                [(word.said, turn.heard_after_s(word.start_s))],
                turn.context_id,
                includes_inter_frame_spaces=not word.said.spaced,
            )

    async def _report(self, failure: ChunkFailed) -> None:
        await self.push_error(
            f"a sentence was not spoken ({failure.code}): {failure.message}",
            category=category_of_code(failure.code),
        )

    async def start_word_timestamps(self) -> None:
        """The first audio of a context comes: it is heard once what was before it has been."""
        tracker = self._word_timestamp_tracker
        tracker.last_pts = max(tracker.last_pts, self._playout.until_ns)
        await super().start_word_timestamps()  # type: ignore[no-untyped-call]  # Pipecat's

    async def push_frame(
        self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM
    ) -> None:
        """See the base class."""
        if isinstance(frame, TTSAudioRawFrame):
            now_ns = self.get_clock().get_time()
            begin_ns = self._playout.pushed(now_ns, frame.audio, frame.sample_rate)
            turn = self._turns.get(frame.context_id or "")
            if turn is not None:
                turn.pushed(begin_ns, len(frame.audio) // 2 * _NS // frame.sample_rate)
        await super().push_frame(frame, direction)

    async def _watch(self, turn: Turn) -> None:
        """Keep the audio context while something is owed; with a standby, not for ever."""
        clock = asyncio.get_running_loop().time
        while not turn.over:
            await asyncio.sleep(_KEEPALIVE_S)
            if not turn.owes:
                continue
            if self.get_active_audio_context_id() == turn.context_id:
                self._refresh_audio_context(turn.context_id)
            active_s = max(other.active_at_s for other in [turn, *self._turns.values()])
            if clock() - active_s > self._failover_s and standby_of(self) is not None:
                await self._give_up(
                    DeadlineExceeded(
                        f"nothing that was to be spoken came for failover_s = {self._failover_s:g}"
                        " s; the next service takes over"
                    )
                )
                return

    async def on_audio_context_interrupted(self, context_id: str) -> None:
        """The listener interrupts: nothing more of it is spoken."""
        await self.stop_all_metrics()  # type: ignore[no-untyped-call]  # Pipecat's
        await self._drop(context_id)
        await super().on_audio_context_interrupted(context_id)

    async def on_audio_context_completed(self, context_id: str) -> None:
        """It was played, or Pipecat has closed it because no text came for too long."""
        await self._drop(context_id)
        await super().on_audio_context_completed(context_id)

    async def _drop(self, context_id: str) -> None:
        turn = self._turns.pop(context_id, None)
        if turn is None:
            return
        await turn.cancel()
        for task in turn.tasks:
            if task is not asyncio.current_task():
                await self.cancel_task(task)

    async def _close_context(self, context_id: str) -> None:
        """Its last frame."""
        if self.audio_context_available(context_id):
            await self.append_to_audio_context(context_id, TTSStoppedFrame(context_id=context_id))
            await self.remove_audio_context(context_id)

    # --- failure and recovery ---

    async def _failed(self, turn: Turn, error: KokoroAgentsError) -> None:
        """What was asked for in a turn cannot be spoken."""
        category = category_of(error) or ErrorCategory.SERVER
        if category.is_permanent or isinstance(error, _UNREACHABLE) or standby_of(self):
            await self._give_up(error)
            return
        await self._tell(turn, await turn.drop_part())
        await self.push_error(f"not spoken: {error}", exception=error, category=category)

    async def _give_up(self, error: KokoroAgentsError) -> None:
        """Nothing can be spoken for now: hand over what was not said, and try to recover."""
        if self._giving_up or self._stopped:
            return
        self._giving_up = True
        turns = list(self._turns.values())
        for turn in turns:
            await turn.cancel()
        successor = standby_of(self)
        if successor is not None:
            await self._hand_over(successor, turns)
        for turn in turns:
            await self._close_context(turn.context_id)
        category = category_of(error) or ErrorCategory.SERVER
        await self.push_error(
            f"speech failed: {error}",
            exception=error,
            category=category,
            force_treat_as_permanent=True,
        )
        self._giving_up = False
        if category is not ErrorCategory.INVALID_REQUEST and self._connecting is None:
            self._connecting = self.create_task(self._recover())

    async def _hand_over(self, successor: FrameProcessor, turns: list[Turn]) -> None:
        """Have the next service say what was not said, before it gets anything newer.

        In an LLM's reply it gets text, to which the LLM's next tokens are added.
        """
        reply = ""
        for turn in turns:
            text = " ".join(turn.unsaid())
            if turn.context_id == self._turn_context_id:
                reply = text
            elif text:
                context = self._tts_contexts.get(turn.context_id)
                append = context.append_to_context if context is not None else True
                await successor.queue_frame(TTSSpeakFrame(text, append_to_context=append))
        pending = self._sentences.pending
        await self._sentences.reset()
        self._turn_context_id = None
        self._in_reply = False
        if reply and pending and not pending[0].isspace():
            reply += " "
        if (reply + pending).strip():
            await successor.queue_frame(LLMTextFrame(reply + pending))

    async def _recover(self) -> None:
        """Try until something is spoken again; then be usable again."""
        pause_s = 0.0
        while True:
            await asyncio.sleep(pause_s)
            pause_s = min(max(0.5, 2 * pause_s), _LONGEST_PAUSE_S)
            try:
                async with asyncio.timeout(_PROBE_TIMEOUT_S):
                    await self._link.open()
                    await self._probe(await self._link.connected())
                break
            except (KokoroAgentsError, TimeoutError) as error:
                _log.info("no speech yet (%s), trying again in %g s", error, pause_s)
        self._connecting = None
        await self.set_usable(True)
        await self._call_event_handler("on_connected")

    async def _probe(self, speaker: Speaker) -> None:
        """Have one word spoken; raises if it is not."""
        async with speaker.utterance(**self._utterance_options()) as utterance:
            await utterance.push_chunk(_PROBE)
            await utterance.end()
            async for event in utterance:
                if isinstance(event, AudioChunk):
                    return
                if isinstance(event, ChunkFailed):
                    raise SpeechFailed(event.message, code=event.code, retryable=event.retryable)
        raise LocalProtocolError("an utterance of one word ended without audio")
