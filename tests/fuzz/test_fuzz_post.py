"""Hostile bodies for the routes that take a POST.

Level: fuzz. Thousands go straight into the parser, then some through the whole app in this process.
Each is either spoken or refused in JSON with its own status; a 500 or an exception is a failure.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_container.app import create_app
from kokoro_container.encoders import installed_encodings
from kokoro_container.engines.tone import ToneEngine, spell
from kokoro_container.requests import Invocation, parse
from kokoro_container.service import Service
from kokoro_container.text import LANGUAGES
from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.protocol import Ready

from .mutations import FIELDS, Mutator

READY = Ready(
    instance_id="i",
    model="m",
    engine="tone",
    voices=("af_heart",),
    languages=LANGUAGES,
    encodings=installed_encodings(),
)
PARSED = 20_000
POSTED = 1_000
GOOD = {"text": "Hello.", "format": "pcm"}
REFUSALS = (400, 408, 413, 503)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
bodies = st.dictionaries(st.sampled_from(FIELDS), values, max_size=6)


def parsed(body: bytes, **options: Any) -> Invocation | None:
    """What is understood; None if it is refused, and properly."""
    try:
        return parse(body, READY, now_s=1e9, max_age_s=56.0, **options)
    except InvalidInput as error:
        refusal = error
    assert refusal.code
    check_words(str(refusal))
    return None


def check_words(message: str) -> None:
    """They are for a client: short, and nothing of our inside."""
    assert 10 < len(message) < 500
    for inside in ("Traceback", "Error(", ".py", "msgspec", "object at 0x"):
        assert inside not in message


@pytest.mark.parametrize("dialect", [None, "openai"])
def test_the_parser_understands_or_refuses(dialect: str | None) -> None:
    mutator = Mutator(7)
    understood = 0
    for _ in range(PARSED // 2):
        invocation = parsed(mutator.body(), dialect=dialect)
        if invocation is not None:
            understood += 1
            assert invocation.text.strip()
            assert invocation.media_type
            assert invocation.request_id.isprintable()

    assert PARSED // 100 < understood < PARSED // 3  # else the mutations are too wild, or too mild


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(bodies, st.sampled_from([None, "sample", "openai"]), st.text(max_size=20))
def test_any_json_is_understood_or_refused(
    fields: dict[str, Any], dialect: str | None, accept: str
) -> None:
    parsed(json.dumps(fields).encode(), dialect=dialect, accept=accept)


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    """Requests to an app in this process; an exception in it is raised here."""
    service = Service(ToneEngine, phonemize=spell)
    await service.load()
    transport = httpx.ASGITransport(app=create_app(service))
    async with httpx.AsyncClient(transport=transport, base_url="http://app") as client:
        yield client
    await service.aclose()


@pytest.mark.parametrize("path", ["/invocations", "/v1/audio/speech"])
async def test_a_hostile_body_is_spoken_or_refused(http: httpx.AsyncClient, path: str) -> None:
    mutator = Mutator(70)
    expected = (await http.post("/invocations", json=GOOD)).content
    statuses: set[int] = set()
    for number in range(POSTED // 2):
        response = await http.post(path, content=mutator.body())
        statuses.add(response.status_code)
        if response.status_code != 200:
            assert response.status_code in REFUSALS
            error = response.json()["error"]
            assert error["code"]
            check_words(error["message"])
        if number % 25 == 0:
            assert (await http.post("/invocations", json=GOOD)).content == expected

    assert {200, 400} <= statuses
