"""Erasing a person: nothing of them is left anywhere but hashes, and nothing of anybody else is lost."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.content import add_suppression
from tests.events import fan_out_all, happen, route
from tests.functions.doors import Api, handler_of, intent, sqs_event
from tests.providers import make_data_key
from tests.webhooks import add_hook
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.audit import Actor
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.people import erase
from tocsin.store import erasures
from tocsin.upkeep.finish_erasures import AT_REST, finish_erasures

ID, EMAIL, PHONE, NAME = "canary-ext-7f3", "Canary.Mail@example.com", "+4915199988877", "canary_user"
WORDS = "canary-words"
CANARIES = (ID, EMAIL, PHONE, NAME, WORDS, "canary-attribute", "canary-device", "canary-answer")
HER = f"/v1/users/{ID}"
PAYLOAD = {"title": WORDS, "message": f"Dear {NAME}, {WORDS}"}

# Every table of a tenant that can hold words, and what becomes of what it holds of a person.
TABLES = {
    "deleted with the user": {"users", "devices", "watches", "preferences", "notification_threads", "digests"},
    "deleted": {"notifications", "notification_email_log"},
    "masked": {
        *("records", "routes", "attempts", "dead_letters", "domain_events", "provider_events", "webhook_deliveries"),
        *("malformed_intents", "abandoned_executions", "admin_system_events", "outbox", "suppressions", "jobs"),
    },
    "holds no more than ids, numbers and names of fields": {
        *("audit_logs", "erasures", "rate_limits", "archives", "metrics"),
    },
    "is the tenant's own": {
        *("tenants", "api_keys", "templates", "notification_types", "provider_configs", "event_routing", "webhooks"),
        *("triggers", "trigger_handlers", "kv_entries", "kv_trigger_details", "dead_letter_trigger_details"),
        *("layouts", "brands"),
    },
}


@pytest.fixture
def api(world: World, monkeypatch: pytest.MonkeyPatch) -> Api:
    make_data_key(monkeypatch)
    return Api(world.add_key("manage", "send", "read", "inbox"))


@pytest.fixture
def known(world: World, api: Api) -> Api:
    """A world full of her, with bob beside."""
    profile = {"email": EMAIL, "phone": PHONE, "username": NAME, "attributes": {"k": "canary-attribute"}, "locale": "de"}
    assert api.put(HER, profile).status == 201
    api.put("/v1/users/bob", {"email": "bob@example.com"})
    api.put(f"{HER}/devices/canary-device", {"platform": "fcm"})
    api.put(f"{HER}/watches/repo:7", {"level": "all"})
    add_hook(world, "https://hooks.example.com")
    route(world)
    _send(api, channels=["email", "in_app", "sms", "push"])
    _send(api, both=True, payload={"title": "for both", "message": "hello", "who": ID, "whom": [EMAIL.lower(), "bob"]})
    api.send(_to_her_address(email=EMAIL.lower()), idempotency_key=f"reset-{ID}")
    api.send(_to_her_address(phone=PHONE) | {"channels": ["sms"]})
    happen(world, actor=ID, mentions=[ID, "bob"], title="news", message="somebody wrote", sender=EMAIL)
    fan_out_all(world)
    world.dispatch()
    world.email.answers.append(Failure(FailureClass.PERMANENT, "x", f"{EMAIL} is not here"))
    _send(api)
    world.dispatch()
    world.email.answers.append(Failure(FailureClass.AMBIGUOUS, "x", "lost"))
    _send(api)
    world.dispatch()
    _send(api, send_at="2027-01-01T00:00:00Z")
    _send(api, both=True, send_at="2027-01-01T00:00:00Z", payload={"title": "later", "message": ID})
    api.send(_to_her_address(email=EMAIL) | {"send_at": "2027-01-01T00:00:00Z"})
    world.email.answers.append(Failure(FailureClass.TRANSIENT, "x", f"{EMAIL} later"))
    _send(api)
    world.dispatch()
    body = {"type": "t", "audience": {"kind": "users", "user_ids": [ID, "nobody"]}, "payload": {"title": f"{EMAIL}"}}
    handler_of("intake_queue")(sqs_event(body, f'{{"broken": "{ID}", "mail": "{EMAIL}"'), None)
    add_suppression(world, EMAIL)
    _by_hand(world)
    return api


def _send(api: Api, *, both: bool = False, **changes: Any) -> None:
    ids = [ID, "bob"] if both else [ID]
    asked = intent(audience={"kind": "users", "user_ids": ids}, payload=PAYLOAD) | changes
    assert api.send(asked, idempotency_key=f"{ID}-{uuid4()}").status == 202


def _to_her_address(**address: str) -> dict[str, Any]:
    return intent(audience={"kind": "address", **address}, payload=PAYLOAD)


def _by_hand(world: World) -> None:
    """What only trouble, a provider or somebody else's server would write."""
    words = json.dumps({"recipient": f"user:{ID}", "mail": EMAIL, "who": NAME})
    world.admin.execute("UPDATE webhook_deliveries SET response_body = 'canary-answer'")
    world.admin.execute("UPDATE attempts SET error_message = %s WHERE error_message <> ''", [f"{EMAIL} was not here"])
    world.admin.execute("UPDATE routes SET provider_response = %s WHERE recipient_ref = %s", [f"250 {EMAIL}", f"user:{ID}"])
    world.admin.execute(
        """INSERT INTO provider_events (event_key, tenant_id, provider, kind, feedback, notification_id, route_id, detail,
                                        occurred_at, received_at)
           SELECT sha256('e'), tenant_id, 'ses', 'bounce', 'hard_bounced', notification_id, route_id, %s, tocsin_now(),
                  tocsin_now()
           FROM routes WHERE recipient_ref = %s LIMIT 1""",
        [f"550 {EMAIL}", f"user:{ID}"],
    )
    world.admin.execute(
        """INSERT INTO admin_system_events (event_type, severity, description, details, tenant_id)
           VALUES ('e', 'low', %s, %s, %s)""",
        [f"of {EMAIL}", words, TENANT],
    )
    world.admin.execute(
        """INSERT INTO outbox (id, tenant_id, source_kind, queue, payload, due_at, max_attempts, retry_backoff, retry_base_ms)
           VALUES (gen_random_uuid(), %s, 'trigger', 'trigger', %s, tocsin_now() + interval '1 year', 1, 'linear', 1)""",
        [TENANT, words],
    )
    world.admin.execute(
        """INSERT INTO dead_letters (id, tenant_id, source_kind, outbox_id, channel, recipient_ref, final_attempt_count,
               max_attempts, failure_classification, failure_message, recovery_hint, payload, created_at)
           VALUES (gen_random_uuid(), %s, 'trigger', gen_random_uuid(), '', '', 1, 1, 'x', %s, '', %s, tocsin_now())""",
        [TENANT, f"{EMAIL} is odd", words],
    )
    for table in ("dead_letters", "malformed_intents", "admin_system_events"):
        world.admin.execute(f"UPDATE {table} SET resolution_reason = %s", [f"asked {EMAIL}"])  # type: ignore[call-overload]
    world.admin.execute(
        """INSERT INTO jobs (id, tenant_id, kind, arguments, created_by)
           VALUES (gen_random_uuid(), %s, 'replay', %s, gen_random_uuid())""",
        [TENANT, json.dumps({"filter": {"recipient": f"user:{ID}"}})],
    )
    world.admin.execute(
        """INSERT INTO notification_email_log (tenant_id, notification_id, route_id, generation, channel, notification_type,
               sent_at, address_hash)
           VALUES (%s, gen_random_uuid(), 'r', 1, 'email', 'auth.reset', tocsin_now(), tocsin_address_hash(%s, 'email', %s))""",
        [TENANT, TENANT, EMAIL],
    )
    world.admin.execute(
        """INSERT INTO abandoned_executions (id, tenant_id, outbox_id, reply_to, source_kind, outcome)
           VALUES (gen_random_uuid(), %s, gen_random_uuid(), gen_random_uuid(), 'deliver', %s)""",
        [TENANT, words],
    )


def _dump(world: World) -> dict[str, str]:
    tables = [
        row["tablename"]
        for row in world.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE '%%yoyo%%'")
    ]
    return {table: "\n".join(row["row"] for row in world.rows(f"SELECT t::text AS row FROM {table} AS t")) for table in tables}


def _left(world: World) -> dict[str, list[str]]:
    found = {table: [word for word in CANARIES if word.lower() in text.lower()] for table, text in _dump(world).items()}
    return {table: words for table, words in found.items() if words}


def test_the_world_is_full_of_her(world: World, known: Api) -> None:
    full = TABLES["deleted with the user"] | TABLES["deleted"] | TABLES["masked"]

    assert full - _left(world).keys() <= {"preferences", "notification_threads", "digests", "notification_email_log", "watches"}
    for table in full - {"digests", "preferences"}:
        assert world.count(table) > 0, table


def test_nothing_is_left_of_her_anywhere(world: World, known: Api) -> None:
    answer = known.post(f"{HER}/erase")

    assert (answer.status, answer.json["status"]) == (200, "finished")
    assert _left(world) == {}
    assert known.get(HER).status == 404
    assert known.get("/v1/users", query={"query": "canary"}).json["data"] == []


def test_the_receipt_says_what_was_erased_and_not_whose(world: World, known: Api) -> None:
    receipt = known.delete(HER).json

    assert {"users", "routes", "records", "notifications", "malformed_intents", "domain_events", "cancelled"} <= receipt[
        "erased"
    ].keys()
    assert all(receipt["erased"].values())
    assert receipt["requested_by"].startswith("key:")
    assert known.get(f"/v1/erasures/{receipt['id']}").json == receipt
    (row,) = world.rows("SELECT changes FROM audit_logs WHERE action = 'erase'")
    assert row["changes"] == {"new": {"erasure_id": receipt["id"]}}


def test_nothing_is_sent_to_her_afterwards(world: World, known: Api) -> None:
    world.admin.execute("DELETE FROM suppressions")
    before = len(world.email.accepted), len(world.sms.accepted), len(world.push.accepted)

    known.post(f"{HER}/erase")
    for _ in range(4):
        world.pass_time(timedelta(days=100))
        world.dispatch()

    assert (len(world.sms.accepted), len(world.push.accepted)) == before[1:]
    assert {message.email for message in world.email.accepted[before[0] :]} == {"bob@example.com"}
    assert world.rows("SELECT status FROM routes WHERE status IN ('pending', 'failed')") == []
    assert _left(world) == {}
    assert known.send(intent(audience={"kind": "users", "user_ids": [ID]})).status == 422


def test_what_others_were_told_stays_theirs(world: World, known: Api) -> None:
    world.add_tenant()
    other = world.add_user(ID, tenant=OTHER_TENANT, email=EMAIL, phone=PHONE)
    known.post(f"{HER}/erase")

    assert world.one("SELECT count(*) FROM users WHERE id = %(id)s", id=other) == 1
    (record,) = world.rows("SELECT * FROM records WHERE payload_json ->> 'title' = 'for both'")
    assert record["recipient_user_ids"][1] == record["payload_json"]["whom"][1] == "bob"
    assert record["payload_json"]["message"] == "hello"
    stand_in = record["recipient_user_ids"][0]
    assert stand_in == record["payload_json"]["who"]
    assert stand_in.startswith("erased_")
    assert world.one("SELECT count(*) FROM routes WHERE recipient_ref = 'user:bob' AND resolved_email <> ''") > 0
    assert world.one("SELECT count(*) FROM notifications") > 0
    (event,) = world.rows("SELECT data, actor_user_id FROM domain_events")
    assert event["data"]["mentions"] == [stand_in, "bob"]
    assert event["actor_user_id"] is None


def test_an_address_that_is_not_to_be_written_to_stays_so_as_a_hash(world: World, known: Api) -> None:
    known.post(f"{HER}/erase")

    (row,) = world.rows("SELECT address, reason FROM suppressions")
    assert row["address"] is None
    known.send(_to_her_address(email=EMAIL))
    world.dispatch()
    assert world.rows("SELECT reason FROM routes ORDER BY created_at DESC LIMIT 1")[0]["reason"].startswith("suppressed")


def test_the_end_of_what_was_under_way_does_not_bring_her_back(world: World, known: Api) -> None:
    """A provider answers while she is erased, and has her address in its words."""
    sent: list[int] = []
    world.admin.execute("DELETE FROM suppressions")

    def erased_meanwhile(message: Any) -> Failure:
        sent.append(erase_status := known.post(f"{HER}/erase").status)
        assert erase_status == 200
        return Failure(FailureClass.TRANSIENT, "x", f"{message.email} is not here just now")

    world.email.answers.append(erased_meanwhile)
    before = len(world.email.accepted)
    _send(known)
    world.dispatch()
    world.pass_time(timedelta(days=1))
    world.dispatch()

    assert sent == [200]
    assert _left(world) == {}
    assert len(world.email.accepted) == before


def test_an_erasure_whose_time_is_up_is_finished_by_retention(world: World, known: Api) -> None:
    moments = iter([True] * 3)
    receipt = erase.erase(world.app, Actor(TENANT, "key:x"), ID, has_time=lambda: next(moments, False))

    assert receipt.finished_at is None
    assert known.get(f"/v1/erasures/{receipt.id}").json["status"] == "running"
    assert "subject" not in known.get(f"/v1/erasures/{receipt.id}").json
    world.pass_time(AT_REST)
    assert finish_erasures(world.retention, has_time=lambda: True).people == 1
    assert _left(world) == {}


def test_who_asks_again_goes_on_with_the_same_erasure(world: World, known: Api) -> None:
    moments = iter([True] * 3)
    begun = erase.erase(world.app, Actor(TENANT, "key:x"), ID, has_time=lambda: next(moments, False))

    again = known.post(f"{HER}/erase")

    assert (again.status, again.json["id"]) == (200, str(begun.id))
    assert known.post(f"{HER}/erase").status == 404
    assert world.count("erasures") == 1


def test_whoever_has_the_same_id_afterwards_is_somebody_else(world: World, known: Api) -> None:
    moments = iter([True] * 4)
    erase.erase(world.app, Actor(TENANT, "key:x"), ID, has_time=lambda: next(moments, False))
    assert world.one("SELECT count(*) FROM users WHERE external_id = %(id)s", id=ID) == 0
    world.pass_time(timedelta(seconds=1))
    known.put(HER, {"email": "another@example.com"})
    _send(known)

    assert known.post(f"{HER}/erase").status == 200

    world.dispatch()
    assert world.email.accepted[-1].email == "another@example.com"


def test_an_intent_that_was_being_accepted_meanwhile_is_found_too(world: World, known: Api) -> None:
    """A transaction that saw her before she was deleted, and commits after."""
    late = world.connect("tocsin_app")
    late.execute("BEGIN")
    late.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])
    late.execute("SELECT * FROM users")
    moments = iter([True] * 4)
    begun = erase.erase(world.app, Actor(TENANT, "key:x"), ID, has_time=lambda: next(moments, False))
    late.execute(
        """INSERT INTO malformed_intents (stream_entry_id, tenant_id, failure_code, failure_message, raw_fields, recorded_at)
           VALUES ('late', %s, 'x', '', %s, tocsin_now())""",
        [TENANT, json.dumps({"who": ID})],
    )
    assert begun.finished_at is None
    late.execute("COMMIT")

    assert known.post(f"{HER}/erase").status == 200
    assert _left(world) == {}


def test_a_receipt_is_kept_for_years_and_not_for_ever(world: World, known: Api) -> None:
    known.post(f"{HER}/erase")

    assert erasures.delete_expired(world.retention, age=timedelta(days=1), limit=10) == 0
    world.pass_time(timedelta(days=2))
    assert erasures.delete_expired(world.retention, age=timedelta(days=1), limit=10) == 1


def test_every_table_that_can_hold_words_was_thought_of(world: World) -> None:
    rows = world.rows(
        """SELECT DISTINCT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0
           WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND NOT attisdropped
             AND atttypid IN ('text'::regtype, 'jsonb'::regtype, 'text[]'::regtype)
             AND relname NOT LIKE '%%yoyo%%' AND relname NOT IN ('lanes', 'job_runs', 'domain_events_processed')"""
    )

    assert {row["relname"] for row in rows} == set().union(*TABLES.values())


def test_erasing_needs_the_scope_and_does_not_reach_into_other_tenants(world: World, known: Api) -> None:
    world.add_tenant()

    assert known.post(f"{HER}/erase", key=world.add_key("send")).status == 403
    assert known.post(f"{HER}/erase", key=world.add_key("manage", tenant=OTHER_TENANT)).status == 404
    assert known.get(HER).status == 200


def test_a_dry_run_counts_what_an_erasure_would_reach_and_changes_nothing(world: World, known: Api) -> None:
    before = _dump(world)

    answer = known.post(f"{HER}/erase", {"dry_run": True})

    assert _dump(world) == before, "no receipt, no audit row"
    assert (answer.status, answer.json["dry_run"], answer.json["user_id"]) == (200, True, ID)
    counts = answer.json["would_erase"]
    erased = known.post(f"{HER}/erase").json["erased"]
    hanging = {
        "devices",
        "watches",
        "notification_threads",
        "digests",
    } & counts.keys()  # gone with the user, and not on the receipt
    twice = {"dead_letters", "webhook_deliveries"}  # masked in more than one step: the receipt counts each
    assert counts.keys() - hanging == erased.keys() - {"cancelled"}
    assert {table: counts[table] for table in counts.keys() - hanging - twice} == {
        table: count for table, count in erased.items() if table not in twice | {"cancelled"}
    }
    assert all(0 < counts[table] <= erased[table] for table in twice)
    assert (counts["devices"], counts["watches"]) == (1, 1)


def test_a_dry_run_is_asked_for_in_so_many_words(world: World, known: Api) -> None:
    assert known.post(f"{HER}/erase", {"dry_run": "yes"}).status == 422
    assert known.post(f"{HER}/erase", {"dryrun": True}).status == 422
    assert known.post("/v1/users/nobody/erase", {"dry_run": True}).status == 404
    assert known.post(f"{HER}/erase", {"dry_run": True}, key=world.add_key("send")).status == 403
    assert known.get(HER).status == 200
    assert known.post(f"{HER}/erase", {"dry_run": False}).json["status"] == "finished"


def test_of_somebody_elses_rows_a_dry_run_counts_none(world: World, known: Api) -> None:
    world.add_tenant()
    world.add_user(ID, tenant=OTHER_TENANT, email=EMAIL, phone=PHONE)

    theirs = known.post(f"{HER}/erase", {"dry_run": True}, key=world.add_key("manage", tenant=OTHER_TENANT))

    assert theirs.json["would_erase"] == {"users": 1}


def test_a_dry_run_whose_time_is_up_says_at_least(world: World, known: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.api.users.ERASES_FOR", 0.0)
    monkeypatch.setattr("tocsin.people.try_erase.MOST", 3)

    counts = known.post(f"{HER}/erase", {"dry_run": True}).json["would_erase"]

    assert counts["domain_events"] == {"count": 0, "at_least": True}
    assert counts["notification_email_log"]["at_least"]
    assert counts["records"]["at_least"]
    assert counts["users"] == 1
