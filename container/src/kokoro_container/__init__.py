"""Kokoro-82M behind SageMaker's container contract."""
