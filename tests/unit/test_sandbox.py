"""The sandbox's magic addresses: which ending each plays out, and that nothing else does."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from tocsin.feedback.sandbox import Played, ending_of, events_of
from tocsin.store.rows import Named

DOMAIN = "sandbox.tocsin.example"
NAMED = Named(UUID(int=1), "email-address", 1, 1)
AT = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("ending", ["success", "bounce", "complaint", "suppressed"])
def test_a_magic_address_has_its_ending_with_and_without_a_tag(ending: str) -> None:
    for local in (ending, f"{ending}+order-7", f"{ending}+", f"{ending}+a+b", ending.upper(), f"{ending.title()}+x"):
        assert ending_of(f"{local}@{DOMAIN}", DOMAIN) == ending


@pytest.mark.parametrize(
    "address",
    [
        "",
        "success",
        f"@{DOMAIN}",
        f"successful@{DOMAIN}",
        f"su.ccess@{DOMAIN}",
        f"alice+success@{DOMAIN}",
        f"+success@{DOMAIN}",
        f"ooto@{DOMAIN}",
        "success@example.com",
        f"success@mail.{DOMAIN}",
        f"success@{DOMAIN}.example.com",
        f"success@not{DOMAIN}",
        "success@",
    ],
)
def test_other_addresses_have_none(address: str) -> None:
    assert ending_of(address, DOMAIN) == ""


@pytest.mark.parametrize(
    ("ending", "kind", "feedback", "suppresses"),
    [
        ("success", "delivery", "delivered", False),
        ("bounce", "bounce", "hard_bounced", True),
        ("complaint", "complaint", "complained", True),
    ],
)
def test_an_ending_is_told_as_a_provider_would_tell_it(ending: str, kind: str, feedback: str, suppresses: bool) -> None:
    (event,) = events_of([Played(f"{ending}@{DOMAIN}", NAMED, "sandbox-1", AT)], DOMAIN)

    assert (event.provider, event.kind, event.feedback, event.suppresses) == ("sandbox", kind, feedback, suppresses)
    assert (event.named, event.provider_message_id, event.occurred_at) == (NAMED, "sandbox-1", AT)
    assert len(event.key) == 32


@pytest.mark.parametrize("ending", ["", "suppressed", "anything"])
def test_nothing_is_told_of_what_was_not_sent_or_has_no_ending(ending: str) -> None:
    assert events_of([Played(f"{ending}@{DOMAIN}", NAMED, "sandbox-1", AT)], DOMAIN) == []


def test_two_messages_never_share_an_event() -> None:
    messages = [
        Played(f"{ending}@{DOMAIN}", NAMED, message, AT)
        for ending in ("success", "bounce")
        for message in ("sandbox-1", "sandbox-2")
    ]

    assert len({event.key for event in events_of(messages, DOMAIN)}) == 4
