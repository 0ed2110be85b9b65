"""Templates over HTTP: made, listed, previewed and taken out of use; a version is never changed."""

import re
import resource
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest

from tests.content import add_template
from tests.functions.doors import Api
from tests.world import OTHER_TENANT, World
from tocsin.access.key_format import SCOPES

EMAIL = {"name": "shipped", "channel": "email", "subject": "Order {{ order }}", "body": "<p>{{ order }} is on its way.</p>"}
SMS = {"name": "shipped", "channel": "sms", "body": "Order {{ order }} is on its way."}


def test_a_template_is_made_and_shown_with_its_id_and_version(world: World, api: Api) -> None:
    answer = api.post("/v1/templates", EMAIL | {"variables": ["order"], "locale": "pt-BR", "text": "{{ order }}"})

    made = answer.json
    (key_id,) = (row["id"] for row in world.rows("SELECT id FROM api_keys"))
    assert answer.status == 201
    assert made.pop("created_at") == made.pop("updated_at")
    assert made == EMAIL | {
        "id": str(world.one("SELECT id FROM templates")),
        "locale": "pt-BR",
        "text": "{{ order }}",
        "variables": ["order"],
        "layout": None,
        "version": 1,
        "is_active": True,
        "created_by": str(key_id),
    }


def test_making_it_again_makes_the_next_version(world: World, api: Api) -> None:
    versions = [api.post("/v1/templates", EMAIL | {"body": f"<p>{n}</p>"}).json["version"] for n in range(3)]

    assert versions == [1, 2, 3]


def test_a_name_has_at_most_fifty_locales_on_a_channel(world: World, api: Api) -> None:
    for n in range(50):
        add_template(world, locale=f"en-{n:02}")

    refused, next_version, other_channel = (
        api.post("/v1/templates", template)
        for template in (EMAIL | {"locale": "pt"}, EMAIL | {"locale": "en-07"}, SMS | {"locale": "pt"})
    )

    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, "/locale")
    assert (next_version.status, other_channel.status) == (201, 201)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"name": None}, "/name"),
    "an empty name": ({"name": ""}, "/name"),
    "a name of 101 characters": ({"name": "x" * 101}, "/name"),
    "an unknown channel": ({"channel": "fax"}, "/channel"),
    "a locale that is none": ({"locale": "portuguese please"}, "/locale"),
    "an empty locale": ({"locale": ""}, "/locale"),
    "no body": ({"body": ""}, "/body"),
    "an email without a subject": ({"subject": None}, "/subject"),
    "a subject of two lines": ({"subject": "a\r\nBcc: everyone@example.com"}, "/subject"),
    "a body that does not end": ({"body": "{% for one in many %}"}, "/body"),
    "a filter nobody knows": ({"body": "{{ order | explode }}"}, "/body"),
    "another template inside": ({"body": "{% include 'other' %}"}, "/body"),
    "a loop without end": ({"body": "{% for i in (1..1000000000) %}x{% endfor %}"}, "/body"),
    "more tags than a template may have": ({"text": "{{ order }}" * 3_000}, "/text"),
    "a value in a style": ({"body": "<p style='color: {{ order }}'>"}, "/body"),
    "a value in a style sheet": ({"body": "<style>{{ order }}</style>"}, "/body"),
    "a value that sends the reader elsewhere": ({"body": "<meta content='0;{{ order }}' http-equiv='Refresh'>"}, "/body"),
    "a character of five thousand digits in a link": ({"body": f"<a href='&#{'0' * 5_000}106;avascript:x'>"}, "/body"),
    "a variable that is no name": ({"variables": ["a b"]}, "/variables/0"),
    "a variable twice": ({"variables": ["a", "a"]}, "/variables/1"),
    "an unknown field": ({"version": 7}, "/version"),
    "a subject for an SMS": ({"channel": "sms"}, "/subject"),
    "a text for a push": ({"channel": "push", "text": "x"}, "/text"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_used_is_refused_with_a_pointer(world: World, api: Api, name: str) -> None:
    changes, pointer = WRONG[name]

    answer = api.post("/v1/templates", EMAIL | changes)

    assert (answer.status, answer.json["type"]) == (422, "/errors#invalid-request"), answer.text
    assert pointer in [error["pointer"] for error in answer.json["errors"]]
    assert world.count("templates") == 0


def test_the_list_has_the_active_versions_newest_first_page_by_page(world: World, api: Api) -> None:
    for name in ("a", "b", "a", "c"):
        api.post("/v1/templates", EMAIL | {"name": name})

    first = api.get("/v1/templates", query={"limit": "2"}).json
    rest = api.get("/v1/templates", query={"limit": "2", "cursor": first["next_cursor"]}).json

    pages = [[(one["name"], one["version"]) for one in page["data"]] for page in (first, rest)]
    assert pages == [[("c", 1), ("a", 2)], [("b", 1)]]
    assert rest["next_cursor"] is None


def test_a_name_is_shown_with_every_version_newest_first(world: World, api: Api) -> None:
    for body in ("<p>1</p>", "<p>2</p>"):
        api.post("/v1/templates", EMAIL | {"body": body})
    api.post("/v1/templates", EMAIL | {"name": "other"})

    first = api.get("/v1/templates/shipped", query={"limit": "1"}).json
    rest = api.get("/v1/templates/shipped", query={"limit": "1", "cursor": first["next_cursor"]}).json

    shown = [(one["version"], one["body"], one["is_active"]) for one in [*first["data"], *rest["data"]]]
    assert shown == [(2, "<p>2</p>", True), (1, "<p>1</p>", False)]


def test_taken_out_of_use_a_template_is_unknown_to_intents_and_its_versions_are_still_there(world: World, api: Api) -> None:
    world.add_user()
    for template in (EMAIL, SMS):
        api.post("/v1/templates", template)

    assert api.delete("/v1/templates/shipped").status == 204

    assert api.get("/v1/templates").json["data"] == []
    assert [one["is_active"] for one in api.get("/v1/templates/shipped").json["data"]] == [False, False]
    answer = api.send({"type": "t", "audience": {"kind": "users", "user_ids": ["alice"]}, "payload": {}, "template": "shipped"})
    assert (answer.status, answer.json["type"]) == (422, "/errors#unknown-template")
    assert api.delete("/v1/templates/shipped").status == 404


@pytest.mark.parametrize("name", ["with space", "a/b", "100% sure", "50%25", "größe", "+plus+", "?#&"])
def test_any_name_can_be_reached(world: World, api: Api, name: str) -> None:
    assert api.post("/v1/templates", EMAIL | {"name": name}).status == 201
    path = f"/v1/templates/{quote(name, safe='')}"

    assert [one["name"] for one in api.get(path).json.get("data", [])] == [name]
    assert api.post(f"{path}/preview", {"channel": "email", "payload": {"order": 1}}).json["template"]["name"] == name
    assert api.delete(path).status == 204


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/templates/shipped", None),
        ("DELETE", "/v1/templates/shipped", None),
        ("POST", "/v1/templates/shipped/preview", {"channel": "email"}),
    ],
)
@pytest.mark.parametrize("whose", ["nobody", "another tenant"])
def test_an_unknown_template_and_another_tenants_are_not_found(
    world: World, api: Api, method: str, path: str, body: Any, whose: str
) -> None:
    if whose == "another tenant":
        add_template(world, tenant=world.add_tenant())

    answer = api.call(method, path, body)

    assert (answer.status, answer.json["type"]) == (404, "/errors#not-found")
    assert world.one("SELECT COALESCE(bool_and(is_active), true) FROM templates")


def test_another_tenants_templates_are_not_listed_and_do_not_share_numbers(world: World, api: Api) -> None:
    theirs = Api(world.add_key(*SCOPES, tenant=world.add_tenant()))
    theirs.post("/v1/templates", EMAIL)

    assert api.get("/v1/templates").json["data"] == []
    assert api.post("/v1/templates", EMAIL).json["version"] == 1
    assert world.one("SELECT count(*) FROM templates WHERE tenant_id = %(t)s", t=OTHER_TENANT) == 1


def test_a_preview_of_an_email_shows_subject_html_and_text_and_what_it_was_made_from(world: World, api: Api) -> None:
    made = [api.post("/v1/templates", EMAIL | {"body": body}).json for body in ("<p>old</p>", EMAIL["body"])][-1]

    answer = api.post("/v1/templates/shipped/preview", {"channel": "email", "payload": {"order": "A-17 <b>"}})

    assert (answer.status, answer.json) == (
        200,
        {
            "subject": "Order A-17 <b>",
            "html": "<p>A-17 &lt;b&gt; is on its way.</p>",
            "text": "A-17 <b> is on its way.",
            "template": {"id": made["id"], "name": "shipped", "version": 2, "locale": "default"},
        },
    )
    assert [world.count(table) for table in ("records", "outbox", "routes")] == [0, 0, 0]


@pytest.mark.parametrize(
    ("order", "parts"),
    [
        ("A-17", {"encoding": "GSM-7", "units": 25, "parts": 1}),
        ("A" * 160, {"encoding": "GSM-7", "units": 181, "parts": 2}),
        ("Ж", {"encoding": "UCS-2", "units": 22, "parts": 1}),
    ],
)
def test_a_preview_of_an_sms_counts_its_parts(world: World, api: Api, order: str, parts: dict[str, Any]) -> None:
    api.post("/v1/templates", SMS)

    shown = api.post("/v1/templates/shipped/preview", {"channel": "sms", "payload": {"order": order}}).json

    assert (shown["text"], shown["sms"]) == (f"Order {order} is on its way.", parts)
    assert (shown["subject"], shown["html"]) == (None, None)


@pytest.mark.parametrize("channel", ["push", "in_app"])
def test_a_preview_of_a_short_message_has_a_title_and_a_text(world: World, api: Api, channel: str) -> None:
    api.post("/v1/templates", SMS | {"channel": channel, "subject": "Shipped"})

    shown = api.post("/v1/templates/shipped/preview", {"channel": channel, "payload": {"order": 1}}).json

    assert (shown["subject"], shown["html"], shown["text"]) == ("Shipped", None, "Order 1 is on its way.")
    assert "sms" not in shown


@pytest.mark.parametrize(("wanted", "chosen"), [("pt-BR", "pt"), ("pt", "pt"), ("de", "default"), (None, "default")])
def test_a_preview_is_in_the_locale_that_would_be_used(world: World, api: Api, wanted: str | None, chosen: str) -> None:
    for locale in ("pt", "default"):
        api.post("/v1/templates", EMAIL | {"locale": locale})

    body = {"channel": "email", "payload": {"order": 1}} | ({"locale": wanted} if wanted else {})

    assert api.post("/v1/templates/shipped/preview", body).json["template"]["locale"] == chosen


def test_a_preview_without_what_is_declared_names_what_is_missing(world: World, api: Api) -> None:
    api.post("/v1/templates", EMAIL | {"variables": ["order", "eta"]})

    answer = api.post("/v1/templates/shipped/preview", {"channel": "email", "payload": {"eta": None}})

    assert (answer.status, answer.json["type"]) == (422, "/errors#missing-variables")
    assert answer.json["errors"] == [{"pointer": "/payload/order", "message": "is required by the template"}]


def test_a_preview_that_cannot_be_rendered_says_why(world: World, api: Api) -> None:
    api.post("/v1/templates", SMS | {"body": "{{ order }}"})

    answer = api.post("/v1/templates/shipped/preview", {"channel": "sms", "payload": {}})

    assert (answer.status, answer.json["type"]) == (422, "/errors#invalid-request")
    assert "the body is empty" in answer.json["detail"]


BOMB = "{% assign b = b | concat: b %}" * 13 + "{{ b }}"


@pytest.mark.parametrize(
    "bomb", [EMAIL | {"body": BOMB}, EMAIL | {"subject": BOMB}, SMS | {"body": BOMB}], ids=["a body", "a subject", "an SMS"]
)
def test_a_preview_of_a_bomb_says_which_limit_it_ran_into_and_holds_no_memory(
    world: World, api: Api, bomb: dict[str, Any]
) -> None:
    assert api.post("/v1/templates", bomb).status == 201
    preview = {"channel": bomb["channel"], "payload": {"b": ["x" * 250_000]}}
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    answer = api.post("/v1/templates/shipped/preview", preview)

    assert (answer.status, answer.json["type"]) == (422, "/errors#invalid-request")
    assert re.fullmatch(
        r"It cannot be rendered: the (body|subject): the filter 'concat': "
        r"it would make a list of more than 524288 characters, on line 1\.",
        answer.json["detail"],
    )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held < 50 * 1024  # KiB; it took 2 GB


@pytest.mark.parametrize(
    ("channel", "status"), [("email", 200), ("sms", 404), ("fax", 422)], ids=["its own", "another", "none at all"]
)
def test_a_preview_is_of_one_channel(world: World, api: Api, channel: str, status: int) -> None:
    api.post("/v1/templates", EMAIL)

    assert api.post("/v1/templates/shipped/preview", {"channel": channel, "payload": {"order": 1}}).status == status


DRAFT = {"channel": "email", "subject": "Order {{ order }}", "body": "<p>{{ order }} is on its way.</p>"}


def test_a_draft_is_shown_without_being_saved(world: World, api: Api) -> None:
    answer = api.post("/v1/templates/preview", DRAFT | {"locale": "pt", "variables": ["order"], "payload": {"order": "A-17"}})

    assert (answer.status, answer.json) == (
        200,
        {
            "subject": "Order A-17",
            "html": "<p>A-17 is on its way.</p>",
            "text": "A-17 is on its way.",
            "template": None,
            "payload": {"order": "A-17"},
        },
    )
    assert [world.count(table) for table in ("templates", "records", "audit_logs")] == [0, 0, 0]


def test_a_draft_of_an_sms_counts_its_parts(world: World, api: Api) -> None:
    shown = api.post("/v1/templates/preview", {"channel": "sms", "body": "Order {{ order }}", "payload": {"order": 7}}).json

    assert (shown["text"], shown["sms"]) == ("Order 7", {"encoding": "GSM-7", "units": 7, "parts": 1})


@pytest.mark.parametrize("name", [name for name in WRONG if not WRONG[name][0].keys() & {"name", "version"}])
def test_a_drafts_faults_are_those_of_a_template(world: World, api: Api, name: str) -> None:
    changes, pointer = WRONG[name]

    draft = api.post("/v1/templates/preview", DRAFT | changes)
    saved = api.post("/v1/templates", EMAIL | changes)

    assert (draft.status, pointer in [error["pointer"] for error in draft.json["errors"]]) == (422, True), draft.text
    assert [draft.json[one] for one in ("type", "detail", "errors")] == [saved.json[one] for one in ("type", "detail", "errors")]


def test_a_draft_without_what_it_declares_and_one_that_cannot_be_rendered_say_so(world: World, api: Api) -> None:
    lacking = api.post("/v1/templates/preview", DRAFT | {"variables": ["order"]})
    empty = api.post("/v1/templates/preview", {"channel": "sms", "body": "{{ order }}"})

    assert (lacking.json["type"], lacking.json["errors"][0]["pointer"]) == ("/errors#missing-variables", "/payload/order")
    assert (empty.status, "the body is empty" in empty.json["detail"]) == (422, True)


@pytest.mark.parametrize("path", ["/v1/templates/preview", "/v1/templates/shipped/preview"])
def test_a_preview_takes_the_payload_of_a_notification_without_its_secrets(world: World, api: Api, path: str) -> None:
    world.add_user()
    words = {"subject": "Order {{ order }}", "body": '<a href="{{ url }}">{{ otp }}</a>'}
    api.post("/v1/templates", EMAIL | words)
    payload = {"title": "T", "order": "A-17", "otp": 482913, "url": "https://shop.example/o?token=hush"}
    sent = api.send({"type": "t", "audience": {"kind": "users", "user_ids": ["alice"]}, "payload": payload}).json
    body = {"channel": "email", "notification_id": sent["notification_id"]} | (words if path.endswith("s/preview") else {})

    answer = api.post(path, body)

    masked = payload | {"otp": "•••", "url": "https://shop.example/o?token=•••"}
    assert (answer.status, answer.json["payload"]) == (200, masked), answer.text
    assert answer.json["subject"] == "Order A-17"
    assert answer.json["html"] == '<a href="https://shop.example/o?token=•••">•••</a>'
    assert "482913" not in answer.text
    assert "hush" not in answer.text


@pytest.mark.parametrize("path", ["/v1/templates/preview", "/v1/templates/shipped/preview"])
def test_whose_key_may_not_read_notifications_gets_no_payload_of_one(world: World, api: Api, path: str) -> None:
    world.add_user()
    api.post("/v1/templates", EMAIL)
    known = api.send().json["notification_id"]
    words = DRAFT if path.endswith("s/preview") else {"channel": "email"}

    answers = [api.post(path, words | {"notification_id": one}, key=world.add_key("manage")) for one in (known, str(uuid4()))]

    assert [(answer.status, answer.json["type"]) for answer in answers] == [(403, "/errors#forbidden")] * 2
    assert ["`read`" in answer.json["detail"] for answer in answers] == [True, True]
    assert api.post(path, words | {"payload": {"order": 1}}, key=world.add_key("manage")).status == 200


@pytest.mark.parametrize("path", ["/v1/templates/preview", "/v1/templates/shipped/preview"])
def test_a_preview_has_one_payload_of_a_notification_that_is_the_tenants(world: World, api: Api, path: str) -> None:
    world.add_user()
    api.post("/v1/templates", EMAIL)
    theirs = world.add_tenant()
    world.accept(tenant=theirs, audience={"kind": "address", "email": "bob@example.com"})
    words = DRAFT if path.endswith("s/preview") else {"channel": "email"}

    twice = api.post(path, words | {"notification_id": api.send().json["notification_id"], "payload": {}})
    unknown = api.post(path, words | {"notification_id": str(uuid4())})
    others = api.post(path, words | {"notification_id": str(world.one("SELECT notification_id FROM records LIMIT 1"))})

    assert (twice.status, twice.json["errors"][0]["pointer"]) == (422, "/notification_id")
    assert (unknown.status, others.status) == (404, 404)
    assert "notification" in unknown.json["detail"]


def test_a_preview_of_a_version_is_of_that_one_active_or_not(world: World, api: Api) -> None:
    for n in (1, 2, 3):
        api.post("/v1/templates", SMS | {"body": f"version {n}"})
    api.post("/v1/templates", SMS | {"locale": "pt", "body": "versão 1"})
    api.delete("/v1/templates/shipped")

    shown = {
        (version, locale): api.post(
            "/v1/templates/shipped/preview", {"channel": "sms", "version": version, "locale": locale}
        ).json.get("text")
        for version in (1, 2, 3, 4)
        for locale in ("default", "pt-BR")
    }

    assert shown == {
        (1, "default"): "version 1",
        (1, "pt-BR"): "versão 1",
        (2, "default"): "version 2",
        (2, "pt-BR"): "version 2",
        (3, "default"): "version 3",
        (3, "pt-BR"): "version 3",
        (4, "default"): None,
        (4, "pt-BR"): None,
    }


@pytest.mark.parametrize(("version", "status"), [(2, 404), (0, 422), ("1", 422), (1.5, 422), (True, 422), (2**40, 422)])
def test_a_version_that_there_is_not_is_not_found(world: World, api: Api, version: Any, status: int) -> None:
    api.post("/v1/templates", SMS)

    assert api.post("/v1/templates/shipped/preview", {"channel": "sms", "version": version}).status == status
    assert api.post("/v1/templates/shipped/preview", {"channel": "email", "version": 1}).status == 404


def test_over_http_a_missing_variable_and_an_unknown_template_are_told_apart_alone_and_in_a_batch(world: World, api: Api) -> None:
    world.add_user()
    api.post("/v1/templates", EMAIL | {"variables": ["order"]})
    to_alice = {"type": "t", "audience": {"kind": "users", "user_ids": ["alice"]}, "payload": {}}
    intents = [to_alice | {"template": "shipped"}, to_alice | {"template": "nameless"}, to_alice | {"payload": {"title": "T"}}]

    alone = [api.send(one) for one in intents]
    batch = api.post("/v1/intents/batch", {"intents": [one | {"idempotency_key": f"k-{n}"} for n, one in enumerate(intents)]})

    assert [(answer.status, answer.json.get("type")) for answer in alone] == [
        (422, "/errors#missing-variables"),
        (422, "/errors#unknown-template"),
        (202, None),
    ]
    assert alone[0].json["errors"] == [{"pointer": "/payload/order", "message": "is required by the template"}]
    assert [error["pointer"] for error in alone[1].json["errors"]] == ["/template"]
    assert [result["status"] for result in batch.json["results"]] == [422, 422, 202]
    assert [result["problem"]["type"] for result in batch.json["results"][:2]] == [
        "/errors#missing-variables",
        "/errors#unknown-template",
    ]
