import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kokoro_sagemaker_agents.cli.scripted_llm import LONG, PACE, SHORT, Reply
from kokoro_sagemaker_agents.cli.tokens import paced, pseudo_tokens
from kokoro_sagemaker_agents.text import SentenceChunker


@given(st.text())
def test_tokens_joined_are_the_text(text: str) -> None:
    assert "".join(pseudo_tokens(text)) == text


def test_tokens_look_like_a_models() -> None:
    tokens = list(pseudo_tokens("It's 1234 unquestionably_fine.\n\nYes"))

    assert tokens == [
        *("It", "'", "s", " ", "123", "4"),
        *(" unq", "uest", "iona", "bly", "_", "fine", ".", "\n\n", "Yes"),
    ]


async def test_a_slow_reader_of_one_token_does_not_delay_the_rest() -> None:
    started_s = time.monotonic()

    async for token in paced("abcdefghij", tokens_per_s=10):
        if token == "a":
            await asyncio.sleep(0.9)  # (time passing is the subject here)

    # On schedule the last token comes after 1 s; were the others late too, after 1.9 s.
    assert 1.0 <= time.monotonic() - started_s < 1.7


@pytest.mark.parametrize(("reply", "seconds"), [(SHORT, 0.6), (LONG, 5.0)])
def test_the_scripted_replies_last_as_long_as_promised(reply: Reply, seconds: float) -> None:
    assert len(reply.tokens) / PACE == pytest.approx(seconds, rel=0.05)


def test_the_long_reply_has_what_makes_speech_hard() -> None:
    chunker = SentenceChunker()
    sentences = [c for t in LONG.tokens for c in chunker.feed(t)] + chunker.flush()

    assert len(sentences) >= 8
    assert "\n1. " in LONG.text
    assert "$129.50" in LONG.text
    assert any("Mr. Harris from" in sentence.spoken for sentence in sentences)
