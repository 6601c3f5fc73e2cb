"""AWS's side of a session over SageMaker: HTTP/2, the SDK, credentials, errors."""
