"""LLM text into speakable chunks: pure state machines, no I/O."""

from __future__ import annotations

from .chunk import Span, TextChunk
from .chunker import SentenceChunker, chunk_tokens
from .languages import LANGUAGES

__all__ = ["LANGUAGES", "SentenceChunker", "Span", "TextChunk", "chunk_tokens"]
