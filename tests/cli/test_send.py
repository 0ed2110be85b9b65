"""`tocsin send`, against the real intake."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Terminal
from tests.cli.stack import URL, Doors
from tests.functions.doors import Api
from tests.functions.test_live import Clock
from tests.letters import REFUSED
from tests.world import World
from tocsin.intake import wait

WORDS = ("--type", "order.shipped", "--title", "Shipped", "--message", "On its way.")


@pytest.fixture
def waiting(world: World, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Workers come while somebody waits for the outcome."""
    clock = Clock()
    clock.happen = lambda nap: world.dispatch() if nap == 1 else None
    monkeypatch.setattr(wait, "time", clock)
    return clock


def test_somebody_by_address_gets_the_words(tocsin: Terminal, world: World) -> None:
    ran = tocsin("send", "--email", "ada@example.com", *WORDS, "--json")
    world.dispatch()

    (message,) = world.email.accepted
    assert (ran.code, ran.json["status"], message.email) == (0, "accepted", "ada@example.com")
    assert world.one("SELECT idempotency_key FROM records") == ran.json["idempotency_key"]


@pytest.mark.parametrize(
    ("who", "audience"),
    [
        (("--to", "alice", "--to", "bob"), {"kind": "users", "user_ids": ["alice", "bob"]}),
        (
            ("--email", "a@b.example", "--phone", "+4915112345678"),
            {"kind": "address", "email": "a@b.example", "phone": "+4915112345678"},
        ),
        (("--scope", "harbour"), {"kind": "scope", "scope": "harbour"}),
        (("--thread", "order:A:17"), {"kind": "thread", "thread": {"kind": "order", "id": "A:17"}}),
        (("--everyone",), {"kind": "tenant"}),
    ],
)
def test_each_audience_is_taken(
    tocsin: Terminal, world: World, doors: Doors, who: tuple[str, ...], audience: dict[str, Any]
) -> None:
    world.add_user("alice")
    world.add_user("bob")

    ran = tocsin("send", *who, *WORDS)

    assert ran.code == 0, ran.err
    assert json.loads(doors.calls[-1].content)["audience"] == audience


def test_everything_that_an_intent_can_say_is_said(tocsin: Terminal, doors: Doors, home: Path) -> None:
    (home / "order.json").write_text('{"order": "A-17", "title": "of the file"}')
    more = ("--channel", "email", "--channel", "in_app", "--priority", "high", "--thread", "order:1", "--expires-at", "2h")

    ran = tocsin("send", "--scope", "harbour", "--type", "t", "--payload", "@order.json", "--title", "T", *more, "--key", 'a,"b"')

    assert ran.code == 0, ran.err
    body = json.loads(doors.calls[-1].content)
    assert body["payload"] == {"order": "A-17", "title": "T"}
    assert (body["channels"], body["priority"], body["thread"]) == (["email", "in_app"], "high", {"kind": "order", "id": "1"})
    assert tocsin("explain", ran.out.split()[0], "--json").json["idempotency_key"] == 'a,"b"'


def test_the_payload_comes_through_standard_input(tocsin: Terminal, doors: Doors) -> None:
    ran = tocsin("send", "--everyone", "--type", "t", "--payload", "-", typed='{"title": "T"}')

    assert (ran.code, json.loads(doors.calls[-1].content)["payload"]) == (0, {"title": "T"})


def test_the_same_key_sends_once(tocsin: Terminal, world: World) -> None:
    first = tocsin("send", "--everyone", *WORDS, "--key", "k-1", "--json")
    second = tocsin("send", "--everyone", *WORDS, "--key", "k-1", "--json")

    assert first.json["notification_id"] == second.json["notification_id"]
    assert (first.json["replayed"], second.json["replayed"], world.count("records")) == (False, True, 1)


def test_a_dry_run_prints_the_request_and_sends_nothing(tocsin: Terminal, doors: Doors) -> None:
    ran = tocsin("send", "--everyone", *WORDS, "--dry-run", "--json")
    shown = tocsin("send", "--everyone", *WORDS, "--dry-run")

    assert doors.calls == []
    assert (ran.json["method"], ran.json["url"], ran.json["body"]["audience"]) == (
        "POST",
        f"{URL}/v1/intents",
        {"kind": "tenant"},
    )
    assert tocsin.env["TOCSIN_KEY"] not in ran.out + shown.out + shown.err


def test_who_waits_is_told_how_it_ended(tocsin: Terminal, world: World, waiting: Clock) -> None:
    world.add_user("alice", phone=None)

    ran = tocsin("send", "--to", "alice", *WORDS, "--channel", "email", "--channel", "sms", "--wait")

    assert ran.code == 0
    assert "published  email to user:alice" in ran.out
    assert "no_address (the user has no email, phone or device for this channel)" in ran.out


def test_what_ends_badly_is_1(tocsin: Terminal, world: World, waiting: Clock) -> None:
    world.email.answers.append(REFUSED)

    ran = tocsin("send", "--email", "ada@example.com", *WORDS, "--wait", "--json")

    assert (ran.code, ran.json["routes"][0]["status"]) == (1, "dead_letter")


def test_an_audience_that_no_call_waits_for_is_looked_after(tocsin: Terminal, world: World) -> None:
    world.add_user("alice")
    tocsin.meanwhile = world.dispatch

    ran = tocsin("send", "--everyone", *WORDS, "--channel", "email", "--wait", "--json")

    assert (ran.code, ran.json["status"], ran.json["routes"][0]["status"]) == (0, "finished", "published")


def test_what_has_not_ended_in_time_is_1(tocsin: Terminal, world: World) -> None:
    ran = tocsin("send", "--everyone", *WORDS, "--wait", "--json")

    assert (ran.code, ran.json["status"], sum(tocsin.pauses)) == (1, "accepted", 20)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--to", "a", "--everyone"),
        ("--email", "a@b.example", "--scope", "s"),
        ("--thread", "order"),
        ("--everyone", "--payload", "{"),
        ("--everyone", "--payload", "[]"),
        ("--everyone", "--payload", "@nowhere"),
        ("--everyone", "--key", "é"),
    ],
)
def test_what_cannot_be_meant_is_2_and_nothing_is_sent(tocsin: Terminal, doors: Doors, arguments: tuple[str, ...]) -> None:
    assert (tocsin("send", *WORDS, *arguments).code, doors.calls) == (2, [])


def test_what_the_server_refuses_is_told_with_pointers(tocsin: Terminal) -> None:
    ran = tocsin("send", "--to", "nobody", *WORDS)

    assert ran.code == 5
    assert "/audience/user_ids/0: nobody is not known" in ran.err
    assert "unknown-users" in ran.err


def test_a_test_is_asked_for_in_the_intent(tocsin: Terminal) -> None:
    assert tocsin("send", "--everyone", *WORDS, "--test", "--dry-run", "--json").json["body"]["mode"] == "test"


def test_a_key_without_the_scope_is_3(tocsin: Terminal, world: World, api: Api) -> None:
    ran = tocsin("send", "--everyone", *WORDS, TOCSIN_KEY=world.add_key("read"))

    assert ran.code == 3
    assert "`send`" in ran.err
