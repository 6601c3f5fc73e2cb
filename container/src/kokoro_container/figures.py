"""How things stand in a server, for its figures: what is counted when somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .service import Service


def register_gauges(service: Service) -> None:
    """Adds them to the service's metrics."""
    gauge = service.metrics.gauge
    gauge(
        "ActiveSessions",
        "kokoro_active_sessions",
        "Connections that are open.",
        lambda: len(service.sessions),
    )
    gauge(
        "ActiveContexts",
        "kokoro_active_contexts",
        "Contexts that are open, of all sessions.",
        lambda: sum(session.contexts for session in service.sessions),
    )
    gauge(
        "ActivePosts",
        "kokoro_active_posts",
        "POSTs being answered.",
        lambda: len(service.posts),
    )
    gauge(
        "QueuedChunks",
        "kokoro_queued_chunks",
        "Texts that are not spoken to their end yet.",
        lambda: service.scheduler.jobs,
    )
    gauge(
        "Ready",
        "kokoro_ready",
        "1 while /ping answers 200.",
        lambda: service.healthy,
    )
    gauge(
        "Draining",
        "kokoro_draining",
        "1 once the server is about to close.",
        lambda: service.state.value == "draining",
    )
