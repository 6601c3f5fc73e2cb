"""A session: one connection to a container, and any number of utterances on it."""

from __future__ import annotations

import ssl as _ssl
from collections.abc import Mapping
from itertools import count
from types import TracebackType
from typing import Unpack

from .config import SessionConfig, SessionOptions, UtteranceOptions
from .connection import Connection
from .errors import LocalProtocolError
from .protocol import Ready
from .sources import TextSource, check_source
from .speech import Speech
from .text import SentenceChunker
from .transports.base import Transport
from .transports.websocket import WebSocketTransport
from .utterance import Utterance


class SpeechSession:
    """Speech from one container, over one connection that many utterances share.

    Use it as `async with SpeechSession.connect(url) as session`, or call `open` and `close`. It
    belongs to the event loop in which it was opened; `blocking.SpeechSession` is its twin for code
    without asyncio.

    Args:
        transport: The connection, not opened yet; `connect` makes one of an address.
        **options: See `SessionOptions`.

    Raises:
        InvalidInput: an option that no server could take.
    """

    def __init__(self, transport: Transport, **options: Unpack[SessionOptions]) -> None:
        self._config = SessionConfig.of(options)
        self._transport = transport
        self._connection: Connection | None = None
        self._numbers = count(1)

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
            **options: `voice`, `speed`, `language`, `sample_rate`, `encoding`, `timestamps`,
                `lexicon`, `preload`, `first_chunk`, `idle_flush_s`, `window_s`,
                `connect_timeout_s`, `answer_timeout_s`, `keepalive_s`; see `SessionOptions`.

        Raises:
            InvalidInput: an address or option that cannot be.
        """
        return cls(WebSocketTransport(url, headers=headers, ssl=ssl), **options)

    async def open(self) -> None:
        """Connect, and wait until the server is ready and has taken the session's options.

        Raises:
            ConnectionFailed: it could not be opened; the message says what to do.
            DeadlineExceeded: it is open but the server does not get ready in time.
            InvalidInput: the server refuses an option, such as a voice that it does not have.
            OverloadedError: the server has no room now.
            RemoteProtocolError: the server speaks something else.
            LocalProtocolError: it was opened before.
        """
        if self._connection is not None:
            raise LocalProtocolError("a session is opened once; make another one")
        connection = Connection(
            self._transport,
            connect_timeout_s=self._config.connect_timeout_s,
            keepalive_s=self._config.keepalive_s,
        )
        self._connection = connection
        await connection.open(self._config.configure())

    async def close(self) -> None:
        """End the session: utterances that are not done raise `SessionClosed`. Idempotent."""
        if self._connection is not None:
            await self._connection.close()

    async def __aenter__(self) -> SpeechSession:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def ready(self) -> Ready:
        """What the server is and can do: engine, voices, languages, limits.

        Raises:
            LocalProtocolError: the session was not opened.
        """
        return self._opened().ready

    @property
    def draining(self) -> bool:
        """Whether the server said that it will close soon: open another session."""
        return self._opened().draining

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the server had to say that concerns no single utterance: its last 32 warnings."""
        return tuple(self._opened().warnings)

    def utterance(
        self, *, chunker: SentenceChunker | None = None, **options: Unpack[UtteranceOptions]
    ) -> Utterance:
        """A new utterance, to push text into and to take events from.

        Args:
            chunker: A fresh one of your own, instead of one for the utterance's language.
            **options: In place of the session's own; see `UtteranceOptions`.

        Raises:
            InvalidInput: an option that this server does not offer.
            SessionClosed: the session was closed.
            ConnectionLost: or whatever else has ended the connection.
        """
        connection = self._opened()
        if connection.error is not None:
            raise connection.error
        config = self._config.utterance.changed(options)
        config.check_against(connection.ready)
        utterance = Utterance(
            f"u{next(self._numbers)}",
            connection,
            config,
            chunker=chunker,
            answer_timeout_s=self._config.answer_timeout_s,
        )
        connection.attach(utterance)
        return utterance

    def speak(
        self,
        text: TextSource,
        *,
        chunker: SentenceChunker | None = None,
        **options: Unpack[UtteranceOptions],
    ) -> Speech:
        """Speak a text, or one that is still being written; iterate over the result.

        The same text gives the same chunks either way.

        Args:
            text: A string, or a plain or async iterable of its pieces, such as an LLM's tokens. It
                is read in its own task, and an iterable other than a list or tuple in a thread.
            chunker: A fresh one of your own, instead of one for the utterance's language.
            **options: In place of the session's own; see `UtteranceOptions`.

        Raises:
            InvalidInput: no text, or an option that this server does not offer.
            SessionClosed: the session was closed.
            ConnectionLost: or whatever else has ended the connection.
        """
        check_source(text)
        return Speech(self.utterance(chunker=chunker, **options), text)

    def _opened(self) -> Connection:
        if self._connection is None:
            raise LocalProtocolError(
                "the session is not open: use `async with`, or `await session.open()` first"
            )
        return self._connection
