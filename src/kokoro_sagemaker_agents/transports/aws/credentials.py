"""AWS credentials as botocore finds them, for the AWS SDK.

The SDK's own chain knows the environment, static profiles and `credential_process`. botocore's
also knows SSO, assumed roles, web identity, containers and instances, and refreshes what expires.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Final

from kokoro_sagemaker_agents.errors import ConnectionFailed

# Finding none means to have asked the instance's metadata service, twice at a second each.
FIND_TIMEOUT_S: Final = 5.0
# Not 443 (AWS's Smithy model of the operation).
_PORT: Final = 8443


@dataclass(frozen=True, slots=True)
class Credentials:
    """A key pair, with a token if it is a temporary one."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(repr=False)


class Account:
    """Who calls AWS, and where.

    Args:
        region: As given by the caller; None for the profile's.
        profile: A profile's name; None for the environment's.

    Raises:
        ConnectionFailed: there is no such profile, or no region.
    """

    def __init__(self, region: str | None = None, profile: str | None = None) -> None:
        import botocore.exceptions
        import botocore.session

        try:
            self._session: Any = botocore.session.Session(profile=profile)
            self.region: str = region or self._session.get_config_variable("region")
        except botocore.exceptions.ProfileNotFound as error:
            raise ConnectionFailed(
                f"AWS profile {profile!r} is not configured; see `aws configure list-profiles`",
                retryable=False,
            ) from error
        if not self.region:
            raise ConnectionFailed(
                "no AWS region; pass region=, or set AWS_REGION or the profile's region",
                retryable=False,
            )
        self._found: Any = None

    @property
    def ca_bundle(self) -> str | None:
        """Authorities in place of the system's, by `AWS_CA_BUNDLE` or the profile."""
        found: str | None = self._session.get_config_variable("ca_bundle")
        return found

    @property
    def runtime_url(self) -> str:
        """Where this region's SageMaker speaks HTTP/2: the REST service's name, another port."""
        from botocore.config import Config

        # Addresses that are configured for REST, of a proxy or a mock, speak no HTTP/2.
        config = Config(ignore_configured_endpoint_urls=True)
        client = self._session.create_client(
            "sagemaker-runtime", region_name=self.region, config=config
        )
        return f"{client.meta.endpoint_url}:{_PORT}"

    async def credentials(self) -> Credentials:
        """The present credentials, found or renewed if need be.

        Raises:
            ConnectionFailed: there are none, or they cannot be had.
        """
        try:
            async with asyncio.timeout(FIND_TIMEOUT_S):
                return await asyncio.to_thread(self._find)
        except TimeoutError as error:
            raise ConnectionFailed(
                f"AWS credentials could not be had within {FIND_TIMEOUT_S:g} s; their source"
                " (SSO, an assumed role, the container or the instance) does not answer"
            ) from error

    def _find(self) -> Credentials:
        import botocore.exceptions

        try:
            self._found = self._found or self._session.get_credentials()
            if self._found is None:
                raise ConnectionFailed(
                    "no AWS credentials found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,"
                    " choose a profile (AWS_PROFILE, `aws sso login`), or give the container or"
                    " instance a role",
                    retryable=False,
                )
            frozen = self._found.get_frozen_credentials()
        except botocore.exceptions.BotoCoreError as error:
            raise ConnectionFailed(
                f"AWS credentials could not be had: {error}; log in again or check the role"
            ) from error
        return Credentials(frozen.access_key, frozen.secret_key, frozen.token)
