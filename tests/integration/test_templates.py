"""Templates: immutable versions, the nearest locale, and words that stay what they were when they were planned."""

import resource
import time
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection

from tests.content import NOBODY, add_template
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.content import render
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.intake.accept_intents import UnknownTemplate
from tocsin.store import templates
from tocsin.store.templates import TemplateRow

TRANSIENT = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "later")


def _insert(conn: Connection[Any]) -> TemplateRow:
    return templates.insert_version(
        conn,
        template_id=uuid7(),
        tenant_id=TENANT,
        name="shipped",
        channel="email",
        locale="default",
        subject="s",
        body="b",
        text=None,
        variables=[],
        created_by=NOBODY,
    )


def _make(conn: Connection[Any]) -> TemplateRow:
    with tenant_transaction(conn, TENANT):
        return _insert(conn)


def _add_user(world: World, name: str, locale: str | None) -> UUID:
    user_id = world.add_user(name)
    world.admin.execute("UPDATE users SET locale = %s WHERE id = %s", [locale, user_id])
    return user_id


def _to(*names: str) -> dict[str, Any]:
    return {"kind": "users", "user_ids": list(names)}


def test_each_version_has_the_next_number_and_only_the_newest_is_active(world: World) -> None:
    made = [add_template(world, body=f"body {n}") for n in (1, 2, 3)]

    rows = world.rows("SELECT version, body, is_active FROM templates ORDER BY version")
    assert [row.version for row in made] == [1, 2, 3]
    assert [(row["version"], row["body"], row["is_active"]) for row in rows] == [
        (1, "body 1", False),
        (2, "body 2", False),
        (3, "body 3", True),
    ]


@pytest.mark.parametrize("change", ["body = 'x'", "subject = 'x'", "version = 9", "variables = '{}'", "locale = 'de'"])
@pytest.mark.parametrize("role", ["tocsin_app", "tocsin_worker", "tocsin_retention"])
def test_nobody_may_change_a_version(world: World, role: str, change: str) -> None:
    add_template(world)
    conn = world.connect(role)

    with pytest.raises(psycopg.errors.InsufficientPrivilege), tenant_transaction(conn, TENANT):
        conn.execute(f"UPDATE templates SET {change}")  # type: ignore[call-overload]


def test_every_channel_and_every_locale_counts_its_own_versions(world: World) -> None:
    for channel, locale in (("email", "default"), ("email", "pt"), ("sms", "default"), ("email", "default")):
        add_template(world, channel=channel, locale=locale)

    rows = world.rows("SELECT channel, locale, version FROM templates WHERE is_active ORDER BY channel, locale")
    assert [(row["channel"], row["locale"], row["version"]) for row in rows] == [
        ("email", "default", 2),
        ("email", "pt", 1),
        ("sms", "default", 1),
    ]


def test_a_name_taken_out_of_use_goes_on_with_its_numbers_when_it_comes_back(world: World) -> None:
    add_template(world)
    with tenant_transaction(world.app, TENANT):
        assert templates.deactivate(world.app, TENANT, "shipped")

    assert add_template(world).version == 2


@pytest.mark.parametrize("known_before", [0, 1], ids=["the first ones", "the next ones"])
def test_versions_made_at_once_are_all_made_each_with_its_own_number(world: World, known_before: int) -> None:
    for _ in range(known_before):
        add_template(world)
    conns = [world.connect("tocsin_app") for _ in range(6)]

    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(_make, conns))

    assert sorted(row.version for row in made) == list(range(known_before + 1, known_before + 7))
    assert world.rows("SELECT version FROM templates WHERE is_active") == [{"version": known_before + 6}]


@pytest.mark.parametrize("known_before", [0, 1], ids=["the first one", "the next one"])
def test_a_version_waits_for_the_one_that_is_being_made(world: World, known_before: int) -> None:
    for _ in range(known_before):
        add_template(world)
    first, second = world.connect("tocsin_app"), world.connect("tocsin_app")

    with ThreadPoolExecutor(1) as pool:
        first.execute("BEGIN")
        first.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])
        _insert(first)
        waiting: Future[TemplateRow] = pool.submit(_make, second)
        _until_it_waits(world, second)
        first.execute("COMMIT")
        made = waiting.result(10)

    assert made.version == known_before + 2
    assert world.rows("SELECT version FROM templates WHERE is_active") == [{"version": known_before + 2}]


def _until_it_waits(world: World, conn: Connection[Any]) -> None:
    """Until the connection stands before a lock, or for two seconds: then it does not wait at all."""
    until = time.monotonic() + 2
    while time.monotonic() < until:
        query = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %(pid)s"
        if world.one(query, pid=conn.info.backend_pid):
            return
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("there_are", "wanted", "chosen"),
    [
        (["default", "pt", "pt-BR", "en"], "pt-BR", "pt-BR"),
        (["default", "pt", "en"], "pt-BR", "pt"),
        (["default", "pt-PT", "en"], "pt-BR", "default"),
        (["en", "de"], "pt-BR", "en"),
        (["default", "pt"], "PT_br", "pt"),
        (["default", "pt_BR"], "pt-br", "pt_BR"),
        (["default", "pt"], None, "default"),
        (["default", "zh", "zh-Hant"], "zh-Hant-TW", "zh"),
        (["de", "default"], "fr", "default"),
    ],
)
def test_the_words_are_those_of_the_nearest_locale(world: World, there_are: list[str], wanted: str | None, chosen: str) -> None:
    _add_user(world, "alice", wanted)
    made = {locale: add_template(world, locale=locale) for locale in there_are}

    world.accept(template="shipped")
    world.dispatch()

    assert [message.content.title for message in world.email.accepted] == [f"shipped {chosen}"]
    assert world.route()["template_id"] == made[chosen].id


LOCALES = st.one_of(
    st.sampled_from(["default", "DEFAULT", "pt", "PT", "pt-BR", "pt_BR", "pt-br", "zh-Hant-TW", "zh_hant", "zh"]),
    st.from_regex(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}", fullmatch=True).filter(str.isascii),
)


@settings(deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(locale=LOCALES, wanted=LOCALES | st.just(""))
def test_database_and_code_agree_how_far_apart_two_locales_are(world: World, locale: str, wanted: str) -> None:
    in_sql = world.one("SELECT tocsin_locale_distance(%(locale)s, %(wanted)s)", locale=locale, wanted=wanted)

    assert in_sql == render.distance(locale, wanted)


def test_each_recipient_is_pinned_to_the_version_in_their_own_language(world: World) -> None:
    _add_user(world, "alice", "pt-BR")
    _add_user(world, "bob", "de")
    portuguese, other = add_template(world, locale="pt"), add_template(world)

    world.accept(template="shipped", audience=_to("alice", "bob"))
    world.dispatch()

    pinned = {route["recipient_ref"]: route["template_id"] for route in world.routes()}
    assert pinned == {"user:alice": portuguese.id, "user:bob": other.id}
    words = {message.email: message.content.title for message in world.email.accepted}
    assert words == {"alice@example.com": "shipped pt", "bob@example.com": "shipped default"}


def test_a_version_made_after_planning_changes_nothing_that_is_sent(world: World) -> None:
    world.add_user()
    first = add_template(world, body="the first words")
    world.accept(template="shipped")
    world.email.answers.append(TRANSIENT)
    world.dispatch()

    add_template(world, body="other words")
    world.pass_time(timedelta(minutes=1))
    world.dispatch()

    assert [message.content.html for message in world.email.accepted] == ["the first words"]
    assert world.route()["template_id"] == first.id


def test_a_template_taken_out_of_use_after_planning_is_still_sent(world: World) -> None:
    world.add_user()
    add_template(world, body="the first words")
    world.accept(template="shipped")
    world.email.answers.append(TRANSIENT)
    world.dispatch()

    with tenant_transaction(world.app, TENANT):
        templates.deactivate(world.app, TENANT, "shipped")
    world.pass_time(timedelta(minutes=1))
    world.dispatch()

    assert [message.content.html for message in world.email.accepted] == ["the first words"]


def test_what_is_not_planned_yet_gets_the_words_that_are_active_when_it_is(world: World) -> None:
    world.add_user()
    add_template(world, body="the first words")
    world.accept(template="shipped", send_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())

    newer = add_template(world, body="better words")
    world.pass_time(timedelta(hours=2))
    world.dispatch()

    assert [message.content.html for message in world.email.accepted] == ["better words"]
    assert world.route()["template_id"] == newer.id


def test_a_channel_that_the_template_has_no_words_for_is_skipped_and_the_others_go_out(world: World) -> None:
    world.add_user(phone="+14155550100")
    add_template(world)

    world.accept(template="shipped", channels=["email", "sms"])
    world.dispatch()

    assert {(route["channel"], route["status"], route["reason"]) for route in world.routes()} == {
        ("email", "published", ""),
        ("sms", "skipped", "no_template"),
    }
    assert world.sms.calls == 0


def test_every_inbox_says_it_in_the_language_of_its_owner(world: World) -> None:
    for name, locale in (("alice", "pt-BR"), ("bob", "de"), ("carol", None)):
        _add_user(world, name, locale)
    for locale in ("default", "pt"):
        add_template(world, channel="in_app", locale=locale)

    world.accept(template="shipped", channels=["in_app"], audience=_to("alice", "bob", "carol"))
    world.dispatch()

    said = world.rows("SELECT external_id, title, message FROM notifications JOIN users ON users.id = user_id ORDER BY 1")
    assert [(row["external_id"], row["title"], row["message"]) for row in said] == [
        ("alice", "shipped pt", "shipped pt"),
        ("bob", "shipped default", "shipped default"),
        ("carol", "shipped default", "shipped default"),
    ]
    assert {route["template_id"] is None for route in world.routes()} == {False}


def test_a_row_for_everyone_says_it_in_the_default_words(world: World) -> None:
    world.add_user()
    for locale in ("pt", "default"):
        add_template(world, channel="in_app", locale=locale)

    world.accept(template="shipped", channels=["in_app"], audience={"kind": "tenant"})
    world.dispatch()

    assert [row["title"] for row in world.inbox()] == ["shipped default"]


def test_one_language_that_cannot_be_rendered_does_not_silence_the_others(world: World) -> None:
    _add_user(world, "alice", "pt")
    _add_user(world, "bob", "en")
    add_template(world, channel="in_app", locale="pt", body="{{ nome }}")
    add_template(world, channel="in_app", locale="en", body="On its way")

    world.accept(template="shipped", channels=["in_app"], audience=_to("alice", "bob"), payload={"nome": ""})
    world.dispatch()

    said = world.rows("SELECT external_id, message FROM notifications JOIN users ON users.id = user_id ORDER BY 1")
    assert said[1]["message"] == "On its way"
    assert "cannot be shown" in said[0]["message"]


def test_another_tenants_template_is_as_good_as_none(world: World) -> None:
    world.add_user()
    add_template(world, tenant=world.add_tenant())

    (end,) = world.try_accept(world.asked(template="shipped"))

    assert end == UnknownTemplate("shipped")


def test_two_tenants_with_one_name_each_send_their_own_words(world: World) -> None:
    world.add_tenant()
    for tenant, words in ((TENANT, "ours"), (OTHER_TENANT, "theirs")):
        world.add_user(tenant=tenant, email=f"{words}@example.com")
        add_template(world, tenant=tenant, body=words)
        add_template(world, tenant=tenant, channel="in_app", body=words)
        world.accept(tenant=tenant, template="shipped", channels=["email", "in_app"])
    world.dispatch()

    assert {message.email: message.content.html for message in world.email.accepted} == {
        "ours@example.com": "ours",
        "theirs@example.com": "theirs",
    }
    assert {(row["tenant_id"], row["message"]) for row in world.inbox()} == {(TENANT, "ours"), (OTHER_TENANT, "theirs")}


def test_what_cannot_be_rendered_is_a_dead_letter_with_a_nudge_and_no_attempt(world: World) -> None:
    world.add_user()
    add_template(world, body="{{ name }}")
    add_template(world, "other", body="fine")

    world.accept(template="shipped", payload={"name": ""})
    well = world.accept(template="other", payload={})
    world.dispatch()

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["final_attempt_count"]) == ("unrenderable", 0)
    assert letter["failure_message"] == "the body is empty with this payload"
    assert "cannot be rendered" in letter["recovery_hint"]
    assert world.one("SELECT count(*) FROM attempts") == 1
    assert world.one("SELECT status FROM routes WHERE notification_id = %(id)s", id=well.notification_id) == "published"


def test_a_bomb_is_a_dead_letter_that_names_the_limit_and_its_neighbours_are_sent(world: World) -> None:
    world.add_user()
    add_template(world, body="{% assign b = b | concat: b %}" * 13 + "{{ b }}")
    add_template(world, "other", body="fine")
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(4):
        world.accept(template="shipped", payload={"b": ["x" * 250_000]}, channels=["email"])
    world.accept(template="other", payload={}, channels=["email"])
    world.dispatch()

    assert {(letter["failure_classification"], letter["failure_message"]) for letter in world.dead_letters()} == {
        ("unrenderable", "the body: the filter 'concat': it would make a list of more than 524288 characters, on line 1")
    }
    assert all("Make the template's next version" in letter["recovery_hint"] for letter in world.dead_letters())
    assert [message.content.html for message in world.email.accepted] == ["fine"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held < 50 * 1024  # KiB; it took 1.7 GB


def test_a_version_from_before_a_rule_is_a_dead_letter_that_names_the_rule(world: World) -> None:
    world.add_user()
    add_template(world, body="<p style='color: {{ colour }}'>")

    world.accept(template="shipped", payload={"colour": "red"}, channels=["email"])
    world.dispatch()

    (letter,) = world.dead_letters()
    assert letter["failure_message"] == "the template: a value cannot stand in the attribute style"
