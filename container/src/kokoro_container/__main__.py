"""`python -m kokoro_container`: the server, set up by environment variables.

`PORT` (8080), `KOKORO_ENGINE` (`auto`, `onnx`, `tone`), `KOKORO_LANGUAGES` (those loaded before the
server is ready, `en-us,en-gb`; any other one waits for its first text) and `KOKORO_LOG_LEVEL`
(`INFO`). Arguments are ignored: SageMaker starts a container with `serve`.
"""

from __future__ import annotations

import asyncio
import logging
import os

from .server import DEFAULT_PORT, serve
from .service import Settings


def main() -> None:
    """Runs the server until it is told to end."""
    logging.basicConfig(
        level=os.environ.get("KOKORO_LOG_LEVEL", "INFO"),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    languages = os.environ.get("KOKORO_LANGUAGES")
    settings = Settings(languages=tuple(languages.split(","))) if languages else Settings()
    asyncio.run(
        serve(
            port=int(os.environ.get("PORT", DEFAULT_PORT)),
            engine=os.environ.get("KOKORO_ENGINE", "auto"),
            settings=settings,
        )
    )


if __name__ == "__main__":
    main()
