"""Rules that several statements follow are small SQL functions, which the planner writes into the statement that calls them."""

from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from tests.content import add_type
from tests.events import id_of, prefer
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation.database import tenant_transaction

# each as a statement calls it: with columns, for many rows
CALLS = {
    "tocsin_wording": "FROM routes CROSS JOIN LATERAL tocsin_wording(tenant_id, reason, channel, resolved_locale)",
    "tocsin_obstacle": """WHERE EXISTS (SELECT FROM routes WHERE tocsin_obstacle(
        channel, reason, template_id, resolved_email, resolved_phone, device_id, user_id) = '')""",
    "tocsin_inbox_wanted": "FROM routes CROSS JOIN LATERAL tocsin_inbox_wanted(tenant_id, user_id, reason) WHERE is_wanted",
    "tocsin_wanted": "FROM preferences WHERE tocsin_wanted(enabled, enabled, timezone)",
    "tocsin_inbox_summary": "FROM records WHERE tocsin_inbox_summary(payload_json) = '{}'",
    "tocsin_inbox_fold": "FROM records ORDER BY tocsin_inbox_fold(thread_kind, thread_id, notification_id::text)",
    "tocsin_event_rule": "FROM domain_events CROSS JOIN LATERAL tocsin_event_rule(tenant_id, type)",
    "tocsin_event_named": "FROM domain_events WHERE tocsin_event_named(data) = '{}'",
    "tocsin_cap": "FROM tenants WHERE tocsin_cap(settings, name) = 1",
    "tocsin_newcomers": """FROM domain_events CROSS JOIN LATERAL tocsin_newcomers(
        tenant_id, thread_kind, thread_id, data, CASE WHEN outcome = '' THEN actor_user_id END)""",
}


@pytest.mark.parametrize("role", ["tocsin_app", "tocsin_worker"])
@pytest.mark.parametrize("rule", CALLS)
def test_a_rule_costs_no_call(rule: str, role: str, world: World) -> None:
    conn: Any = world.connect(role)
    conn.execute("SELECT set_config('tocsin.tenant', %s, false)", [str(TENANT)])

    plan = "\n".join(row[0] for row in conn.execute(f"EXPLAIN (VERBOSE) SELECT {CALLS[rule]}"))

    assert f"{rule}(" not in plan  # its name alone may stand for what it was written into


def _add_template(world: World, tenant: UUID, locale: str) -> UUID:
    row = world.admin.execute(
        """INSERT INTO templates (id, tenant_id, name, channel, locale, version, body)
           VALUES (tocsin_uuid7(), %s, 'welcome', 'sms', %s, 1, 'hello') RETURNING id""",
        [tenant, locale],
    ).fetchone()
    assert row is not None
    found: UUID = row[0]
    return found


def _wording(conn: Connection[Any], tenant: UUID, locale: str) -> list[UUID]:
    query = "SELECT template_id FROM tocsin_wording(%s, 'welcome', 'sms', %s)"
    return [row[0] for row in conn.execute(query, [tenant, locale])]


def test_a_rule_sees_what_its_caller_may_see(world: World) -> None:
    world.add_tenant(OTHER_TENANT)
    theirs = _add_template(world, OTHER_TENANT, "default")

    with tenant_transaction(world.app, TENANT):
        assert _wording(world.app, OTHER_TENANT, "en") == []
    assert _wording(world.worker, OTHER_TENANT, "en") == [theirs]


def test_the_nearest_wording_is_chosen(world: World) -> None:
    plain, german = _add_template(world, TENANT, "default"), _add_template(world, TENANT, "de")

    assert [_wording(world.worker, TENANT, locale) for locale in ("de", "de-AT", "fr")] == [[german], [german], [plain]]


def test_the_inbox_is_wanted_unless_the_person_said_otherwise_of_the_type_or_of_all(world: World) -> None:
    for person in ("alice", "bob", "carol"):
        world.add_user(person)
    prefer(world, "bob", enabled=False)
    prefer(world, "carol", enabled=False)
    prefer(world, "carol", enabled=True, notification_type="invoice")

    wanted = {
        (person, kind): world.one(f"SELECT is_wanted FROM tocsin_inbox_wanted('{TENANT}', '{id_of(world, person)}', '{kind}')")
        for person in ("alice", "bob", "carol")
        for kind in ("invoice", "news")
    }

    assert {one for one, is_wanted in wanted.items() if is_wanted} == {
        ("alice", "invoice"),
        ("alice", "news"),
        ("carol", "invoice"),
    }


def test_a_critical_type_is_not_switched_off_by_itself(world: World) -> None:
    """In the inbox as elsewhere: the two ways to ask say the same."""
    add_type(world, "alarm", priority="critical")
    add_type(world, "news")
    asked = [(finer, plain, kind) for finer in (None, True, False) for plain in (None, True, False) for kind in ("alarm", "news")]
    for number, (finer, plain, kind) in enumerate(asked):
        world.add_user(f"p{number}")
        for enabled, notification_type in ((finer, kind), (plain, "")):
            if enabled is not None:
                prefer(world, f"p{number}", enabled=enabled, notification_type=notification_type)

    inbox = [
        world.one(f"SELECT is_wanted FROM tocsin_inbox_wanted('{TENANT}', '{id_of(world, f'p{number}')}', '{kind}')")
        for number, (_, _, kind) in enumerate(asked)
    ]
    elsewhere = [
        world.one(
            "SELECT tocsin_wanted(%(finer)s, %(plain)s, %(priority)s)",
            finer=finer,
            plain=plain,
            priority="critical" if kind == "alarm" else "normal",
        )
        for finer, plain, kind in asked
    ]

    assert inbox == elsewhere
    assert [one for one, wanted in zip(asked, inbox, strict=True) if not wanted] == [
        (None, False, "alarm"), (None, False, "news"), (False, None, "news"), (False, True, "news"),
        (False, False, "alarm"), (False, False, "news"),
    ]  # fmt: skip
