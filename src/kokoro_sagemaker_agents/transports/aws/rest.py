"""The runtime's REST operation that streams its answer, `InvokeEndpointWithResponseStream`.

By aiobotocore 2 or 3. Nothing is tried again here: whoever calls knows what is worth it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

from kokoro_sagemaker_agents.errors import ConnectionFailed, ConnectionLost, KokoroAgentsError

from .credentials import Account
from .refusals import REST_ACTION, refusal

if TYPE_CHECKING:
    from kokoro_sagemaker_agents.transports.sagemaker import SageMakerEndpoint

_CONNECT_S: Final = 5.0
# The bidirectional stream's port, where nothing speaks REST.
_STREAM_PORT: Final = 8443
_SERVICE: Final = "sagemaker-runtime"


class ContainerRefused(Exception):
    """The container answered with an error status.

    Args:
        status: That status; 0 if the container did not answer.
        code: The error code in its JSON, if it is one of our containers; else empty.
        message: What it said.
        error: The same as an exception for our caller.
    """

    def __init__(self, status: int, code: str, message: str, error: KokoroAgentsError) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.error = error


class Answer:
    """What the container answers, while it comes.

    Attributes:
        content_type: The container's.
        variant: The production variant that answered.
    """

    def __init__(self, response: dict[str, Any]) -> None:
        self._body = response["Body"]
        self.content_type: str = response.get("ContentType") or ""
        self.variant: str = response.get("InvokedProductionVariant") or ""

    async def parts(self) -> AsyncIterator[bytes]:
        """The bytes, in pieces that mean nothing.

        Raises:
            ConnectionLost: they broke off, and the service or the network said so.
        """
        try:
            async for event in self._body:
                data = event.get("PayloadPart", {}).get("Bytes")
                if data:
                    yield data
        except Exception as error:  # botocore's, aiohttp's and the system's have no common root
            reason = str(error) or type(error).__name__
            raise ConnectionLost(f"the answer broke off ({reason})") from error

    def close(self) -> None:
        """Want no more of it; the container is told by the connection's end."""
        self._body.close()


class RestRuntime:
    """Calls one endpoint.

    Args:
        endpoint: Which.
        silence_s: Longest silence inside an answer.
        calls: How many at the same time.
    """

    def __init__(self, endpoint: SageMakerEndpoint, *, silence_s: float, calls: int) -> None:
        self._endpoint = endpoint
        self._silence_s = silence_s
        self._calls = calls
        self._region = ""
        self._client: Any = None
        self._exit = contextlib.AsyncExitStack()

    async def open(self) -> None:
        """Find credentials and make a client; nothing is sent.

        Raises:
            ConnectionFailed: something is missing.
        """
        account = await self._endpoint.account()
        await account.credentials()  # so that their lack is told, and in time
        self._region = account.region
        ca_bundle = self._endpoint.ca_bundle(account)
        session = await asyncio.to_thread(_session, account, self._endpoint.profile)
        from aiobotocore.config import AioConfig

        config = AioConfig(
            connect_timeout=_CONNECT_S,
            read_timeout=self._silence_s,
            retries={"total_max_attempts": 1},
            max_pool_connections=self._calls,
            tcp_keepalive=True,
        )
        try:
            self._client = await self._exit.enter_async_context(
                session.create_client(
                    _SERVICE,
                    region_name=account.region,
                    endpoint_url=rest_url(self._endpoint.rest_url),
                    verify=ca_bundle or None,
                    config=config,
                )
            )
        except (OSError, ValueError) as error:
            raise ConnectionFailed(
                f"no client for SageMaker could be made ({error}); check endpoint_url, and"
                " ca_bundle or AWS_CA_BUNDLE",
                retryable=False,
            ) from error

    async def call(self, body: dict[str, Any]) -> Answer:
        """Ask the container, and wait until it begins to answer.

        Raises:
            ContainerRefused: it answered with an error.
            OverloadedError: the service has no room now.
            ConnectionFailed: the service refuses, for a reason that somebody has to mend.
            ConnectionLost: the service could not be reached, or the answer did not come in time.
        """
        from botocore.exceptions import ClientError

        arguments = {
            "EndpointName": self._endpoint.name,
            "ContentType": "application/json",
            "Body": json.dumps(body).encode(),
        }
        if self._endpoint.target_variant is not None:
            arguments["TargetVariant"] = self._endpoint.target_variant
        try:
            return Answer(await self._client.invoke_endpoint_with_response_stream(**arguments))
        except ClientError as error:
            raise self._refused(error.response) from error
        except KokoroAgentsError:
            raise  # of the credentials
        except Exception as error:  # botocore's, aiohttp's and the system's have no common root
            url = self._client.meta.endpoint_url
            raise ConnectionLost(
                f"SageMaker at {url} cannot be reached ({error or type(error).__name__}); check"
                " region, network and proxy, and for a private certificate authority ca_bundle"
            ) from error

    def _refused(self, response: dict[str, Any]) -> Exception:
        said = response.get("Error", {})
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        container_status = response.get("OriginalStatusCode")
        error = refusal(
            status,
            said.get("Code", ""),
            said.get("Message", ""),
            endpoint=self._endpoint.name,
            region=self._region,
            action=REST_ACTION,
        )
        if status != 424:
            return error
        original = response.get("OriginalMessage") or ""
        code, message = _of_container(original)
        return ContainerRefused(container_status or 0, code, message or str(error), error)

    async def close(self) -> None:
        """End all connections. Raises nothing."""
        with contextlib.suppress(Exception):  # it is over either way
            await self._exit.aclose()


def rest_url(url: str | None) -> str | None:
    """Where the REST operations are, for one who gave the address of the streams' port."""
    parts = urlsplit(url or "")
    host = parts.hostname or ""
    if parts.port != _STREAM_PORT or ".amazonaws." not in f"{host}.":
        return url
    return urlunsplit(parts._replace(netloc=host))


def _of_container(original: str) -> tuple[str, str]:
    """Code and message of a refusal by one of our containers; else two empty strings."""
    try:
        error = json.loads(original)["error"]
        return str(error["code"]), str(error["message"])
    except (ValueError, KeyError, TypeError):
        return "", ""


def _session(account: Account, profile: str | None) -> Any:
    """aiobotocore's session with the account's credentials. Reads files: for a thread."""
    from aiobotocore.credentials import AioCredentials
    from aiobotocore.session import AioSession
    from botocore.credentials import ReadOnlyCredentials

    class OfAccount(AioCredentials):  # type: ignore[misc]  # untyped
        """Asked for each request, so that a renewed key counts at once."""

        async def get_frozen_credentials(self) -> Any:
            found = await account.credentials()
            return ReadOnlyCredentials(
                found.access_key_id, found.secret_access_key, found.session_token
            )

    class Provider:
        async def load_credentials(self) -> Any:
            return OfAccount("", "", method="kokoro")

    session = AioSession(profile=profile)
    session.register_component("credential_provider", Provider())
    session.register_component("data_loader", _loader(session.get_config_variable("data_path")))
    return session


@cache
def _loader(data_path: str | None) -> Any:
    """AWS's descriptions of the service, which are megabytes: read once for all sessions."""
    from botocore.loaders import create_loader

    loader = create_loader(data_path)
    for kind in ("service-2", "endpoint-rule-set-1"):
        loader.load_service_model(_SERVICE, kind)
    loader.load_data("endpoints")
    return loader
