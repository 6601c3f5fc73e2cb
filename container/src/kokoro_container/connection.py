"""One WebSocket session: the protocol's machine between a socket and the scheduler.

Two tasks, both ended by `run`. The reader takes frames, hands them to the machine and does what it
says; the writer sends what the machine has to say, in order. Between them is a queue with water
marks: above `HIGH_BYTES` the session's streams give up the model until the client has read it down
to `LOW_BYTES`, and while it is above `FULL_BYTES` no more is read from the client either, so a
client that never reads costs a bounded amount of memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from typing import Final

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from kokoro_sagemaker_agents.errors import OverloadedError
from kokoro_sagemaker_agents.protocol import (
    BYTES_PER_SAMPLE,
    Cancel,
    Close,
    Configured,
    ErrorCode,
    ServerEvent,
    ServerProtocol,
    SpeakRequested,
    Window,
)

from .aws_sample import SampleMessages
from .faults import fault_of
from .preload import Preload
from .scheduler import Job, Stream
from .service import NotReady, Service, State
from .session_log import SessionLog
from .synthesis import Encoded, Rendered
from .text.lexicon import Lexicon

logger = logging.getLogger(__name__)

# An HTTP/2 frame's default size (RFC 9113, 4.2), which SageMaker's stream is made of; 0.3 s of
# 16-bit audio, so other messages never wait long behind it.
AUDIO_FRAME_BYTES: Final = 16_384
HIGH_BYTES: Final = 1_000_000  # 20 s of 16-bit audio at the model's rate
LOW_BYTES: Final = 250_000
FULL_BYTES: Final = 8_000_000  # a call's audio at most (20 s, 48 kHz, 16 bit: 2 MB), and answers

OPENING_CHUNKS: Final = 2
"""So many chunks of a context begin with a short piece, for a listener with no audio ahead."""

# WebSocket close codes (IANA registry): "service restart" and "try again later".
CLOSE_RESTART: Final = 1012
CLOSE_TRY_LATER: Final = 1013
CLOSE_FAILED: Final = 1011


class Connection:
    """A session from its handshake to its end.

    Args:
        socket: not yet accepted.
        service: the server it belongs to.
    """

    def __init__(self, socket: WebSocket, service: Service) -> None:
        self._socket = socket
        self._service = service
        self._streams: dict[str, _ContextStream] = {}
        self._lexicon: Lexicon | None = None
        self._preload: Preload | None = None
        self._outgoing: deque[str | bytes] = deque()
        self._outgoing_bytes = 0
        self._changed = asyncio.Event()  # the writer has something to do
        self._room = asyncio.Event()  # the reader may go on
        self._room.set()
        self._quiet = asyncio.Event()  # no context is open and everything was sent
        self._quiet.set()
        self._slow = False
        self._ended = False
        self._log = SessionLog(socket.headers)

    async def run(self) -> None:
        """Serves the session until either side ends it."""
        await self._socket.accept()
        try:
            ready = await self._service.ready()
        except NotReady as error:
            await self._socket.close(CLOSE_FAILED, str(error))
            return
        self._machine = ServerProtocol(
            ready,
            validate=self._service.check,
            validate_lexicon=self._take_lexicon,
            on_error=self._service.metrics.error,
        )
        self._messages = SampleMessages(self._machine, self._service.settings.request_age_s)
        self._machine.ready()
        if not await self._admitted():
            return
        self._service.sessions.add(self)
        self._log.opened(len(self._service.sessions))
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._write())
                try:
                    await self._read()
                finally:
                    self._end()
        finally:
            self._service.sessions.discard(self)
            self._quiet.set()
            self._log.closed(len(self._service.sessions))

    @property
    def contexts(self) -> int:
        """How many are open."""
        return len(self._machine.contexts)

    def draining(self, deadline_s: float) -> None:
        """Tells the client that the server closes soon."""
        self._end_preload()
        self._machine.draining(deadline_s)
        self._flush()

    async def wait_quiet(self) -> None:
        """Returns when no context is open and everything was sent, or the session is over."""
        await self._quiet.wait()

    async def _admitted(self) -> bool:
        """Whether there is room for the session; if not, it is told so and closed."""
        if self._service.state is State.DRAINING:
            self._machine.draining(0.0)
            code = CLOSE_RESTART
        elif len(self._service.sessions) >= self._service.settings.sessions:
            self._machine.error(
                ErrorCode.OVERLOADED,
                f"{self._service.settings.sessions} sessions are open here; try again in a moment,"
                " or on another instance",
            )
            code = CLOSE_TRY_LATER
        else:
            return True
        for frame in self._machine.data_to_send():
            await self._send(frame)
        await self._socket.close(code)
        return False

    # --- from the client ---

    async def _read(self) -> None:
        self._handle(self._machine.receive_query(self._socket.scope["query_string"].decode()))
        while not self._machine.closed:
            await self._room.wait()
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            frame = message.get("text")
            self._handle(self._messages.receive(message["bytes"] if frame is None else frame))

    def _handle(self, events: list[ServerEvent]) -> None:
        for event in events:
            match event:
                case SpeakRequested():
                    self._speak(event)
                case Window():
                    self._pause_or_go_on(event.context_id)
                case Cancel():
                    self._service.metrics.cancelled_contexts.add()
                    self._drop(event.context_id)
                case Configured():
                    self._configured(event)
                case Close():
                    self._end()
        self._forget_finished()
        if self._machine.contexts:
            self._quiet.clear()
        self._flush()

    def _speak(self, request: SpeakRequested) -> None:
        stream = self._streams.get(request.context_id)
        first = stream is None
        if stream is None:
            stream = self._streams[request.context_id] = _ContextStream(self, request.context_id)
            stream.paused = self._should_pause(request.context_id)
        speech = self._service.synthesizer.speech(
            request.text,
            request.options,
            from_sample=request.from_sample,
            # The second chunk must be there before a first one that was a short clause has ended.
            # A chunk cut off after its beginning must come out the same on another connection,
            # where it is the first one: there it is its number that tells.
            opening=request.chunk_id < OPENING_CHUNKS or (first and not request.from_sample),
            lexicon=self._lexicon,
        )
        try:
            self._service.scheduler.add(stream, speech, request.chunk_id)
        except OverloadedError as error:
            self._machine.chunk_failed(request.context_id, request.chunk_id, error.code, str(error))

    def _configured(self, event: Configured) -> None:
        if not event.preload:
            return
        self._end_preload()  # the later one counts
        service = self._service
        if service.synthesizer.phrases is None:
            self._machine.warning("preload: this server keeps no phrases ready")
        elif service.state is not State.DRAINING:
            self._preload = Preload(
                service.synthesizer,
                service.scheduler,
                event.preload,
                event.options,
                self._lexicon,
                opening_chunks=OPENING_CHUNKS,
                warn=self._warn,
            )
            self._preload.go_on()

    def _take_lexicon(self, entries: Mapping[str, Mapping[str, str]]) -> None:
        """Raises `InvalidInput` for one that cannot be used; else it is this session's now."""
        self._lexicon = Lexicon.of(entries)

    def _warn(self, message: str) -> None:
        self._machine.warning(message)
        self._flush()

    def _end_preload(self) -> None:
        if self._preload is not None:
            self._service.scheduler.close(self._preload)
            self._preload = None

    def _drop(self, context_id: str) -> None:
        stream = self._streams.pop(context_id, None)
        if stream is not None:
            self._service.scheduler.close(stream)

    def _forget_finished(self) -> None:
        if self._messages.settle():
            self._end()
        live = self._machine.contexts
        if len(live) < len(self._streams):
            for context_id in set(self._streams).difference(live):
                self._drop(context_id)

    def _end(self) -> None:
        """Nothing is wanted any more; what is queued is still sent."""
        self._ended = True
        self._end_preload()
        for context_id in list(self._streams):
            self._drop(context_id)
        self._changed.set()

    # --- from the scheduler ---

    def audio(self, context_id: str, job: Job, audio: Rendered) -> None:
        """Sends a piece's word times and then its audio."""
        if audio.words and job.speech.options.timestamps == "word":
            self._machine.words(context_id, job.chunk_id, audio.words)
        self._encoded(context_id, job, audio.audio)
        self._pause_or_go_on(context_id)
        self._flush()

    def done(self, context_id: str, job: Job) -> None:
        """Sends the chunk's last audio and its end."""
        self._encoded(context_id, job, job.speech.rest())
        waited_s = 0.0 if job.taken_at is None else job.taken_at - job.arrived_at - job.g2p_s
        times = {
            "queue_ms": _ms(max(0.0, waited_s)),
            "g2p_ms": _ms(job.g2p_s),
            "synthesis_ms": _ms(job.synthesis_s),
        }
        self._machine.chunk_done(context_id, job.chunk_id, **times, warnings=job.warnings)
        self._log.spoken(job.chunk_id, job.speech.chars, times)
        self._forget_finished()
        self._flush()

    def failed(self, context_id: str, job: Job, error: Exception) -> None:
        """Sends that the chunk could not be spoken."""
        fault = fault_of(error, self._log.session)
        self._machine.chunk_failed(context_id, job.chunk_id, fault.code, fault.message)
        self._forget_finished()
        self._flush()

    def _encoded(self, context_id: str, job: Job, audio: Encoded) -> None:
        data, samples = audio
        counted = job.speech.options.encoding in BYTES_PER_SAMPLE
        for start in range(0, max(1, len(data)), AUDIO_FRAME_BYTES):
            frame = data[start : start + AUDIO_FRAME_BYTES]
            # Compressed frames have no length of their own; the first one stands for all.
            length = None if counted else samples if start == 0 else 0
            self._machine.audio(context_id, job.chunk_id, frame, length)

    # --- to the client ---

    def _flush(self) -> None:
        frames = self._messages.data_to_send()
        if not frames:
            return
        self._outgoing.extend(frames)
        self._outgoing_bytes += sum(map(len, frames))
        if self._outgoing_bytes > FULL_BYTES:
            self._room.clear()
        if self._outgoing_bytes > HIGH_BYTES:
            self._set_slow(True)
        self._changed.set()

    async def _write(self) -> None:
        try:
            while True:
                while self._outgoing:
                    frame = self._outgoing.popleft()
                    await self._send(frame)
                    self._outgoing_bytes -= len(frame)
                    if self._outgoing_bytes <= LOW_BYTES:
                        self._room.set()
                        self._set_slow(False)
                if self._ended:
                    # A client that said goodbye need not wait for ours.
                    open_ = self._socket.application_state is WebSocketState.CONNECTED
                    if self._machine.closed and open_:
                        await self._socket.close()
                    return
                if not self._machine.contexts:
                    self._quiet.set()
                self._changed.clear()
                await self._changed.wait()
        except WebSocketDisconnect:
            self._room.set()  # the reader finds out by itself, if it may read

    async def _send(self, frame: str | bytes) -> None:
        if isinstance(frame, str):
            await self._socket.send_text(frame)
        else:
            await self._socket.send_bytes(frame)

    def _set_slow(self, slow: bool) -> None:
        if slow != self._slow:
            self._slow = slow
            for context_id in list(self._streams):
                self._pause_or_go_on(context_id)

    def _pause_or_go_on(self, context_id: str) -> None:
        stream = self._streams.get(context_id)
        if stream is not None:
            self._service.scheduler.pause(stream, self._should_pause(context_id))

    def _should_pause(self, context_id: str) -> bool:
        credit = self._machine.credit(context_id)
        return self._slow or (credit is not None and credit <= 0)


class _ContextStream(Stream):
    """A context's stream; hands what it gets to its connection."""

    def __init__(self, connection: Connection, context_id: str) -> None:
        super().__init__(self)
        self._connection = connection
        self._context_id = context_id

    def on_audio(self, job: Job, audio: Rendered) -> None:
        self._connection.audio(self._context_id, job, audio)

    def on_done(self, job: Job) -> None:
        self._connection.done(self._context_id, job)

    def on_failed(self, job: Job, error: Exception) -> None:
        self._connection.failed(self._context_id, job, error)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
