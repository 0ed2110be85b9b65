"""Every way in which the post office fails on request as SendGrid, Twilio and FCM: in the words of each."""

import http.client
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devstack.post_office import PostOffice, faults, fcm, sendgrid, twilio
from tests.devstack.bare_http import SENDS, Answer, login, push

CHANNELS = {"sendgrid": "email", "twilio": "sms", "fcm": "push"}
ERRORS: dict[str, dict[str, tuple[Any, ...]]] = {"sendgrid": sendgrid.ERRORS, "twilio": twilio.ERRORS, "fcm": fcm.ERRORS}
SHAPES = {
    "sendgrid": {"message", "field", "help"},
    "twilio": {"code", "message", "more_info", "status"},
    "fcm": {"code", "message", "status", "details"},
}


@pytest.fixture
def office(tmp_path: Path) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        yield office


@pytest.mark.parametrize(
    ("provider", "mode"), [(provider, mode) for provider, errors in ERRORS.items() for mode in errors if mode != "error_after"]
)
def test_a_fault_before_acceptance_is_the_providers_own_error_and_leaves_no_row(
    office: PostOffice, provider: str, mode: str
) -> None:
    office.fail(CHANNELS[provider], mode)

    answer = SENDS[provider](office)

    assert answer.status == ERRORS[provider][mode][0]
    assert has_shape(provider, answer)
    assert ("Retry-After" in answer.headers) == (answer.status == 429)
    assert office.ledger() == []


@pytest.mark.parametrize("provider", SENDS)
def test_every_mode_has_an_error_of_each_provider_it_can_happen_to(provider: str) -> None:
    silent = {"drop", "accept_then_drop", "accept_then_hang"}
    fitting = {mode for mode in faults.MODES if faults.ONLY_FOR.get(mode, CHANNELS[provider]) == CHANNELS[provider]}

    assert ERRORS[provider].keys() == fitting - silent


@pytest.mark.parametrize("provider", SENDS)
def test_an_error_after_acceptance_leaves_the_row(office: PostOffice, provider: str) -> None:
    office.fail("*", "error_after")

    answer = SENDS[provider](office)

    assert answer.status == 500
    assert has_shape(provider, answer)
    assert [row["provider"] for row in office.ledger()] == [provider]


@pytest.mark.parametrize("provider", SENDS)
@pytest.mark.parametrize(("mode", "rows"), [("drop", 0), ("accept_then_drop", 1)])
def test_a_dropped_connection_is_a_closed_connection(office: PostOffice, provider: str, mode: str, rows: int) -> None:
    office.fail(CHANNELS[provider], mode)

    with pytest.raises(http.client.RemoteDisconnected):
        SENDS[provider](office)

    assert len(office.ledger()) == rows


def test_tokens_fail_only_when_tokens_are_asked_to(office: PostOffice) -> None:
    office.fail("*", "throttle", times=1)
    assert push(office).status == 429

    office.fail("token", "refuse", times=1, match="a@b")
    assert (login(office).body["error"], login(office).status) == ("invalid_grant", 200)


def has_shape(provider: str, answer: Answer) -> bool:
    body = answer.body
    error = body["errors"][0] if provider == "sendgrid" else body.get("error", body)
    repeated = error.get({"twilio": "status", "fcm": "code"}.get(provider), answer.status)
    return bool(error.keys() == SHAPES[provider] and repeated == answer.status)
