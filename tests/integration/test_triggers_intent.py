"""A trigger whose handler is an intent: what changes is told as if the key that registered it had sent it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.trigger_runs import TELL_ALICE, Triggers, calling, telling_alice
from tests.world import World
from tocsin.access import rate_limits
from tocsin.triggers import run

ONE_A_MINUTE = "UPDATE api_keys SET rate_limit = 1 WHERE id = %s"


def records(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT * FROM records ORDER BY accepted_at, notification_id")


def test_a_change_is_told_in_the_words_of_the_trigger(world: World, triggers: Triggers) -> None:
    world.add_user()
    triggers.register("kv", telling_alice(), ops=["insert"])

    triggers.put("A-17", {"left": 3})
    triggers.run(2)

    (mail,) = world.email.accepted
    assert (mail.content.title, mail.content.text) == ("A-17", "insert: 3 left")
    assert (world.count("outbox"), world.dead_letters()) == (0, [])


def test_its_email_has_the_copies_and_files_of_the_event(world: World, triggers: Triggers) -> None:
    world.add_user()
    file = {"url": "https://files.example.com/{{ event.key }}.pdf"}
    said = {"reply_to": "help@example.com", "cc": ["{{ event.value.by }}"], "attachments": [file]}
    triggers.register("kv", telling_alice(**said))

    triggers.put("A-17", {"left": 3, "by": "bob@example.com"})
    triggers.run(1)

    (record,) = records(world)
    kept = [{"url": "https://files.example.com/A-17.pdf", "filename": "A-17.pdf"}]
    assert record["email_options"] == {"reply_to": "help@example.com", "cc": ["bob@example.com"], "attachments": kept}


def test_it_is_sent_by_the_key_that_registered_it_in_its_mode_and_name(world: World, triggers: Triggers) -> None:
    world.add_user()
    key = triggers.key("send", "data", mode="test", producer="stockroom")
    triggers.register("kv", telling_alice(), key=key)

    triggers.put(mode="test")
    triggers.run(2)

    (record,) = records(world)
    assert (record["producer"], record["mode"], record["trigger_depth"]) == ("stockroom", "test", 1)
    assert (world.route()["provider"], world.email.accepted) == ("sandbox", [])


def test_the_intent_of_a_trigger_can_be_a_test(world: World, triggers: Triggers) -> None:
    world.add_user()
    triggers.register("kv", telling_alice(mode="test"))

    triggers.put()
    triggers.run(2)

    assert [record["mode"] for record in records(world)] == ["test"]
    assert world.email.accepted == []


def test_what_a_test_key_registered_never_goes_out_live(world: World, triggers: Triggers) -> None:
    world.add_user()
    triggers.register("kv", telling_alice(mode="live"), key=triggers.key("send", "data", mode="test"))

    triggers.put(mode="test")
    triggers.run(2)

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], "/mode" in letter["failure_message"]) == ("permanent", True)
    assert records(world) == []


def test_a_run_that_is_repeated_sends_once(world: World, triggers: Triggers, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a worker dies between accepting the intent and recording that it did."""
    world.add_user()
    triggers.register("kv", telling_alice())
    triggers.put()

    with monkeypatch.context() as patch:
        patch.setattr(run, "settle", _dies)
        with pytest.raises(SystemExit):
            triggers.run()
    assert len(triggers.waiting()) == 1
    triggers.later(minutes=2)
    triggers.run(3)

    assert (len(records(world)), len(world.email.accepted), world.count("outbox")) == (1, 1, 0)


def test_a_run_whose_trigger_was_changed_between_two_tries_still_sends_once(
    world: World, triggers: Triggers, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user()
    trigger = triggers.register("kv", telling_alice())
    triggers.put()
    with monkeypatch.context() as patch:
        patch.setattr(run, "settle", _dies)
        with pytest.raises(SystemExit):
            triggers.run()

    world.admin.execute(
        "UPDATE trigger_handlers SET config = jsonb_set(config, '{intent,payload,title}', '\"other\"') WHERE id = %s",
        [trigger.handler_id],
    )
    triggers.later(minutes=2)
    triggers.run(3)

    assert ([mail.content.title for mail in world.email.accepted], world.dead_letters()) == (["A-17"], [])


def _dies(*_: Any, **__: Any) -> None:
    raise SystemExit


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"audience": {"kind": "users", "user_ids": ["{{ event.value.who }}"]}}, "invalid_intent"),
        ({"audience": {"kind": "users", "user_ids": ["{{ event.key }}"]}}, "unknown_users"),
        ({"template": "no-such"}, "unknown_template"),
        ({"payload": {"title": "{{ event.value.none }}"}}, "nothing_to_say"),
        ({"payload": {"title": "{% for n in (1..event.value.many) %}{{ n }}{% endfor %}"}}, "unrenderable"),
        ({"expires_at": "{{ event.value.left }}"}, "invalid_intent"),
        ({"send_at": "2999-01-01T00:00:{{ event.value.zero }}Z"}, "invalid_intent"),
    ],
)
def test_what_is_no_good_intent_is_a_dead_letter_at_once(
    said: dict[str, Any], code: str, world: World, triggers: Triggers
) -> None:
    world.add_user()
    trigger = triggers.register("kv", telling_alice(**said))

    triggers.put("A-17", {"left": 3, "many": 20_000, "zero": "00"})
    triggers.run()

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["provider_code"], letter["final_attempt_count"]) == ("permanent", code, 1)
    assert (letter["source_kind"], letter["trigger_id"], letter["handler_id"]) == ("trigger", trigger.id, trigger.handler_id)
    assert letter["payload"]["key"] == "A-17"
    assert letter["failure_message"]
    assert letter["recovery_hint"]
    assert world.count("outbox") == 0


def test_the_intent_may_bring_its_user_along(world: World, triggers: Triggers) -> None:
    given = {"id": "{{ event.key }}", "email": "{{ event.value.mail }}"}
    triggers.register("kv", telling_alice(audience={"kind": "users", "user_ids": [given]}))

    triggers.put("carol", {"mail": "carol@example.com"})
    triggers.run(3)

    assert world.one("SELECT email FROM users WHERE external_id = 'carol'") == "carol@example.com"
    assert world.one("SELECT actor FROM audit_logs WHERE resource_type = 'user'").startswith("key:")
    assert [mail.email for mail in world.email.accepted] == ["carol@example.com"]


def test_a_user_is_brought_along_only_by_a_key_that_may_manage(world: World, triggers: Triggers) -> None:
    given = {"id": "carol", "email": "carol@example.com"}
    triggers.register("kv", telling_alice(audience={"kind": "users", "user_ids": [given]}))
    world.admin.execute("UPDATE api_keys SET scopes = '{send,data,operate}'")

    triggers.put("A-17")
    triggers.run()

    (letter,) = world.dead_letters()
    assert (letter["provider_code"], world.count("users")) == ("forbidden", 0)


@pytest.mark.parametrize("whose", ["key", "tenant"])
def test_above_the_limit_of_its_key_it_waits_for_the_next_minute_and_uses_no_try(
    whose: str, world: World, triggers: Triggers
) -> None:
    world.add_user()
    key = triggers.key()
    if whose == "key":
        world.admin.execute(ONE_A_MINUTE, [key.key_id])
    else:
        world.admin.execute("""UPDATE tenants SET settings = '{"caps": {"intents_per_minute": 1}}'""")
    triggers.register("kv", telling_alice(), key=key, retry={"max_attempts": 1})
    triggers.put("A-17")
    triggers.put("B-4")

    triggers.run(2)

    assert len(records(world)) == 1
    (again,) = triggers.waiting()
    assert (again["attempt_count"], again["claim_count"], again["lease_token"]) == (0, 0, None)
    triggers.later(seconds=61)
    rate_limits._exhausted.clear()
    triggers.run(2)
    assert sorted(mail.content.title for mail in world.email.accepted) == ["A-17", "B-4"]


def test_what_takes_too_long_is_given_back_and_run_by_the_next(
    world: World, triggers: Triggers, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user()
    triggers.register("kv", telling_alice())
    for n in range(3):
        triggers.put(f"A-{n}")

    with monkeypatch.context() as patch:
        patch.setattr(run, "RUNNING_TIME", -1.0)
        triggers.run()
    left = triggers.waiting()
    triggers.run()

    assert [(one["claim_count"], one["lease_token"], one["attempt_count"]) for one in left] == [(0, None, 0)] * 2
    assert (len(records(world)), triggers.waiting()) == (3, [])


@pytest.mark.parametrize("loss", ["revoked", "expired", "scope"])
def test_nobody_hears_of_values_by_a_key_that_has_lost_its_rights(loss: str, world: World, triggers: Triggers) -> None:
    key = triggers.key()
    triggers.register("kv", calling("http://127.0.0.1:9"), key=key)
    triggers.put()
    lose(world, key.key_id, loss)

    triggers.run()

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["final_attempt_count"]) == ("principal_revoked", 0)


@pytest.mark.parametrize("loss", ["revoked", "expired", "scope"])
def test_nobody_acts_on_a_key_that_has_lost_its_rights(loss: str, world: World, triggers: Triggers) -> None:
    world.add_user()
    key = triggers.key()
    trigger = triggers.register("kv", telling_alice(), key=key)
    triggers.put()
    lose(world, key.key_id, loss)

    triggers.run()

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["final_attempt_count"]) == ("principal_revoked", 0)
    assert (letter["trigger_id"], letter["handler_id"], letter["principal_id"]) == (trigger.id, trigger.handler_id, key.key_id)
    assert "Register the trigger anew" in letter["recovery_hint"]
    assert (records(world), world.count("outbox")) == ([], 0)


def test_rights_are_looked_at_when_it_runs_not_when_it_fires(world: World, triggers: Triggers) -> None:
    world.add_user()
    key = triggers.key()
    triggers.register("kv", telling_alice(audience={"kind": "users", "user_ids": ["alice"]}), key=key)
    lose(world, key.key_id, "scope")
    triggers.put()
    world.admin.execute("UPDATE api_keys SET scopes = '{send,data}' WHERE id = %s", [key.key_id])

    triggers.run(2)

    assert len(world.email.accepted) == 1


def test_a_key_that_was_rotated_hands_the_trigger_on_and_a_revoked_one_does_not(world: World, triggers: Triggers) -> None:
    world.add_user()
    first, second = triggers.key(producer="old"), triggers.key(producer="new")
    triggers.register("kv", telling_alice(), key=first)
    world.admin.execute(
        "UPDATE api_keys SET replaced_by = %s, expires_at = tocsin_now() - interval '1 second' WHERE id = %s",
        [second.key_id, first.key_id],
    )

    triggers.put()
    triggers.run()
    assert [record["producer"] for record in records(world)] == ["new"]

    lose(world, first.key_id, "revoked")
    triggers.put()
    triggers.run()
    assert [letter["failure_classification"] for letter in world.dead_letters()] == ["principal_revoked"]


def lose(world: World, key_id: UUID, what: str) -> None:
    match what:
        case "revoked":
            world.admin.execute("UPDATE api_keys SET is_active = false, revoked_at = tocsin_now() WHERE id = %s", [key_id])
        case "expired":
            world.admin.execute("UPDATE api_keys SET expires_at = tocsin_now() WHERE id = %s", [key_id])
        case "scope":
            world.admin.execute("UPDATE api_keys SET scopes = '{manage}' WHERE id = %s", [key_id])


@pytest.mark.parametrize("how", ["disabled", "deleted"])
def test_a_trigger_that_is_switched_off_or_gone_stops_at_once(how: str, world: World, triggers: Triggers) -> None:
    world.add_user()
    trigger = triggers.register("kv", telling_alice())
    triggers.put()
    if how == "disabled":
        world.admin.execute("UPDATE triggers SET enabled = false WHERE id = %s", [trigger.id])
    else:
        world.admin.execute("DELETE FROM triggers WHERE id = %s", [trigger.id])

    triggers.run()

    assert (records(world), world.dead_letters(), world.count("outbox")) == ([], [], 0)


@pytest.mark.parametrize(("backoff", "delays"), [("exponential", [2, 4, 8]), ("linear", [2, 4, 6]), ("constant", [2, 2, 2])])
def test_tries_are_exactly_as_far_apart_as_the_trigger_says(
    backoff: str, delays: list[int], world: World, triggers: Triggers
) -> None:
    triggers.register("kv", calling("http://127.0.0.1:9"), retry={"max_attempts": 4, "backoff": backoff, "base_ms": 2_000})
    triggers.put()

    for n, delay in enumerate(delays, start=1):
        before = world.one("SELECT tocsin_now()")
        triggers.run()
        (row,) = triggers.waiting()
        after = world.one("SELECT tocsin_now()")
        assert row["attempt_count"] == n
        assert before + timedelta(seconds=delay) <= row["due_at"] <= after + timedelta(seconds=delay)
        assert row["nudged_at"] == row["due_at"]
        triggers.later(seconds=delay)
    triggers.run()

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["provider_code"]) == ("exhausted", "connection_refused")
    assert (letter["final_attempt_count"], letter["max_attempts"], letter["retry_backoff"]) == (4, 4, backoff)
    delayed = [nudge.delay_seconds for nudge in world.nudges() if nudge.queue == "webhook" and nudge.delay_seconds]
    assert delayed == delays


def test_a_triggers_own_policy_and_the_installations_stand_in_their_rows(world: World, triggers: Triggers) -> None:
    triggers.register("kv", telling_alice(), retry={"max_attempts": 2, "backoff": "linear", "base_ms": 700})
    triggers.register("kv", telling_alice())
    triggers.put()

    policies = [(one["max_attempts"], one["retry_backoff"], one["retry_base_ms"]) for one in triggers.waiting()]

    assert sorted(policies) == [(2, "linear", 700), (5, "exponential", 1000)]


def test_numbers_and_names_of_an_intent_are_not_filled_in(world: World, triggers: Triggers) -> None:
    world.add_user()
    triggers.register("kv", telling_alice(retry={"max_attempts": 2}, payload=TELL_ALICE["payload"] | {"n": 5, "on": True}))

    triggers.put()
    triggers.run()

    (record,) = records(world)
    assert (record["payload_json"]["n"], record["payload_json"]["on"], record["retry_max_attempts"]) == (5, True, 2)
