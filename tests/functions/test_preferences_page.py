"""The preferences page of a link: a person chooses what they get without a login, and nobody else's is touched."""

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from tests.content import add_type
from tests.forms import HEADERS, Form, form_of
from tests.functions.doors import Answer, Api
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import rate_limits
from tocsin.feedback.unsubscribe_tokens import PreferencesSubject, Subject, address_hash, sign, sign_preferences
from tocsin.foundation import aws, secrets, settings

SECRET = b"a secret of the installation"


@pytest.fixture(autouse=True)
def links(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made = aws.client("secretsmanager").create_secret(Name="unsubscribe", SecretString=SECRET.decode())
    monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", made["ARN"])
    settings.settings.cache_clear()
    secrets.forget()


@pytest.fixture
def user_id(world: World) -> UUID:
    """Alice, who has no phone; of the types one is critical."""
    add_type(world, "alarm", priority="critical", title="Alarms", channels=["email", "sms"])
    add_type(world, "news", title="News & offers", description="Once a week.", transactional=False, channels=["email", "in_app"])
    return world.add_user()


def _token(user_id: UUID, tenant: UUID = TENANT, secret: bytes = SECRET) -> str:
    return sign_preferences(PreferencesSubject(tenant, user_id), secret)


def _get(api: Api, token: str, query: str = "") -> Answer:
    return api.get(f"/p/{token}", key="", query=query, request_id="same")


def _form(api: Api, user_id: UUID) -> Form:
    return form_of(_get(api, _token(user_id)).text)


def _post(api: Api, token: str, body: str) -> Answer:
    return api.call("POST", f"/p/{token}", body, headers=HEADERS, key="", request_id="same", source_ip="198.51.100.7")


def _rules(world: World) -> dict[tuple[str, str], Any]:
    rows = world.rows("SELECT channel, notification_type, enabled, frequency_cap, quiet_hours_start, timezone FROM preferences")
    return {
        (row["channel"], row["notification_type"]): (
            row["enabled"],
            row["frequency_cap"],
            f"{row['quiet_hours_start']:%H:%M}" if row["quiet_hours_start"] else None,
            row["timezone"],
        )
        for row in rows
    }


def test_it_shows_types_and_channels_with_what_cannot_be_chosen_and_why(world: World, api: Api, user_id: UUID) -> None:
    page = _get(api, _token(user_id)).text
    form = form_of(page)

    assert "News &amp; offers" in page
    assert "Once a week." in page
    assert "Always on: too important to miss." in page
    assert "No phone number is known." in page
    assert form.boxes == {
        ("channels", "email"): True,
        ("channels", "in_app"): True,
        (form.place_of("news"), "email"): True,
        (form.place_of("news"), "in_app"): True,
    }
    assert "alice" not in page
    assert "@" not in page.partition("<main>")[2]


def test_what_was_changed_is_kept_and_nothing_else_is_written(world: World, api: Api, user_id: UUID) -> None:
    form = _form(api, user_id)
    form.tick(form.place_of("news"), "email", on=False)

    answer = _post(api, _token(user_id), form.body())
    saved = _get(api, _token(user_id), answer.headers["Location"].removeprefix("?"))

    assert (answer.status, answer.text) == (303, "")
    assert '<p class="notice" role="status" tabindex="-1" autofocus>Your settings are saved.</p>' in saved.text
    assert form_of(saved.text).boxes[form.place_of("news"), "email"] is False
    assert _rules(world) == {("email", "news"): (False, None, None, "UTC")}
    (entry,) = world.rows("SELECT * FROM audit_logs")
    assert (entry["actor"], entry["user_id"], entry["action"]) == ("link:preferences", user_id, "put")
    assert entry["resource_id"] == f"{user_id}/email/news"
    assert str(entry["ip_address"]) == "198.51.100.0/24"


def test_saving_what_is_so_already_writes_nothing(world: World, api: Api, user_id: UUID) -> None:
    answer = _post(api, _token(user_id), _form(api, user_id).body())

    assert (answer.status, "Your settings are saved." in answer.text) == (200, True)
    assert (world.count("preferences"), world.count("audit_logs")) == (0, 0)


def test_quiet_hours_are_for_every_channel_that_disturbs_and_a_cap_for_its_own(world: World, api: Api, user_id: UUID) -> None:
    form = _form(api, user_id)
    form.texts |= {"start": "22:00", "end": "07:00", "zone": "Europe/Lisbon", "cap.email": "5"}

    _post(api, _token(user_id), form.body())

    assert _rules(world) == {
        ("email", ""): (True, 5, "22:00", "Europe/Lisbon"),
        ("push", ""): (True, None, "22:00", "Europe/Lisbon"),
        ("sms", ""): (True, None, "22:00", "Europe/Lisbon"),
    }
    assert {name: _form(api, user_id).texts[name] for name in ("start", "end", "zone", "cap.email")} == {
        "start": "22:00",
        "end": "07:00",
        "zone": "Europe/Lisbon",
        "cap.email": "5",
    }


def test_the_rest_of_a_rule_stays_as_it_is(world: World, api: Api, user_id: UUID) -> None:
    inbox = {"query": {"user_id": "alice", "type": "news"}}
    api.put("/v1/inbox/preferences/email", {"enabled": False, "frequency_cap": 3}, **inbox)
    form = _form(api, user_id)
    form.tick(form.place_of("news"), "email")
    form.texts["cap.email"] = "9"

    _post(api, _token(user_id), form.body())

    assert _rules(world) == {("email", "news"): (None, 3, None, "UTC"), ("email", ""): (True, 9, None, "UTC")}


def test_a_rule_that_says_nothing_any_more_is_forgotten(world: World, api: Api, user_id: UUID) -> None:
    for on in (False, True):
        form = _form(api, user_id)
        form.tick(form.place_of("news"), "email", on=on)
        _post(api, _token(user_id), form.body())

    assert _rules(world) == {}
    assert [row["action"] for row in world.rows("SELECT action FROM audit_logs ORDER BY created_at, id")] == ["put", "delete"]


@pytest.mark.parametrize("kind", ["news", "alarm"])
def test_who_unsubscribed_by_a_link_sees_so_and_can_subscribe_again_here(
    world: World, api: Api, user_id: UUID, kind: str
) -> None:
    out = sign(Subject(TENANT, address_hash(TENANT, "email", "alice@example.com"), kind, user_id), SECRET)
    api.call("POST", f"/u/{out}", "act=unsubscribe", headers=HEADERS, key="")
    form = _form(api, user_id)
    assert form.boxes[form.place_of(kind), "email"] is False
    form.tick(form.place_of(kind), "email")

    _post(api, _token(user_id), form.body())

    assert world.count("suppressions") == 0
    page = _get(api, _token(user_id)).text
    assert form_of(page).boxes.get((form.place_of("news"), "email")) is True
    assert "Always on: too important to miss." in page
    lifted = world.rows("SELECT actor FROM audit_logs WHERE action = 'lift'")
    assert [row["actor"] for row in lifted] == ["link:preferences"]


def test_mistakes_are_told_at_their_fields_with_what_was_typed_and_nothing_is_kept(world: World, api: Api, user_id: UUID) -> None:
    form = _form(api, user_id)
    form.tick("channels", "email", on=False)
    form.texts |= {"start": "22:00", "cap.email": '"><b>many'}

    answer = _post(api, _token(user_id), form.body())
    again = form_of(answer.text)

    assert answer.status == 422
    assert again.texts["start"] == "22:00"
    assert again.texts["cap.email"] == '"><b>many'
    assert again.boxes["channels", "email"] is False
    assert "<b>" not in answer.text
    assert 'id="end" name="end" value="" aria-describedby="end-wrong" aria-invalid=true' in answer.text
    assert '<p class="error" id="end-wrong">Also enter when the quiet hours end.</p>' in answer.text
    assert '<a href="#cap-email">' in answer.text
    assert _rules(world) == {}

    again.texts |= {"end": "06:00", "cap.email": ""}
    assert _post(api, _token(user_id), again.body()).status == 303
    assert _rules(world)["email", ""] == (False, None, "22:00", "UTC")


@pytest.mark.parametrize("body", ["", "x", '{"enabled": false}', "channels.shown=%00", "a=b&" * 6_000])
def test_what_is_not_the_pages_form_changes_nothing(world: World, api: Api, user_id: UUID, body: str) -> None:
    answer = _post(api, _token(user_id), body)

    assert (answer.status, world.count("preferences")) == (400, 0)
    assert "could not be read" in answer.text


def test_fields_that_are_not_of_the_form_are_passed_over(world: World, api: Api, user_id: UUID) -> None:
    body = _form(api, user_id).body(user_id=str(UUID(int=1)), enabled="false", next="https://evil.example")

    answer = _post(api, _token(user_id), body)

    assert (answer.status, "evil.example" in answer.text, "Location" in answer.headers) == (200, False, False)
    assert world.count("preferences") == 0


def test_it_speaks_the_persons_language(world: World, api: Api, user_id: UUID) -> None:
    world.admin.execute("UPDATE users SET locale = 'fr-CA'")

    page = _get(api, _token(user_id))

    assert '<html lang="fr">' in page.text
    assert "Réglages des notifications" in page.text


@pytest.mark.parametrize("body", [None, "channels.shown="])
def test_a_link_that_opens_nothing_says_the_same_whyever(world: World, api: Api, user_id: UUID, body: str | None) -> None:
    world.add_tenant()
    out = Subject(TENANT, address_hash(TENANT, "email", "alice@example.com"), "news", user_id)
    tokens = {
        "of another secret": _token(user_id, secret=b"another"),
        "of a user that is gone": _token(UUID(int=9)),
        "of a tenant that is gone": _token(user_id, UUID(int=9)),
        "of another tenant": _token(user_id, OTHER_TENANT),
        "an unsubscribe token": sign(out, SECRET),
        "cut": _token(user_id)[:-2],
        "a word": "hello",
        "code": "%3Cscript%3E",
    }

    answers = [_post(api, token, body) if body else _get(api, token) for token in tokens.values()]

    assert answers[0].status == 404
    assert "This link does not work any more" in answers[0].text
    assert [answer for answer in answers if answer != answers[0]] == []
    assert world.count("preferences") == 0


def test_an_erased_persons_link_is_unknown_even_while_their_page_is_open(world: World, api: Api, user_id: UUID) -> None:
    form = _form(api, user_id)
    form.tick("channels", "email", on=False)
    assert api.delete("/v1/users/alice", key=world.add_key("manage", "operate", "admin")).status < 300

    answers = _get(api, _token(user_id)), _post(api, _token(user_id), form.body())

    assert [answer.status for answer in answers] == [404, 404]
    assert world.count("preferences") == 0


def test_nobody_elses_preferences_are_touched(world: World, api: Api, user_id: UUID) -> None:
    world.add_user("bob")
    world.add_tenant()
    world.add_user("alice", tenant=OTHER_TENANT)
    form = _form(api, user_id)
    form.tick("channels", "email", on=False)

    _post(api, _token(user_id), form.body())

    assert [row["user_id"] for row in world.rows("SELECT user_id FROM preferences")] == [user_id]


def test_too_many_calls_in_a_minute_are_refused_by_a_page(
    world: World, api: Api, user_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USER_CALLS_PER_MINUTE", "10")
    monkeypatch.setattr(rate_limits, "time", SimpleNamespace(time=lambda: 65.0))  # the minute does not end meanwhile
    settings.settings.cache_clear()

    answers = [_get(api, _token(user_id)) for _ in range(11)]

    assert (answers[0].status, answers[-1].status) == (200, 429)
    assert "Please try again" in answers[-1].text
    assert int(answers[-1].headers["Retry-After"]) >= 1


def test_while_the_link_cannot_be_checked_a_page_says_so(
    world: World, api: Api, user_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = _token(user_id)
    monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:none")
    settings.settings.cache_clear()

    answer = _get(api, token)

    assert (answer.status, answer.headers["Content-Type"]) == (503, "text/html; charset=utf-8")


def test_the_page_is_kept_nowhere_and_loads_nothing(world: World, api: Api, user_id: UUID) -> None:
    headers = _get(api, _token(user_id)).headers

    assert (headers["Cache-Control"], headers["Referrer-Policy"], headers["X-Robots-Tag"]) == (
        "no-store",
        "no-referrer",
        "noindex",
    )
    assert "script-src" not in headers["Content-Security-Policy"]
    assert "default-src 'none'" in headers["Content-Security-Policy"]
