"""Speech as a projection of LangGraph's event streaming (`astream_events(version="v3")`)."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import fields
from typing import Any, ClassVar, Final, Unpack
from uuid import UUID

from langgraph.stream import ProtocolEvent, StreamChannel, StreamTransformer

from kokoro_sagemaker_agents.config import UtteranceOptions
from kokoro_sagemaker_agents.events import WordTime

from .feed import Feed
from .runs import Audience
from .turn import MakesUtterances, SpeechTurn, TurnEvent

_WORD_START: Final = re.compile(r"(?<!^)(?=[A-Z])")


def wire_form(event: TurnEvent) -> dict[str, Any]:
    """An event as JSON has it: its `type` in snake_case, its fields, audio in base64."""
    form: dict[str, Any] = {"type": _WORD_START.sub("_", type(event).__name__).lower()}
    for field in fields(event):
        form[field.name] = _wire_value(getattr(event, field.name))
    return form


def _wire_value(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (UUID, Exception)):
        return str(value)
    if isinstance(value, tuple):
        return [_wire_value(item) for item in value]
    if isinstance(value, WordTime) or hasattr(value, "__dataclass_fields__"):
        return {field.name: _wire_value(getattr(value, field.name)) for field in fields(value)}
    return value


class SpeechChannel(StreamChannel[TurnEvent]):
    """The speech of one run, for one reader: `async for event in run.extensions["speech"]`.

    Unlike LangGraph's own channels it wakes its reader when there is audio, also while the graph
    has nothing to tell, and goes on to the end of the speech when the graph is done.
    """

    def __init__(self, turn: SpeechTurn) -> None:
        super().__init__()
        self.turn = turn
        """The turn, to interrupt it, ask what was heard, and commit that."""
        self._pushed = asyncio.Event()
        self._pump: asyncio.Task[bool] | None = None

    def push(self, item: TurnEvent) -> None:
        """Append an event."""
        super().push(item)
        self._pushed.set()

    def close(self) -> None:
        """No more events come."""
        super().close()
        self._pushed.set()

    def fail(self, err: BaseException) -> None:
        """The run has failed: its reader is told."""
        super().fail(err)
        self._pushed.set()

    async def _async_cursor(self) -> AsyncIterator[TurnEvent]:
        exhausted = self._arequest_more is None
        while True:
            while self._items:
                yield self._items.popleft()[1]
            if self._closed:
                if self._error is not None:
                    raise self._error
                return
            self._pushed.clear()
            if exhausted:  # the graph is done, its speech is not
                await self._pushed.wait()
            else:
                exhausted = not await self._pumped_or_pushed()

    async def _pumped_or_pushed(self) -> bool:
        """Drive the graph by one event, or wait for one of ours; whether the graph goes on."""
        assert self._arequest_more is not None, "asked only where the graph can be driven"
        if self._pump is None:
            self._pump = asyncio.ensure_future(_as_task(self._arequest_more))
        pushed = asyncio.ensure_future(self._pushed.wait())
        try:
            await asyncio.wait([self._pump, pushed], return_when=asyncio.FIRST_COMPLETED)
        finally:
            pushed.cancel()
        if not self._pump.done():
            return True  # it goes on, for the next call
        goes_on = self._pump.result()
        self._pump = None
        return goes_on


async def _as_task(request_more: Any) -> bool:
    return bool(await request_more())


class SpeechTransformer(StreamTransformer):
    """Speaks what the outermost graph's models say; as an entry of `transformers`.

        factory = SpeechTransformer.factory(session, voice="af_heart")
        agent = create_agent(model, tools, transformers=[factory])
        run = await agent.astream_events(inputs, version="v3")
        async for event in run.extensions["speech"]: …

    The same events, as JSON with base64 audio, are in the run's own stream as `custom:speech`. That
    stream moves with the graph's events: what is spoken after the last of them comes with its end.

    Args:
        scope: The namespace of the graph; LangGraph gives it.
        session: A `SpeechSession` or `SessionPool`, open.
        audience: Which models are spoken; by default as a handler decides.
        options: See `UtteranceOptions`.
    """

    requires_async: ClassVar[bool] = True
    required_stream_modes: ClassVar[tuple[str, ...]] = ("messages",)

    def __init__(
        self,
        scope: tuple[str, ...] = (),
        *,
        session: MakesUtterances,
        audience: Audience | None = None,
        options: UtteranceOptions | None = None,
    ) -> None:
        super().__init__(scope)
        turn = SpeechTurn(session, options or {}, runs=None, skip_prefix=True)
        self._turn = turn
        self._feed = Feed(turn, audience or Audience())
        self._channel = SpeechChannel(turn)
        self._wire: StreamChannel[dict[str, Any]] = StreamChannel("speech")
        self._reader: asyncio.Task[None] | None = None

    @classmethod
    def factory(
        cls,
        session: MakesUtterances,
        *,
        audience: Audience | None = None,
        **options: Unpack[UtteranceOptions],
    ) -> Callable[[tuple[str, ...]], SpeechTransformer]:
        """What `create_agent(transformers=[…])` and `astream_events(transformers=[…])` take.

        Args:
            session: A `SpeechSession` or `SessionPool`, open when the graph runs.
            audience: Which models are spoken; by default as a handler decides.
            **options: See `UtteranceOptions`.
        """

        def make(scope: tuple[str, ...] = ()) -> SpeechTransformer:
            return cls(scope, session=session, audience=audience, options=options)

        return make

    def init(self) -> dict[str, Any]:
        """The projections: `speech` to read, `speech_events` for the run's own stream."""
        return {"speech": self._channel, "speech_events": self._wire}

    async def aprocess(self, event: ProtocolEvent) -> bool:
        """Speak the text in an event of the graph's own models; every event is kept."""
        if self.scope or event["method"] != "messages" or event["params"]["namespace"]:
            return True  # LangGraph makes one of these for each subgraph, too
        payload, metadata = event["params"]["data"]
        if self._reader is None:
            await self._turn.__aenter__()
            self._reader = asyncio.create_task(self._read(), name="kokoro-transformer")
        self._feed.take_event(payload, metadata)
        return True

    async def afinalize(self) -> None:
        """The graph is done; its speech goes on to its end."""
        self._feed.close()
        await self._turn.end()
        if self._reader is not None:
            await asyncio.wait([self._reader])

    async def afail(self, err: BaseException) -> None:
        """The graph has failed: the speech stops."""
        await self._turn.aclose()
        if self._reader is not None:
            await asyncio.wait([self._reader])

    async def _read(self) -> None:
        async for event in self._turn:
            self._channel.push(event)
            self._wire.push(wire_form(event))
