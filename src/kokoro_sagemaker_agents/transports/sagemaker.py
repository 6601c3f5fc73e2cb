"""A container behind a SageMaker endpoint, over `InvokeEndpointWithBidirectionalStream`."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
from collections import deque
from typing import TYPE_CHECKING, Final

from kokoro_sagemaker_agents.errors import ConnectionFailed, ConnectionLost

from .base import Transport

if TYPE_CHECKING:
    from .aws.credentials import Account
    from .aws.sdk import Stream
    from .aws.sdk_transport import ConnectionPool

#: SageMaker ends a stream after 30 minutes (AWS's developer guide, "Invoke models for real-time
#: inference").
MAX_STREAM_S: Final = 30 * 60.0
# The SDK's own name for where the service is, in place of the region's.
_URL_VARIABLE: Final = "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2"
# Parts that may wait here for the session; beyond these the server waits.
_PARTS_AHEAD: Final = 64


class SageMakerEndpoint:
    """An endpoint, called in somebody's name; makes the transports to it.

    Args:
        endpoint: Its name.
        region: Where it is; by default the profile's.
        endpoint_url: `https://host:port` of a VPC endpoint or an emulator.
        target_variant: One of its production variants.
        profile: A profile of AWS's configuration files.
        ca_bundle: A PEM file with the authorities to trust; by default `AWS_CA_BUNDLE`, else the
            system's.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        region: str | None = None,
        endpoint_url: str | None = None,
        target_variant: str | None = None,
        profile: str | None = None,
        ca_bundle: str | None = None,
    ) -> None:
        self.name = endpoint
        self.target_variant = target_variant
        self.endpoint_url = endpoint_url or os.environ.get(_URL_VARIABLE)
        self.rest_url = endpoint_url
        self.profile = profile
        self.streams = True
        """False once it is known that it takes no bidirectional stream."""
        self._region = region
        self._ca_bundle = ca_bundle
        self._account: Account | None = None

    def __call__(self) -> SageMakerTransport:
        """A new transport, not opened yet."""
        return SageMakerTransport(self)

    async def account(self) -> Account:
        """Who calls; read from AWS's configuration once.

        Raises:
            ConnectionFailed: something is missing.
        """
        if self._account is None:
            if importlib.util.find_spec("botocore") is None:
                raise ConnectionFailed(
                    "AWS's libraries are not installed; run `pip install"
                    " 'kokoro-sagemaker-agents[sagemaker]'`",
                    retryable=False,
                )
            from .aws.credentials import Account

            self._account = await asyncio.to_thread(Account, self._region, self.profile)
        return self._account

    def ca_bundle(self, account: Account) -> str | None:
        """The authorities to trust."""
        return self._ca_bundle or account.ca_bundle


class SageMakerTransport(Transport):
    """One stream to an endpoint. Streams of one event loop share their HTTP/2 connections.

    Args:
        endpoint: Which.
    """

    max_age_s = MAX_STREAM_S

    def __init__(self, endpoint: SageMakerEndpoint) -> None:
        self._endpoint = endpoint
        self._stream: Stream | None = None
        self._pool: ConnectionPool | None = None
        self._reader: asyncio.Task[None] | None = None
        self._frames: deque[str | bytes] = deque()
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._lost: ConnectionLost | None = None

    async def open(self) -> None:
        """Find credentials and call the endpoint; see `Transport.open`."""
        account = await self._endpoint.account()
        credentials = await account.credentials()
        from .aws.sdk import Target, check_installed, open_stream

        check_installed()
        from .aws.sdk_transport import shared_pool

        ca_bundle = self._endpoint.ca_bundle(account)
        try:
            pool = shared_pool(ca_bundle)
        except OSError as error:
            raise ConnectionFailed(
                f"the certificates in {ca_bundle} cannot be read ({error}); check ca_bundle or"
                " AWS_CA_BUNDLE",
                retryable=False,
            ) from error
        target = Target(
            endpoint=self._endpoint.name,
            region=account.region,
            url=self._endpoint.endpoint_url or account.runtime_url,
            variant=self._endpoint.target_variant,
        )
        self._pool = pool
        pool.acquire()
        self._stream = await open_stream(target, credentials, pool)
        self._reader = asyncio.create_task(self._read(self._stream), name="kokoro-sagemaker-read")

    async def send(self, frame: str) -> None:
        """Send one text frame; see `Transport.send`."""
        if self._lost is not None:
            raise self._lost
        if self._stream is None:
            raise ConnectionLost("not connected to SageMaker; call open() first")
        await self._stream.send(frame)

    async def receive(self) -> str | bytes:
        """Wait for the next frame; see `Transport.receive`."""
        while not self._frames:
            if self._lost is not None:
                raise self._lost
            self._news.clear()
            await self._news.wait()
        self._room.set()
        return self._frames.popleft()

    async def _read(self, stream: Stream) -> None:
        """One task for the stream's whole life: a wait that is broken off would lose a part."""
        try:
            while True:
                while len(self._frames) >= _PARTS_AHEAD:
                    self._room.clear()
                    await self._room.wait()
                self._frames.append(await stream.receive())
                self._news.set()
        except ConnectionLost as error:
            self._lost = error
            self._news.set()

    async def close(self) -> None:
        """End the stream; see `Transport.close`."""
        self._lost = self._lost or ConnectionLost("the connection was closed on this side")
        self._news.set()
        stream, self._stream = self._stream, None
        pool, self._pool = self._pool, None
        try:
            if stream is not None:
                await stream.close()
            if self._reader is not None:
                self._reader.cancel()
                await asyncio.wait([self._reader])
        finally:
            if pool is not None:
                with contextlib.suppress(OSError):  # it is over either way
                    await pool.release()
