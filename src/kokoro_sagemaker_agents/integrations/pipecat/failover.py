"""Where a service finds the one that takes over from it, under Pipecat's `ServiceSwitcher`."""

from __future__ import annotations

from collections.abc import Iterator

from pipecat.pipeline.service_switcher import ServiceSwitcher, ServiceSwitcherStrategyFailover
from pipecat.processors.frame_processor import FrameProcessor


def switcher_of(
    service: FrameProcessor,
) -> ServiceSwitcher[ServiceSwitcherStrategyFailover] | None:
    """The switcher that the service is in, if its strategy is to fail over."""
    for processor in _all_of(service.pipeline_worker.pipeline):
        if (
            isinstance(processor, ServiceSwitcher)
            and service in processor.services
            and isinstance(processor.strategy, ServiceSwitcherStrategyFailover)
        ):
            return processor
    return None


def standby_of(service: FrameProcessor) -> FrameProcessor | None:
    """Who takes over if the service, which is the active one, becomes unusable now.

    The next usable one in the switcher's order, as its strategy chooses.
    """
    switcher = switcher_of(service)
    if switcher is None or switcher.strategy.active_service is not service:
        return None
    services = switcher.services
    at = services.index(service)
    others = (services[(at + i) % len(services)] for i in range(1, len(services)))
    return next((other for other in others if other.is_usable), None)


def successor_of(service: FrameProcessor) -> FrameProcessor | None:
    """Who is at work instead of the service; None if it is the service itself."""
    switcher = switcher_of(service)
    if switcher is None or switcher.strategy.active_service is service:
        return None
    return switcher.strategy.active_service


def _all_of(processor: FrameProcessor) -> Iterator[FrameProcessor]:
    yield processor
    for inner in processor.processors:
        yield from _all_of(inner)
