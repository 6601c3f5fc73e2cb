"""`python -m kokoro_container`: the server, set up by environment variables.

`SAGEMAKER_BIND_TO_PORT` or `PORT` (8080), `KOKORO_ENGINE` (`auto`, `onnx`, `torch`, `tone`),
`KOKORO_LOG_FORMAT` (`json`; `text` to be read) and `KOKORO_LOG_LEVEL` (`INFO`), what else an
operator may choose (`operator_variables`), and the AWS sample's variables (`environment`).
SageMaker starts it with `serve`; see `entrypoint`.
"""

from __future__ import annotations

import asyncio
import os
import sys

from . import logs
from .entrypoint import WrongStart, check_arguments, port
from .environment import with_sample_variables
from .operator_variables import with_own_variables
from .server import serve
from .service import Settings


def main() -> None:
    """Runs the server until it is told to end."""
    try:
        check_arguments(sys.argv[1:])
        chosen = port(os.environ)
        logs.configure(
            os.environ.get("KOKORO_LOG_FORMAT") or "json",
            os.environ.get("KOKORO_LOG_LEVEL") or "INFO",
        )
        settings = with_own_variables(Settings(), os.environ)
        settings = with_sample_variables(settings, os.environ)
    except (WrongStart, ValueError) as wrong:
        sys.exit(str(wrong))
    asyncio.run(
        serve(
            port=chosen,
            engine=os.environ.get("KOKORO_ENGINE", "auto"),
            settings=settings,
        )
    )


if __name__ == "__main__":
    main()
