"""The AWS SDK's one operation, the same for the generations of the SDK that are in use.

Pipecat pins a version below 0.10, others 0.11 or 0.12. Between them the configuration's class got
another name and is resolved instead of made; everything else that is used here is the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from dataclasses import dataclass
from typing import Any

from kokoro_sagemaker_agents.errors import ConnectionFailed, ConnectionLost, KokoroAgentsError

from .credentials import Credentials
from .http2 import Http2Error
from .refusals import NotStreamable, refusal
from .sdk_transport import ConnectionPool, DuplexHttp2Transport


@dataclass(frozen=True, slots=True)
class Target:
    """What to call.

    Attributes:
        endpoint: The endpoint's name.
        region: Where it is.
        url: `https://host:port` of the runtime.
        variant: One of its production variants; None for SageMaker's choice.
    """

    endpoint: str
    region: str
    url: str
    variant: str | None = None


class Stream:
    """One bidirectional stream to a container: whole frames, text or binary, both ways."""

    def __init__(self, stream: Any, output: Any, transport: DuplexHttp2Transport) -> None:
        from aws_sdk_sagemaker_runtime_http2 import models

        self._models = models
        self._stream = stream
        self._output = output
        self._transport = transport
        self._sending = asyncio.Lock()  # the SDK signs in one order and may write in another

    async def send(self, frame: str) -> None:
        """Send one text frame.

        Raises:
            ConnectionLost: the stream has ended.
        """
        part = self._models.RequestPayloadPart(bytes_=frame.encode(), data_type="UTF8")
        event = self._models.RequestStreamEventPayloadPart(value=part)
        try:
            async with self._sending:
                await self._stream.input_stream.send(event)
        except Exception as error:
            raise self._lost(error) from error

    async def receive(self) -> str | bytes:
        """Wait for the next frame. Must not be cancelled: a part that was read would be lost.

        Raises:
            ConnectionLost: the stream has ended, in whatever way.
        """
        while True:
            try:
                event = await self._output.receive()
            except Exception as error:
                raise self._lost(error) from error
            if event is None:
                raise ConnectionLost("SageMaker ended the stream; open a new session")
            part: Any = getattr(event, "value", None)
            data = getattr(part, "bytes_", None)
            if data is not None:
                return data.decode() if part.data_type == "UTF8" else bytes(data)

    async def close(self) -> None:
        """End the stream and free what it holds. Raises nothing."""
        await self._transport.abandon()

    def _lost(self, error: Exception) -> ConnectionLost:
        cause = _root(error)
        if isinstance(cause, Http2Error):
            return ConnectionLost(f"the stream to SageMaker broke: {cause}; open a new session")
        if type(cause).__name__ == "ModelStreamError":
            code = getattr(cause, "error_code", None) or "no code"
            return ConnectionLost(
                f"the container ended the stream ({code}: {_message(cause)}); its log in CloudWatch"
                " may say more"
            )
        return ConnectionLost(
            f"the stream to SageMaker broke ({type(cause).__name__}: {_message(cause)}); open a new"
            " session"
        )


async def open_stream(target: Target, credentials: Credentials, pool: ConnectionPool) -> Stream:
    """Call the operation and wait until the container has taken the connection.

    The whole stream is signed with the credentials that it was opened with, as the signatures of
    its events are one chain.

    Raises:
        ConnectionFailed: it could not be opened; the message says what to do.
        OverloadedError: the service or the container has no room now.
        InvalidInput: the service refuses the request.
    """
    check_installed()
    from aws_sdk_sagemaker_runtime_http2 import models

    transport = DuplexHttp2Transport(pool)
    client = await _client(target, credentials, transport)
    request = models.InvokeEndpointWithBidirectionalStreamInput(
        endpoint_name=target.endpoint, target_variant=target.variant
    )
    stream: Any = None
    try:
        stream = await client.invoke_endpoint_with_bidirectional_stream(request)
        _, output = await stream.await_output()
    except BaseException as error:
        await transport.abandon()
        await _forget(stream)
        if not isinstance(error, Exception):
            raise
        raise _failure(error, transport, target) from error
    return Stream(stream, output, transport)


async def _client(target: Target, credentials: Credentials, transport: Any) -> Any:
    from aws_sdk_sagemaker_runtime_http2 import client, config

    settings = {
        "endpoint_uri": target.url,
        "region": target.region,
        "aws_credentials_identity_resolver": _Pinned(credentials),
        "transport": transport,
    }
    resolved: Any = getattr(config, "AsyncSageMakerRuntimeHTTP2Config", None)
    if resolved is not None:
        return client.AsyncSageMakerRuntimeHTTP2Client(await resolved.resolve(**settings))
    return client.AsyncSageMakerRuntimeHTTP2Client(config.Config(**settings))


class _Pinned:
    """The same credentials each time the SDK asks, which is for each event."""

    def __init__(self, credentials: Credentials) -> None:
        from smithy_aws_core.identity import AWSCredentialsIdentity

        self._identity = AWSCredentialsIdentity(
            access_key_id=credentials.access_key_id,
            secret_access_key=credentials.secret_access_key,
            session_token=credentials.session_token,
        )

    async def get_identity(self, *, properties: Any) -> Any:
        return self._identity


async def _forget(stream: Any) -> None:
    """Let the SDK's own task for the response end, and take its outcome."""
    future = getattr(stream, "_output_future", None)
    if future is not None:
        future.cancel()
        with contextlib.suppress(BaseException):
            await future


def check_installed() -> None:
    """Raise `NotStreamable` where AWS's SDK is not or cannot be."""
    if sys.version_info < (3, 12):
        raise NotStreamable(
            "bidirectional streaming needs AWS's SDK, which needs Python 3.12; this is"
            f" {sys.version_info.major}.{sys.version_info.minor}: use a newer one, or"
            " transport='invocations'",
            retryable=False,
        )
    try:
        import aws_sdk_sagemaker_runtime_http2  # noqa: F401  (only whether it is there)
    except ImportError as error:
        raise NotStreamable(
            "AWS's SDK is not installed; run `pip install 'kokoro-sagemaker-agents[sagemaker]'`",
            retryable=False,
        ) from error


def _failure(
    error: Exception, transport: DuplexHttp2Transport, target: Target
) -> KokoroAgentsError:
    """Why a stream could not be opened."""
    if transport.status is not None and transport.status >= 300:
        return refusal(
            transport.status,
            transport.error_type,
            _message(_root(error)),
            endpoint=target.endpoint,
            region=target.region,
            container_status=getattr(_root(error), "original_status_code", None),
        )
    cause = transport.failure or _root(error)
    if isinstance(cause, KokoroAgentsError):
        return cause
    retryable = getattr(cause, "retryable", True)
    reason = str(cause) or type(cause).__name__
    return ConnectionFailed(
        f"SageMaker at {target.url} cannot be reached ({reason}); check region, network and proxy,"
        " and for a private certificate authority ca_bundle",
        retryable=retryable,
    )


def _root(error: BaseException) -> BaseException:
    """The first cause: the SDK wraps what it did not foresee."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _message(error: BaseException) -> str:
    """What the service said, as far as the SDK kept it."""
    for name in ("original_message", "message"):
        said = getattr(error, name, None)
        if said:
            return str(said)
    return str(error)
