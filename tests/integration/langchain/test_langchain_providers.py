"""The real clients of OpenAI and Anthropic, each against a server of this test that streams."""

import asyncio
import json
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool

from kokoro_sagemaker_agents import SpeechSession, UtteranceDone
from kokoro_sagemaker_agents.integrations.langchain import KokoroSpeechCallbackHandler

anthropic = pytest.importorskip("langchain_anthropic", reason="the client of a provider")
openai = pytest.importorskip("langchain_openai", reason="the client of a provider")

INPUT: Any = {"messages": [("user", "Weather?")]}


@tool
def weather(city: str) -> str:
    """The weather."""
    return "TOOL OUTPUT"


@asynccontextmanager
async def provider(*replies: list[tuple[str | None, Any]]) -> AsyncIterator[str]:
    """An HTTP server that answers each request with the next reply, as server-sent events."""
    left = list(replies)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if b"content-length" in line]
        await reader.readexactly(int(lengths[0].split(b":")[1]))
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        )
        for name, data in left.pop(0):
            body = data if isinstance(data, str) else json.dumps(data)
            event = f"event: {name}\n" if name else ""
            writer.write(f"{event}data: {body}\n\n".encode())
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def completion(*deltas: dict[str, Any]) -> list[tuple[str | None, Any]]:
    """A reply of OpenAI's chat completions."""
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks: list[tuple[str | None, Any]] = [
        (None, {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        for delta in ({"role": "assistant", "content": ""}, *deltas)
    ]
    last = {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return [*chunks, (None, last), (None, "[DONE]")]


COMPLETIONS = [
    completion(
        {"content": "Let me "},
        {"content": "check"},
        {"tool_calls": [{"index": 0, "id": "c1", "type": "function",
                         "function": {"name": "weather", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"city": "TOOL ARGS"}'}}]},
    ),
    completion({"content": "It is "}, {"content": "sunny. "}, {"content": "Bye."}),
]  # fmt: skip


def response(*items: dict[str, Any]) -> list[tuple[str | None, Any]]:
    """A reply of OpenAI's Responses API, made of its output items."""
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status":
             "completed", "output": list(items), "parallel_tool_calls": True, "tool_choice":
             "auto", "tools": [], "error": None, "incomplete_details": None, "instructions": None,
             "metadata": {}, "temperature": 1.0, "top_p": 1.0, "usage": None}  # fmt: skip
    started = {**whole, "status": "in_progress", "output": []}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": started}]
    for at, item in enumerate(items):
        events += _output_item(at, item)
    events.append({"type": "response.completed", "response": whole})
    return [(e["type"], {**e, "sequence_number": n}) for n, e in enumerate(events)]


def _output_item(at: int, item: dict[str, Any]) -> list[dict[str, Any]]:
    here = {"output_index": at, "item_id": item["id"]}
    emptied = {
        "reasoning": {"summary": []},
        "message": {"content": []},
        "function_call": {"arguments": ""},
    }
    added = {**item, **emptied[item["type"]]}
    events = [{"type": "response.output_item.added", "output_index": at, "item": added}]
    if item["type"] == "reasoning":
        part = {"type": "summary_text", "text": ""}
        place = {**here, "summary_index": 0}
        text = item["summary"][0]["text"]
        events.append({"type": "response.reasoning_summary_part.added", **place, "part": part})
        events.append({"type": "response.reasoning_summary_text.delta", **place, "delta": text})
    elif item["type"] == "message":
        part = {"type": "output_text", "text": "", "annotations": []}
        place = {**here, "content_index": 0}
        events.append({"type": "response.content_part.added", **place, "part": part})
        for word in item["content"][0]["text"].split(" "):
            delta = {"delta": word if word.endswith(("check", "Bye.")) else f"{word} "}
            events.append({"type": "response.output_text.delta", **place, **delta, "logprobs": []})
    else:
        events.append(
            {"type": "response.function_call_arguments.delta", **here, "delta": item["arguments"]}
        )
    return [*events, {"type": "response.output_item.done", "output_index": at, "item": item}]


def _message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": content}  # fmt: skip


RESPONSES = [
    response(
        {"type": "reasoning", "id": "rs_1",
         "summary": [{"type": "summary_text", "text": "SECRET"}]},
        _message("Let me check"),
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather",
         "arguments": '{"city": "TOOL ARGS"}', "status": "completed"},
    ),
    response(_message("It is sunny. Bye.")),
]  # fmt: skip


def claude(*blocks: tuple[dict[str, Any], list[dict[str, Any]]]) -> list[tuple[str | None, Any]]:
    """A reply of Anthropic's Messages API, made of its content blocks and their deltas."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for at, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": at, "content_block": block})
        events += [{"type": "content_block_delta", "index": at, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": at})
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}})
    events.append({"type": "message_stop"})
    return [(event["type"], event) for event in events]


def _text(*pieces: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    return {"type": "text", "text": ""}, [{"type": "text_delta", "text": p} for p in pieces]


MESSAGES = [
    claude(
        ({"type": "thinking", "thinking": "", "signature": ""},
         [{"type": "thinking_delta", "thinking": "SECRET"},
          {"type": "signature_delta", "signature": "c2ln"}]),
        _text("Let me ", "check"),
        ({"type": "tool_use", "id": "c1", "name": "weather", "input": {}},
         [{"type": "input_json_delta", "partial_json": '{"city": "TOOL ARGS"}'}]),
    ),
    claude(_text("It is ", "sunny. ", "Bye.")),
]  # fmt: skip


def chat_completions(url: str) -> Any:
    return openai.ChatOpenAI(model="m", base_url=url, api_key="x", max_retries=0)


def responses_api(url: str) -> Any:
    return openai.ChatOpenAI(
        model="m", base_url=url, api_key="x", max_retries=0, use_responses_api=True,
        reasoning={"summary": "auto"},
    )  # fmt: skip


def messages_api(url: str) -> Any:
    thinking = {"type": "enabled", "budget_tokens": 1024}
    return anthropic.ChatAnthropic(
        model="m", base_url=url, api_key="x", max_retries=0, max_tokens=2048, thinking=thinking
    )


async def by_messages(agent: Any, config: Any) -> None:
    async for _ in agent.astream(INPUT, config, stream_mode="messages"):
        pass


async def by_events(agent: Any, config: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        async for _ in await agent.astream_events(INPUT, config, version="v3"):
            pass


async def by_ainvoke(agent: Any, config: Any) -> None:
    await agent.ainvoke(INPUT, config)


@pytest.mark.parametrize("call", [by_messages, by_events, by_ainvoke])
@pytest.mark.parametrize(
    ("model", "replies"),
    [(chat_completions, COMPLETIONS), (responses_api, RESPONSES), (messages_api, MESSAGES)],
    ids=["chat completions", "responses", "anthropic"],
)
async def test_a_providers_stream_is_heard_once_without_its_reasoning(
    model: Callable[[str], Any],
    replies: Any,
    call: Callable[[Any, Any], Any],
    fake: Any,
    listening: Any,
) -> None:
    async with provider(*replies) as url, SpeechSession.connect(fake.url) as session:
        speech = KokoroSpeechCallbackHandler(session, force_streaming=call is by_ainvoke)
        async with speech.turn() as turn:
            listener = listening(turn)
            await call(create_agent(model(url), tools=[weather]), {"callbacks": [speech]})
            events = await listener.done()
    assert fake.texts() == ["Let me check", "It is sunny.", "Bye."]
    assert isinstance(events[-1], UtteranceDone)
