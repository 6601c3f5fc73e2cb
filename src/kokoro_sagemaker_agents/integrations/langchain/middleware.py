"""Speech for an agent of `create_agent`, as a middleware."""

from __future__ import annotations

from typing import Any, Unpack

from langchain.agents.middleware import AgentMiddleware

from kokoro_sagemaker_agents.config import UtteranceOptions

from .runs import Audience
from .transformer import SpeechTransformer
from .turn import MakesUtterances


class KokoroSpeechMiddleware(AgentMiddleware[Any, Any]):
    """Gives an agent's event stream the projection `speech`; see `SpeechTransformer`.

        agent = create_agent(model, tools, middleware=[KokoroSpeechMiddleware(session)])
        run = await agent.astream_events(inputs, version="v3")
        async for event in run.extensions["speech"]: …

    It changes nothing of what the agent does, and nothing is spoken in other calls.

    Args:
        session: A `SpeechSession` or `SessionPool`, open when the agent runs.
        audience: Which models are spoken; by default as a handler decides.
        **options: Of the speech: `voice`, `speed` and so on; see `UtteranceOptions`.
    """

    def __init__(
        self,
        session: MakesUtterances,
        *,
        audience: Audience | None = None,
        **options: Unpack[UtteranceOptions],
    ) -> None:
        super().__init__()
        self.transformers = (SpeechTransformer.factory(session, audience=audience, **options),)
