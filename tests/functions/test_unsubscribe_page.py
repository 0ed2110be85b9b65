"""The unsubscribe page: who sends what to whom, in the reader's language; a button, and a way back."""

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from tests.content import add_suppression, add_type
from tests.forms import HEADERS, form_of
from tests.functions.doors import Answer, Api
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import rate_limits
from tocsin.feedback.unsubscribe_tokens import Subject, ThreadSubject, address_hash, sign, sign_thread
from tocsin.foundation import aws, secrets, settings

SECRET = b"a secret of the installation"


@pytest.fixture(autouse=True)
def links(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made = aws.client("secretsmanager").create_secret(Name="unsubscribe", SecretString=SECRET.decode())
    monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", made["ARN"])
    settings.settings.cache_clear()
    secrets.forget()


def _token(user_id: UUID | None, *, email: str = "alice@example.com", tenant: UUID = TENANT) -> str:
    return sign(Subject(tenant, address_hash(tenant, "email", email), "news", user_id), SECRET)


def _thread(user_id: UUID) -> str:
    return sign_thread(ThreadSubject(TENANT, user_id, "issue", "47"), SECRET)


def _get(api: Api, token: str, **headers: str) -> Answer:
    return api.call("GET", f"/u/{token}", key="", headers={name.replace("_", "-"): value for name, value in headers.items()})


def _post(api: Api, token: str, act: str) -> Answer:
    """Press the button that says so, wherever the page has one."""
    return api.call("POST", f"/u/{token}", f"act={act}", headers=HEADERS, key="", source_ip="198.51.100.7")


def _audit(world: World) -> list[tuple[str, str, str, Any]]:
    rows = world.rows("SELECT action, resource_type, actor, changes FROM audit_logs ORDER BY created_at, id")
    return [(row["action"], row["resource_type"], row["actor"], row["changes"]) for row in rows]


def test_the_page_says_who_sends_what_kind_to_which_address(world: World, api: Api) -> None:
    user_id = world.add_user()
    add_type(world, "news", title="News & offers", transactional=False)
    api.put("/v1/brand", {"name": "Acme <Shop>", "color": "#0a7d5a", "logo_url": "https://cdn.example.com/logo.png?a=1&b=2"})

    page = _get(api, _token(user_id))

    assert "<dd><bdi>Acme &lt;Shop&gt;</bdi></dd>" in page.text
    assert "<dd><bdi>News &amp; offers</bdi></dd>" in page.text
    assert "<dd><bdi>a•••@example.com</bdi></dd>" in page.text
    assert "alice" not in page.text
    assert '<img src="https://cdn.example.com/logo.png?a=1&amp;b=2" alt="Acme &lt;Shop&gt;">' in page.text
    assert "; img-src https://cdn.example.com; " in page.headers["Content-Security-Policy"]
    assert "--brand: #0a7d5a; --on-brand: #ffffff" in page.text


def test_without_a_brand_or_a_title_the_names_do(world: World, api: Api) -> None:
    world.admin.execute("UPDATE tenants SET name = 'Acme'")

    page = _get(api, _token(None))

    assert "<dd><bdi>Acme</bdi></dd>" in page.text
    assert "<dd><bdi>news</bdi></dd>" in page.text
    assert "@" not in page.text.partition("<main>")[2]  # whose address it is is not known
    assert "img-src" not in page.headers["Content-Security-Policy"]
    assert "../p/" not in page.text


def test_an_address_that_the_user_has_no_more_is_not_told(world: World, api: Api) -> None:
    user_id = world.add_user(email="new@example.com")

    assert "•••@" not in _get(api, _token(user_id)).text


@pytest.mark.parametrize(
    ("locale", "asked", "language", "title"),
    [
        ("de_AT", "fr", "de", "Abmelden?"),
        (None, "fr-CH, en;q=0.5", "fr", "Vous désabonner"),
        ("pt-BR", "es", "es", "¿Cancelar la suscripción?"),
        (None, "", "en", "Unsubscribe?"),
    ],
)
def test_it_speaks_the_readers_language(
    world: World, api: Api, locale: str | None, asked: str, language: str, title: str
) -> None:
    user_id = world.add_user()
    world.admin.execute("UPDATE users SET locale = %s", [locale])

    page = _get(api, _token(user_id), accept_language=asked)

    assert f'<html lang="{language}">' in page.text
    assert f">{title}" in page.text
    assert page.headers["Content-Language"] == language


def test_the_button_unsubscribes_and_the_next_one_takes_it_back(world: World, api: Api) -> None:
    token = _token(world.add_user())

    done = _post(api, token, form_of(_get(api, token).text).texts["act"])
    stored = world.count("suppressions")
    again = _get(api, token)
    undone = _post(api, token, form_of(done.text).texts["act"])

    assert ("You are unsubscribed" in done.text, stored) == (True, 1)
    assert "You are unsubscribed" in again.text  # who comes back can still undo it
    assert "You are subscribed again" in undone.text
    assert world.count("suppressions") == 0
    said = {"channel": "email", "reason": "unsubscribe", "notification_type": "news"}
    assert _audit(world) == [
        ("suppress", "suppression", "link:unsubscribe", {"new": said}),
        ("lift", "suppression", "link:unsubscribe", {"old": said}),
    ]


@pytest.mark.parametrize("is_thread", [False, True])
def test_each_twice_is_as_good_as_once(world: World, api: Api, is_thread: bool) -> None:
    user_id = world.add_user()
    token = _thread(user_id) if is_thread else _token(user_id)

    answers = [_post(api, token, act).status for act in ("undo", "unsubscribe", "unsubscribe", "undo", "undo", "unsubscribe")]

    assert answers == [200] * 6
    assert len(_audit(world)) == 3


def test_a_thread_is_heard_of_again_when_it_is_undone(world: World, api: Api) -> None:
    user_id = world.add_user()
    asked = _get(api, _thread(user_id))

    done, undone = _post(api, _thread(user_id), "unsubscribe"), _post(api, _thread(user_id), "undo")

    assert "<dd><bdi>issue 47</bdi></dd>" in asked.text
    assert "no longer get emails about this thread" in done.text
    assert "emails about this thread again" in undone.text
    assert [row["subscribed"] for row in world.rows("SELECT subscribed FROM notification_threads")] == [True]
    assert [(action, actor) for action, _, actor, _ in _audit(world)] == [("put", f"user:{user_id}")] * 2


@pytest.mark.parametrize("kind", ["news", ""])
def test_undoing_lifts_nothing_that_the_link_did_not_do_and_says_so(world: World, api: Api, kind: str) -> None:
    add_suppression(world, reason="complaint", notification_type=kind)
    token = _token(world.add_user())
    _post(api, token, "unsubscribe")

    undone = _post(api, token, "undo")

    assert "also stopped for another reason" in undone.text
    assert [row["reason"] for row in world.rows("SELECT reason FROM suppressions")] == ["complaint"]


def test_undoing_holds_for_its_tenant_only(world: World, api: Api) -> None:
    world.add_tenant()
    for tenant in (TENANT, OTHER_TENANT):
        _post(api, _token(None, tenant=tenant), "unsubscribe")

    _post(api, _token(None), "undo")

    assert [row["tenant_id"] for row in world.rows("SELECT tenant_id FROM suppressions")] == [OTHER_TENANT]


def test_undoing_again_and_again_is_refused_for_a_minute_and_unsubscribing_is_not(
    world: World, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USER_CALLS_PER_MINUTE", "10")
    monkeypatch.setattr(rate_limits, "time", SimpleNamespace(time=lambda: 65.0))  # the minute does not end meanwhile
    settings.settings.cache_clear()
    token = _token(None)

    statuses = [(_post(api, token, "unsubscribe").status, _post(api, token, "undo").status) for _ in range(11)]

    assert statuses[0] == (200, 200)
    assert statuses[-1] == (200, 429)
    assert world.count("suppressions") == 1


def test_the_way_to_all_preferences_is_there_for_whom_we_know(world: World, api: Api) -> None:
    user_id = world.add_user()

    page = _get(api, _token(user_id)).text
    path = page.partition('href="../p/')[2].partition('"')[0]

    assert api.get(f"/p/{path}", key="").status == 200


def test_a_suspended_tenants_readers_can_still_leave(world: World, api: Api) -> None:
    world.admin.execute("UPDATE tenants SET status = 'suspended', suspended_at = now() WHERE id = %s", [TENANT])

    assert "You are unsubscribed" in _post(api, _token(None), "unsubscribe").text


@pytest.mark.parametrize("act", ["unsubscribe", "undo"])
def test_while_nothing_can_be_noted_the_reader_is_told_and_has_the_button_again(
    world: World, api: Api, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    monkeypatch.setenv("UNSUBSCRIBE_SECRET_ARN", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:none")
    settings.settings.cache_clear()

    answer = _post(api, _token(None), act)

    assert (answer.status, answer.headers["Content-Type"]) == (503, "text/html; charset=utf-8")
    assert form_of(answer.text).texts == {"act": act}
    assert int(answer.headers["Retry-After"]) >= 1


def test_no_page_is_found_by_a_search_or_kept(world: World, api: Api) -> None:
    headers = _get(api, _token(None)).headers

    assert (headers["X-Robots-Tag"], headers["Cache-Control"]) == ("noindex", "no-store")
