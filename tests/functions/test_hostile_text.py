"""Text that Postgres cannot hold, in every header and parameter of every operation: never a 500, and nothing of it is kept."""

from dataclasses import replace
from urllib.parse import quote

import pytest

from tests.functions.doors import Answer
from tests.functions.operations import EVERY, Ask, Stage
from tests.functions.test_problems import INSIDES
from tocsin.http.door import Endpoint

TEXTS = {
    "nul": "a\x00b",
    "controls": "\x01\x1f\x7f\x85\x1b[31m",
    "a line break": "a\r\nX-Injected: yes",
    "half a surrogate pair": "a\ud800b",
    "the other half": "\udfff",
    "bytes of no encoding": "\xff\xfe",
    "a replacement character": "\ufffd",
    "nul in percents": "%00",
    "a broken byte in percents": "%ff",
    "a surrogate in percents": "%ed%a0%80",
    "10 kB": "x" * 10_000,
    "nothing": "",
}
# Headers that only inform: whatever they hold, the answer is as without them.
INFORMATIVE = [
    "user-agent", "traceparent", "tracestate", "x-request-id", "x-forwarded-for", "x-amzn-trace-id", "forwarded", "accept",
    "accept-encoding", "accept-language", "accept-charset", "origin", "referer", "host", "cookie", "content-length", "expect",
    "range", "if-modified-since", "if-match", "via", "x-http-method-override",
]  # fmt: skip
MEANT = [
    "authorization", "content-type", "if-none-match", "idempotency-key", "if-match", "prefer", "tocsin-trigger-depth",
    "tocsin-person",
]  # fmt: skip
ATTRIBUTES = ["ce-specversion", "ce-id", "ce-source", "ce-type", "ce-time", "ce-subject", "ce-datacontenttype", "ce-data_base64"]


def _percents(text: str) -> str:
    return text if text.startswith("%") else quote(text, safe="", errors="surrogatepass")


def _assert_polite(answer: Answer, told: object) -> None:
    assert answer.status < 500, (told, answer.text)
    assert not INSIDES.search(answer.text) or answer.headers.get("Content-Type", "").startswith("text/"), told
    if answer.status >= 400:
        assert answer.headers["Content-Type"] == "application/problem+json", told
    answer.text.encode()  # half a surrogate pair could not be written to anybody


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.route)
def test_a_header_that_only_informs_may_hold_anything(stage: Stage, endpoint: Endpoint) -> None:
    meant = {one["name"].lower() for one in endpoint.parameters if one["in"] == "header"}
    for name, text in TEXTS.items():
        ask = stage.ask(endpoint)
        answer = ask.with_headers(**dict.fromkeys(set(INFORMATIVE) - meant, text)).send(stage.api)

        _assert_polite(answer, name)
        assert answer.status in (endpoint.success, 201), (name, answer.text)


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.route)
def test_a_header_that_is_meant_is_refused_and_never_an_outage(stage: Stage, endpoint: Endpoint) -> None:
    ask = stage.ask(endpoint)
    for header in MEANT:
        for name, text in TEXTS.items():
            answer = ask.with_headers(**{header: text}).send(stage.api)

            _assert_polite(answer, (header, name))
            if header == "authorization" and endpoint.scope:
                assert answer.status == 401, name


@pytest.mark.parametrize("endpoint", [one for one in EVERY if "{" in one.route], ids=lambda endpoint: endpoint.route)
def test_a_place_in_the_path_is_refused_and_never_an_outage(stage: Stage, endpoint: Endpoint) -> None:
    ask = stage.ask(endpoint)
    for place in ask.path:
        for name, text in TEXTS.items():
            for written in {text.replace("/", "_") or "%20", _percents(text) or "%20"}:
                answer = replace(ask, raw_path={place: written}).send(stage.api)

                _assert_polite(answer, (place, name))
                if endpoint.scope and name not in ("controls", "a line break", "bytes of no encoding", "nothing"):
                    assert 400 <= answer.status < 500, (place, name, answer.text)


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.route)
def test_a_parameter_is_refused_and_never_an_outage(stage: Stage, endpoint: Endpoint) -> None:
    ask = stage.ask(endpoint)
    known = [one["name"] for one in endpoint.parameters if one["in"] == "query"]
    for parameter in [*known, "unheard-of"]:
        rest = {name: value for name, value in ask.query.items() if name != parameter}
        for name, text in TEXTS.items():
            for written in {text.replace("&", "").replace("#", ""), _percents(text)}:
                answer = replace(ask, query=rest, raw_query=f"{parameter}={written}").send(stage.api)

                _assert_polite(answer, (parameter, name))


@pytest.mark.parametrize("header", ATTRIBUTES)
@pytest.mark.parametrize("name", TEXTS)
def test_an_attribute_of_an_event_in_a_header_is_refused_and_never_an_outage(stage: Stage, header: str, name: str) -> None:
    (endpoint,) = [one for one in EVERY if one.route == "POST /v1/events"]
    headers = {"content-type": "application/json", "ce-specversion": "1.0", "ce-id": "1", "ce-source": "/s", "ce-type": "t"}
    for text in {TEXTS[name], _percents(TEXTS[name])}:
        answer = Ask(endpoint, body={"title": "T"}, headers=headers | {header: text}).send(stage.api)

        _assert_polite(answer, text[:20])
        if header in ("ce-id", "ce-source", "ce-type") and name not in ("bytes of no encoding", "a replacement character"):
            assert answer.status == 422, (text[:20], answer.text)


def test_what_a_user_agent_says_is_kept_in_the_audit_as_one_line_of_text(stage: Stage) -> None:
    told = {"user-agent": "curl\x00/8\r\nBcc: x \ud800" + "é" * 600}

    assert stage.api.post("/v1/api-keys", {"name": "k", "producer": "p", "scopes": ["send"]}, headers=told).status == 201

    kept = stage.world.one("SELECT user_agent FROM audit_logs ORDER BY created_at DESC, id DESC LIMIT 1")
    assert kept.startswith("curl /8 Bcc: x ")
    assert len(kept) == 500
    assert kept.isprintable()
