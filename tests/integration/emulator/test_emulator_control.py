"""The control plane, by aiobotocore: what a deployment does from beginning to end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("aiobotocore", reason="the extra [sagemaker] is not installed")

from aiobotocore.session import get_session
from botocore.exceptions import ClientError

from kokoro_sagemaker_agents.emulator import Clock, Emulator, Settings

from .conftest import DEADLINE_S, FrameContainer

RESOURCE = "endpoint/speech/variant/AllTraffic"
TARGET = {
    "ServiceNamespace": "sagemaker",
    "ResourceId": RESOURCE,
    "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
}
Start = Callable[..., AbstractAsyncContextManager[tuple[Emulator, Any, Any]]]


@pytest.fixture
def controlling(container: FrameContainer) -> Start:
    """An emulator without endpoints, a client of SageMaker and one of its autoscaling."""

    @asynccontextmanager
    async def start(**options: Any) -> AsyncIterator[tuple[Emulator, Any, Any]]:
        async with Emulator(container.url, endpoints=(), **options) as emulator:
            names: dict[str, Any] = {
                "region_name": "us-east-1",
                "endpoint_url": emulator.endpoint_url,
                "verify": str(emulator.ca_path),
                "aws_access_key_id": "AKIDEXAMPLE",
                "aws_secret_access_key": "any",
            }
            make = get_session().create_client
            async with (
                make("sagemaker", **names) as sagemaker,
                make("application-autoscaling", **names) as scaling,
            ):
                yield emulator, sagemaker, scaling

    return start


async def create(sagemaker: Any, count: int = 1) -> None:
    await sagemaker.create_model(
        ModelName="speech-model",
        ExecutionRoleArn="arn:aws:iam::123456789012:role/speech",
        PrimaryContainer={"Image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/speech:1"},
    )
    await configure(sagemaker, "speech-1", count)
    await sagemaker.create_endpoint(EndpointName="speech", EndpointConfigName="speech-1")


async def configure(sagemaker: Any, name: str, count: int, kind: str = "ml.g6.xlarge") -> None:
    variant = {
        "VariantName": "AllTraffic",
        "ModelName": "speech-model",
        "InstanceType": kind,
        "InitialInstanceCount": count,
    }
    await sagemaker.create_endpoint_config(EndpointConfigName=name, ProductionVariants=[variant])


async def described(sagemaker: Any) -> dict[str, Any]:
    answer: dict[str, Any] = await sagemaker.describe_endpoint(EndpointName="speech")
    return answer


async def settled(sagemaker: Any) -> dict[str, Any]:
    """The endpoint once it is what it will be."""
    async with asyncio.timeout(DEADLINE_S):
        while (found := await described(sagemaker))["EndpointStatus"] in ("Creating", "Updating"):
            pass
    return found


async def test_an_endpoint_is_created_updated_and_deleted(controlling: Start) -> None:
    clock = Clock(0)
    settings = Settings(creation_s=300)
    async with controlling(clock=clock, settings=settings) as (_, sagemaker, _scaling):
        await create(sagemaker)
        clock.advance(299)
        assert (await described(sagemaker))["EndpointStatus"] == "Creating"
        with pytest.raises(ClientError, match="Creating"):
            await sagemaker.delete_endpoint(EndpointName="speech")
        clock.advance(1)
        found = await settled(sagemaker)
        assert found["EndpointStatus"] == "InService"
        assert found["EndpointArn"].endswith(":endpoint/speech")
        assert found["ProductionVariants"][0]["CurrentInstanceCount"] == 1

        await configure(sagemaker, "speech-2", 3)
        await sagemaker.update_endpoint(EndpointName="speech", EndpointConfigName="speech-2")
        assert (await described(sagemaker))["EndpointStatus"] == "Updating"
        clock.advance(300)
        found = await settled(sagemaker)
        assert found["EndpointConfigName"] == "speech-2"
        assert found["ProductionVariants"][0]["CurrentInstanceCount"] == 3

        config = await sagemaker.describe_endpoint_config(EndpointConfigName="speech-2")
        assert config["ProductionVariants"][0]["InstanceType"] == "ml.g6.xlarge"
        await sagemaker.delete_endpoint(EndpointName="speech")
        for name in ("speech-1", "speech-2"):
            await sagemaker.delete_endpoint_config(EndpointConfigName=name)
        await sagemaker.delete_model(ModelName="speech-model")
        with pytest.raises(ClientError, match="Could not find endpoint"):
            await described(sagemaker)
        with pytest.raises(ClientError, match="Could not find model"):
            await sagemaker.describe_model(ModelName="speech-model")
        assert (await sagemaker.list_endpoints())["Endpoints"] == []


async def test_the_waiter_of_botocore_waits(controlling: Start) -> None:
    async with controlling(settings=Settings(creation_s=0)) as (_, sagemaker, _scaling):
        await create(sagemaker)
        waiter = sagemaker.get_waiter("endpoint_in_service")
        await waiter.wait(EndpointName="speech", WaiterConfig={"Delay": 1, "MaxAttempts": 20})


async def test_a_container_that_never_gets_healthy_fails_the_endpoint(
    container: FrameContainer, controlling: Start
) -> None:
    container.healthy = False
    clock = Clock(36_000)  # eight minutes in 13 ms
    async with controlling(clock=clock) as (_, sagemaker, _scaling):
        await create(sagemaker)
        found = await settled(sagemaker)
        assert found["EndpointStatus"] == "Failed"
        assert "ping health check" in found["FailureReason"]
        with pytest.raises(ClientError, match="delete it"):
            await sagemaker.update_endpoint(EndpointName="speech", EndpointConfigName="speech-1")
        await sagemaker.delete_endpoint(EndpointName="speech")


async def test_a_failure_can_be_asked_for_and_an_update_falls_back(controlling: Start) -> None:
    async with controlling(settings=Settings(creation_s=0)) as (emulator, sagemaker, _):
        emulator.control.fail_next("no capacity for ml.g6.xlarge")
        await create(sagemaker)
        assert (await settled(sagemaker))["FailureReason"] == "no capacity for ml.g6.xlarge"
        await sagemaker.delete_endpoint(EndpointName="speech")

        await sagemaker.create_endpoint(EndpointName="speech", EndpointConfigName="speech-1")
        await settled(sagemaker)
        emulator.control.fail_next("no capacity")
        await sagemaker.update_endpoint(EndpointName="speech", EndpointConfigName="speech-1")
        found = await settled(sagemaker)
        assert (found["EndpointStatus"], found["FailureReason"]) == ("InService", "no capacity")


async def test_scaling_is_registered_kept_and_taken_away(controlling: Start) -> None:
    async with controlling(settings=Settings(creation_s=0)) as (_, sagemaker, scaling):
        with pytest.raises(ClientError, match="there is no endpoint/speech"):
            await scaling.register_scalable_target(**TARGET, MinCapacity=1, MaxCapacity=4)
        await create(sagemaker)
        await settled(sagemaker)
        await scaling.register_scalable_target(**TARGET, MinCapacity=2, MaxCapacity=4)
        found = await settled(sagemaker)
        assert found["ProductionVariants"][0]["CurrentInstanceCount"] == 2

        metric = "SageMakerVariantConcurrentRequestsPerModelHighResolution"
        wanted = {
            "TargetValue": 5.0,
            "PredefinedMetricSpecification": {"PredefinedMetricType": metric},
        }
        await scaling.put_scaling_policy(
            **TARGET,
            PolicyName="concurrency",
            PolicyType="TargetTrackingScaling",
            TargetTrackingScalingPolicyConfiguration=wanted,
        )
        policies = await scaling.describe_scaling_policies(ServiceNamespace="sagemaker")
        (policy,) = policies["ScalingPolicies"]
        assert policy["TargetTrackingScalingPolicyConfiguration"] == wanted

        await configure(sagemaker, "speech-2", 1, kind="ml.g5.xlarge")
        with pytest.raises(ClientError, match="deregister it"):
            await sagemaker.update_endpoint(EndpointName="speech", EndpointConfigName="speech-2")
        await scaling.deregister_scalable_target(**TARGET)
        for answer in (
            await scaling.describe_scaling_policies(ServiceNamespace="sagemaker"),
            await scaling.describe_scalable_targets(ServiceNamespace="sagemaker"),
        ):
            assert [] in (answer.get("ScalingPolicies"), answer.get("ScalableTargets"))
        await sagemaker.update_endpoint(EndpointName="speech", EndpointConfigName="speech-2")
        await settled(sagemaker)
        with pytest.raises(ClientError, match="no scalable target"):
            await scaling.deregister_scalable_target(**TARGET)


async def test_what_is_not_there_or_twice_is_refused(controlling: Start) -> None:
    async with controlling() as (_, sagemaker, _scaling):
        with pytest.raises(ClientError, match="Could not find endpoint configuration"):
            await sagemaker.create_endpoint(EndpointName="a", EndpointConfigName="none")
        with pytest.raises(ClientError, match="Could not find model"):
            await configure(sagemaker, "speech-1", 1)
        await create(sagemaker)
        with pytest.raises(ClientError, match="already existing"):
            await sagemaker.create_endpoint(EndpointName="speech", EndpointConfigName="speech-1")
        with pytest.raises(ClientError, match="no ListModels"):
            await sagemaker.list_models()
