"""The routes of SageMaker's container contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from .connection import Connection
from .invocations import Invocations
from .service import Service, State

STREAM_PATH: Final = "/invocations-bidirectional-stream"


def create_app(service: Service) -> Starlette:
    """The ASGI app of one server; closes the service when it is shut down.

    Args:
        service: loads beside it; until then `/ping` says 503, and sessions and POSTs wait.
    """

    async def ping(_: Request) -> Response:
        """200 only if a text was spoken here and the server isn't about to close."""
        healthy = service.state is State.READY
        body = {"status": service.state.value}
        if not healthy:
            body["stage"] = service.stage
        return JSONResponse(body, 200 if healthy else 503)

    async def stream(socket: WebSocket) -> None:
        await Connection(socket, service).run()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await service.aclose()

    return Starlette(
        routes=[
            Route("/ping", ping, methods=["GET", "POST"]),
            Route("/invocations", Invocations(service), methods=["POST"]),
            WebSocketRoute(STREAM_PATH, stream),
        ],
        lifespan=lifespan,
    )
