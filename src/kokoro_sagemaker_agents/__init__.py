"""Sentence by sentence, an LLM's tokens become speech."""
