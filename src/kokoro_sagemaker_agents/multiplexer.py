"""Many utterances on one connection: their text down, in turn, and the server's answers up.

Without I/O. Text waits here while the server has no room for it (`Limits`), so that `queue_full` is
never the answer. Utterances are held weakly: one that its owner has dropped is cancelled on the
server.

A connection that has a successor is *retired*: what the server was asked for is still spoken here,
and an utterance moves on when nothing of it is left, so that its chunks stay in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol
from weakref import WeakValueDictionary

from . import protocol
from .errors import KokoroAgentsError
from .protocol import ClientEvent, ClientProtocol
from .unsent import ServerRoom, Unsent


class OnConnection(Protocol):
    """What a connection needs of an utterance."""

    @property
    def id(self) -> str:
        """Its name, the same on every connection."""

    @property
    def unsent(self) -> Unsent:
        """Its chunks that are still to be sent."""

    def sent_one(self) -> dict[str, Any]:
        """Take the first of them as sent; returns the options to send with it."""

    @property
    def text_is_over(self) -> bool:
        """Whether no text follows what is unsent."""

    def open_account(self) -> int:
        """Samples that a server may be ahead at first."""

    def receive(self, event: ClientEvent) -> None:
        """Take an event of this utterance; must neither wait nor raise."""

    @property
    def suspect(self) -> bool:
        """Whether connections have ended again and again since it was last answered."""

    def interrupted(self, error: KokoroAgentsError) -> bool:
        """Its connection is over; returns whether it wants to go on with another one."""

    def move(self, multiplexer: Multiplexer) -> None:
        """Go on with another connection."""

    def lost(self, error: KokoroAgentsError) -> None:
        """There is no connection and there will be none."""


class Successor(Protocol):
    """What follows a retired connection."""

    def take_over(self, utterance: OnConnection) -> None:
        """Let this utterance, to which nothing is owed, go on elsewhere."""

    def all_taken(self) -> None:
        """Nobody needs the retired connection any more."""


class Multiplexer:
    """See the module's text.

    Args:
        machine: The protocol's state.
        flush: Called when it has something to send.
    """

    def __init__(self, machine: ClientProtocol, flush: Callable[[], None]) -> None:
        self._machine = machine
        self._flush = flush
        self._utterances: WeakValueDictionary[str, OnConnection] = WeakValueDictionary()
        self._waiting: dict[str, None] = {}  # utterances with unsent text, in turn
        self._room = ServerRoom()
        self._successor: Successor | None = None  # once retired
        self._trial: tuple[str, Callable[[], None]] | None = None
        self._over = False
        self.progressed = False
        """Whether the server has answered for a chunk."""

    @property
    def model(self) -> tuple[str, str]:
        """What speaks here: the model's name and the engine's; only once the server is ready."""
        ready = self._machine.ready
        assert ready is not None, "nothing is spoken before `ready`"
        return ready.model, ready.engine

    @property
    def utterances(self) -> list[OnConnection]:
        """Those that are not done here."""
        return list(self._utterances.values())

    # --- what utterances want ---

    def attach(self, utterance: OnConnection) -> None:
        """Let an utterance take part, with a name that this connection has not seen."""
        self._utterances[utterance.id] = utterance

    def attach_on_trial(self, utterance: OnConnection, passed: Callable[[], None]) -> None:
        """Let a suspect take part.

        Args:
            utterance: Which.
            passed: Called once the server has done something for it, or it has ended.
        """
        self.attach(utterance)
        self._trial = (utterance.id, passed)

    def text_waits(self, utterance: OnConnection) -> None:
        """The utterance has text to be sent, or its end."""
        if self._over:
            return
        if self._successor is not None:
            self._hand_over(utterance, self._successor)
        else:
            self._waiting.setdefault(utterance.id)
            self.pump()

    def owes(self, utterance: OnConnection) -> bool:
        """Whether the server has something of this utterance to answer: a chunk, or its end."""
        if self._machine.unanswered(utterance.id):
            return True
        return utterance.text_is_over and utterance.id in self._machine.contexts

    def grant(self, context_id: str, samples: int) -> None:
        """Let the server send so many more samples of a context."""
        if not self._over:
            self._machine.window(context_id, samples)
            self._flush()

    def cancel(self, context_id: str) -> None:
        """Stop a context, wherever it is in its life."""
        if not self._over:
            self._forget(context_id)
            self._machine.cancel(context_id)
            self.pump()

    def pump(self) -> None:
        """Send the text that waits, a chunk of each utterance in turn, while there is room."""
        blocked: set[str] = set()
        while len(blocked) < len(self._waiting):
            context_id = next(iter(self._waiting))
            del self._waiting[context_id]
            utterance = self._utterances.get(context_id)
            if utterance is None:
                continue
            sent = self._send_next(utterance)
            if utterance.unsent:
                self._waiting[context_id] = None
                blocked = set() if sent else {*blocked, context_id}
            elif utterance.text_is_over:
                self._machine.end(context_id)
        self._flush()

    def _send_next(self, utterance: OnConnection) -> bool:
        """Send an utterance's next chunk; False if it has none or there is no room."""
        if not utterance.unsent:
            return False
        request = utterance.unsent.first
        live = self._machine.contexts
        ready = self._machine.ready
        assert ready is not None, "no utterance is attached before `ready`"
        if not self._room.allows(utterance.id, len(request.text), ready.limits, live):
            return False
        if utterance.id not in live:
            self._machine.window(utterance.id, utterance.open_account())
        options = utterance.sent_one()
        self._machine.speak(
            utterance.id,
            request.text,
            chunk_id=request.chunk_id,
            from_sample=request.from_sample,
            **options,
        )
        self._room.sent(utterance.id, request.chunk_id, len(request.text))
        return True

    # --- what the server says ---

    def receive(self, event: Any) -> None:
        """Take an event of one utterance."""
        context_id: str = event.context_id
        utterance = self._utterances.get(context_id)
        if utterance is not None:
            utterance.receive(event)
            self._end_trial(context_id)
        match event:
            case protocol.ChunkDone(chunk_id=chunk_id) | protocol.Error(chunk_id=int() as chunk_id):
                self.progressed = True
                self._room.answered(context_id, chunk_id)
                if utterance is not None and self._successor is not None:
                    self._hand_over(utterance, self._successor)
                self.pump()
            case protocol.ContextDone() | protocol.ContextCancelled():
                self._forget(context_id)
                self.pump()
            case _:
                pass

    def _end_trial(self, context_id: str) -> None:
        if self._trial is not None and self._trial[0] == context_id:
            _, passed = self._trial
            self._trial = None
            passed()

    def _forget(self, context_id: str) -> None:
        self._utterances.pop(context_id, None)
        self._waiting.pop(context_id, None)
        self._room.forget(context_id)
        self._end_trial(context_id)
        if self._successor is not None and not self._utterances and not self._over:
            self._over = True
            self._successor.all_taken()

    # --- its end ---

    def retire(self, successor: Successor) -> None:
        """Ask for nothing new here.

        Args:
            successor: Takes each utterance once nothing is owed to it here.
        """
        self._successor = successor
        self._waiting.clear()
        for utterance in self.utterances:
            self._hand_over(utterance, successor)
        if not self._over and not self._utterances:
            self._over = True
            successor.all_taken()

    def _hand_over(self, utterance: OnConnection, successor: Successor) -> None:
        if self._machine.unanswered(utterance.id):
            return
        if utterance.id in self._machine.contexts:
            self._machine.end(utterance.id)
            self._flush()
            if utterance.text_is_over and not utterance.unsent:
                return  # all of it was said here; only its end is still to come
        successor.take_over(utterance)
        self._forget(utterance.id)

    def stop(self) -> list[OnConnection]:
        """The connection is over: nothing is sent any more. Returns whom that leaves stranded."""
        self._over = True
        self._trial = None
        stranded = self.utterances
        self._utterances.clear()
        self._waiting.clear()
        return stranded
