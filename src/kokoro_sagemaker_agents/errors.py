"""Every exception this package raises on purpose, in one small tree.

    KokoroAgentsError
    ├── InvalidInput (also ValueError)      a value given to us cannot be used
    ├── ProtocolError
    │   ├── LocalProtocolError              our caller broke the protocol's rules: fix the code
    │   └── RemoteProtocolError             the other side broke them: open a new session
    ├── ConnectionFailed                    the connection never opened
    ├── ConnectionLost                      it was open and ended without saying so
    ├── SpeechFailed                        the server could not speak a chunk or a context
    │   └── OverloadedError                 it is too busy now: try again, or another instance
    ├── DeadlineExceeded (also TimeoutError)    something took longer than it was allowed to
    └── SessionClosed                       the session (or utterance) is over: use a new one

Catch `KokoroAgentsError` for all of them. Each message says what happened, to what, and what to do.
This module imports nothing, so that any part of the package may use it.
"""


class KokoroAgentsError(Exception):
    """The root: everything this package raises on purpose is one of these."""


class InvalidInput(KokoroAgentsError, ValueError):
    """A value given to us cannot be used. Nothing was sent and nothing changed.

    Args:
        message: what is wrong with which value, and what is allowed.
        code: the wire protocol's name for it (`protocol.ErrorCode`), stable snake_case.
    """

    def __init__(self, message: str, *, code: str = "invalid_message") -> None:
        super().__init__(message)
        self.code = code


class ProtocolError(KokoroAgentsError):
    """The wire protocol's rules were broken, by either side."""


class LocalProtocolError(ProtocolError):
    """Our own caller asked for something the protocol does not allow in this state.

    A mistake in the calling code, for example speaking in a context that was ended. Nothing was
    sent and the connection is unharmed.
    """


class RemoteProtocolError(ProtocolError):
    """The other side broke the protocol's rules, so its frames cannot be trusted any more.

    Open a new session; if it happens again, the two sides run versions that do not fit.
    """


class ConnectionFailed(KokoroAgentsError):
    """The connection could not be opened. Nothing was spoken.

    Args:
        message: why, and what to do.
        retryable: whether another attempt may work; False for what somebody has to mend first.
    """

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.retryable = retryable


class ConnectionLost(KokoroAgentsError):
    """An open connection ended without the protocol's end, and could not be replaced in time."""


class SpeechFailed(KokoroAgentsError):
    """The server could not speak a chunk, or refused it.

    Args:
        message: what the server said.
        code: its stable snake_case code (`protocol.ErrorCode`; a newer server may have more).
        retryable: whether the same request may work later or on another instance.
        context_id: the context it happened in, if it belongs to one.
        chunk_id: the chunk that was not spoken, if it is about one.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        retryable: bool,
        context_id: str | None = None,
        chunk_id: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable
        self.context_id = context_id
        self.chunk_id = chunk_id


class OverloadedError(SpeechFailed):
    """The server has no room for this now. Always worth another try after a pause."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "overloaded",
        retryable: bool = True,
        context_id: str | None = None,
        chunk_id: int | None = None,
    ) -> None:
        super().__init__(
            message, code=code, retryable=retryable, context_id=context_id, chunk_id=chunk_id
        )


class DeadlineExceeded(KokoroAgentsError, TimeoutError):
    """Something took longer than its deadline; the message names both."""


class SessionClosed(KokoroAgentsError):
    """The session or utterance is already over. Make a new one."""
