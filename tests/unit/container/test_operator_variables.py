"""What an operator sets by environment variables."""

import pytest

from kokoro_container.operator_variables import with_own_variables
from kokoro_container.service import Settings


def test_a_container_reports_to_cloudwatch_and_is_as_it_is_otherwise() -> None:
    settings = with_own_variables(Settings(), {"KOKORO_WORKERS": "", "PATH": "/bin"})

    assert settings == Settings(report_every_s=60.0)


def test_what_is_set_counts() -> None:
    settings = with_own_variables(
        Settings(),
        {
            "KOKORO_WORKERS": "4",
            "KOKORO_MAX_SESSIONS": "10",
            "KOKORO_MAX_CHUNKS": "100",
            "KOKORO_MAX_WAIT_S": "2.5",
            "KOKORO_METRICS_EVERY_S": "0",
            "KOKORO_SERVICE_NAME": "kokoro-prod",
            "KOKORO_LANGUAGES": "en-us, fr",
        },
    )

    assert settings == Settings(
        workers=4,
        sessions=10,
        queued_chunks=100,
        max_wait_s=2.5,
        report_every_s=None,
        service_name="kokoro-prod",
        languages=("en-us", "fr"),
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KOKORO_WORKERS", "0"),
        ("KOKORO_WORKERS", "1.5"),
        ("KOKORO_MAX_SESSIONS", "many"),
        ("KOKORO_MAX_WAIT_S", "-1"),
        ("KOKORO_MAX_WAIT_S", "inf"),
        ("KOKORO_METRICS_EVERY_S", "nan"),
    ],
)
def test_what_is_no_number_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"{name}='{value}'"):
        with_own_variables(Settings(), {name: value})
