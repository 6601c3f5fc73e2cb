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
from .metrics import CONTENT_TYPE
from .service import Service, State

STREAM_PATH: Final = "/invocations-bidirectional-stream"
SPEECH_PATH: Final = "/v1/audio/speech"  # OpenAI's, for those who host the container themselves


def create_app(service: Service) -> Starlette:
    """The ASGI app of one server; closes the service when it is shut down.

    Args:
        service: loads beside it; until then `/ping` says 503, and sessions and POSTs wait.
    """

    async def ping(_: Request) -> Response:
        """200 only if a text was spoken here, another one could be, and there will be time."""
        body = {"status": service.state.value}
        if service.state is not State.READY:
            body["stage"] = service.stage
        elif problem := service.problem:
            body = {"status": "unhealthy", "problem": problem}
        else:
            return JSONResponse(body)
        return JSONResponse(body, 503)

    async def metrics(_: Request) -> Response:
        return Response(service.metrics.text(), media_type=CONTENT_TYPE)

    async def stream(socket: WebSocket) -> None:
        await Connection(socket, service).run()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await service.aclose()

    return Starlette(
        routes=[
            Route("/ping", ping, methods=["GET", "POST"]),
            Route("/metrics", metrics),
            Route("/invocations", Invocations(service), methods=["POST"]),
            Route(SPEECH_PATH, Invocations(service, "openai"), methods=["POST"]),
            WebSocketRoute(STREAM_PATH, stream),
        ],
        lifespan=lifespan,
    )
