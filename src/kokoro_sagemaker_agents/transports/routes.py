"""Ways to a SageMaker endpoint: by its bidirectional stream where there is one, else by POSTs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import get_args

from kokoro_sagemaker_agents.errors import InvalidInput

from .aws.refusals import NotStreamable
from .base import SageMakerRoute, Transport
from .invocations import InvocationsTransport
from .sagemaker import SageMakerEndpoint, SageMakerTransport

_log = logging.getLogger(__name__)


def by(route: SageMakerRoute, endpoint: SageMakerEndpoint) -> Callable[[], Transport]:
    """What makes the transports of one session.

    Raises:
        InvalidInput: there is no such way.
    """
    match route:
        case "auto":
            return partial(AutoTransport, endpoint)
        case "stream":
            return endpoint
        case "invocations":
            return partial(InvocationsTransport, endpoint)
    known = ", ".join(get_args(SageMakerRoute))
    raise InvalidInput(f"transport {route!r} is not one of {known}")


class AutoTransport(Transport):
    """A `SageMakerTransport`, or an `InvocationsTransport` where there are no streams.

    Args:
        endpoint: Which; what was found out is kept there for the next transport.
    """

    def __init__(self, endpoint: SageMakerEndpoint) -> None:
        self._endpoint = endpoint
        self._inner: Transport = self._made()

    def _made(self) -> Transport:
        endpoint = self._endpoint
        return SageMakerTransport(endpoint) if endpoint.streams else InvocationsTransport(endpoint)

    @property
    def max_age_s(self) -> float | None:  # type: ignore[override]  # read only, as it is used
        """As that of the one it is."""
        return self._inner.max_age_s

    async def open(self) -> None:
        """Connect, in the second way if the first is not there; see `Transport.open`."""
        try:
            await self._inner.open()
            return
        except NotStreamable as error:
            await self._inner.close()
            _log.warning("speaking by invocations, each sentence a call of its own: %s", error)
            self._endpoint.streams = False
        self._inner = self._made()
        await self._inner.open()

    async def send(self, frame: str) -> None:
        """See `Transport.send`."""
        await self._inner.send(frame)

    async def receive(self) -> str | bytes:
        """See `Transport.receive`."""
        return await self._inner.receive()

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._inner.close()
