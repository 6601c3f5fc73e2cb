"""Pipecat's service with the real model: the words are the text's, each in its time."""

from collections.abc import Iterator

import pytest

pytest.importorskip("pipecat", reason="the extra [pipecat] is not installed")

from pipecat.frames.frames import (
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.tests.utils import run_test

from kokoro_sagemaker_agents.integrations.pipecat import KokoroSageMakerTTSService

from .conftest import serving

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serving("onnx") as url:
        yield url


@pytest.mark.parametrize(
    ("voice", "text", "said"),
    [
        (
            "af_heart",
            "Dr. Lee's party—all 12—paid **$38.50** each! Well-known, no?",
            ["Dr.", "Lee's", "party—all", "12—paid", "$38.50", "each!", "Well-known,", "no?"],
        ),
        ("zf_xiaoxiao", "你好。价格是30元。", ["你好。", "价格", "是", "30元。"]),
    ],
)
async def test_the_words_are_the_texts_own(
    server: str, voice: str, text: str, said: list[str]
) -> None:
    tts = KokoroSageMakerTTSService(
        url=server, settings=KokoroSageMakerTTSService.Settings(voice=voice)
    )
    tokens = [LLMTextFrame(character) for character in text]
    frames = [LLMFullResponseStartFrame(), *tokens, LLMFullResponseEndFrame()]
    down, errors = await run_test(tts, frames_to_send=frames)
    words = [frame for frame in down if isinstance(frame, TTSTextFrame)]
    assert [word.text for word in words] == said
    assert [word.pts for word in words] == sorted({word.pts for word in words if word.pts})
    seconds = sum(len(f.audio) for f in down if isinstance(f, TTSAudioRawFrame)) / 48_000
    assert 1.0 < seconds < 12.0
    assert not errors
