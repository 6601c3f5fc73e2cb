"""A page's socket: questions and control come in, text, word times and binary audio go out.

    app = Starlette(routes=[WebSocketRoute("/speech", SpeechSocket(answer))])

    def answer(question: Question) -> Reply:
        return Reply(session, agent_tokens(question.text))

Text frames are JSON with a `type`; binary frames are audio of the sentence begun last.

page → server
    ask        `turn` (the page's counter), `text`, and what else the page likes to say
    interrupt  `turn`, `played_samples`: the listener wants no more of it; heard so far
    playback   `turn`, `played_samples`: heard so far; four times a second will do
    ping
server → page: `pong`, and the vocabulary `openai`, each message with its `turn`. An interrupted
turn ends with `speech.interrupted`, which says what was heard; nothing of the turn follows. A new
`ask` interrupts as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from kokoro_sagemaker_agents.config import DEFAULT_SAMPLE_RATE
from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.events import Heard

from .reply import drop
from .socket_turn import PageGone, SocketTurn
from .telling import ReplyItem
from .tickets import Tickets, origin_allowed
from .vocabularies import AudioFormat, Message

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send
    from starlette.websockets import WebSocket

_log = logging.getLogger(__name__)

SUBPROTOCOL: Final = "kokoro.speech.v1"
_TICKET_PREFIX: Final = "ticket."
_MOST_MESSAGE_CHARS: Final = 64 * 1024
# RFC 6455, 7.4.1; the last is of the range for applications.
_CLOSE_GOING_AWAY: Final = 1001
_CLOSE_TOO_SLOW: Final = 4008


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a page asks.

    Args:
        text: What the user said or typed.
        turn: The page's number for it.
        subject: Whom the socket's ticket was issued for; None without tickets.
        message: The whole message, with whatever else the page put into it.
    """

    text: str
    turn: int
    subject: str | None = None
    message: Message = field(default_factory=dict)


class SpokenReply(Protocol):
    """What answers a question; `Reply` and `Speech` are such."""

    def __aiter__(self) -> AsyncIterator[ReplyItem]:
        """Text and speech events."""
        ...

    def played(self, samples: int) -> None:
        """So much was heard."""
        ...

    async def cancel(self) -> Heard:
        """Stop at once, and tell what was heard; also after the last event."""
        ...

    async def aclose(self) -> None:
        """Stop, if it has not ended."""
        ...


class SpeechSocket:
    """An ASGI application for `WebSocketRoute`; in FastAPI, `await SpeechSocket(…).serve(socket)`.

    Args:
        answer: Gives the reply to a question; called in the event loop, it must not block.
        tickets: Who may come in; by default whoever passes the check of the origin.
        allowed_origins: Such as `https://example.com`; by default the server's own host.
        ahead_s: How much audio may be sent ahead of what the page reports as played. A page that
            reports nothing is slowed down by its connection only.
        sample_rate: What is said of the audio at first, in hertz, as for `SpeechResponse`.
        encoding: The same.
        send_timeout_s: A page that takes nothing for so long is given up.
    """

    def __init__(
        self,
        answer: Callable[[Question], SpokenReply],
        *,
        tickets: Tickets | None = None,
        allowed_origins: tuple[str, ...] | None = None,
        ahead_s: float = 20.0,
        sample_rate: int = DEFAULT_SAMPLE_RATE,
        encoding: str = "pcm_s16le",
        send_timeout_s: float = 30.0,
    ) -> None:
        self.answer = answer
        self.audio = AudioFormat(sample_rate, encoding)
        self.ahead_s = ahead_s
        self.send_timeout_s = send_timeout_s
        self._tickets = tickets
        self._allowed_origins = allowed_origins

    async def serve(self, websocket: WebSocket) -> None:
        """Serve a socket that was not accepted yet, to its end."""
        await self(websocket.scope, websocket.receive, websocket.send)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve it (ASGI)."""
        await receive()  # websocket.connect
        refusal, subject = self._admit(scope)
        if refusal:
            _log.warning("a socket was refused: %s", refusal)
            await send({"type": "websocket.close", "code": _CLOSE_GOING_AWAY})  # HTTP 403
            return
        offered = scope.get("subprotocols", [])
        chosen = SUBPROTOCOL if SUBPROTOCOL in offered else None
        await send({"type": "websocket.accept", "subprotocol": chosen})
        await _Conversation(self, subject, send).hold(receive)

    def _admit(self, scope: Scope) -> tuple[str, str | None]:
        """Why not to let it in, empty if nothing is against it, and whom it is for."""
        headers = {name.decode("latin-1"): v.decode("latin-1") for name, v in scope["headers"]}
        if not origin_allowed(headers, self._allowed_origins):
            return "its page is of another origin (allowed_origins)", None
        if self._tickets is None:
            return "", None
        for offered in scope.get("subprotocols", []):
            if offered.startswith(_TICKET_PREFIX):
                subject = self._tickets.redeem(offered.removeprefix(_TICKET_PREFIX))
                return ("its ticket is not good (any more)" if subject is None else ""), subject
        return "it has no ticket", None


class _Conversation:
    """One open socket, and the turn that it is at."""

    def __init__(self, socket: SpeechSocket, subject: str | None, send: Send) -> None:
        self._socket = socket
        self._subject = subject
        self._asgi_send = send
        self._turn: SocketTurn | None = None
        self._telling: asyncio.Task[None] | None = None
        self._lost = asyncio.Event()

    async def hold(self, receive: Receive) -> None:
        """Until the page leaves."""
        lost = asyncio.create_task(self._lost.wait(), name="kokoro-socket-lost")
        reading = asyncio.create_task(self._read(receive), name="kokoro-socket")
        try:
            await asyncio.wait([reading, lost], return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended = reading.done()
            await drop(lost)
            await drop(reading)
            if self._telling is not None:
                await drop(self._telling)
        if ended:
            with contextlib.suppress(PageGone):
                reading.result()

    async def _read(self, receive: Receive) -> None:
        while (event := await receive())["type"] != "websocket.disconnect":
            try:
                await self._take(_message(event))
            except InvalidInput as error:
                await self._send(
                    {
                        "type": "speech.error",
                        "code": error.code,
                        "message": str(error),
                        "retryable": False,
                    }
                )

    async def _take(self, message: Message) -> None:
        match message["type"]:
            case "ask":
                await self._ask(message)
            case "interrupt":
                if turn := self._turn_of(message):
                    await self._interrupt(turn, _samples(message))
            case "playback":
                if turn := self._turn_of(message):
                    turn.played(_samples(message))
            case "ping":
                await self._send({"type": "pong"})
            case _:
                raise InvalidInput("a page sends ask, interrupt, playback and ping")

    def _turn_of(self, message: Message) -> SocketTurn | None:
        """The turn that it is about; None if that is over: the two may cross on the way."""
        number = _number(message, "turn")
        turn = self._turn
        return turn if turn is not None and turn.number == number and turn.heard is None else None

    async def _ask(self, message: Message) -> None:
        number, text = _number(message, "turn"), message.get("text")
        if not isinstance(text, str):
            raise InvalidInput("ask needs text, a string")
        if self._telling is not None and not self._telling.done():
            assert self._turn is not None, "it was made with its task"
            if self._turn.heard is None:
                await self._interrupt(self._turn, None)
        question = Question(text=text, turn=number, subject=self._subject, message=message)
        turn = SocketTurn(number, self._socket.audio, self._socket.ahead_s, self._send)
        self._turn = turn
        self._telling = asyncio.create_task(
            turn.tell(lambda: self._socket.answer(question)), name="kokoro-socket-turn"
        )

    async def _interrupt(self, turn: SocketTurn, played: int | None) -> None:
        heard = await turn.interrupt(played)
        assert self._telling is not None, "it was made with the turn"
        await asyncio.wait([self._telling])  # what it is just sending comes before
        await turn.tell_interrupted(heard)

    async def _send(self, frame: Message | bytes) -> None:
        """Send a frame; raises `PageGone` if that cannot be done any more."""
        if self._lost.is_set():
            raise PageGone
        event: dict[str, Any] = {"type": "websocket.send"}
        if isinstance(frame, bytes):
            event["bytes"] = frame
        else:
            event["text"] = json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
        try:
            async with asyncio.timeout(self._socket.send_timeout_s):
                await self._asgi_send(event)
        except TimeoutError:
            _log.warning(
                "a page took nothing of its reply for %g s and was given up (send_timeout_s)",
                self._socket.send_timeout_s,
            )
            self._lost.set()
            with contextlib.suppress(Exception):  # it may be gone for good
                async with asyncio.timeout(1):
                    await self._asgi_send({"type": "websocket.close", "code": _CLOSE_TOO_SLOW})
            raise PageGone from None
        except OSError:  # it has left; that is read too
            raise PageGone from None


def _message(event: Any) -> Message:
    text = event.get("text")
    if text is None or len(text) > _MOST_MESSAGE_CHARS:
        raise InvalidInput(f"a message is a text frame of at most {_MOST_MESSAGE_CHARS} characters")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise InvalidInput("a message is a JSON object with a type")
    return message


def _number(message: Message, name: str) -> int:
    value = message.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise InvalidInput(f"{message['type']} needs {name}, a whole number from 0")
    return value


def _samples(message: Message) -> int:
    return _number(message, "played_samples")
