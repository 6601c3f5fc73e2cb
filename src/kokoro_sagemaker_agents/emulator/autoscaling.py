"""Application Auto Scaling for endpoint variants: targets and policies are kept. No I/O.

Nothing scales by itself; registering a target moves a variant's instance count into its limits.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any, Final

from .control import Body, ControlPlane
from .refusals import ACCOUNT, Refused

_RESOURCE: Final = re.compile(r"endpoint/([^/]+)/variant/([^/]+)")
_DIMENSION: Final = "sagemaker:variant:DesiredInstanceCount"


class Autoscaling:
    """What `AnyScaleFrontendService.*` calls work on.

    Args:
        region: for the names of resources.
        control: where the endpoints are.
    """

    def __init__(self, region: str, control: ControlPlane) -> None:
        self._region = region
        self._control = control
        self._targets: dict[str, Body] = {}
        self._policies: dict[tuple[str, str], Body] = {}
        control.is_scaled = lambda endpoint, variant: (
            f"endpoint/{endpoint}/variant/{variant}" in self._targets
        )

    def call(self, operation: str, body: Body) -> Body:
        """Do one operation.

        Raises:
            Refused: 400, as the service would, or for an operation that is not here.
        """
        known: dict[str, Callable[[Body], Body]] = {
            "RegisterScalableTarget": self._register,
            "DescribeScalableTargets": self._describe_targets,
            "DeregisterScalableTarget": self._deregister,
            "PutScalingPolicy": self._put_policy,
            "DescribeScalingPolicies": self._describe_policies,
            "DeleteScalingPolicy": self._delete_policy,
        }
        if operation not in known:
            raise Refused(
                400,
                "UnknownOperationException",
                f"the emulator has no {operation}; it has {', '.join(sorted(known))}",
            )
        if body.get("ServiceNamespace") != "sagemaker":
            raise _invalid("the emulator knows the namespace sagemaker alone")
        return known[operation](body)

    def _arn(self, kind: str, name: str) -> str:
        return f"arn:aws:{kind}:{self._region}:{ACCOUNT}:{name}"

    def _register(self, body: Body) -> Body:
        resource = body["ResourceId"]
        match = _RESOURCE.fullmatch(resource)
        if match is None or body.get("ScalableDimension") != _DIMENSION:
            raise _invalid(f"{resource} is no endpoint/NAME/variant/NAME of {_DIMENSION}")
        endpoint = self._control.endpoints.get(match[1])
        variant = endpoint.variants.get(match[2]) if endpoint else None
        if variant is None:
            raise _invalid(f"there is no {resource}")
        known = self._targets.get(resource, {})
        made = {"CreationTime": time.time(), **known, **body}
        if not {"MinCapacity", "MaxCapacity"} <= made.keys():
            raise _invalid("a new scalable target needs MinCapacity and MaxCapacity")
        if made["MinCapacity"] > made["MaxCapacity"]:
            raise _invalid("MinCapacity is more than MaxCapacity")
        made["ScalableTargetARN"] = self._arn("application-autoscaling", "scalable-target/emulated")
        made.setdefault("RoleARN", f"arn:aws:iam::{ACCOUNT}:role/emulated")
        self._targets[resource] = made
        count = min(max(variant["DesiredInstanceCount"], made["MinCapacity"]), made["MaxCapacity"])
        variant["DesiredInstanceCount"] = variant["CurrentInstanceCount"] = count
        return {"ScalableTargetARN": made["ScalableTargetARN"]}

    def _describe_targets(self, body: Body) -> Body:
        wanted = body.get("ResourceIds")
        found = [t for name, t in self._targets.items() if wanted is None or name in wanted]
        return {"ScalableTargets": found}

    def _deregister(self, body: Body) -> Body:
        resource = self._registered(body)
        del self._targets[resource]
        self._policies = {key: one for key, one in self._policies.items() if key[0] != resource}
        return {}

    def _put_policy(self, body: Body) -> Body:
        key = (self._registered(body), body["PolicyName"])
        arn = self._arn("autoscaling", f"scalingPolicy:emulated:policyName/{key[1]}")
        made: Body = {
            "CreationTime": time.time(),
            "PolicyType": "TargetTrackingScaling",
            **self._policies.get(key, {}),
            **body,
        }
        self._policies[key] = made | {"PolicyARN": arn, "Alarms": []}
        return {"PolicyARN": arn, "Alarms": []}

    def _describe_policies(self, body: Body) -> Body:
        resource, names = body.get("ResourceId"), body.get("PolicyNames")
        found: list[Any] = [
            policy
            for key, policy in self._policies.items()
            if resource in (None, key[0]) and (names is None or key[1] in names)
        ]
        return {"ScalingPolicies": found}

    def _delete_policy(self, body: Body) -> Body:
        key = (body["ResourceId"], body["PolicyName"])
        if key not in self._policies:
            raise _not_found(f"there is no policy {key[1]} of {key[0]}")
        del self._policies[key]
        return {}

    def _registered(self, body: Body) -> str:
        resource: str = body["ResourceId"]
        if resource not in self._targets:
            raise _not_found(f"no scalable target is registered for {resource}")
        return resource


def _invalid(message: str) -> Refused:
    return Refused(400, "ValidationException", message)


def _not_found(message: str) -> Refused:
    return Refused(400, "ObjectNotFoundException", message)
