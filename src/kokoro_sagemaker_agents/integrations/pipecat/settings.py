"""What can be changed while a pipeline runs, and how Pipecat's languages are called here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from pipecat.services.settings import TTSSettings
from pipecat.transcriptions.language import Language
from pipecat.utils.types import NOT_GIVEN, NotGiven

from kokoro_sagemaker_agents.config import UtteranceConfig, UtteranceOptions

#: Kokoro's first voice, and the server's own default.
DEFAULT_VOICE: Final = "af_heart"
#: What the model speaks, by Pipecat's tags; a region that is not here is spoken as its language.
_LANGUAGES: Final = {
    "en": "en-us",
    **dict.fromkeys(("en-au", "en-gb", "en-in", "en-nz", "en-za", "en-ie"), "en-gb"),
    "es": "es",
    "fr": "fr",
    "hi": "hi",
    "it": "it",
    "ja": "ja",
    "pt": "pt-br",
    "zh": "zh",
}


@dataclass
class KokoroSageMakerTTSSettings(TTSSettings):
    """Settings of `KokoroSageMakerTTSService`; a change takes effect at the next sentence.

    Args:
        voice: A voice's name or a mix, `af_bella(2)+af_sky(1)`.
        language: By default (None) the voice's own.
        speed: 0.5 to 2.0; 1.0 is the voice's own.
    """

    speed: float | NotGiven | None = field(default_factory=lambda: NOT_GIVEN)


def default_settings() -> KokoroSageMakerTTSSettings:
    """Every setting decided."""
    return KokoroSageMakerTTSSettings(model=None, voice=DEFAULT_VOICE, language=None, speed=None)


def language_tag(language: Language | str) -> str | None:
    """Our tag for a language of Pipecat's; None for one that the model does not speak."""
    tag = str(language).lower().replace("_", "-")
    return _LANGUAGES.get(tag) or _LANGUAGES.get(tag.split("-")[0])


def spoken_language(settings: TTSSettings) -> str:
    """The language of the text: the one that was set, else the voice's own."""
    voice = settings.voice if isinstance(settings.voice, str) else None
    language = settings.language if isinstance(settings.language, str) else None
    return UtteranceConfig(voice=voice, language=language).chunker_language


def utterance_options(settings: KokoroSageMakerTTSSettings, sample_rate: int) -> UtteranceOptions:
    """An utterance's options for these settings.

    Args:
        settings: Every one of them decided.
        sample_rate: Of the audio, hertz.
    """
    speed = settings.speed
    return UtteranceOptions(
        voice=settings.voice if isinstance(settings.voice, str) else None,
        language=settings.language if isinstance(settings.language, str) else None,
        speed=float(speed) if isinstance(speed, (int, float)) else None,
        sample_rate=sample_rate,
        encoding="pcm_s16le",
        timestamps="word",
    )
