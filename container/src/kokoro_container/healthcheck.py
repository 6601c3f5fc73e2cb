"""`python -m kokoro_container.healthcheck`: 0 if `/ping` says 200, else 1. The image's HEALTHCHECK.

Docker runs it twice a minute, so it imports nothing heavy. SageMaker asks `/ping` itself.
"""

from __future__ import annotations

import http.client
import os
import sys
from typing import Final

from .entrypoint import WrongStart, port

TIMEOUT_S: Final = 2.0  # as long as SageMaker waits for an answer


def problem() -> str | None:
    """What is wrong with the server on this machine; None if it can speak."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port(os.environ), timeout=TIMEOUT_S)
        connection.request("GET", "/ping")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException, WrongStart) as error:
        return f"/ping did not answer: {error}"
    return None if status == 200 else f"/ping says {status}"


if __name__ == "__main__":
    sys.exit(problem())  # a text goes to stderr, with exit status 1
