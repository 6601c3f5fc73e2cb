"""The control plane: models, endpoint configurations, endpoints and their states. No I/O.

Answers hold what a deployment reads of them, not every member of the service. What the service
refuses is refused with its kind of error; the texts are ours.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from .refusals import ACCOUNT, Refused

Body = dict[str, Any]
_NAME: Final = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")
#: The variant of endpoints that nobody created.
DEFAULT_VARIANT: Final = "AllTraffic"
_UNHEALTHY: Final = (
    "The primary container for production variant {} did not pass the ping health check; see the"
    " CloudWatch logs of this endpoint"
)


@dataclass(slots=True)
class Endpoint:
    """One endpoint.

    Attributes:
        name: of it.
        config: name of its configuration.
        status: as DescribeEndpoint says it.
        variants: production variants by name: instance counts and weights.
        failure: why it is Failed.
    """

    name: str
    config: str
    status: str
    variants: dict[str, Body]
    failure: str | None = None
    created_s: float = field(default_factory=time.time)
    modified_s: float = field(default_factory=time.time)

    @property
    def serves(self) -> bool:
        """Whether it takes calls: also while it is updated."""
        return self.status in ("InService", "Updating", "SystemUpdating")


class ControlPlane:
    """What `SageMaker.*` calls work on.

    Args:
        region: for the names of resources.
        bring_up: is called when an endpoint begins to be created or updated; whoever it is calls
            `came_up` some time later.
    """

    def __init__(self, region: str, bring_up: Callable[[str], None]) -> None:
        self._region = region
        self._bring_up = bring_up
        self._models: dict[str, Body] = {}
        self._configs: dict[str, Body] = {}
        self.endpoints: dict[str, Endpoint] = {}
        self._next_failure: str | None = None
        #: Whether scaling is registered for a variant, which forbids some updates.
        self.is_scaled: Callable[[str, str], bool] = lambda _endpoint, _variant: False

    def fail_next(self, reason: str) -> None:
        """Have the next creation or update fail, whatever the container says."""
        self._next_failure = reason

    def add_endpoint(self, name: str) -> None:
        """An endpoint that is in service from the start."""
        variants = {DEFAULT_VARIANT: _variant({"VariantName": DEFAULT_VARIANT})}
        self.endpoints[name] = Endpoint(name, f"{name}-config", "InService", variants)

    def serving(self, name: str, variant: str | None) -> str:
        """The variant that serves a call.

        Raises:
            Refused: 400, there is no such endpoint or variant in service.
        """
        endpoint = self.endpoints.get(name)
        if endpoint is None or not endpoint.serves:
            raise Refused(
                400, "ValidationError", f"Endpoint {name} of account {ACCOUNT} not found."
            )
        if variant is not None and variant not in endpoint.variants:
            raise Refused(400, "ValidationError", f"Variant {variant} of {name} not found.")
        return variant or next(iter(endpoint.variants))

    def came_up(self, name: str, *, healthy: bool) -> None:
        """An endpoint's creation or update is over."""
        endpoint = self.endpoints.get(name)
        if endpoint is None or endpoint.status not in ("Creating", "Updating"):
            return
        reason, self._next_failure = self._next_failure, None
        if reason is None and not healthy:
            reason = _UNHEALTHY.format(next(iter(endpoint.variants)))
        endpoint.failure = reason
        # A failed update leaves the endpoint as it was.
        failed = "Failed" if endpoint.status == "Creating" else "InService"
        endpoint.status = failed if reason else "InService"
        endpoint.modified_s = time.time()
        for variant in endpoint.variants.values():
            variant["CurrentInstanceCount"] = 0 if reason else variant["DesiredInstanceCount"]

    def call(self, operation: str, body: Body) -> Body:
        """Do one operation.

        Raises:
            Refused: 400, as the service would, or for an operation that is not here.
        """
        known: dict[str, Callable[[Body], Body]] = {
            "CreateModel": self._create_model,
            "DescribeModel": lambda b: self._model(b["ModelName"]),
            "DeleteModel": self._delete_model,
            "CreateEndpointConfig": self._create_config,
            "DescribeEndpointConfig": lambda b: self._config(b["EndpointConfigName"]),
            "DeleteEndpointConfig": self._delete_config,
            "CreateEndpoint": self._create_endpoint,
            "DescribeEndpoint": lambda b: self._described(self._endpoint(b["EndpointName"])),
            "UpdateEndpoint": self._update_endpoint,
            "UpdateEndpointWeightsAndCapacities": self._update_capacities,
            "DeleteEndpoint": self._delete_endpoint,
            "ListEndpoints": self._list_endpoints,
        }
        if operation not in known:
            raise Refused(
                400,
                "UnknownOperationException",
                f"the emulator has no {operation}; it has {', '.join(sorted(known))}",
            )
        return known[operation](body)

    def _arn(self, kind: str, name: str) -> str:
        return f"arn:aws:sagemaker:{self._region}:{ACCOUNT}:{kind}/{name}"

    def _create_model(self, body: Body) -> Body:
        name = _new(body["ModelName"], self._models, "model")
        if not body.get("PrimaryContainer", {}).get("Image") and not body.get("Containers"):
            raise _invalid("a model needs PrimaryContainer with an Image")
        arn = self._arn("model", name)
        self._models[name] = {**body, "ModelArn": arn, "CreationTime": time.time()}
        return {"ModelArn": arn}

    def _model(self, name: str) -> Body:
        if name not in self._models:
            raise _invalid(f'Could not find model "{self._arn("model", name)}".')
        return self._models[name]

    def _delete_model(self, body: Body) -> Body:
        self._model(body["ModelName"])
        del self._models[body["ModelName"]]
        return {}

    def _create_config(self, body: Body) -> Body:
        name = _new(body["EndpointConfigName"], self._configs, "endpoint configuration")
        if not body.get("ProductionVariants"):
            raise _invalid("an endpoint configuration needs ProductionVariants")
        for variant in body["ProductionVariants"]:
            self._model(variant["ModelName"])
        arn = self._arn("endpoint-config", name)
        made = {**body, "EndpointConfigArn": arn, "CreationTime": time.time()}
        self._configs[name] = made
        return {"EndpointConfigArn": arn}

    def _config(self, name: str) -> Body:
        if name not in self._configs:
            arn = self._arn("endpoint-config", name)
            raise _invalid(f'Could not find endpoint configuration "{arn}".')
        return self._configs[name]

    def _delete_config(self, body: Body) -> Body:
        self._config(body["EndpointConfigName"])
        del self._configs[body["EndpointConfigName"]]
        return {}

    def _create_endpoint(self, body: Body) -> Body:
        name = _new(body["EndpointName"], self.endpoints, "endpoint")
        variants = self._config(body["EndpointConfigName"])["ProductionVariants"]
        made = {one["VariantName"]: _variant(one) for one in variants}
        self.endpoints[name] = Endpoint(name, body["EndpointConfigName"], "Creating", made)
        self._bring_up(name)
        return {"EndpointArn": self._arn("endpoint", name)}

    def _endpoint(self, name: str) -> Endpoint:
        if name not in self.endpoints:
            raise _invalid(f'Could not find endpoint "{self._arn("endpoint", name)}".')
        return self.endpoints[name]

    def _settled(self, name: str) -> Endpoint:
        endpoint = self._endpoint(name)
        if endpoint.status not in ("InService", "Failed"):
            raise _invalid(f"the endpoint {name} is {endpoint.status}; wait until it is not")
        return endpoint

    def _update_endpoint(self, body: Body) -> Body:
        endpoint = self._settled(body["EndpointName"])
        if endpoint.status == "Failed":
            raise _invalid(f"the endpoint {endpoint.name} is Failed; delete it and create it anew")
        config = self._config(body["EndpointConfigName"])
        variants = {one["VariantName"]: _variant(one) for one in config["ProductionVariants"]}
        for name, old in endpoint.variants.items():
            new = variants.get(name)
            changed = new is None or new["InstanceType"] not in (None, old["InstanceType"])
            if changed and self.is_scaled(endpoint.name, name):
                raise _invalid(
                    f"variant {name} has a scalable target registered; deregister it before"
                    " the variant is removed or gets another instance type"
                )
            if new is not None and body.get("RetainAllVariantProperties"):
                new["DesiredInstanceCount"] = old["DesiredInstanceCount"]
        endpoint.variants, endpoint.config = variants, body["EndpointConfigName"]
        return self._begin_update(endpoint)

    def _update_capacities(self, body: Body) -> Body:
        endpoint = self._settled(body["EndpointName"])
        for wanted in body["DesiredWeightsAndCapacities"]:
            variant = endpoint.variants.get(wanted["VariantName"])
            if variant is None:
                raise _invalid(f"the endpoint has no variant {wanted['VariantName']}")
            for key in ("DesiredWeight", "DesiredInstanceCount"):
                variant[key] = wanted.get(key, variant[key])
        return self._begin_update(endpoint)

    def _begin_update(self, endpoint: Endpoint) -> Body:
        endpoint.status, endpoint.modified_s, endpoint.failure = "Updating", time.time(), None
        self._bring_up(endpoint.name)
        return {"EndpointArn": self._arn("endpoint", endpoint.name)}

    def _delete_endpoint(self, body: Body) -> Body:
        del self.endpoints[self._settled(body["EndpointName"]).name]
        return {}

    def _list_endpoints(self, body: Body) -> Body:
        part, status = body.get("NameContains", ""), body.get("StatusEquals")
        found = [self._described(one) for one in self.endpoints.values() if part in one.name]
        return {"Endpoints": [one for one in found if status in (None, one["EndpointStatus"])]}

    def _described(self, endpoint: Endpoint) -> Body:
        answer = {
            "EndpointName": endpoint.name,
            "EndpointArn": self._arn("endpoint", endpoint.name),
            "EndpointConfigName": endpoint.config,
            "ProductionVariants": [
                {key: value for key, value in variant.items() if key != "InstanceType"}
                for variant in endpoint.variants.values()
            ],
            "EndpointStatus": endpoint.status,
            "CreationTime": endpoint.created_s,
            "LastModifiedTime": endpoint.modified_s,
        }
        return answer | ({"FailureReason": endpoint.failure} if endpoint.failure else {})


def _variant(config: Body) -> Body:
    count, weight = config.get("InitialInstanceCount", 1), config.get("InitialVariantWeight", 1.0)
    return {
        "VariantName": config["VariantName"],
        "InstanceType": config.get("InstanceType"),
        "CurrentWeight": weight,
        "DesiredWeight": weight,
        "CurrentInstanceCount": count,
        "DesiredInstanceCount": count,
    }


def _new(name: str, existing: dict[str, Any], kind: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise _invalid(f"{name!r} is no name for a {kind}: letters, digits and hyphens, up to 63")
    if name in existing:
        raise _invalid(f"Cannot create already existing {kind} {name}.")
    return name


def _invalid(message: str) -> Refused:
    return Refused(400, "ValidationException", message)
