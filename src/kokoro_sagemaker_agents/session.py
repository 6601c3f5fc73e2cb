"""A session: what looks like one connection to a container, and any number of utterances on it."""

from __future__ import annotations

import ssl as _ssl
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from types import TracebackType
from typing import Unpack

from .config import SessionConfig, SessionOptions, UtteranceOptions
from .errors import LocalProtocolError
from .protocol import Ready
from .route import Route
from .sources import TextSource, check_source
from .speech import Speech
from .text import SentenceChunker
from .transports.base import SageMakerRoute, Transport
from .transports.websocket import WebSocketTransport
from .utterance import Utterance


class SpeechSession:
    """Speech from a container, over one connection that many utterances share.

    A connection that is lost, or about to end, is replaced: the listener hears neither a lost word
    nor one twice.

    Use it as `async with SpeechSession.connect(url) as session`, or call `open` and `close`. It
    belongs to the event loop in which it was opened; `blocking.SpeechSession` is its twin for code
    without asyncio.

    Args:
        make_transport: Gives a connection that is not opened yet, a new one for each time that
            one is lost or too old; `connect` makes it of an address.
        **options: See `SessionOptions`.

    Raises:
        InvalidInput: an option that no server could take.
    """

    def __init__(
        self, make_transport: Callable[[], Transport], **options: Unpack[SessionOptions]
    ) -> None:
        self._config = SessionConfig.of(options)
        self._make_transport = make_transport
        self._route: Route | None = None
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
                `connect_timeout_s`, `answer_timeout_s`, `keepalive_s`, `reconnect_s`; see
                `SessionOptions`.

        Raises:
            InvalidInput: an address or option that cannot be.
        """
        make_transport = partial(WebSocketTransport, url, headers=headers, ssl=ssl)
        make_transport()  # a bad address is told at once
        return cls(make_transport, **options)

    @classmethod
    def sagemaker(
        cls,
        endpoint: str,
        *,
        region: str | None = None,
        endpoint_url: str | None = None,
        target_variant: str | None = None,
        profile: str | None = None,
        ca_bundle: str | None = None,
        transport: SageMakerRoute = "auto",
        **options: Unpack[SessionOptions],
    ) -> SpeechSession:
        """A session with the container behind a SageMaker endpoint.

        Credentials are found as every AWS tool finds them: environment, profile, SSO, assumed role,
        container, instance.

        Args:
            endpoint: The endpoint's name.
            region: Where it is; by default the profile's.
            endpoint_url: `https://host:port` of a VPC endpoint or of `kokoro-agents emulate`.
            target_variant: One of its production variants.
            profile: A profile of AWS's configuration files.
            ca_bundle: A PEM file with the authorities to trust; by default `AWS_CA_BUNDLE`, else
                the system's.
            transport: `stream` for the bidirectional stream, which needs Python 3.12;
                `invocations` for a call of its own for each sentence, where there is no such
                stream; `auto` for the first where it is to be had, else the second.
            **options: As for `connect`.

        Raises:
            InvalidInput: an option that cannot be.
        """
        from .transports import routes
        from .transports.sagemaker import SageMakerEndpoint

        target = SageMakerEndpoint(
            endpoint,
            region=region,
            endpoint_url=endpoint_url,
            target_variant=target_variant,
            profile=profile,
            ca_bundle=ca_bundle,
        )
        return cls(routes.by(transport, target), **options)

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
        if self._route is not None:
            raise LocalProtocolError("a session is opened once; make another one")
        self._route = Route(
            self._make_transport,
            self._config.configure(),
            connect_timeout_s=self._config.connect_timeout_s,
            keepalive_s=self._config.keepalive_s,
            reconnect_s=self._config.reconnect_s,
        )
        await self._route.open()

    async def close(self) -> None:
        """End the session: utterances that are not done raise `SessionClosed`. Idempotent."""
        if self._route is not None:
            await self._route.close()

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

        That of the present connection; in an outage, of the last one.

        Raises:
            LocalProtocolError: the session was not opened.
        """
        return self._opened().current.ready

    @property
    def draining(self) -> bool:
        """Whether the server said that it will close soon, and no other one was reached yet."""
        return self._opened().current.draining

    @property
    def connected(self) -> bool:
        """Whether text is sent at once; False while a lost connection is being replaced."""
        return self._opened().up

    @property
    def connections(self) -> int:
        """How many connections it has had so far."""
        return self._opened().connections

    @property
    def load(self) -> int:
        """How many of its utterances are not done."""
        return self._opened().load

    def rotate(self) -> None:
        """Go on with a new connection once it is open, perhaps to another instance.

        What the present one was asked for is still spoken on it. A session does this by itself
        before a connection gets too old, and when its server is draining.
        """
        self._opened().rotate()

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
            RemoteProtocolError: or whatever else has ended the session for good. A connection that
                is lost does not.
        """
        route = self._opened()
        if route.error is not None:
            raise route.error
        config = self._config.utterance.changed(options)
        config.check_against(route.current.ready)
        utterance = Utterance(
            f"u{next(self._numbers)}",
            route.current.utterances,
            config,
            chunker=chunker,
            answer_timeout_s=self._config.answer_timeout_s,
        )
        route.attach(utterance)
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
            RemoteProtocolError: or whatever else has ended the session for good.
        """
        check_source(text)
        return Speech(self.utterance(chunker=chunker, **options), text)

    def _opened(self) -> Route:
        if self._route is None:
            raise LocalProtocolError(
                "the session is not open: use `async with`, or `await session.open()` first"
            )
        return self._route
