"""The AWS Kokoro sample's environment variables, so that its deployments work with this image.

    MAX_REQUEST_AGE_S       56      a request with an older `request_timestamp` is refused (408
                                    `request_stale`); SageMaker gives its caller up after 60 s
    MAX_QUEUE_DEPTH                 POSTs at a time, waiting and speaking; more are refused (503
                                    `queue_saturated`). Sessions are not counted, as there
    WARMUP_TEXT                     spoken, after the server's own, before it is ready
    CONTAINER_START_EPOCH           when the container started, in seconds since the epoch: the log
                                    then tells how long it took from there to be ready

Names and defaults: aws-samples/sample-kokoro-tts-for-ai-agents, `serve.py` at 43ec9b2 and
docs/autoscaling-capacity-model.md. What is ours alone is read in `__main__`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from .service import Settings


def with_sample_variables(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """The settings, changed by those of the variables that are set and not empty.

    Raises:
        ValueError: one of them is not the number it should be; the message names it.
    """
    changed = settings
    if (age_s := _number(environ, "MAX_REQUEST_AGE_S")) is not None:
        changed = replace(changed, request_age_s=age_s)
    if (depth := _number(environ, "MAX_QUEUE_DEPTH")) is not None:
        changed = replace(changed, posts=int(depth))
    if text := environ.get("WARMUP_TEXT"):
        changed = replace(changed, warm_up_text=text)
    if (epoch_s := _number(environ, "CONTAINER_START_EPOCH")) is not None:
        changed = replace(changed, started_epoch_s=epoch_s)
    return changed


def _number(environ: Mapping[str, str], name: str) -> float | None:
    written = environ.get(name, "").strip()
    if not written:
        return None
    try:
        number = float(written)
    except ValueError:
        number = math.nan
    if not (0 < number < math.inf) or (name == "MAX_QUEUE_DEPTH" and number != int(number)):
        kind = "whole number" if name == "MAX_QUEUE_DEPTH" else "number"
        raise ValueError(f"{name}={written[:40]!r} is no positive {kind}; mend or unset it")
    return number
