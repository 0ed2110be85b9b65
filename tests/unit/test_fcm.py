"""Push by FCM: what goes over the wire, and what comes of the answers."""

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from devstack.post_office import PostOffice
from devstack.post_office.letters import Reply
from tests.unit.messages import TAGS, a_message
from tests.unit.web_servers import answering, json_reply, nobody, service_account
from tocsin.channels import fcm_access
from tocsin.channels.fcm import BY_CODE, FcmPush
from tocsin.channels.outcomes import Accepted, Failure, FailureClass, Outcome
from tocsin.channels.ways import Channel, Credentials
from tocsin.content.plain import Content

TRANSIENT, THROTTLED, PERMANENT, CONFIGURATION, AMBIGUOUS = FailureClass
TOKEN = json_reply(200, {"access_token": "bearer-1", "expires_in": 3600, "token_type": "Bearer"})
DETAIL = "type.googleapis.com/google.firebase.fcm.v1.FcmError"


@pytest.fixture
def office(tmp_path: Path) -> Iterator[PostOffice]:
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        yield office


@pytest.fixture(autouse=True)
def _no_token_from_before() -> None:
    fcm_access._kept.clear()


def push(url: str, config: dict[str, Any] | None = None, *, timeout: float = 5, account: str = "") -> Channel:
    credentials = Credentials(account or service_account())
    return FcmPush(credentials, config or {}, url, "lane", timeout, f"{url}/token", allow_private=True)


def failed(outcome: Outcome) -> Failure:
    assert isinstance(outcome, Failure)
    return outcome


def error(status: int, name: str, code: str = "") -> Reply:
    details = [{"@type": "type.googleapis.com/google.rpc.BadRequest"}, {"@type": DETAIL, "errorCode": code}] if code else []
    return json_reply(status, {"error": {"code": status, "message": "no", "status": name, "details": details}})


def answered(reply: Reply) -> Outcome:
    with answering(lambda path: TOKEN if path == "/token" else reply) as server:
        return push(server.url).send(a_message())


def test_a_push_arrives_with_its_words_and_its_tags(office: PostOffice) -> None:
    outcome = push(office.url).send(a_message())

    [row] = office.ledger()
    assert outcome == Accepted(row["message_id"])
    assert row["message_id"].startswith("projects/ours/messages/")
    assert (row["provider"], row["to"], row["tags"]) == ("fcm", ["tok"], TAGS)
    assert (row["subject"], row["text"]) == ("Shipped", "It is on its way.")


@pytest.mark.parametrize(("configured", "project"), [(None, "ours"), ("other", "other"), ("a/b?", "a%2Fb%3F")])
def test_the_request_is_what_fcm_documents(configured: str | None, project: str) -> None:
    with answering(lambda path: TOKEN if path == "/token" else json_reply(200, {"name": "m-1"})) as server:
        assert push(server.url, {"project_id": configured}).send(a_message()) == Accepted("m-1")

    [_, (_, path, body, headers)] = server.asked
    assert (path, headers["Authorization"]) == (f"/v1/projects/{project}/messages:send", "Bearer bearer-1")
    shown = {"title": "Shipped", "body": "It is on its way."}
    assert json.loads(body) == {"message": {"token": "tok", "notification": shown, "data": TAGS}}


@pytest.mark.parametrize("character", ["x", '"', "ü", "漢", "😀"])
def test_no_push_is_larger_than_fcm_takes(office: PostOffice, character: str) -> None:
    outcome = push(office.url).send(a_message(Content(character * 200, character * 20_000, "")))

    assert isinstance(outcome, Accepted)
    assert office.ledger()[0]["text"].endswith("…")


@pytest.mark.parametrize(
    ("mode", "kind", "code", "rows"),
    [
        ("refuse", PERMANENT, "INVALID_ARGUMENT", 0),
        ("throttle", THROTTLED, "QUOTA_EXCEEDED", 0),
        ("quota", THROTTLED, "QUOTA_EXCEEDED", 0),
        ("suspend", CONFIGURATION, "PERMISSION_DENIED", 0),
        ("not_found", CONFIGURATION, "NOT_FOUND", 0),
        ("disabled", PERMANENT, "UNREGISTERED", 0),
        ("unavailable", TRANSIENT, "UNAVAILABLE", 0),
        ("error_before", AMBIGUOUS, "INTERNAL", 0),
        ("error_after", AMBIGUOUS, "INTERNAL", 1),
        ("drop", AMBIGUOUS, "connection_closed", 0),
        ("accept_then_drop", AMBIGUOUS, "connection_closed", 1),
        ("accept_then_hang", AMBIGUOUS, "timeout", 1),
    ],
)
def test_every_way_to_fail_has_its_class(office: PostOffice, mode: str, kind: FailureClass, code: str, rows: int) -> None:
    office.fail("push", mode)

    failure = failed(push(office.url, timeout=1 if mode.endswith("hang") else 5).send(a_message()))

    assert (failure.kind, failure.code) == (kind, code)
    assert failure.device_gone == (mode == "disabled")
    assert failure.retry_after == (timedelta(seconds=2) if kind is THROTTLED else None)
    assert len(office.ledger()) == rows


@pytest.mark.parametrize(("code", "kind"), BY_CODE.items())
def test_every_listed_code_has_its_class(code: str, kind: FailureClass) -> None:
    for reply in (error(499, "SOMETHING", code), error(499, code)):
        failure = failed(answered(reply))

        assert (failure.kind, failure.code) == (kind, code)
        assert failure.device_gone == (code == "UNREGISTERED")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, PERMANENT) for status in (400, 413, 422)),
        *((status, CONFIGURATION) for status in (401, 403, 404)),
        *((status, AMBIGUOUS) for status in (418, 500, 502, 504)),
        (429, THROTTLED),
        (503, TRANSIENT),
    ],
)
def test_an_answer_without_a_code_is_judged_by_its_status(status: int, kind: FailureClass) -> None:
    for reply in (Reply(status, b"<html>", "text/html"), json_reply(status, {"error": "x"})):
        assert failed(answered(reply)).kind is kind


@pytest.mark.parametrize("reply", [json_reply(200, {}), json_reply(200, {"name": 1}), Reply(200, b"", "text/plain")])
def test_an_answer_without_a_name_is_ambiguous_and_not_lost(reply: Reply) -> None:
    assert failed(answered(reply)).kind is AMBIGUOUS


def test_a_token_of_another_project_does_not_stop_everybody_elses_pushes_nor_is_the_device_gone() -> None:
    failure = failed(answered(error(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH")))

    assert (failure.kind, failure.device_gone) == (PERMANENT, False)


@pytest.mark.parametrize("platform", ["apns", "", "pager"])
def test_a_device_of_another_platform_is_not_for_fcm(platform: str) -> None:
    failure = failed(push(nobody()).send(a_message(device_platform=platform)))

    assert (failure.kind, failure.code) == (PERMANENT, "UnsupportedPlatform")


def test_no_connection_means_that_nothing_was_sent(office: PostOffice) -> None:
    way = FcmPush(Credentials(service_account()), {}, nobody(), "lane", 5, f"{office.url}/token", allow_private=True)

    assert failed(way.send(a_message())).kind is TRANSIENT


def test_a_token_that_took_all_the_time_leaves_the_message_for_the_next_try() -> None:
    never = threading.Event()

    def slow_with_tokens(path: str) -> Reply:
        if path == "/token":
            never.wait(0.6)
            return TOKEN
        return json_reply(200, {"name": "m-1"})

    with answering(slow_with_tokens) as server:
        way = push(server.url, timeout=0.8)
        failure, second = failed(way.send(a_message())), way.send(a_message())

    assert (failure.kind, failure.code) == (TRANSIENT, "SlowToken")
    assert second == Accepted("m-1")
    assert [path for _, path, _, _ in server.asked] == ["/token", "/v1/projects/ours/messages:send"]


def test_the_service_account_is_not_shown() -> None:
    assert "PRIVATE KEY" not in repr(push(nobody()))
