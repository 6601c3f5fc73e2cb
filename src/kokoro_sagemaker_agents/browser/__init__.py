"""From a speech event to a listener's ear: server parts for a browser, and the player in it.

    sse.py           a reply as server-sent events (a Starlette or FastAPI response); `SseDecoder`
    websocket.py     one socket: binary audio and JSON control, both ways
    reply.py         an agent's text and its speech as one stream
    vocabularies/    the names that events have on the wire: one small file each
    player/          the JavaScript: `PLAYER` is its folder, to be served as static files

Needs the extra `[browser]`, except for the decoder and the vocabularies.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

#: The player's folder: mount it with Starlette's `StaticFiles`, or copy it into a bundle.
PLAYER: Final = Path(__file__).parent / "player"

__all__ = ["PLAYER"]
