"""The examples' own parts, in a pipeline without a browser."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pipecat.frames.frames import (
    InterruptionFrame,
    TTSAudioRawFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)

from kokoro_sagemaker_agents.protocol import Cancel

EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


async def test_the_bot_answers_and_stops_for_whoever_speaks(
    faking: Any, running: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = example("pipecat_bot")
    async with faking(pieces_left=4) as fake:
        monkeypatch.setenv("KOKORO_URL", fake.url)
        async with running(bot.ScriptedLLM(token_s=0.001), bot.make_tts()) as rig:
            await rig.send(VADUserStoppedSpeakingFrame())
            await rig.until(lambda: len(rig.of(TTSAudioRawFrame)) == 4)
            await rig.send(VADUserStartedSpeakingFrame())
            await fake.until(lambda: fake.asked(Cancel))
            await rig.until(lambda: rig.of(InterruptionFrame))
            heard = rig.context
            assert bot.TRAIN.startswith(heard)
            fake.allow(float("inf"))
            await rig.send(VADUserStoppedSpeakingFrame())
            await rig.until_replies(1)
            assert rig.context == f"{heard} {bot.STORY}"


async def test_the_endpoint_example_writes_what_was_spoken(
    fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    module = example("pipecat_endpoint")
    service = module.KokoroSageMakerTTSService

    def behind_an_address(endpoint_name: str, region: str) -> Any:
        return service(url=fake.url)

    monkeypatch.setattr(module, "KokoroSageMakerTTSService", behind_an_address)
    path = tmp_path / "reply.wav"
    await module.main("us-east-1", str(path), ["one", "two"])
    assert path.read_bytes()[44:] == b"".join(fake.pcm(text) for text in fake.texts())
    assert "Your table is booked for seven." in capsys.readouterr().out
