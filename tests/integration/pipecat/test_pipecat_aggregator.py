"""Our chunker through Pipecat's own aggregator interface and its LLM text processor."""

from __future__ import annotations

import pytest
from pipecat.frames.frames import (
    AggregatedTextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
)
from pipecat.processors.aggregators.llm_text_processor import LLMTextProcessor
from pipecat.tests.utils import run_test

from kokoro_sagemaker_agents.integrations.pipecat import SentenceAggregator, chunker_language

REPLY = "<think>Prices first.</think>Dr. Lee said **yes**. It costs $4.50! Anything else"


async def spoken(aggregator: SentenceAggregator, tokens: list[str]) -> list[str]:
    said = []
    for token in tokens:
        said += [aggregation.text async for aggregation in aggregator.aggregate(token)]
    last = await aggregator.flush()
    return said + ([last.text] if last else [])


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
async def test_sentences_do_not_depend_on_the_tokens(size: int) -> None:
    tokens = [REPLY[i : i + size] for i in range(0, len(REPLY), size)]
    said = await spoken(SentenceAggregator(first_chunk="sentence"), tokens)
    assert said == ["Dr. Lee said yes.", "It costs $4.50!", "Anything else"]


async def test_an_interruption_drops_what_is_held_back() -> None:
    aggregator = SentenceAggregator()
    assert [a async for a in aggregator.aggregate("This was never ")] == []
    assert aggregator.text.text == "This was never"
    await aggregator.handle_interruption()
    assert aggregator.text.text == ""
    assert await spoken(aggregator, ["A new turn."]) == ["A new turn."]


async def test_a_change_of_language_keeps_the_text() -> None:
    aggregator = SentenceAggregator("en")
    assert [a async for a in aggregator.aggregate("El Sr")] == []
    aggregator.set_language("es-MX")
    assert await spoken(aggregator, [". López llegó. Bien."]) == ["El Sr. López llegó.", "Bien."]


async def test_unspaced_languages_are_joined_without_spaces() -> None:
    assert await spoken(SentenceAggregator("zh"), ["你好。让我看一下"]) == ["你好。", "让我看一下"]


@pytest.mark.parametrize(
    ("tag", "language"),
    [("en", "en-us"), ("en-GB", "en-gb"), ("pt", "pt-br"), ("es_MX", "es"), ("tlh", "en-us")],
)
def test_tags_find_their_rules(tag: str, language: str) -> None:
    assert chunker_language(tag) == language


async def test_pipecats_processor_passes_our_sentences_on() -> None:
    tokens = [LLMTextFrame(text=word + " ") for word in REPLY.split(" ")]
    frames = [LLMFullResponseStartFrame(), *tokens, LLMFullResponseEndFrame()]
    processor = LLMTextProcessor(text_aggregator=SentenceAggregator(first_chunk="sentence"))
    down, _ = await run_test(processor, frames_to_send=frames)
    said = [frame.text for frame in down if isinstance(frame, AggregatedTextFrame)]
    assert said == ["Dr. Lee said yes.", "It costs $4.50!", "Anything else"]
