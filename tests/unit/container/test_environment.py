"""The AWS sample's environment variables."""

import pytest

from kokoro_container.environment import with_sample_variables
from kokoro_container.service import Settings


def test_what_is_not_set_changes_nothing() -> None:
    settings = Settings()

    assert with_sample_variables(settings, {}) == settings
    assert with_sample_variables(settings, {"MAX_QUEUE_DEPTH": "", "PATH": "/bin"}) == settings
    assert settings.request_age_s == 56.0


def test_what_is_set_counts() -> None:
    environ = {
        "MAX_REQUEST_AGE_S": "12.5",
        "MAX_QUEUE_DEPTH": "50",
        "WARMUP_TEXT": "Warming up.",
        "CONTAINER_START_EPOCH": "1760000000.25",
    }

    settings = with_sample_variables(Settings(sessions=3), environ)

    assert settings.request_age_s == 12.5
    assert settings.posts == 50
    assert settings.warm_up_text == "Warming up."
    assert settings.started_epoch_s == 1760000000.25
    assert settings.sessions == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAX_REQUEST_AGE_S", "soon"),
        ("MAX_REQUEST_AGE_S", "nan"),
        ("MAX_REQUEST_AGE_S", "-1"),
        ("MAX_QUEUE_DEPTH", "0"),
        ("MAX_QUEUE_DEPTH", "2.5"),
        ("MAX_QUEUE_DEPTH", "inf"),
        ("CONTAINER_START_EPOCH", "yesterday"),
    ],
)
def test_a_bad_value_stops_the_start_and_says_which(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name):
        with_sample_variables(Settings(), {name: value})
