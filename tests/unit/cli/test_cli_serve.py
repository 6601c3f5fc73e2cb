"""What an operator may choose of `kokoro-agents serve`."""

import pytest

from kokoro_sagemaker_agents.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--workers", "0"], "0 is no whole number above 0"),
        (["--workers", "two"], "two is no whole number above 0"),
        (["--max-sessions", "-1"], "-1 is no whole number above 0"),
        (["--max-wait", "0"], "0 is not above 0"),
        (["--report-every", "inf"], "inf is not above 0"),
        (["--log-format", "xml"], "invalid choice: 'xml'"),
    ],
)
def test_a_wrong_choice_is_a_usage_error(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", *arguments])

    assert ended.value.code == 2
    assert says in capsys.readouterr().err
