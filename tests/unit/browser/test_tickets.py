"""Who may open a socket."""

import pytest

from kokoro_sagemaker_agents import InvalidInput
from kokoro_sagemaker_agents.browser.tickets import Tickets, origin_allowed

SECRET = b"0123456789abcdef"


def test_a_ticket_is_good_once_and_not_for_long() -> None:
    tickets = Tickets(SECRET, ttl_s=30)
    ticket = tickets.issue("Zoë M.", now_s=1000)
    assert ticket.replace("-", "").replace("_", "").replace(".", "").isalnum()  # fits a subprotocol
    assert tickets.redeem(ticket, now_s=1029) == "Zoë M."
    assert tickets.redeem(ticket, now_s=1029) is None
    late = tickets.issue("Zoë M.", now_s=1000)
    assert tickets.redeem(late, now_s=1031) is None


def test_another_process_with_the_same_secret_takes_it() -> None:
    assert Tickets(SECRET).redeem(Tickets(SECRET).issue("x")) == "x"


def test_nothing_else_is_taken() -> None:
    tickets = Tickets(SECRET)
    ticket = tickets.issue("x")
    claim, signature = ticket.split(".")
    forged = Tickets(b"another secret..").issue("x")
    other = tickets.issue("y").split(".")[0]
    for bad in ("", ".", "ü", claim, f"{claim}.", f"{other}.{signature}", forged, ticket[:-3]):
        assert tickets.redeem(bad) is None, bad
    with pytest.raises(InvalidInput, match="token_bytes"):
        Tickets(b"short")


@pytest.mark.parametrize(
    ("origin", "allowed", "expected"),
    [
        (None, None, True),
        ("https://example.com", None, True),
        ("https://example.com:444", None, False),
        ("https://evil.example", None, False),
        ("https://example.com.evil.example", None, False),
        ("null", None, False),
        ("https://app.example", ("https://app.example",), True),
        ("http://app.example", ("https://app.example",), False),
        ("https://example.com", ("https://app.example",), False),
    ],
)
def test_origins(origin, allowed, expected) -> None:
    headers = {"host": "example.com"} | ({} if origin is None else {"origin": origin})
    assert origin_allowed(headers, allowed) is expected
