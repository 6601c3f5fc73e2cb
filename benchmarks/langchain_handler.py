"""What speech costs a LangChain agent: CPU per token, and whether a slow engine holds it up.

Per token: a scripted model streams the same tokens with and without the handler, pair by pair, and
the CPU time of the whole process is compared (garbage collection off; the least difference of the
rounds, as everything else only adds). `handler` includes LangChain's own dispatch, the hand-over to
the event loop and the sentence chunker; the audio goes nowhere, so that nothing of a session or
server is in it. Beside it: a handler of LangChain's own kind that does nothing.

Slow engine: a container with the tone engine slowed down to a tenth of real time, in this process;
a model that writes a token every 20 ms, with and without speech, pair by pair; wall-clock ratio.

    .venv/bin/python benchmarks/langchain_handler.py [--rounds 9] [--tokens 1500] [--json PATH]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import platform
import statistics
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import langchain_core
from langchain.agents import create_agent
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from kokoro_container.engines.tone import ToneEngine, spell
from kokoro_container.server import running_server
from kokoro_sagemaker_agents import SpeechSession
from kokoro_sagemaker_agents.cli.tokens import pseudo_tokens
from kokoro_sagemaker_agents.config import UtteranceConfig
from kokoro_sagemaker_agents.integrations.langchain import KokoroSpeechCallbackHandler

TEXT = (
    "The train to Bath leaves at 9:40 a.m. from platform two, and you arrive a little after eleven."
    " Mr. Harris meets you at the station, so don't take a taxi. The room costs $129.50 a night. "
)
PACE_S = 0.02  # 50 tokens a second, as of the hosted models people talk to
INPUT = {"messages": [("user", "x")]}


class Model(BaseChatModel):
    """Writes the same tokens each time, one every so often."""

    tokens: list[str]
    pace_s: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: Any, stop: Any = None, **kwargs: Any) -> ChatResult:
        message = AIMessage("".join(self.tokens))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(self, messages: Any, stop: Any = None, **kwargs: Any) -> Iterator[Any]:
        for token in self.tokens:
            yield ChatGenerationChunk(message=AIMessageChunk(content=token))

    async def _astream(self, messages: Any, stop: Any = None, **kwargs: Any) -> AsyncIterator[Any]:
        for token in self.tokens:
            # Also without a pace: a stream from the network gives the event loop its turn.
            await asyncio.sleep(self.pace_s)
            yield ChatGenerationChunk(message=AIMessageChunk(content=token))


class Nothing(AsyncCallbackHandler):
    """LangChain's usual kind of handler, doing nothing."""

    run_inline = True

    async def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        pass

    async def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        pass


class _Discarded:
    """An utterance whose audio nobody makes."""

    config = UtteranceConfig()

    def check_takes_text(self) -> None:
        pass

    def add(self, chunks: Any) -> None:
        pass

    async def end(self) -> None:
        pass

    async def aclose(self) -> None:
        pass


class _Nowhere:
    def utterance(self, **options: Any) -> Any:
        return _Discarded()


async def _by_model(model: Any, config: Any) -> None:
    async for _ in model.astream("x", config):
        pass


async def _by_agent(model: Any, config: Any) -> None:
    async for _ in create_agent(model).astream(INPUT, config, stream_mode="messages"):
        pass


async def _by_events(model: Any, config: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # v3 is a beta of LangChain's
        async for _ in await create_agent(model).astream_events(INPUT, config, version="v3"):
            pass


PATHS: dict[str, Callable[[Any, Any], Awaitable[None]]] = {
    "model.astream": _by_model,
    "agent.astream(messages)": _by_agent,
    "agent.astream_events(v3)": _by_events,
}


async def _cpu_s(call: Callable[[Any, Any], Awaitable[None]], model: Any, handler: Any) -> float:
    speech = handler if isinstance(handler, KokoroSpeechCallbackHandler) else None
    config = {"callbacks": [] if handler is None else [handler]}
    turn = speech.turn() if speech else None
    if turn is not None:
        await turn.__aenter__()
    gc.collect()
    gc.disable()
    began_s = time.process_time()
    await call(model, config)
    await asyncio.sleep(0)  # what was handed over is part of it
    taken_s = time.process_time() - began_s
    gc.enable()
    if turn is not None:
        await turn.aclose()
    return taken_s


async def per_token(tokens: int, rounds: int) -> dict[str, Any]:
    """CPU microseconds per token that each handler adds, on each path."""
    words = list(pseudo_tokens(TEXT * (tokens * 5 // len(TEXT) + 1)))[:tokens]
    model = Model(tokens=words)
    speech: Any = KokoroSpeechCallbackHandler(_Nowhere())
    figures: dict[str, Any] = {}
    for name, call in PATHS.items():
        added: dict[str, list[float]] = {"handler": [], "nothing": []}
        bare: list[float] = []
        for _ in range(rounds + 1):  # the first one warms up
            bare.append(await _cpu_s(call, model, None))
            added["handler"].append(await _cpu_s(call, model, speech) - bare[-1])
            added["nothing"].append(await _cpu_s(call, model, Nothing()) - bare[-1])
        us = 1e6 / tokens
        figures[name] = {
            "without_us": min(bare[1:]) * us,
            "handler_us": statistics.median(added["handler"][1:]) * us,
            "handler_min_us": min(added["handler"][1:]) * us,
            "nothing_us": statistics.median(added["nothing"][1:]) * us,
        }
    return figures


async def slow_engine(tokens: int, rounds: int) -> dict[str, Any]:
    """How much longer an agent's stream takes with an engine ten times slower than real time."""
    model = Model(tokens=list(pseudo_tokens(TEXT * 20))[:tokens], pace_s=PACE_S)
    engine = ToneEngine(realtime_factor=10.0)
    ratios = []
    async with (
        running_server(lambda: engine, phonemize=spell) as server,
        SpeechSession.connect(server.url) as session,
    ):
        speech = KokoroSpeechCallbackHandler(session)
        for _ in range(rounds):
            without_s = await _wall_s(model, [])
            async with speech.turn():
                ratios.append(await _wall_s(model, [speech]) / without_s)
    return {
        "ratio": statistics.median(ratios),
        "lowest": min(ratios),
        "highest": max(ratios),
    }


async def _wall_s(model: Any, callbacks: list[Any]) -> float:
    began_s = time.perf_counter()
    await _by_agent(model, {"callbacks": callbacks})
    return time.perf_counter() - began_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tokens", type=int, default=1500, help="of one reply")
    parser.add_argument("--json", metavar="PATH")
    arguments = parser.parse_args()
    costs = asyncio.run(per_token(arguments.tokens, arguments.rounds))
    slow = asyncio.run(slow_engine(min(arguments.tokens, 150), min(arguments.rounds, 5)))
    print(f"{'CPU us per token':<28}{'no handler':>12}{'ours':>10}{'(least)':>10}{'empty':>10}")
    for name, figures in costs.items():
        print(
            f"{name:<28}{figures['without_us']:>12.1f}{figures['handler_us']:>+10.1f}"
            f"{figures['handler_min_us']:>+10.1f}{figures['nothing_us']:>+10.1f}"
        )
    print(
        f"engine at a tenth of real time: the stream takes {slow['ratio']:.3f} times as long"
        f" ({slow['lowest']:.3f} to {slow['highest']:.3f})"
    )
    if arguments.json:
        result = {
            "per_token": costs,
            "handler_us_per_token": max(f["handler_us"] for f in costs.values()),
            "slow_engine": slow,
            "slow_engine_ratio": slow["ratio"],
            "tokens": arguments.tokens,
            "rounds": arguments.rounds,
            "langchain_core": langchain_core.__version__,
            "python": platform.python_version(),
            "cpus": os.cpu_count(),
        }
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=2)


if __name__ == "__main__":
    main()
