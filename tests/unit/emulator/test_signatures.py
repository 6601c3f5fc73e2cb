"""Request signatures as botocore makes them; event signatures are tested with the SDK."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

pytest.importorskip("h2", reason="the extra [emulator] is not installed")
pytest.importorskip("botocore", reason="the extra [sagemaker] is not installed")

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as Botocore

from kokoro_sagemaker_agents.emulator import Credentials
from kokoro_sagemaker_agents.emulator.refusals import Refused
from kokoro_sagemaker_agents.emulator.signatures import check_request

RIGHT = Credentials("AKIDEXAMPLE", "right", session_token="token")
BODY = b'{"text": "Hello."}'


def signed(secret: str = "right", token: str | None = "token") -> dict[str, Any]:
    request = AWSRequest(
        "POST",
        "https://localhost:8443/endpoints/ko%20koro/invocations?b=2&a=1",
        {"Content-Type": "application/json"},
        BODY,
    )
    SigV4Auth(Botocore("AKIDEXAMPLE", secret, token), "sagemaker", "us-east-1").add_auth(request)
    headers = {name.lower(): value for name, value in request.headers.items()}
    return {
        "method": "POST",
        "path": "/endpoints/ko%20koro/invocations",
        "query": "b=2&a=1",
        "headers": {"host": "localhost:8443", **headers},
        "body": BODY,
    }


def test_botocores_signature_is_accepted() -> None:
    check_request(RIGHT, **signed())


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"body": b"other"}, "InvalidSignatureException"),
        ({"path": "/endpoints/other/invocations"}, "InvalidSignatureException"),
        ({"query": "a=1"}, "InvalidSignatureException"),
        ({"method": "GET"}, "InvalidSignatureException"),
        ({"headers": {}}, "MissingAuthenticationTokenException"),
    ],
)
def test_any_change_is_refused(change: dict[str, Any], kind: str) -> None:
    with pytest.raises(Refused) as refused:
        check_request(RIGHT, **{**signed(), **change})
    assert (refused.value.status, refused.value.kind) == (403, kind)


def test_an_old_request_is_refused() -> None:
    with pytest.raises(Refused, match="UTC") as refused:
        check_request(RIGHT, **signed(), now=datetime.now(UTC) + timedelta(minutes=10))
    assert refused.value.kind == "InvalidSignatureException"


@pytest.mark.parametrize(
    ("caller", "kind"),
    [
        ({"secret": "wrong"}, "InvalidSignatureException"),
        ({"token": None}, "UnrecognizedClientException"),
    ],
)
def test_others_are_refused(caller: dict[str, Any], kind: str) -> None:
    with pytest.raises(Refused) as refused:
        check_request(RIGHT, **signed(**caller))
    assert refused.value.kind == kind
    assert "right" not in str(refused.value)


def test_secrets_do_not_show() -> None:
    assert "right" not in repr(RIGHT)
