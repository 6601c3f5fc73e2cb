"""A protocol server on a real socket, and chat models that say what a test wants.

The server is that of the session's tests: it keeps the texts it was asked for, and it can pause,
fail and vanish.
"""

import asyncio
import importlib.util
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

if not importlib.util.find_spec("langgraph") or not importlib.util.find_spec("langchain"):
    collect_ignore_glob = ["test_*.py"]
else:
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
    from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
    from pydantic import PrivateAttr

    _path = Path(__file__).parents[1] / "session" / "conftest.py"
    _spec = importlib.util.spec_from_file_location("kokoro_tests_fake_server", _path)
    assert _spec is not None
    assert _spec.loader is not None
    _module = importlib.util.module_from_spec(_spec)
    sys.modules[_spec.name] = _module
    _spec.loader.exec_module(_module)

    FakeServer = _module.FakeServer
    faking = _module.faking
    fake = _module.fake
    _no_task_is_left = _module._no_task_is_left

    DEADLINE_S = 10.0

    class Scripted(BaseChatModel):
        """Says its replies one after the other, each in small pieces.

        A reply is a list of pieces: a string is text; `{"reasoning": …}`, `{"tool": name, "args":
        …}` are what they say; an exception is raised; a callable is called (and awaited).
        """

        replies: list[list[Any]]
        streams: bool = True
        tells: bool = False  # the provider itself tells the callbacks, besides LangChain
        shape: str = "str"  # or "blocks" (as Anthropic) or "v1" (LangChain's own)
        streaming: bool | None = None
        asked: list[list[BaseMessage]]
        _at: int = PrivateAttr(default=0)

        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

        def _should_stream(self, **kwargs: Any) -> bool:
            return self.streams and super()._should_stream(**kwargs)

        def _reply(self, messages: list[BaseMessage]) -> list[Any]:
            self.asked.append(list(messages))
            self._at += 1
            return self.replies[min(self._at, len(self.replies)) - 1]

        def _chunk(self, piece: Any, index: int) -> ChatGenerationChunk:
            content: Any = ""
            calls: list[Any] = []
            if isinstance(piece, str):
                block = {"type": "text", "text": piece, "index": index}
                content = piece if self.shape == "str" else [block]
            elif "reasoning" in piece and self.shape == "str":
                return ChatGenerationChunk(
                    message=AIMessageChunk(
                        content="", additional_kwargs={"reasoning_content": piece["reasoning"]}
                    )
                )
            elif "reasoning" in piece:
                kind = "thinking" if self.shape == "blocks" else "reasoning"
                content = [{"type": kind, kind: piece["reasoning"], "index": index}]
            else:
                args = piece.get("args", "{}")
                calls = [{"name": piece["tool"], "args": args, "id": "c1", "index": index}]
                if self.shape == "blocks":
                    content = [
                        {"type": "tool_use", "id": "c1", "name": piece["tool"], "input": {},
                         "index": index}
                    ]  # fmt: skip
            return ChatGenerationChunk(
                message=AIMessageChunk(content=content, tool_call_chunks=calls)
            )

        def _chunks(self, reply: list[Any]) -> Iterator[Any]:
            index, kind = 0, None
            for piece in reply:
                if callable(piece) or isinstance(piece, BaseException):
                    yield piece
                    continue
                now = "text" if isinstance(piece, str) else next(iter(piece))
                index += kind is not None and now != kind
                kind = now
                yield self._chunk(piece, index)

        def _generate(self, messages: Any, stop: Any = None, **kwargs: Any) -> ChatResult:
            chunk = None
            for one in self._chunks(self._reply(messages)):
                if isinstance(one, BaseException):
                    raise one
                if callable(one):
                    one()
                    continue
                chunk = one if chunk is None else chunk + one
            assert chunk is not None
            given = chunk.message
            message = AIMessage(
                content=given.content,
                tool_calls=given.tool_calls,
                additional_kwargs=given.additional_kwargs,
            )
            return ChatResult(generations=[ChatGeneration(message=message)])

        def _stream(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> Iterator[ChatGenerationChunk]:
            if not self.streams:
                raise NotImplementedError
            for one in self._chunks(self._reply(messages)):
                if isinstance(one, BaseException):
                    raise one
                if callable(one):
                    one()
                    continue
                if run_manager and self.tells:
                    run_manager.on_llm_new_token(one.text, chunk=one)
                yield one

        async def _agenerate(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> ChatResult:
            reply = self._reply(messages)
            for one in reply:
                if callable(one):
                    await one()
            self._at -= 1
            self.asked.pop()
            self.replies = [[p for p in r if not callable(p)] for r in self.replies]
            return self._generate(messages)

        async def _astream(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> AsyncIterator[ChatGenerationChunk]:
            if not self.streams:
                raise NotImplementedError
            for one in self._chunks(self._reply(messages)):
                if isinstance(one, BaseException):
                    raise one
                if callable(one):
                    await one()
                    continue
                if run_manager and self.tells:
                    await run_manager.on_llm_new_token(one.text, chunk=one)
                yield one

    class NoStream(Scripted):
        """One that has no way to stream at all."""

        _stream = BaseChatModel._stream
        _astream = BaseChatModel._astream

    class Listener:
        """Reads a turn to its end, in a task of its own."""

        def __init__(self, turn: Any) -> None:
            self.events: list[Any] = []
            self._turn = turn
            self._changed = asyncio.Event()
            self.task = asyncio.create_task(self._read())

        async def _read(self) -> None:
            async for event in self._turn:
                self.events.append(event)
                self._changed.set()

        async def done(self) -> list[Any]:
            await asyncio.wait_for(self.task, DEADLINE_S)
            return self.events

        async def until(self, condition: Callable[[list[Any]], Any]) -> None:
            async with asyncio.timeout(DEADLINE_S):
                while not condition(self.events):
                    self._changed.clear()
                    await self._changed.wait()

    @pytest.fixture
    def scripted() -> Callable[..., Scripted]:
        def make(*replies: list[Any], **options: Any) -> Scripted:
            kind = Scripted if options.pop("can_stream", True) else NoStream
            return kind(replies=list(replies), asked=[], **options)

        return make

    @pytest.fixture
    def listening() -> type[Listener]:
        return Listener

    @pytest.fixture
    def recorder() -> type[BaseCallbackHandler]:
        return BaseCallbackHandler

    @pytest.fixture
    def spoken() -> Callable[[list[Any]], str]:
        """The text of a turn's chunks."""
        return lambda events: "".join(
            event.text for event in events if type(event).__name__ == "ChunkStarted"
        )
