"""Requests answered with an error, as AWS words it on the wire."""

from __future__ import annotations

import json
from typing import Any

ACCOUNT = "123456789012"


class Refused(Exception):
    """An error response.

    Args:
        status: HTTP status.
        kind: AWS's name of the error, such as `ModelError`.
        message: what the client's exception says.
        fields: the error's further members.
    """

    def __init__(self, status: int, kind: str, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.fields = fields

    def headers(self, content_type: str = "application/json") -> list[tuple[str, str]]:
        """The response's headers."""
        return [("content-type", content_type), ("x-amzn-errortype", self.kind)]

    def rest_body(self) -> bytes:
        """As the two runtime services (rest-json) write it."""
        return json.dumps({"Message": self.message, **self.fields}).encode()

    def json_body(self) -> bytes:
        """As the control plane (json 1.1) writes it."""
        return json.dumps({"__type": self.kind, "message": self.message, **self.fields}).encode()


def model_error(message: str, *, endpoint: str, original_status: int, original: str) -> Refused:
    """424: the container could not be reached, or refused."""
    log = f"arn:aws:logs:us-east-1:{ACCOUNT}:log-group:/aws/sagemaker/Endpoints/{endpoint}"
    return Refused(
        424,
        "ModelError",
        message,
        OriginalStatusCode=original_status,
        OriginalMessage=original,
        LogStreamArn=log,
    )
