"""`verify_webhook` takes what Tocsin has just signed, and nothing else."""

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from tocsin.webhooks.sign import signed_headers, spell_secret
from tocsin_client import WebhookRefused, verify_webhook

NOW = 1_763_373_600
OLD, NEW, OTHER = (spell_secret(bytes([number]) * 24) for number in range(3))
BODY = json.dumps({"type": "notification.published", "timestamp": "2026-11-17T10:00:00Z", "data": {"status": "é"}}).encode()


def headers(*secrets: str, body: bytes = BODY, at: int = NOW) -> dict[str, str]:
    return signed_headers("msg_1", at, body, secrets or (NEW,))


def test_what_the_service_signs_is_taken() -> None:
    found = verify_webhook(BODY, headers(), NEW, now=NOW)

    assert (found.id, found.type, found.data) == ("msg_1", "notification.published", {"status": "é"})
    assert found.signed_at == datetime.fromtimestamp(NOW, UTC)


def test_what_another_library_signs_is_taken() -> None:
    signature = Webhook(NEW).sign("msg_1", datetime.fromtimestamp(NOW, UTC), BODY.decode())

    assert verify_webhook(BODY, headers() | {"webhook-signature": signature}, NEW, now=NOW)


@pytest.mark.parametrize(
    ("signed_with", "known"),
    [((NEW, OLD), OLD), ((NEW, OLD), NEW), ((NEW,), [NEW, OLD]), ((OLD,), (NEW, OLD)), ((NEW, OLD), [OTHER, OLD])],
)
def test_while_a_secret_follows_another_either_will_do(signed_with: tuple[str, ...], known: Any) -> None:
    assert verify_webhook(BODY, headers(*signed_with), known, now=NOW)


def test_names_of_headers_are_taken_in_any_case_and_text_as_a_body() -> None:
    shouted: Mapping[str, str] = {name.upper(): value for name, value in headers().items()}

    assert verify_webhook(BODY.decode(), shouted, NEW.removeprefix("whsec_"), now=NOW)


@pytest.mark.parametrize(
    "changes",
    [
        {"webhook-id": "msg_2"},
        {"webhook-timestamp": str(NOW + 1)},
        {"webhook-timestamp": "soon"},
        {"webhook-timestamp": "٣"},
        {"webhook-timestamp": "-1"},
        {"webhook-timestamp": "9" * 400},
        {"webhook-signature": "v1," + base64.b64encode(b"x" * 32).decode()},
        {"webhook-signature": headers()["webhook-signature"].replace("v1,", "v1a,")},
        {"webhook-signature": headers()["webhook-signature"].removeprefix("v1,")},
        {"webhook-signature": headers()["webhook-signature"][:-2]},
        {"webhook-signature": "é"},
        {"webhook-signature": ""},
        {"webhook-id": ""},
        {"webhook-timestamp": ""},
    ],
)
def test_a_message_with_another_header_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(WebhookRefused):
        verify_webhook(BODY, headers() | changes, NEW, now=NOW)


def test_another_body_or_another_secret_or_no_header_is_refused() -> None:
    for body, sent, secret in ((BODY + b" ", headers(), NEW), (BODY, headers(), OTHER), (BODY, {}, NEW)):
        with pytest.raises(WebhookRefused):
            verify_webhook(body, sent, secret, now=NOW)


@pytest.mark.parametrize(("off", "is_taken"), [(300, True), (-300, True), (301, False), (-301, False)])
def test_an_old_message_cannot_be_played_again(off: int, is_taken: bool) -> None:
    if is_taken:
        assert verify_webhook(BODY, headers(), NEW, now=NOW + off)
        return
    with pytest.raises(WebhookRefused, match="too long ago"):
        verify_webhook(BODY, headers(), NEW, now=NOW + off)


def test_the_tolerance_can_be_another_and_the_clock_is_the_machines() -> None:
    assert verify_webhook(BODY, headers(), NEW, now=NOW + 900, tolerance=1000)
    with pytest.raises(WebhookRefused, match="too long ago"):
        verify_webhook(BODY, headers(at=1_000), NEW)


@pytest.mark.parametrize("body", [b"", b"[1]", b"x", b'{"type": "t"}', b"\xff"])
def test_what_is_signed_and_yet_no_message_is_refused(body: bytes) -> None:
    with pytest.raises(WebhookRefused, match="not one of Tocsin's"):
        verify_webhook(body, headers(body=body), NEW, now=NOW)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_not Base64!", [], ["whsec_ß"]])
def test_a_secret_that_is_none_is_the_callers_mistake_and_not_told(secret: Any) -> None:
    with pytest.raises(ValueError, match="secret") as raised:
        verify_webhook(BODY, headers(), secret, now=NOW)

    assert "not Base64!" not in str(raised.value)
