"""What the log tells of a session: that it was there, how long, and how much it said; no word."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Mapping
from typing import Final

logger = logging.getLogger(__name__)

# SageMaker's name for a request of InvokeEndpointWithBidirectionalStream, if its caller gave one.
_INFERENCE_ID: Final = "x-amzn-sagemaker-inference-id"
_ID: Final = re.compile(r"[A-Za-z0-9._:/=-]{1,64}")


class SessionLog:
    """One session's lines.

    Args:
        headers: of its handshake.

    Attributes:
        session: what the log calls it.
    """

    def __init__(self, headers: Mapping[str, str]) -> None:
        given = headers.get(_INFERENCE_ID, "")
        self.session = given if _ID.fullmatch(given) else f"s-{uuid.uuid4().hex[:12]}"
        self._opened_at = time.monotonic()
        self._chunks = 0
        self._chars = 0

    def opened(self, sessions: int) -> None:
        """It was let in, and now there are so many."""
        extra = {"session": self.session, "sessions": sessions}
        logger.info("session opened", extra=extra)

    def spoken(self, chunk_id: int, chars: int, times: Mapping[str, float]) -> None:
        """A chunk was spoken to its end."""
        self._chunks += 1
        self._chars += chars
        extra = {"session": self.session, "chunk_id": chunk_id, "chars": chars, **times}
        logger.debug("chunk spoken", extra=extra)

    def closed(self, sessions: int) -> None:
        """It is over, and now there are so many."""
        extra = {
            "session": self.session,
            "sessions": sessions,
            "chunks": self._chunks,
            "chars": self._chars,
            "seconds": round(time.monotonic() - self._opened_at, 1),
        }
        logger.info("session closed", extra=extra)
