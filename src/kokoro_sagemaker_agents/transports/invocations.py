"""A container behind a SageMaker endpoint without a stream to it: one POST for each chunk.

To the session this is a connection like any other, because its other end is here: a
`ServerProtocol` takes what the session sends, and what the answers to the POSTs bring is told to it
as a server would tell it. Chunks of one context are asked for in order, those of several contexts
side by side.

Our container answers in frames (`protocol.framing`), so that word times and a chunk's end come with
the audio. Any other one, such as the AWS Kokoro sample's, answers with the audio alone. Which it is
shows when the connection is opened, by a call without a text, which also tells in time what is
wrong with name, region, rights or network.

A call may last 60 s (SageMaker's limit), and it may break. The chunk is then asked for again, from
the sample that it has come to. Where that brings nothing new the connection is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kokoro_sagemaker_agents import protocol
from kokoro_sagemaker_agents.backoff import Backoff
from kokoro_sagemaker_agents.errors import (
    ConnectionFailed,
    ConnectionLost,
    KokoroAgentsError,
    OverloadedError,
    RemoteProtocolError,
)
from kokoro_sagemaker_agents.protocol import (
    BYTES_PER_SAMPLE,
    ErrorCode,
    Ready,
    ServerProtocol,
    SpeakRequested,
    decode_server,
)
from kokoro_sagemaker_agents.protocol.framing import (
    FRAMES_MEDIA_TYPE,
    FRAMES_TRANSPORT,
    Unpacker,
)
from kokoro_sagemaker_agents.protocol.options import PLAIN_OPTIONS

from .base import Transport
from .plain_audio import AudioOnly, plain_body, plain_ready

if TYPE_CHECKING:
    from .aws.rest import Answer, ContainerRefused, RestRuntime
    from .sagemaker import SageMakerEndpoint

_log = logging.getLogger(__name__)

#: Calls at the same time. More contexts than this take turns, chunk by chunk.
CALLS: Final = 32
# A call whose audio nobody takes gives its place up after so long, and is made again later.
_HELD_S: Final = 5.0
# How long a chunk is tried while the endpoint has no room; with pauses that grow.
_OVERLOADED_S: Final = 10.0
# A container's first sound may take `Settings.max_wait_s`, 20 s, and the making of it.
_SILENCE_S: Final = 25.0
# For the end of an answer behind its last frame: one way through the service.
_READ_OUT_S: Final = 0.5
# Statuses of a container, or of what stands before it, that has no room or is not up.
_NO_ANSWER: Final = (0, 502, 503, 504)
_NO_ROUTE: Final = (404, 405)


@dataclass(slots=True)
class _Chunk:
    """A chunk on its way, and how far it has come.

    Attributes:
        request: What to say.
        position: The next sample.
        told_chars: Up to where in its text the words were told.
        begun: Whether audio has come.
    """

    request: SpeakRequested
    position: int
    told_chars: int = 0
    begun: bool = False

    @property
    def key(self) -> tuple[str, int]:
        return self.request.context_id, self.request.chunk_id

    @property
    def countable(self) -> bool:
        """Whether its samples can be counted, and it be continued where it broke off."""
        return self.request.options.encoding in BYTES_PER_SAMPLE


@dataclass(slots=True)
class _Context:
    """A context's chunks that wait for their turn, and the task that speaks them."""

    waiting: deque[SpeakRequested] = field(default_factory=deque)
    task: asyncio.Task[None] | None = None
    credit: asyncio.Event = field(default_factory=asyncio.Event)


class InvocationsTransport(Transport):
    """See the module's text.

    Args:
        endpoint: Which.
        calls: How many at the same time.
        silence_s: Longest silence of an endpoint that is to answer.
        held_s: How long a call may wait for a reader who takes nothing.
        overloaded_s: How long a chunk is tried again while the endpoint has no room.
    """

    def __init__(
        self,
        endpoint: SageMakerEndpoint,
        *,
        calls: int = CALLS,
        silence_s: float = _SILENCE_S,
        held_s: float = _HELD_S,
        overloaded_s: float = _OVERLOADED_S,
    ) -> None:
        self._endpoint = endpoint
        self._calls = calls
        self._silence_s = silence_s
        self._held_s = held_s
        self._overloaded_s = overloaded_s
        self._slots = asyncio.Semaphore(calls)
        self._runtime: RestRuntime | None = None
        self._machine: ServerProtocol | None = None
        self._in_frames = True
        self._lexicon: dict[str, dict[str, str]] = {}
        self._contexts: dict[str, _Context] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._frames: deque[str | bytes] = deque()
        self._news = asyncio.Event()
        self._lost: ConnectionLost | None = None

    # --- its life ---

    async def open(self) -> None:
        """Find credentials and ask the container what it is; see `Transport.open`.

        Raises:
            OverloadedError: the endpoint or its container has no room now.
        """
        await self._endpoint.account()  # says what is missing, before AWS's libraries are loaded
        from .aws.rest import ContainerRefused, RestRuntime

        self._runtime = RestRuntime(self._endpoint, silence_s=self._silence_s, calls=self._calls)
        await self._runtime.open()
        try:
            ready = await self._ask_ready(self._runtime)
        except ContainerRefused as refused:
            ready = self._plain_unless(refused)
        except ConnectionLost as error:
            raise ConnectionFailed(str(error)) from error
        except RemoteProtocolError as error:
            raise ConnectionFailed(str(error), retryable=False) from error
        self._machine = ServerProtocol(ready)
        self._machine.ready()
        self._flush()

    async def _ask_ready(self, runtime: RestRuntime) -> Ready:
        answer = await runtime.call({"transport": FRAMES_TRANSPORT})
        try:
            if not answer.content_type.startswith(FRAMES_MEDIA_TYPE):
                self._in_frames = False
                return plain_ready(answer.variant)
            unpacker = Unpacker()
            parts = answer.parts()
            async for part in parts:
                for frame in unpacker.feed(part):
                    message = decode_server(frame) if isinstance(frame, str) else None
                    if isinstance(message, Ready):
                        await _read_out(parts)
                        return message
        finally:
            answer.close()
        raise ConnectionLost("the container's answer ended before it said what it is")

    def _plain_unless(self, refused: ContainerRefused) -> Ready:
        """A container that does not know frames complains of the body: it speaks plainly."""
        if refused.status in _NO_ROUTE:
            raise ConnectionFailed(
                f"the container of {self._endpoint.name!r} has no /invocations route (it answered"
                f" {refused.status}); use transport='stream', or another image",
                retryable=False,
            ) from refused
        if refused.code or refused.status in _NO_ANSWER:
            raise refused.error from refused
        self._in_frames = False
        return plain_ready("")

    async def send(self, frame: str) -> None:
        """Take one text frame; see `Transport.send`."""
        if self._lost is not None:
            raise self._lost
        if self._machine is None:
            raise ConnectionLost("not connected to SageMaker; call open() first")
        for event in self._machine.receive(frame):
            self._handle(event)
        self._flush()

    async def receive(self) -> str | bytes:
        """Wait for the next frame; see `Transport.receive`."""
        while not self._frames:
            if self._lost is not None:
                raise self._lost
            self._news.clear()
            await self._news.wait()
        return self._frames.popleft()

    async def close(self) -> None:
        """End all calls; see `Transport.close`."""
        self._lose(ConnectionLost("the connection was closed on this side"))
        if self._tasks:
            await asyncio.wait(list(self._tasks))
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            await runtime.close()

    def _lose(self, error: ConnectionLost) -> None:
        self._lost = self._lost or error
        self._news.set()
        for task in self._tasks:
            task.cancel()

    # --- from the session ---

    def _handle(self, event: protocol.ServerEvent) -> None:
        match event:
            case SpeakRequested():
                self._ask(event)
            case protocol.Window(context_id=context_id):
                if context_id in self._contexts:
                    self._contexts[context_id].credit.set()
            case protocol.Cancel(context_id=context_id):
                self._drop(context_id)
            case protocol.Close():
                for context_id in list(self._contexts):
                    self._drop(context_id)
            case protocol.Configured():
                if event.lexicon is not None:
                    self._lexicon = event.lexicon
                if event.preload:
                    self._protocol.warning("preload: there is none without bidirectional streaming")
            case protocol.End():
                pass

    @property
    def _protocol(self) -> ServerProtocol:
        assert self._machine is not None, "nothing is asked before it is open"
        return self._machine

    def _ask(self, request: SpeakRequested) -> None:
        context = self._contexts.setdefault(request.context_id, _Context())
        context.waiting.append(request)
        if context.task is None:
            context.task = asyncio.create_task(
                self._speak_all(request.context_id, context), name="kokoro-invocations"
            )
            self._tasks.add(context.task)
            context.task.add_done_callback(self._tasks.discard)

    def _drop(self, context_id: str) -> None:
        context = self._contexts.pop(context_id, None)
        if context is not None and context.task is not None:
            context.task.cancel()

    def _flush(self) -> None:
        frames = self._protocol.data_to_send()
        if frames:
            self._frames.extend(frames)
            self._news.set()

    # --- a context's chunks, one after the other ---

    async def _speak_all(self, context_id: str, context: _Context) -> None:
        try:
            while context.waiting:
                request = context.waiting.popleft()
                await self._speak(_Chunk(request, request.from_sample), context)
                self._flush()
            self._contexts.pop(context_id, None)
        except ConnectionLost as error:
            self._lose(error)
        except Exception as error:
            _log.error("a call failed by a mistake in this library", exc_info=error)
            self._lose(
                ConnectionLost(f"a call failed inside this library ({type(error).__name__})")
            )

    async def _speak(self, chunk: _Chunk, context: _Context) -> None:
        """Ask until it is spoken, or failed for good."""
        clock = asyncio.get_running_loop().time
        backoff = Backoff(self._overloaded_s)
        in_vain = False
        while True:
            await self._wait_for_credit(chunk, context)
            before = chunk.position
            try:
                async with self._slots:
                    if await self._call(chunk, context):
                        return
            except OverloadedError as error:
                pause_s = backoff.pause_s(clock())
                if pause_s is None:
                    self._fail(chunk, error.code, str(error), retryable=True)
                    return
                await asyncio.sleep(pause_s)
            except ConnectionLost:
                again_in_vain, in_vain = in_vain, chunk.position == before
                if (again_in_vain and in_vain) or (chunk.begun and not chunk.countable):
                    raise
                _log.warning("a call broke off, making it again")
            except RemoteProtocolError as error:
                self._fail(chunk, ErrorCode.INTERNAL, str(error))
                return

    async def _call(self, chunk: _Chunk, context: _Context) -> bool:
        """Make one call; False if it was given up because nobody took its audio."""
        assert self._runtime is not None, "it is open as long as there are contexts"
        from .aws.rest import ContainerRefused

        try:
            answer = await self._runtime.call(self._body(chunk))
        except ContainerRefused as refused:
            self._refused(chunk, refused)
            return True
        except OverloadedError:
            raise
        except KokoroAgentsError as error:
            raise ConnectionLost(str(error)) from error
        try:
            return await self._read(answer, chunk, context)
        finally:
            answer.close()

    async def _read(self, answer: Answer, chunk: _Chunk, context: _Context) -> bool:
        unpacker = self._unpacker(answer, chunk)
        parts = answer.parts()
        async for part in parts:
            answered = [self._take(chunk, frame) for frame in unpacker.feed(part)]
            self._flush()
            if any(answered):
                await _read_out(parts)
                return True
            if not await self._taken(chunk, context):
                return False
        if isinstance(unpacker, AudioOnly):  # its end is the chunk's
            self._protocol.chunk_done(*chunk.key)
            return True
        raise ConnectionLost("the container's answer ended before the chunk did")

    def _unpacker(self, answer: Answer, chunk: _Chunk) -> Unpacker | AudioOnly:
        if answer.content_type.startswith(FRAMES_MEDIA_TYPE):
            return Unpacker()
        return AudioOnly(answer.content_type, skip=chunk.position)

    def _refused(self, chunk: _Chunk, refused: ContainerRefused) -> None:
        if refused.status in _NO_ANSWER or refused.status == 429:
            raise OverloadedError(refused.message, code=refused.code or ErrorCode.OVERLOADED)
        code = refused.code or ErrorCode.SYNTHESIS_FAILED
        self._fail(chunk, code, refused.message)

    def _fail(
        self, chunk: _Chunk, code: str, message: str, *, retryable: bool | None = None
    ) -> None:
        self._protocol.chunk_failed(*chunk.key, code, message, retryable=retryable)

    def _body(self, chunk: _Chunk) -> dict[str, Any]:
        request, options = chunk.request, chunk.request.options
        if not self._in_frames:
            return plain_body(request)
        fields = {name: getattr(options, name) for name in PLAIN_OPTIONS}
        body = {name: value for name, value in fields.items() if value is not None}
        if self._lexicon:
            body["lexicon"] = self._lexicon
        return {
            **body,
            "transport": FRAMES_TRANSPORT,
            "text": request.text,
            "chunk_id": request.chunk_id,
            "from_sample": chunk.position,
        }

    # --- what an answer holds ---

    def _take(self, chunk: _Chunk, frame: str | bytes) -> bool:
        """Tell the session; returns whether the chunk is answered with it."""
        if isinstance(frame, bytes):
            self._audio(chunk, frame)
            return False
        match decode_server(frame):
            case protocol.WordTimestamps(words=words):
                self._words(chunk, words)
            case protocol.ServerWarning(message=message):
                self._protocol.warning(message, *chunk.key)
            case protocol.Error() as error:
                self._fail(chunk, error.code, error.message, retryable=error.retryable)
                return True
            case protocol.ChunkDone() as done:
                self._done(chunk, done)
                return True
            case _:
                pass
        return False

    def _audio(self, chunk: _Chunk, data: bytes) -> None:
        size = BYTES_PER_SAMPLE.get(chunk.request.options.encoding)
        if size and len(data) % size:
            raise RemoteProtocolError("the container sent half a sample; update its image")
        samples = len(data) // size if size else 0  # counted at the chunk's end
        self._protocol.audio(*chunk.key, data, samples)
        chunk.position += samples
        chunk.begun = True

    def _words(self, chunk: _Chunk, words: Iterable[protocol.Word]) -> None:
        """Of a chunk that is asked for again, those that were not told."""
        new = [word for word in words if word.char_start >= chunk.told_chars]
        if new:
            self._protocol.words(*chunk.key, new)
            chunk.told_chars = max(word.char_end for word in new)

    def _done(self, chunk: _Chunk, done: protocol.ChunkDone) -> None:
        if not chunk.countable:
            self._protocol.audio(*chunk.key, b"", max(0, done.samples - chunk.position))
        elif done.samples != chunk.position:
            raise ConnectionLost(
                f"the container made {done.samples} samples of a chunk and {chunk.position} came"
            )
        self._protocol.chunk_done(
            *chunk.key,
            queue_ms=done.queue_ms,
            g2p_ms=done.g2p_ms,
            synthesis_ms=done.synthesis_ms,
            warnings=done.warnings,
        )

    # --- how far ahead of the listener ---

    async def _wait_for_credit(self, chunk: _Chunk, context: _Context) -> None:
        while self._used_up(chunk):
            context.credit.clear()
            await context.credit.wait()

    async def _taken(self, chunk: _Chunk, context: _Context) -> bool:
        """Whether the call goes on, perhaps after a wait for its reader."""
        if not chunk.countable:
            return True
        try:
            async with asyncio.timeout(self._held_s):
                await self._wait_for_credit(chunk, context)
        except TimeoutError:
            return False
        return True

    def _used_up(self, chunk: _Chunk) -> bool:
        credit = self._protocol.credit(chunk.request.context_id)
        return credit is not None and credit <= 0


async def _read_out(parts: AsyncIterator[bytes]) -> None:
    """An answer that is read to its end leaves its connection to the next call."""
    with contextlib.suppress(ConnectionLost, TimeoutError):
        async with asyncio.timeout(_READ_OUT_S):
            async for _ in parts:
                pass
