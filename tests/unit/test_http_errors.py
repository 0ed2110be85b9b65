"""What an HTTP answer means for the message: sure when its status is on the list, ambiguous when not."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devstack.post_office.letters import Reply as Said
from devstack.post_office.letters import Silence
from tests.unit.web_servers import answering, nobody
from tocsin.channels import http_errors
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation.http_client import Phase, Reply, WebFailure

TRANSIENT, THROTTLED, PERMANENT, CONFIGURATION, AMBIGUOUS = FailureClass
SURE = {400: PERMANENT, 413: PERMANENT, 422: PERMANENT, 429: THROTTLED, 503: TRANSIENT}
SURE |= dict.fromkeys((301, 307, 308, 401, 403, 404, 405, 406, 415), CONFIGURATION)


def judged(status: int, code: str = "", words: str = "", *, retry_after: str = "", recipient: str = "") -> Failure:
    return http_errors.failure(Reply(status, {"retry-after": retry_after}, b""), code, words, {}, recipient=recipient)


@pytest.mark.parametrize("status", range(200, 600))
def test_an_answer_without_a_known_code_is_judged_by_its_status(status: int) -> None:
    assert judged(status).kind is SURE.get(status, AMBIGUOUS)
    assert judged(status).code == f"HTTP {status}"


def ask(url: str, *, allow_private: bool = True, **headers: str) -> Reply | Failure:
    return http_errors.ask(url, headers=headers, body=b"{}", timeout=0.6, allow_private=allow_private)


def test_no_connection_is_sure_and_no_answer_is_not() -> None:
    refused = ask(nobody())
    assert isinstance(refused, Failure)
    assert (refused.kind, refused.timed_out) == (TRANSIENT, False)

    for silence in Silence:
        with answering(silence) as server:
            unanswered = ask(server.url)
        assert isinstance(unanswered, Failure)
        assert (unanswered.kind, unanswered.timed_out) == (AMBIGUOUS, silence is Silence.HANG)


@pytest.mark.parametrize(("phase", "kind"), [("resolve", TRANSIENT), ("connect", TRANSIENT), ("sent", AMBIGUOUS)])
def test_how_far_it_came_decides_what_no_answer_means(monkeypatch: pytest.MonkeyPatch, phase: Phase, kind: FailureClass) -> None:
    def fail(*_: object, **__: object) -> None:
        raise WebFailure(phase, "denied_address", "not public")

    monkeypatch.setattr("tocsin.foundation.http_client.post", fail)

    assert ask(nobody()) == Failure(kind, "denied_address", "not public")


def test_an_address_that_is_not_public_is_a_matter_of_configuration_unless_it_is_allowed() -> None:
    with answering(Said(200, b"{}", "application/json")) as server:
        outcome = ask(server.url, allow_private=False)

    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.code) == (CONFIGURATION, "BadConfiguration")
    assert server.asked == []


def test_a_key_that_cannot_be_sent_is_a_matter_of_configuration() -> None:
    outcome = ask(nobody(), Authorization="Bearer sécret\n")

    assert isinstance(outcome, Failure)
    assert outcome.kind is CONFIGURATION
    assert "cret" not in outcome.message


def test_whatever_nobody_foresaw_is_ambiguous(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr("tocsin.foundation.http_client.post", break_down)

    assert ask(nobody()) == Failure(AMBIGUOUS, "RuntimeError", "")


def test_a_step_that_sends_nothing_leaves_no_doubt_and_blames_no_message() -> None:
    kinds = {kind: http_errors.of_preparation(Failure(kind, "x", "y")).kind for kind in FailureClass}

    assert kinds == {kind: kind for kind in FailureClass} | {AMBIGUOUS: TRANSIENT, PERMANENT: CONFIGURATION}


@pytest.mark.parametrize(
    ("header", "wait"),
    [("7", timedelta(seconds=7)), ("", None), ("soon", None), ("-1", None), ("9" * 5000, None), ("²", None)],
)
def test_retry_after_in_seconds_is_passed_on_and_an_absurd_one_is_not(header: str, wait: timedelta | None) -> None:
    assert judged(429, retry_after=header).retry_after == wait


def test_a_message_is_kept_short_and_does_not_name_the_recipient() -> None:
    failure = judged(400, words="The number +14155550100 is wrong. " + "x" * 10_000, recipient="+14155550100")

    assert failure.message.startswith("The number [recipient] is wrong. x")
    assert len(failure.message) == 500


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"null", b'{"a": ', b"[" * 60_000, b"\xff\xfe"])
def test_an_answer_that_is_no_object_says_nothing(body: bytes) -> None:
    assert http_errors.answered(Reply(200, {}, body)) == {}


@given(st.binary(max_size=200))
def test_no_answer_breaks_the_reader(body: bytes) -> None:
    assert isinstance(http_errors.answered(Reply(200, {}, body)), dict)


def test_an_answer_is_given_as_it_came() -> None:
    with answering(Said(200, b"{}", "application/json")) as server:
        reply = ask(server.url)

    assert isinstance(reply, Reply)
    assert (reply.status, reply.body) == (200, b"{}")
