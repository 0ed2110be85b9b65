"""Users given in an intent: made or merged when it is accepted, in its own transaction, and only then."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.content import add_template
from tests.crash.waiting import wait_until
from tests.functions.doors import Api, Context, handler_of, intent, sqs_event
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.audit import Actor
from tocsin.intake.accept_intents import Admitted, Asked, accept
from tocsin.intake.admission import Sender
from tocsin.intake.intents import Intent
from tocsin.people import given_users

CAROL = {"id": "carol", "email": "carol@example.com", "phone": "+14155550123", "locale": "pt-BR"}


def to(*recipients: Any, **changes: Any) -> dict[str, Any]:
    return intent(audience={"kind": "users", "user_ids": list(recipients)}, **changes)


def _user(world: World, name: str) -> dict[str, Any]:
    (row,) = world.rows("SELECT * FROM users WHERE external_id = %(name)s", name=name)
    return row


def _audit(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT * FROM audit_logs WHERE resource_type = 'user' ORDER BY created_at, id")


def test_the_first_notification_needs_one_call(world: World, api: Api) -> None:
    answer = api.send(to(CAROL))

    assert answer.status == 202, answer.text
    assert "warnings" not in answer.json
    made = _user(world, "carol")
    assert (made["email"], made["phone"], made["locale"]) == ("carol@example.com", "+14155550123", "pt-BR")
    shown = api.get(f"/v1/notifications/{answer.json['notification_id']}").json
    assert shown["audience"] == {"kind": "users", "user_ids": ["carol"]}
    (row,) = _audit(world)
    assert (row["action"], row["resource_id"]) == ("create", str(made["id"]))
    assert "carol@example.com" not in str(row["changes"])


def test_it_is_delivered_to_the_address_that_came_with_it(world: World, api: Api) -> None:
    api.send(to(CAROL))

    world.dispatch()
    world.dispatch()

    assert (world.route()["recipient_ref"], world.route()["status"]) == ("user:carol", "published")


def test_what_is_named_is_merged_null_clears_and_the_rest_stays(world: World, api: Api) -> None:
    api.put("/v1/users/carol", {k: v for k, v in CAROL.items() if k != "id"} | {"attributes": {"plan": "free", "seats": 3}})

    answer = api.send(to({"id": "carol", "phone": None, "attributes": {"plan": "pro"}}))

    assert answer.status == 202
    user = api.get("/v1/users/carol").json
    assert (user["email"], user["phone"], user["attributes"]) == ("carol@example.com", None, {"plan": "pro", "seats": 3})


def test_attributes_can_be_cleared_as_a_whole(world: World, api: Api) -> None:
    api.send(to(CAROL | {"attributes": {"plan": "free"}}))

    api.send(to({"id": "carol", "attributes": None}))

    assert api.get("/v1/users/carol").json["attributes"] == {}


def test_who_is_as_said_already_is_neither_written_nor_audited(world: World, api: Api) -> None:
    api.send(to(CAROL))
    before = _user(world, "carol")

    answer = api.send(to(CAROL))

    assert answer.status == 202
    assert _user(world, "carol") == before
    assert len(_audit(world)) == 1


def test_ids_and_users_may_stand_side_by_side(world: World, api: Api) -> None:
    world.add_user()

    answer = api.send(to("alice", CAROL))

    assert answer.status == 202
    assert world.one("SELECT recipient_user_ids FROM records") == ["alice", "carol"]


def test_it_needs_the_scope_manage_besides_send(world: World, api: Api) -> None:
    key = world.add_key("send")

    problem = assert_problem(api.send(to(CAROL), key=key), 403, "forbidden")
    batch = api.post("/v1/intents/batch", {"intents": [to(CAROL, idempotency_key="k-1")]}, key=key)

    assert "`manage`" in problem["detail"]
    assert batch.json["results"][0]["status"] == 403
    assert (world.count("users"), world.count("records")) == (0, 0)
    assert api.send(to(CAROL), key=world.add_key("send", "manage")).status == 202


def test_who_is_known_is_sent_to_with_the_scope_send_alone(world: World, api: Api) -> None:
    world.add_user()

    assert api.send(to("alice"), key=world.add_key("send")).status == 202


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"template": "nameless"}, "unknown-template"),
        ({"payload": {}}, "nothing-to-say"),
        ({"audience": {"kind": "users", "user_ids": [CAROL, "nobody"]}}, "unknown-users"),
    ],
)
def test_a_refused_intent_makes_nobody_known(world: World, api: Api, change: dict[str, Any], kind: str) -> None:
    answer = api.send(to(CAROL) | change)

    assert_problem(answer, 422, kind)
    assert (world.count("users"), world.count("records"), len(_audit(world))) == (0, 0, 0)


def test_a_repetition_changes_no_user(world: World, api: Api) -> None:
    first = api.send(to(CAROL), idempotency_key="k-1")
    api.patch("/v1/users/carol", {"email": "new@example.com"})

    again = api.send(to(CAROL), idempotency_key="k-1")
    reused = api.send(to(CAROL | {"phone": "+14155550199"}), idempotency_key="k-1")

    assert (again.status, again.json["notification_id"]) == (202, first.json["notification_id"])
    assert_problem(reused, 422, "idempotency-key-reused")
    user = _user(world, "carol")
    assert (user["email"], user["phone"]) == ("new@example.com", "+14155550123")


def test_a_try_whose_answer_was_lost_is_repeated_without_a_second_effect(world: World) -> None:
    given = Asked("k-1", Intent.model_validate(to(CAROL)), b"f" * 32)
    sender = Sender(TENANT, "shop", "live", rate_subject="test", rate_limit=10, actor=Actor(TENANT, "test"))

    tries = [
        accept(world.app, [given], sender=sender, request_id="", trace_id="", window=timedelta(days=7))[0][0] for _ in range(2)
    ]

    assert tries[0] == tries[1]
    assert isinstance(tries[1], Admitted)
    assert not tries[1].is_replay
    assert (world.count("users"), world.count("records"), len(_audit(world))) == (1, 1, 1)


def test_a_key_that_is_free_again_makes_known_again(world: World, api: Api, later: Callable[[timedelta], None]) -> None:
    api.send(to(CAROL), idempotency_key="k-1")
    later(timedelta(days=8))

    answer = api.send(to(CAROL | {"phone": "+14155550199"}), idempotency_key="k-1")

    assert answer.status == 202, answer.text
    assert "Idempotency-Replayed" not in answer.headers
    assert _user(world, "carol")["phone"] == "+14155550199"


@pytest.mark.parametrize("field", ["email", "username"])
def test_what_another_user_has_is_409_with_its_place(world: World, api: Api, field: str) -> None:
    api.put("/v1/users/bob", {"email": "bob@example.com", "username": "bob"})
    theirs = {"email": "Bob@Example.com", "username": "bob"}[field]

    answer = api.send(to("bob", {"id": "carol", field: theirs}))

    problem = assert_problem(answer, 409, "already-taken")
    assert problem["errors"] == [{"pointer": f"/audience/user_ids/1/{field}", "message": "is another user's"}]
    assert (world.count("users"), world.count("records")) == (1, 0)


def test_another_tenants_addresses_are_free(world: World, api: Api) -> None:
    world.add_tenant()
    world.add_user("dan", tenant=OTHER_TENANT, email="carol@example.com")

    assert api.send(to(CAROL)).status == 202
    assert world.one("SELECT count(*) FROM users WHERE tenant_id = %(t)s", t=TENANT) == 1


@pytest.mark.parametrize(
    ("recipient", "pointer", "message"),
    [
        ({"email": "x@example.com"}, "/audience/user_ids/0/id", "is required"),
        ({"id": ""}, "/audience/user_ids/0/id", "must not be empty"),
        ({"id": "x", "email": "nonsense"}, "/audience/user_ids/0/email", "must be one email address"),
        ({"id": "x", "mail": "x@example.com"}, "/audience/user_ids/0/mail", "is not a known field; did you mean `email`?"),
        ({"id": "x", "locale": "english!"}, "/audience/user_ids/0/locale", "must be a language, such as pt-BR"),
        (
            {"id": "x", "timezone": "Mars/Base"},
            "/audience/user_ids/0/timezone",
            "must be an IANA time zone, such as Europe/Lisbon",
        ),
        ({"id": "x", "attributes": []}, "/audience/user_ids/0/attributes", "must be an object"),
        (7, "/audience/user_ids/0", "must be a user's id as a text, or an object with an `id`"),
        (None, "/audience/user_ids/0", "must be a user's id as a text, or an object with an `id`"),
        ("", "/audience/user_ids/0", "must not be empty"),
    ],
)
def test_what_is_wrong_with_one_is_told_where_it_stands(
    world: World, api: Api, recipient: Any, pointer: str, message: str
) -> None:
    problem = assert_problem(api.send(to(recipient)), 422, "invalid-request")

    assert problem["errors"] == [{"pointer": pointer, "message": message}]
    assert problem["detail"].startswith(f"`{pointer}` {message}")


def test_one_given_twice_is_refused(world: World, api: Api) -> None:
    problem = assert_problem(api.send(to(CAROL, CAROL)), 422, "invalid-request")

    assert problem["errors"][0]["pointer"] == "/audience/user_ids/1"
    assert world.count("users") == 0


def test_in_a_batch_one_bad_item_makes_nobody_known_and_spoils_no_other(world: World, api: Api) -> None:
    world.add_user("bob", email="bob@example.com")
    dan, eve = {"id": "dan", "email": "dan@example.com"}, {"id": "eve", "email": "eve@example.com"}
    items = [
        to(CAROL),
        to("carol"),  # made known by the one before
        to({"id": "fay", "email": "bob@example.com"}),
        to("fay"),  # whom the one before does not make known
        to(dan, template="nameless"),
        to(eve, "nobody"),
        to("bob"),
        to({"id": "gus", "phone": "+14155550177"}, channels=["sms"]),
    ]

    answer = api.post("/v1/intents/batch", {"intents": [one | {"idempotency_key": f"k-{n}"} for n, one in enumerate(items)]})

    assert [one["status"] for one in answer.json["results"]] == [202, 202, 409, 422, 422, 422, 202, 202]
    names = {row["external_id"] for row in world.rows("SELECT external_id FROM users")}
    assert names == {"bob", "carol", "gus"}
    (row,) = _audit(world)
    assert (row["action"], len(row["changes"]["new"]["created"])) == ("upsert", 2)


def test_a_batch_may_say_more_and_more_of_one_user(world: World, api: Api) -> None:
    items = [
        to(CAROL),
        to({"id": "carol", "phone": None, "attributes": {"a": {"b": 1}}}),
        to({"id": "carol", "attributes": {"a": {"c": 2}}}),
    ]

    api.post("/v1/intents/batch", {"intents": [one | {"idempotency_key": f"k-{n}"} for n, one in enumerate(items)]})

    user = _user(world, "carol")
    assert (user["email"], user["phone"], user["attributes"]) == ("carol@example.com", None, {"a": {"b": 1, "c": 2}})


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [(None, {"b": 2}, {"b": 2}), ({"a": 5}, {"a": {"b": 2}}, {"a": {"b": 2}, "plan": "free"})],
)
def test_what_a_batch_clears_first_stays_cleared(world: World, api: Api, first: Any, second: Any, left: Any) -> None:
    api.put("/v1/users/carol", {"attributes": {"a": {"c": 1}, "plan": "free"}})

    _batch(api, to({"id": "carol", "attributes": first}), to({"id": "carol", "attributes": second}))

    assert _user(world, "carol")["attributes"] == left


def test_of_a_batch_only_those_are_refused_who_want_what_is_taken(world: World, api: Api) -> None:
    world.add_user("bob", email="bob@example.com")

    results = _batch(
        api,
        to({"id": "carol", "email": "carol@example.com"}),
        to({"id": "carol", "phone": "+14155550123"}),
        to("carol", {"id": "carol", "email": "bob@example.com"}),
    )

    assert [one["status"] for one in results] == [202, 202, 409]
    assert results[2]["problem"]["errors"][0]["pointer"] == "/audience/user_ids/1/email"
    user = _user(world, "carol")
    assert (user["email"], user["phone"]) == ("carol@example.com", "+14155550123")


@pytest.mark.parametrize(
    ("items", "statuses", "known"),
    [
        ([to(CAROL), to(CAROL)], [202, 202], {"alice", "carol"}),
        ([to(CAROL), to({"id": "dan"})], [202, 422], {"alice", "carol"}),
        ([to("alice"), to({"id": "dan"})], [202, 422], {"alice"}),
        ([to({"id": "dan"}, template="nameless"), to(CAROL)], [422, 202], {"alice", "carol"}),
        ([to("nobody"), to(CAROL), to({"id": "dan"})], [422, 202, 422], {"alice", "carol"}),
    ],
)
def test_of_a_batch_with_one_key_twice_the_first_that_can_be_taken_counts(
    world: World, api: Api, items: list[Any], statuses: list[int], known: set[str]
) -> None:
    world.add_user()

    answer = api.post("/v1/intents/batch", {"intents": [one | {"idempotency_key": "k-1"} for one in items]})

    assert answer.status == 200, answer.text
    assert [one["status"] for one in answer.json["results"]] == statuses
    assert world.count("records") == 1
    assert {row["external_id"] for row in world.rows("SELECT external_id FROM users")} == known


def test_what_is_refused_counts_against_the_limit_too(world: World, api: Api) -> None:
    world.add_user("bob", email="bob@example.com")
    taken, nameless = to({"id": "carol", "email": "bob@example.com"}), to(CAROL, template="nameless")

    api.send(taken)
    api.send(nameless)
    _batch(api, taken, nameless, to({"id": "dan"}))
    answer = api.post("/v1/intents/batch", _numbered(taken))

    assert world.one("SELECT sum(request_count) FROM rate_limits WHERE limit_type = 'intents'") == 6
    assert "r=6000;" not in answer.headers["RateLimit"]


def test_above_the_limit_nobody_is_made_known(world: World, api: Api) -> None:
    world.add_user("bob", email="bob@example.com")
    limited = {"name": "slow", "producer": "shop", "scopes": ["send", "manage"], "rate_limit": 1}
    keys = [api.post("/v1/api-keys", limited).json["key"] for _ in range(2)]
    taken, free = to({"id": "carol", "email": "bob@example.com"}), to(CAROL)

    answers = [api.post("/v1/intents/batch", _numbered(one, one), key=key) for one, key in zip((taken, free), keys, strict=True)]

    assert [answer.status for answer in answers] == [429, 429]
    assert (world.count("users"), world.count("records")) == (1, 0)
    assert api.send(free, key=keys[1]).status == 202


def test_the_audit_names_each_of_very_many(world: World, api: Api) -> None:
    many = [{"id": f"p-{n}"} for n in range(900)]

    assert api.send(to(*many, channels=["in_app"])).status == 202

    named = [name for row in _audit(world) for name in row["changes"]["new"]["created"]]
    assert len(set(named)) == 900


def _numbered(*intents: dict[str, Any]) -> dict[str, Any]:
    return {"intents": [one | {"idempotency_key": f"n-{n}-{uuid4()}"} for n, one in enumerate(intents)]}


def _batch(api: Api, *intents: dict[str, Any]) -> list[dict[str, Any]]:
    answer = api.post("/v1/intents/batch", _numbered(*intents))
    assert answer.status == 200, answer.text
    results: list[dict[str, Any]] = answer.json["results"]
    return results


def test_what_two_say_of_one_new_user_at_once_is_both_kept(world: World, api: Api) -> None:
    rival = world.connect("tocsin_app")
    rival.execute("BEGIN")
    rival.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])
    given_users.merge(rival, TENANT, {"carol": [{"email": "carol@example.com"}]})
    with ThreadPoolExecutor() as pool:
        ours = pool.submit(api.send, to({"id": "carol", "phone": "+14155550123"}, channels=["sms"]))
        wait_until(lambda: world.one("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0)
        rival.execute("COMMIT")
        answer = ours.result()

    user = _user(world, "carol")
    assert answer.status == 202, answer.text
    assert (user["email"], user["phone"]) == ("carol@example.com", "+14155550123")


def test_an_address_that_a_rival_takes_meanwhile_is_told_as_taken(world: World, api: Api) -> None:
    rival = world.connect("tocsin_app")
    rival.execute("BEGIN")
    rival.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])
    given_users.merge(rival, TENANT, {"bob": [{"email": "carol@example.com"}]})
    with ThreadPoolExecutor() as pool:
        ours = pool.submit(api.send, to(CAROL))
        wait_until(lambda: world.one("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0)
        rival.execute("COMMIT")
        answer = ours.result()

    assert_problem(answer, 409, "already-taken")
    assert {row["external_id"] for row in world.rows("SELECT external_id FROM users")} == {"bob"}


def test_who_is_erased_while_they_are_given_is_made_known_anew(world: World, api: Api) -> None:
    world.add_user("carol")
    rival = world.connect("tocsin_app")
    rival.execute("BEGIN")
    rival.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])
    rival.execute("SELECT FROM users WHERE external_id = 'carol' FOR UPDATE")
    with ThreadPoolExecutor() as pool:
        ours = pool.submit(api.send, to(CAROL))
        wait_until(lambda: world.one("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0)
        rival.execute("DELETE FROM users WHERE external_id = 'carol'")
        rival.execute("COMMIT")
        answer = ours.result()

    assert answer.status == 202, answer.text
    assert _user(world, "carol")["email"] == "carol@example.com"


def test_it_works_with_a_wait_for_the_outcome(world: World, api: Api) -> None:
    headers = {"idempotency-key": "k-1", "prefer": "wait=1"}

    answer = api.post("/v1/intents/wait", to(CAROL), headers=headers)

    assert answer.status == 202, answer.text
    assert _user(world, "carol")["email"] == "carol@example.com"


def test_a_message_of_the_queue_may_bring_its_users(world: World, api: Api) -> None:
    _deliver(to(CAROL) | {"producer": "billing"})

    assert _user(world, "carol")["email"] == "carol@example.com"
    (row,) = _audit(world)
    assert row["actor"] == "queue:billing"


def test_a_message_of_the_bus_passes_for_nobody_else_in_the_audit(world: World, api: Api) -> None:
    message = to(CAROL) | {"producer": "01890a5d-ac96-774b-bcce-b302099a8057"}

    _deliver({"id": "e-1", "detail-type": "tocsin.intent", "source": "key", "detail": message})

    (row,) = _audit(world)
    assert row["actor"] == "events:key:01890a5d-ac96-774b-bcce-b302099a8057"


def test_a_message_whose_address_is_anothers_is_kept_as_malformed(world: World, api: Api) -> None:
    world.add_user("bob", email="carol@example.com")

    _deliver(to(CAROL))

    (kept,) = api.get("/v1/malformed-intents").json["data"]
    assert (kept["failure_code"], world.count("users"), world.count("records")) == ("already_taken", 1, 0)


def test_what_is_accepted_after_all_makes_its_users_known(world: World, api: Api) -> None:
    _deliver(to(CAROL, template="shipped"))
    again = "/v1/malformed-intents/message-1/accept"
    assert_problem(api.post(again), 422, "unknown-template")
    assert world.count("users") == 0
    add_template(world, name="shipped")

    refused = api.post(again, key=world.add_key("operate", "send"))
    accepted = api.post(again)

    assert_problem(refused, 403, "forbidden")
    assert accepted.status == 200, accepted.text
    assert _user(world, "carol")["email"] == "carol@example.com"


@pytest.mark.parametrize("as_list", [True, False])
def test_erasing_somebody_forgets_what_a_refused_message_gave_of_them(world: World, api: Api, as_list: bool) -> None:
    world.add_user("carol", email="carol@example.com")
    given = {"id": "carol", "email": "carol.private@example.com", "attributes": {"name": "Carol Day"}}
    message = to(given, "nobody")
    _deliver(message if as_list else message | {"audience": {"kind": "users", "user_ids": {"id": "carol"}}})

    receipt = api.post("/v1/users/carol/erase")

    assert receipt.status == 200, receipt.text
    kept = str(world.one("SELECT raw_fields FROM malformed_intents"))
    assert "carol" not in kept.lower()
    assert ("nobody" in kept) is as_list


def _deliver(*bodies: Any) -> None:
    """As the intake queue does."""
    assert handler_of("intake_queue")(sqs_event(*bodies), Context()) == {"batchItemFailures": []}


def test_attributes_do_not_grow_without_end(world: World, api: Api) -> None:
    assert api.send(to({"id": "carol", "attributes": {"a": "x" * 10_000}}, channels=["in_app"])).status == 202

    answer = api.send(to({"id": "carol", "attributes": {"b": "x" * 10_000}}, channels=["in_app"]))
    at_once = api.send(to({"id": "dan", "attributes": {"b": "x" * 20_000}}, channels=["in_app"]))

    told = {"pointer": "/audience/user_ids/0/attributes", "message": "would have more than 16384 bytes with those that are known"}
    assert assert_problem(answer, 422, "invalid-request")["errors"] == [told]
    assert_problem(at_once, 422, "invalid-request")
    assert list(_user(world, "carol")["attributes"]) == ["a"]
    assert_problem(api.patch("/v1/users/carol", {"attributes": {"b": "x" * 10_000}}), 422, "invalid-request")


def test_a_long_chain_of_intents_that_need_each_others_users_is_refused_as_a_whole(world: World, api: Api) -> None:
    chain = [to({"id": f"p-{n}"}, f"p-{n - 1}", channels=["in_app"]) for n in range(30)]

    answer = api.post("/v1/intents/batch", {"intents": [one | {"idempotency_key": f"k-{n}"} for n, one in enumerate(chain)]})

    assert assert_problem(answer, 422, "invalid-request")["errors"][0]["pointer"] == "/intents"
    assert (world.count("users"), world.count("records")) == (0, 0)


def test_an_address_among_the_ids_is_told_of_the_kind_for_addresses(world: World, api: Api) -> None:
    problem = assert_problem(api.send(to("alice@example.com")), 422, "unknown-users")

    assert problem["errors"][0]["message"].endswith("is an audience of the kind `address`")
