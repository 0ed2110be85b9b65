"""`tocsin dead-letters`, `lanes`, `webhooks`, `keys`, `tenants` and `audit`, against the real API."""

from collections.abc import Iterator

import pytest

from tests.cli.conftest import Terminal
from tests.cli.stack import Doors
from tests.functions.doors import Api
from tests.letters import bury_delivery
from tests.operators import close_lane
from tests.webhooks import Receiver, add_hook, allow_loopback, receiving, status, webhook_worker
from tests.world import World
from tocsin.outbox.dispatch import dispatch

LANE = "ses:email"


@pytest.fixture
def letter(world: World) -> str:
    world.add_user("alice")
    return str(bury_delivery(world))


def test_letters_are_listed_grouped_and_shown(tocsin: Terminal, letter: str) -> None:
    listed = tocsin("dead-letters", "list", "--classification", "permanent", "--user", "alice", "--since", "1h", "--json")
    grouped = tocsin("dead-letters", "groups")
    shown = tocsin("dead-letters", "show", letter)

    assert [one["id"] for one in listed.json["data"]] == [letter]
    assert "MessageRejected" in grouped.out
    assert "Address blacklisted." in shown.out
    assert f"tocsin dead-letters replay {letter}" in shown.err
    assert tocsin("dead-letters", "list", "--channel", "sms", "--json").json["data"] == []
    assert tocsin("dead-letters", "show", "nonsense").code == 4


def test_one_letter_is_replayed_once(tocsin: Terminal, world: World, letter: str) -> None:
    dry = tocsin("dead-letters", "replay", letter, "--dry-run")
    first = tocsin("dead-letters", "replay", letter)
    second = tocsin("dead-letters", "replay", letter)
    world.dispatch()

    assert (dry.out, first.code, second.code) == ("It would be replayed.\n", 0, 5)
    assert len(world.email.accepted) == 1


def test_many_are_counted_asked_for_and_followed_to_their_end(tocsin: Terminal, world: World, letter: str) -> None:
    bury_delivery(world)
    tocsin.meanwhile = world.dispatch

    dry = tocsin("dead-letters", "replay", "--classification", "permanent", "--dry-run")
    no = tocsin("dead-letters", "replay", "--classification", "permanent", typed="no\n")
    ran = tocsin("dead-letters", "replay", "--classification", "permanent", "--json", typed="yes\n")

    assert "2 would be replayed, 0 not." in dry.out
    assert (no.code, "Nothing was done." in no.err) == (1, True)
    assert (ran.code, ran.json["status"], ran.json["done"]) == (0, "complete", 2)
    assert "Replay 2?" in ran.err
    world.dispatch()
    assert len(world.email.accepted) == 2


def test_nothing_to_replay_asks_nothing(tocsin: Terminal, world: World) -> None:
    assert tocsin("dead-letters", "replay", "--all").code == 0


@pytest.mark.parametrize("arguments", [(), ("x", "--all"), ("x", "--channel", "email")])
def test_which_letters_are_meant_must_be_said(bare: Terminal, doors: Doors, arguments: tuple[str, ...]) -> None:
    assert (bare("dead-letters", "replay", *arguments).code, doors.calls) == (2, [])


def test_a_letter_is_laid_aside_with_a_reason(tocsin: Terminal, letter: str) -> None:
    ran = tocsin("dead-letters", "resolve", letter, "--reason", "the customer left", "--yes")

    assert ran.code == 0
    (found,) = tocsin("dead-letters", "list", "--state", "ignored", "--json").json["data"]
    assert found["resolution_reason"] == "the customer left"
    assert tocsin("dead-letters", "resolve", letter, "--reason", "again", "--yes").code == 5


def test_a_lane_in_trouble_is_listed_and_opened(tocsin: Terminal, world: World) -> None:
    close_lane(world, LANE, tenant=None)

    listed = tocsin("lanes", "list")
    opened = tocsin("lanes", "open", LANE, "--reason", "SES lifted it", typed="y\n")

    assert LANE in listed.out
    assert (opened.code, "is open" in opened.out) == (0, True)
    assert "No lane is in trouble." in tocsin("lanes", "list").err
    assert tocsin("lanes", "open", LANE, "--reason", "again", "--yes").code == 4


@pytest.fixture
def receiver(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    allow_loopback(monkeypatch)
    with receiving() as found:
        yield found


def test_a_webhook_is_tested_and_its_answer_told(tocsin: Terminal, world: World, receiver: Receiver) -> None:
    hook = str(add_hook(world, receiver.url).id)
    tocsin.meanwhile = lambda: dispatch(world.worker, [], webhook_worker())

    good = tocsin("webhooks", "test", hook)
    receiver.answers.append(status(500, "out of order"))
    bad = tocsin("webhooks", "test", hook, "--json")

    assert (good.code, "it answered 204" in good.out) == (0, True)
    assert (bad.code, bad.json["response_status"]) == (1, 500)
    assert receiver.url in tocsin("webhooks", "list").out


def test_a_webhook_that_was_switched_off_is_resumed(tocsin: Terminal, world: World, receiver: Receiver) -> None:
    hook = str(add_hook(world, receiver.url, is_active=False).id)

    refused = tocsin("webhooks", "test", hook)
    resumed = tocsin("webhooks", "resume", hook)

    assert (refused.code, resumed.code) == (5, 0)
    assert tocsin("webhooks", "list", "--json").json["data"][0]["is_active"] is True


def test_a_key_is_alone_on_standard_output_and_shown_this_once(tocsin: Terminal, api: Api) -> None:
    made = tocsin(
        "keys", "create", "shop server", "--producer", "shop", "--scope", "send", "--scope", "read", "--expires-at", "30d"
    )
    key = made.out.strip()
    listed = tocsin("keys", "list", "--active", "--producer", "shop"), tocsin("keys", "list", "--json")

    assert made.code == 0
    assert "only time" in made.err
    assert api.get("/v1/notifications", key=key).status == 200
    assert not any(key in one.out + one.err for one in (*listed, made) if one is not made)
    assert key not in made.err


def test_an_admin_key_is_asked_about(tocsin: Terminal, doors: Doors) -> None:
    assert tocsin("keys", "create", "k", "--producer", "p", "--scope", "admin", typed="n\n").code == 1
    assert doors.calls == []
    assert tocsin("keys", "create", "k", "--producer", "p", "--scope", "admin", "--yes").code == 0


def test_a_key_is_rotated_and_revoked(tocsin: Terminal, api: Api) -> None:
    made = tocsin("keys", "create", "k", "--producer", "p", "--scope", "read", "--json").json
    rotated = tocsin("keys", "rotate", made["id"], "--overlap", "0s", "--json").json
    again = tocsin("keys", "rotate", made["id"])
    no = tocsin("keys", "revoke", rotated["id"], typed="n\n")
    revoked = tocsin("keys", "revoke", rotated["id"], typed="y\n")

    assert rotated["replaces"]["id"] == made["id"]
    assert (again.code, no.code, revoked.code) == (5, 1, 0)
    assert api.get(f"/v1/api-keys/{rotated['id']}").json["is_active"] is False


def test_a_tenant_is_made_suspended_resumed_and_deleted(tocsin: Terminal, api: Api) -> None:
    made = tocsin("tenants", "create", "Harbour", "--settings", '{"caps": {"intents_per_minute": 600}}', "--json").json
    tenant = made["id"]

    suspended = tocsin("tenants", "suspend", tenant, "--reason", "unpaid", "--yes")
    listed = tocsin("tenants", "list", "--status", "suspended", "--json").json["data"]
    resumed = tocsin("tenants", "resume", tenant)
    shown = tocsin("tenants", "show", tenant)
    counted = tocsin("tenants", "delete", tenant, "--dry-run", "--json").json
    wrong = tocsin("tenants", "delete", tenant, typed="harbour\n")
    deleted = tocsin("tenants", "delete", tenant, typed="Harbour\n")

    assert api.get("/v1/me", key=made["first_key"]["key"]).status in (200, 401, 404)
    assert [one["id"] for one in listed] == [tenant]
    assert (suspended.code, resumed.code, wrong.code, deleted.code) == (0, 0, 1, 0)
    assert '"intents_per_minute": 600' in shown.out
    assert counted["dry_run"] is True
    assert "Type the tenant's name" in wrong.err
    assert tocsin("tenants", "list", "--status", "deleting", "--json").json["data"][0]["id"] == tenant


def test_the_first_key_of_a_tenant_is_alone_on_standard_output(tocsin: Terminal, api: Api) -> None:
    key = tocsin("tenants", "create", "Harbour").out.strip()

    assert api.put("/v1/users/yara", {}, key=key).status == 201


def test_the_audit_log_is_listed_and_filtered(tocsin: Terminal) -> None:
    tocsin("users", "set", "ada", "--email", "ada@example.com")
    tocsin("keys", "create", "k", "--producer", "p", "--scope", "read")

    every = tocsin("audit", "list")
    keys = tocsin("audit", "list", "--resource-type", "api_key", "--since", "1h", "--limit", "5", "--json").json["data"]

    assert "user ada" in every.out
    assert [one["action"] for one in keys] == ["create"]


def test_the_log_is_verified_against_a_head_that_was_kept(tocsin: Terminal, world: World) -> None:
    for name in ("ada", "bo", "cy"):
        tocsin("users", "set", name, "--email", f"{name}@example.com")

    whole = tocsin("audit", "verify")
    head = whole.out.split("Head: ")[1].strip()
    known = tocsin("audit", "verify", "--known", head, "--json")
    with world.admin.transaction():
        world.admin.execute("SET LOCAL session_replication_role = replica")
        world.admin.execute("UPDATE audit_logs SET action = 'delete' WHERE seq = 2")
    broken = tocsin("audit", "verify")

    assert "3 rows hold." in whole.out
    assert (whole.code, known.code, known.json["holds"]) == (0, 0, True)
    assert (broken.code, "Broken at row 2: altered" in broken.out) == (1, True)
