"""The hard set: every case exactly, or as one of its alternatives; its length limits kept."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kokoro_sagemaker_agents.text import SentenceChunker

Case = dict[str, Any]

DATA = Path(__file__).parents[2] / "data" / "chunker_hard.jsonl"
CASES: list[Case] = [
    json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines() if line
]
SENTENCES = [case for case in CASES if "check" not in case]
LENGTHS = [case for case in CASES if "check" in case]
#: The set names languages without their region; Arabic is not Kokoro's, but its marks are marks.
LANGUAGES = {"en": "en-us", "pt": "pt-br", "ar": "en-us"}
#: Emoji are dropped by default, so the preferred form that keeps them is not reachable.
KEEPS_EMOJI = {"uni-01", "uni-02", "uni-04", "uni-05", "uni-08"}


def name(case: Case) -> str:
    return str(case["id"])


def squeezed(parts: list[str]) -> list[str]:
    return [joined for part in parts if (joined := " ".join(part.split()))]


@pytest.fixture(scope="module")
def spoken(run: Callable[..., Any], token_splits: Callable[..., Any]) -> Callable[..., list[str]]:
    def speak(case: Case, split: str) -> list[str]:
        language = LANGUAGES.get(case["lang"], case["lang"])
        tokens = token_splits(case["text"])[split]
        chunks = run(case["text"], tokens, language, first_chunk="sentence")
        return squeezed([chunk.spoken for chunk in chunks])

    return speak


@pytest.mark.parametrize("split", ["whole", "characters", "llm", "threes"])
@pytest.mark.parametrize("case", SENTENCES, ids=name)
def test_case(case: Case, split: str, spoken: Callable[..., list[str]]) -> None:
    accepted = [case["expected"], *case.get("alt", [])]
    assert spoken(case, split) in [squeezed(parts) for parts in accepted], case["why"]


def test_the_preferred_form_is_the_rule(spoken: Callable[..., list[str]]) -> None:
    missed = [
        case["id"]
        for case in SENTENCES
        if spoken(case, "llm") != squeezed(case["expected"]) and case["id"] not in KEEPS_EMOJI
    ]
    assert missed == []


@pytest.mark.parametrize("case", LENGTHS, ids=name)
def test_length_case(
    case: Case, spoken: Callable[..., list[str]], token_splits: Callable[..., Any]
) -> None:
    check, text = case["check"], case["text"]
    parts = spoken(case, "llm")
    assert max(map(len, parts)) <= check["max_chars"]
    assert len(parts) >= check["min_chunks"]
    if check.get("lossless"):
        assert "".join("".join(parts).split()) == "".join(text.split())
    if check.get("no_midword"):
        assert " ".join(parts).split() == text.split()
    chunker = SentenceChunker(LANGUAGES.get(case["lang"], case["lang"]), first_chunk="sentence")
    for token in token_splits(text)["llm"]:
        chunker.feed(token)
        assert len(chunker.pending) <= 2 * check["max_chars"]
