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


def _assert_polite(answer: Answer, told: object, *, is_page: bool = False) -> None:
    assert answer.status < 500, (told, answer.text)
    assert not INSIDES.search(answer.text) or answer.headers.get("Content-Type", "").startswith("text/"), told
    if answer.status >= 400:
        kinds = ("application/problem+json", "text/html; charset=utf-8") if is_page else ("application/problem+json",)
        assert answer.headers["Content-Type"] in kinds, told
    answer.text.encode()  # half a surrogate pair could not be written to anybody


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.route)
def test_whatever_a_request_holds_it_is_never_an_outage(stage: Stage, endpoint: Endpoint) -> None:
    """One stage for all of it: making one takes longer than a dozen answers."""
    headers_that_only_inform_change_nothing(stage, endpoint)
    ask = stage.ask(endpoint)
    headers_that_are_meant_are_refused(stage, ask)
    places_in_the_path_are_refused(stage, ask)
    parameters_are_refused(stage, ask)


def headers_that_only_inform_change_nothing(stage: Stage, endpoint: Endpoint) -> None:
    meant = {one["name"].lower() for one in endpoint.parameters if one["in"] == "header"}
    for name, text in TEXTS.items():
        answer = stage.ask(endpoint).with_headers(**dict.fromkeys(set(INFORMATIVE) - meant, text)).send(stage.api)

        _assert_polite(answer, name, is_page=bool(endpoint.page_answers))
        assert answer.status in (endpoint.success, 201, 303), (name, answer.text)


def headers_that_are_meant_are_refused(stage: Stage, ask: Ask) -> None:
    """Those that the operation has, and those that every operation reads: the others one text each, every time another."""
    own = {one["name"].lower() for one in ask.endpoint.parameters if one["in"] == "header"} | {"authorization", "content-type"}
    for turn, header in enumerate(MEANT, EVERY.index(ask.endpoint)):
        texts = list(TEXTS.items())
        for name, text in texts if header in own else [texts[turn % len(texts)]]:
            answer = ask.with_headers(**{header: text}).send(stage.api)

            _assert_polite(answer, (header, name), is_page=bool(ask.endpoint.page_answers))
            if header == "authorization" and ask.endpoint.scope:
                assert answer.status == 401, name


def places_in_the_path_are_refused(stage: Stage, ask: Ask) -> None:
    for place in ask.path:
        for name, text in TEXTS.items():
            for written in {text.replace("/", "_") or "%20", _percents(text) or "%20"}:
                answer = replace(ask, raw_path={place: written}).send(stage.api)

                _assert_polite(answer, (place, name), is_page=bool(ask.endpoint.page_answers))
                if ask.endpoint.scope and name not in ("controls", "a line break", "bytes of no encoding", "nothing"):
                    assert 400 <= answer.status < 500, (place, name, answer.text)


def parameters_are_refused(stage: Stage, ask: Ask) -> None:
    known = [one["name"] for one in ask.endpoint.parameters if one["in"] == "query"]
    for parameter in [*known, "unheard-of"]:
        rest = {name: value for name, value in ask.query.items() if name != parameter}
        for name, text in TEXTS.items():
            for written in {text.replace("&", "").replace("#", ""), _percents(text)}:
                answer = replace(ask, query=rest, raw_query=f"{parameter}={written}").send(stage.api)

                _assert_polite(answer, (parameter, name), is_page=bool(ask.endpoint.page_answers))


@pytest.mark.parametrize("header", ATTRIBUTES)
def test_an_attribute_of_an_event_in_a_header_is_refused_and_never_an_outage(stage: Stage, header: str) -> None:
    (endpoint,) = [one for one in EVERY if one.route == "POST /v1/events"]
    headers = {"content-type": "application/json", "ce-specversion": "1.0", "ce-id": "1", "ce-source": "/s", "ce-type": "t"}
    for name, text in {(name, text) for name, plain in TEXTS.items() for text in (plain, _percents(plain))}:
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
