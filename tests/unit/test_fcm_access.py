"""Bearer tokens for FCM: signed for, kept while they last, and never a reason for doubt."""

import json
import time
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding

from devstack.post_office import PostOffice
from devstack.post_office.letters import Reply
from tests.unit.messages import a_message
from tests.unit.web_servers import answering, json_reply, nobody, private_key, service_account
from tocsin.channels import fcm, fcm_access
from tocsin.channels.fcm import FcmPush
from tocsin.channels.fcm_access import BY_CODE, bearer_of, read
from tocsin.channels.outcomes import Accepted, Failure, FailureClass
from tocsin.channels.ways import Credentials

TRANSIENT, THROTTLED, PERMANENT, CONFIGURATION, AMBIGUOUS = FailureClass


def elliptic_key() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    return key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain).decode()


@pytest.fixture
def requests() -> list[str]:
    return []


@pytest.fixture
def office(tmp_path: Path, requests: list[str]) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite", on_request=requests.append) as office:
        yield office


@pytest.fixture(autouse=True)
def _no_token_from_before() -> None:
    fcm_access._kept.clear()


def push(url: str, **special: object) -> FcmPush:
    return FcmPush(Credentials(service_account(**special)), {}, url, "lane", 5, f"{url}/token", allow_private=True)


def asked(url: str, account: str = "") -> str | Failure:
    return bearer_of(read(account or service_account()), f"{url}/token", timeout=1, allow_private=True)


def test_the_claim_is_signed_with_the_accounts_key_and_asks_for_nothing_but_messaging() -> None:
    with answering(json_reply(200, {"access_token": "b", "expires_in": 3600})) as server:
        assert asked(server.url) == "b"

    form = parse_qs(server.asked[0][2].decode())
    said, _, signature = form["assertion"][0].rpartition(".")
    header, claim = (json.loads(unpadded(part)) for part in said.split("."))
    private_key().public_key().verify(unpadded(signature), said.encode(), padding.PKCS1v15(), hashes.SHA256())
    assert header == {"alg": "RS256", "typ": "JWT", "kid": "key-1"}
    assert (claim["iss"], claim["aud"]) == ("push@ours.example.com", f"{server.url}/token")
    assert claim["scope"] == "https://www.googleapis.com/auth/firebase.messaging"
    assert abs(claim["iat"] - time.time()) < 60
    assert claim["exp"] - claim["iat"] == 3600
    assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]


def test_a_token_is_asked_for_once_and_kept_also_for_the_next_instance(office: PostOffice, requests: list[str]) -> None:
    for _ in range(3):
        assert isinstance(push(office.url).send(a_message()), Accepted)

    assert requests == ["token", "push", "push", "push"]


def test_another_key_does_not_get_the_token_of_the_first(office: PostOffice, requests: list[str]) -> None:
    push(office.url).send(a_message())
    push(office.url, private_key_id="key-2").send(a_message())

    assert requests == ["token", "push", "token", "push"]


@pytest.mark.parametrize(("later", "times"), [(3600 - 301, 1), (3600 - 299, 2), (4000, 2)])
def test_a_token_is_renewed_five_minutes_before_its_end(monkeypatch: pytest.MonkeyPatch, later: int, times: int) -> None:
    now = time.time()
    with answering(json_reply(200, {"access_token": "b", "expires_in": 3600})) as server:
        monkeypatch.setattr(time, "time", lambda: now)
        asked(server.url)
        monkeypatch.setattr(time, "time", lambda: now + later)
        asked(server.url)

    assert len(server.asked) == times


@pytest.mark.parametrize("lasts", [None, "3600", 10, -1])
def test_a_token_that_does_not_last_is_used_once(lasts: object) -> None:
    with answering(json_reply(200, {"access_token": "b", "expires_in": lasts})) as server:
        assert [asked(server.url), asked(server.url)] == ["b", "b"]

    assert len(server.asked) == 2


def test_no_more_tokens_are_kept_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcm_access, "MOST_KEPT", 2)
    with answering(json_reply(200, {"access_token": "b", "expires_in": 3600})) as server:
        for number in range(4):
            asked(server.url, service_account(private_key_id=f"key-{number}"))

    assert len(fcm_access._kept) == 2


def test_a_token_that_fcm_refuses_is_not_used_again() -> None:
    token = json_reply(200, {"access_token": "b", "expires_in": 3600})
    refusal = json_reply(401, {"error": {"status": "UNAUTHENTICATED"}})
    with answering(lambda path: token if path == "/token" else refusal) as server:
        outcomes = [push(server.url).send(a_message()) for _ in range(2)]

    assert [outcome.kind for outcome in outcomes if isinstance(outcome, Failure)] == [CONFIGURATION] * 2
    assert [path for _, path, _, _ in server.asked].count("/token") == 2


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        ("refuse", CONFIGURATION),
        ("suspend", CONFIGURATION),
        ("not_found", CONFIGURATION),
        ("throttle", THROTTLED),
        ("unavailable", TRANSIENT),
        ("error_before", TRANSIENT),
        ("drop", TRANSIENT),
        ("accept_then_hang", TRANSIENT),
    ],
)
def test_no_token_means_that_nothing_was_sent(
    office: PostOffice, requests: list[str], monkeypatch: pytest.MonkeyPatch, mode: str, kind: FailureClass
) -> None:
    monkeypatch.setattr(fcm, "TOKEN_SECONDS", 0.5)
    office.fail("token", mode)

    outcome = push(office.url).send(a_message())

    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.device_gone) == (kind, False)
    assert requests == ["token"]


@pytest.mark.parametrize(("code", "kind"), BY_CODE.items())
def test_every_listed_code_has_its_class(code: str, kind: FailureClass) -> None:
    with answering(json_reply(400, {"error": code, "error_description": "no"})) as server:
        assert asked(server.url) == Failure(kind, code, "no")


@pytest.mark.parametrize("reply", [json_reply(200, {}), json_reply(200, {"access_token": 1}), Reply(500, b"", "text/plain")])
def test_an_answer_without_a_token_is_tried_again(reply: Reply) -> None:
    with answering(reply) as server:
        outcome = asked(server.url)

    assert isinstance(outcome, Failure)
    assert outcome.kind is TRANSIENT


def test_nobody_there_is_tried_again() -> None:
    outcome = asked(nobody())

    assert isinstance(outcome, Failure)
    assert outcome.kind is TRANSIENT


@pytest.mark.parametrize(
    "account",
    ["", "no JSON", "[]", "{}", "[" * 5000]
    + [service_account(client_email=None), service_account(private_key=""), service_account(project_id="\ud800")]
    + [service_account(private_key=key) for key in ("not a key", elliptic_key(), "\u00fc")],
    ids=range(11),
)
def test_an_account_that_cannot_be_used_is_a_matter_of_configuration(account: str) -> None:
    outcome = FcmPush(Credentials(account), {}, nobody(), "lane", 5, nobody(), allow_private=True).send(a_message())

    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.code) == (CONFIGURATION, "NotConfigured")


def test_the_address_in_the_accounts_json_is_not_followed(office: PostOffice) -> None:
    with answering(json_reply(200, {"access_token": "stolen", "expires_in": 3600})) as elsewhere:
        outcome = push(office.url, token_uri=f"{elsewhere.url}/token").send(a_message())

    assert isinstance(outcome, Accepted)
    assert elsewhere.asked == []


def unpadded(text: str) -> Any:
    return urlsafe_b64decode(text + "==")
