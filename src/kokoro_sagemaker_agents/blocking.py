"""The same session for code without asyncio: plain calls, plain `for`.

    from kokoro_sagemaker_agents.blocking import SpeechSession

    with SpeechSession.connect("ws://127.0.0.1:8080") as session:
        for event in session.speak("A string, or any iterable of tokens."):
            ...

A session owns one background thread with one event loop, in which the asyncio session lives; every
call here hands its work to that loop and waits. Methods may be called from several threads: one may
push text while another takes events, or cancels.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import ssl as _ssl
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Generic, TypeVar, Unpack

from . import session as _aio
from .config import SessionOptions, UtteranceOptions
from .errors import LocalProtocolError, SessionClosed
from .events import Heard, SpeechEvent
from .protocol import Ready
from .speech import Speech as _AioSpeech
from .text import SentenceChunker, TextChunk
from .transports.base import Transport
from .transports.websocket import WebSocketTransport
from .utterance import Utterance as _AioUtterance

__all__ = ["Speech", "SpeechSession", "Utterance"]

T = TypeVar("T")
EventsT = TypeVar("EventsT", bound=_AioUtterance | _AioSpeech)


class _LoopThread:
    """An event loop that runs in a thread of its own until stopped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        running = threading.Event()
        # A daemon: a session that nobody closes must not keep the interpreter alive.
        self._thread = threading.Thread(
            target=self._main, args=(running,), name="kokoro-session", daemon=True
        )
        self._thread.start()
        running.wait()

    def _main(self, running: threading.Event) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            self._loop.call_soon(running.set)
            self._loop.run_forever()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it in the loop and wait; an interrupt here (Ctrl-C) cancels it there."""
        with self._lock:
            if self._loop is None:
                work.close()
                raise SessionClosed("the session was closed; open a new one")
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise SessionClosed("the session was closed meanwhile; open a new one") from None
        except BaseException:
            future.cancel()  # does nothing if it is done
            raise

    def stop(self) -> None:
        """Let the loop end its tasks and the thread end. Idempotent."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
        self._thread.join()


class SpeechSession:
    """See `kokoro_sagemaker_agents.SpeechSession`; it takes the same options and raises the same.

    Args:
        make_transport: See the asyncio session; `connect` makes it of an address.
        **options: See `SessionOptions`.
    """

    def __init__(
        self, make_transport: Callable[[], Transport], **options: Unpack[SessionOptions]
    ) -> None:
        self._session = _aio.SpeechSession(make_transport, **options)
        self._thread: _LoopThread | None = None

    @classmethod
    def connect(
        cls,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        ssl: _ssl.SSLContext | None = None,
        **options: Unpack[SessionOptions],
    ) -> SpeechSession:
        """A session with the container at an address; connects when it is entered or opened.

        Args:
            url: `ws://host:port` or `wss://…`; without a path the container's own route is meant.
            headers: Sent with the opening request, such as `Authorization`.
            ssl: For `wss` other than by the system's certificates.
            **options: See `SessionOptions`.
        """
        make_transport = partial(WebSocketTransport, url, headers=headers, ssl=ssl)
        make_transport()  # a bad address is told at once
        return cls(make_transport, **options)

    def open(self) -> None:
        """Connect and wait until the server is ready; raises as the asyncio session's `open`."""
        if self._thread is not None:
            raise LocalProtocolError("a session is opened once; make another one")
        self._thread = _LoopThread()
        try:
            self._thread.call(self._session.open())
        except BaseException:
            self._thread.stop()
            raise

    def close(self) -> None:
        """End the session, its loop and its thread. Idempotent."""
        if self._thread is None:
            return
        try:
            self._thread.call(self._session.close())
        except SessionClosed:
            return  # it was closed before
        finally:
            self._thread.stop()

    def __enter__(self) -> SpeechSession:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def ready(self) -> Ready:
        """What the server is and can do: engine, voices, languages, limits."""
        return self._session.ready

    @property
    def draining(self) -> bool:
        """Whether the server said that it will close soon: open another session."""
        return self._session.draining

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the server had to say that concerns no single utterance."""
        return self._session.warnings

    def utterance(
        self, *, chunker: SentenceChunker | None = None, **options: Unpack[UtteranceOptions]
    ) -> Utterance:
        """A new utterance; options and errors as in the asyncio session."""
        thread = self._opened()
        utterance = thread.call(
            _called(lambda: self._session.utterance(chunker=chunker, **options))
        )
        return Utterance(utterance, thread)

    def speak(
        self,
        text: str | Iterable[str],
        *,
        chunker: SentenceChunker | None = None,
        **options: Unpack[UtteranceOptions],
    ) -> Speech:
        """Speak a text, or one that is still being written; iterate over the result.

        Args:
            text: A string, or an iterable of its pieces, such as an LLM's tokens. It is read in a
                thread of its own, while the caller takes the audio.
            chunker: A fresh one of your own, instead of one for the utterance's language.
            **options: In place of the session's own; see `UtteranceOptions`.
        """
        thread = self._opened()
        speech = thread.call(_called(lambda: self._session.speak(text, chunker=chunker, **options)))
        return Speech(speech, thread)

    def _opened(self) -> _LoopThread:
        if self._thread is None:
            raise LocalProtocolError("the session is not open: use `with`, or `open()` first")
        return self._thread


class _Events(Generic[EventsT]):
    """What an utterance and a speech have in common: events to iterate over, and their end."""

    def __init__(self, events: EventsT, thread: _LoopThread) -> None:
        self._events = events
        self._thread = thread

    def __next__(self) -> SpeechEvent:
        """The next event; raises as in the asyncio session."""
        event = self._thread.call(_next(self._events))
        if event is None:
            raise StopIteration
        return event

    def cancel(self) -> Heard:
        """Stop at once (barge-in) and tell what was heard; may be called from another thread."""
        return self._thread.call(self._events.cancel())

    def heard(self) -> Heard:
        """What the listener has heard by now, to the word."""
        return self._thread.call(_called(self._events.heard))

    def played(self, samples: int) -> None:
        """Tell how many samples were really played, altogether."""
        self._events.played(samples)


class Utterance(_Events[_AioUtterance]):
    """Text in, events out; see `kokoro_sagemaker_agents.Utterance`.

    Text may be pushed and ended before events are taken, or from another thread meanwhile.
    """

    @property
    def id(self) -> str:
        """Its name, unique in its session; also in the server's log."""
        return self._events.id

    def push(self, text: str) -> None:
        """Add text; does not wait for audio."""
        self._thread.call(self._events.push(text))

    def push_chunk(self, chunk: TextChunk) -> None:
        """Add a chunk as it is, for callers that chunk themselves."""
        self._thread.call(self._events.push_chunk(chunk))

    def flush(self) -> None:
        """Speak all that was pushed so far; more text may follow."""
        self._thread.call(self._events.flush())

    def end(self) -> None:
        """No more text comes."""
        self._thread.call(self._events.end())

    def __iter__(self) -> Utterance:
        return self

    def __enter__(self) -> Utterance:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with contextlib.suppress(SessionClosed):  # then it is over anyway
            self._thread.call(self._events.aclose())


class Speech(_Events[_AioSpeech]):
    """What `SpeechSession.speak` returns; see `kokoro_sagemaker_agents.Speech`.

    Leaving the loop early cancels the utterance on the server.
    """

    def close(self) -> None:
        """Stop early: cancel the utterance, if it is not done, and close the source."""
        with contextlib.suppress(SessionClosed):  # then it is over anyway
            self._thread.call(self._events.aclose())

    def __iter__(self) -> Speech:
        return self

    def __enter__(self) -> Speech:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


async def _called(function: Callable[[], T]) -> T:
    """Its result, called inside the loop."""
    return function()


async def _next(events: _AioUtterance | _AioSpeech) -> SpeechEvent | None:
    return await anext(events, None)
