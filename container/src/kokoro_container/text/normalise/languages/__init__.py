"""One table of words a language; ``table`` loads it when the language is first spoken."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from kokoro_container.text.normalise.tables import Table

_MODULES = {
    "en-us": "en",
    "en-gb": "en",
    "es": "es",
    "fr": "fr",
    "hi": "hi",
    "it": "it",
    "ja": "ja",
    "pt-br": "pt_br",
    "zh": "zh",
}

NORMALISED_LANGUAGES = tuple(_MODULES)
"""The languages that have a table."""


@lru_cache(maxsize=len(_MODULES))
def table(language: str) -> Table:
    """The language's table.

    Raises:
        ValueError: a language that has none.
    """
    if language not in _MODULES:
        raise ValueError(f"unknown language {language!r}; choose one of {', '.join(_MODULES)}")
    module = import_module(f".{_MODULES[language]}", __package__)
    loaded: Table = module.table(language)
    return loaded
