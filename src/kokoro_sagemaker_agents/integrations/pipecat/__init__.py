"""Pipecat (extra `[pipecat]`): a voice for a pipeline.

    tts = KokoroSageMakerTTSService(
        endpoint_name="kokoro",
        region="us-east-1",
        settings=KokoroSageMakerTTSService.Settings(voice="af_heart"),
    )
    pipeline = Pipeline([..., llm, tts, transport.output(), ...])

Its chunker can also be had by itself, in front of any other TTS service:

    sentences = LLMTextProcessor(text_aggregator=SentenceAggregator("en-us"))
"""

from .aggregator import ChunkText, SentenceAggregator, chunker_language
from .service import KokoroSageMakerTTSService
from .settings import KokoroSageMakerTTSSettings

__all__ = [
    "ChunkText",
    "KokoroSageMakerTTSService",
    "KokoroSageMakerTTSSettings",
    "SentenceAggregator",
    "chunker_language",
]
