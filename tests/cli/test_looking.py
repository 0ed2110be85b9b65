"""`tocsin explain`, `search`, `tail`, `status` and `inbox`, over what really happened."""

import json
from typing import Any

import httpx
import pytest

from tests.cli.conftest import Terminal
from tests.cli.stack import Doors
from tests.functions.doors import Api, intent
from tests.letters import REFUSED, bury_delivery
from tests.operators import close_lane
from tests.world import World
from tocsin.api.notifications import STATUSES
from tocsin.foundation.ids import uuid7
from tocsin.store import job_runs
from tocsin_cli import reasons
from tocsin_cli.command import ROUTE_STATUSES
from tocsin_cli.commands.tail import Told
from tocsin_cli.sentences import sentence


@pytest.fixture
def sent(world: World, api: Api) -> str:
    """A notification to alice, delivered by email."""
    world.add_user("alice")
    notification_id: str = api.send(intent(), idempotency_key="order-17").json["notification_id"]
    world.dispatch()
    return notification_id


def test_a_notification_is_explained_by_its_id(tocsin: Terminal, sent: str) -> None:
    ran = tocsin("explain", sent)

    assert ran.code == 0
    for part in (
        "order.shipped",
        "Accepted by shop",
        "Planned: email to user:alice",
        "Began attempt 1 by ses",
        "Taken: attempt 1 by ses",
        "Published: accepted by ses",
        "message id  m-1",
        "key        order-17",
    ):
        assert part in ran.out


@pytest.mark.parametrize("what", ["order-17", "m-1", "alice", "alice@example.com"])
def test_anything_that_leads_to_it_will_do(tocsin: Terminal, sent: str, what: str) -> None:
    assert tocsin("explain", what, "--json").json["notification_id"] == sent


@pytest.mark.parametrize("what", ["alice", "alice@example.com"])
def test_by_a_person_only_what_concerns_them_is_told(tocsin: Terminal, world: World, api: Api, what: str) -> None:
    for name in ("alice", "bob"):
        world.add_user(name)
    sent = api.send(intent(audience={"kind": "users", "user_ids": ["alice", "bob"]}), idempotency_key="both").json
    world.dispatch()

    found = tocsin("explain", what, "--json").json

    assert found["notification_id"] == sent["notification_id"]
    assert [route["recipient"] for route in found["routes"]] == ["user:alice"]
    assert "bob" not in tocsin("explain", what).out
    assert {route["recipient"] for route in tocsin("explain", "both", "--json").json["routes"]} == {"user:alice", "user:bob"}


def test_a_dead_letter_leads_to_its_notification_with_what_to_do(tocsin: Terminal, world: World) -> None:
    world.add_user("alice")
    letter = str(bury_delivery(world))

    ran = tocsin("explain", letter)

    assert ran.code == 0
    assert "Given up: permanent" in ran.out
    assert f"tocsin dead-letters replay {letter}" in ran.out


def test_of_several_the_others_are_named(tocsin: Terminal, world: World, api: Api, sent: str) -> None:
    later = api.send(intent()).json["notification_id"]
    world.dispatch()

    ran = tocsin("explain", "alice", "--json")

    assert {ran.json["notification_id"], *(one for one in (sent, later) if one in ran.err)} == {sent, later}


def test_the_words_are_shown_as_they_were_sent(tocsin: Terminal, sent: str) -> None:
    ran = tocsin("explain", sent, "--message")

    assert "subject: Shipped" in ran.out
    assert "It is on its way." in ran.out


def test_a_message_that_cannot_be_rendered_says_why(tocsin: Terminal, doors: Doors, sent: str, api: Api) -> None:
    whole = api.get(f"/v1/notifications/{sent}").json
    refusal = {"type": "not-renderable", "title": "It cannot be rendered", "status": 409, "detail": "Its payload is gone."}
    doors.instead.extend([httpx.Response(200, json=whole), httpx.Response(409, json=refusal)])

    ran = tocsin("explain", sent, "--message")

    assert ran.code == 0
    assert "Its payload is gone." in ran.out


def test_what_nobody_knows_is_4(tocsin: Terminal, world: World) -> None:
    assert tocsin("explain", "nothing-of-ours").code == 4
    assert tocsin("search", "nothing-of-ours").code == 4
    assert tocsin("explain", "00000000-0000-7000-8000-00000000000f").code == 4


def test_a_search_lists_what_is_found_and_by_what(tocsin: Terminal, sent: str) -> None:
    ran = tocsin("search", "order-17")

    assert ran.code == 0
    assert sent in ran.out
    assert "idempotency key" in ran.out


def test_the_reasons_are_those_of_the_page_on_sending() -> None:
    from pathlib import Path

    page = (Path(__file__).parent.parent.parent / "docs" / "sending.md").read_text()
    table = page.split("## Why did she not get it?")[1].split("`may_have_arrived`")[0]

    for name in reasons.MEANINGS.keys() - {"erased"}:  # which docs/users.md tells of
        assert f"`{name}" in table, name
    assert reasons.meaning("dampened: hourly") != reasons.meaning("dampened: told by digest 1")
    assert reasons.meaning("something new") == ""


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (
            {"what": "skipped", "reason": "no_address"},
            "Skipped: no_address (the user has no email, phone or device for this channel)",
        ),
        ({"what": "provider_bounce", "reason": "ses: General"}, "Bounced, says ses: General"),
        ({"what": "cancel_asked", "reason": ""}, "Somebody asked to cancel it"),
        ({"what": "something_new", "reason": "for a reason"}, "Something new: for a reason"),
        ({"what": "something_new", "reason": None}, "Something new"),
    ],
)
def test_a_step_is_a_sentence_also_where_it_is_not_known(step: dict[str, Any], said: str) -> None:
    assert sentence(step)[0] == said


def test_decisions_are_told_once_in_their_order(tocsin: Terminal, sent: str) -> None:
    ran = tocsin("tail", "--once", "--since", "1h")
    lines = [json.loads(line) for line in tocsin("tail", "--once", "--since", "1h", "--json").out.splitlines()]

    assert ran.code == 0
    assert [line["what"] for line in lines] == ["accepted", "planned", "attempt_opened", "attempt_accepted", "published"]
    assert len(ran.out.splitlines()) == 5
    assert "order.shipped  email to user:alice: Published: accepted by ses" in ran.out


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (("--type", "order.shipped"), 5),
        (("--type", "other"), 0),
        (("--channel", "sms"), 0),
        (("--user", "bob"), 0),
        (("--producer", "nobody"), 0),
        (("--status", "dead_letter"), 0),
    ],
)
def test_decisions_can_be_filtered(tocsin: Terminal, sent: str, filters: tuple[str, ...], count: int) -> None:
    assert len(tocsin("tail", "--once", "--since", "1h", *filters).out.splitlines()) == count


def decision(number: int, **more: Any) -> dict[str, Any]:
    head = {
        "id": f"d-{number}",
        "at": "2026-11-17T10:00:00Z",
        "notification_id": "n",
        "type": "t",
        "producer": "p",
        "mode": "live",
    }
    return head | {"route_id": None, "channel": None, "recipient": None, "what": "accepted", "reason": f"by {number}"} | more


def page(*decisions: dict[str, Any], more: bool = False, since: str = "2026-11-17T10:00:00Z") -> httpx.Response:
    return httpx.Response(200, json={"data": list(decisions), "next_since": since, "more": more})


def test_it_follows_through_restarts_and_tells_nothing_twice(bare: Terminal, doors: Doors) -> None:
    doors.instead.extend(
        [
            page(decision(1), decision(2), more=True, since="2026-11-17T10:00:01Z"),
            page(decision(2), decision(3), since="2026-11-17T10:00:02Z"),
            *[httpx.ConnectError("refused")] * 5,
            page(decision(3), decision(4), since="2026-11-17T10:00:03Z"),
        ]
    )

    def until_the_end() -> None:
        if not doors.instead:
            raise KeyboardInterrupt

    bare.meanwhile = until_the_end

    ran = bare("tail")

    assert ran.code == 0, "Ctrl-C is how it ends"
    assert [line.split("by ")[1][0] for line in ran.out.splitlines()] == ["1", "2", "3", "4"]
    assert "Trying again" in ran.err
    assert "It answers again." in ran.err
    assert [call.url.params.get("since", "")[-3:] for call in doors.calls][:3] == ["", "01Z", "02Z"]


def test_the_statuses_to_choose_from_are_those_of_routes() -> None:
    assert tuple(ROUTE_STATUSES.choices) == STATUSES


def test_what_never_answered_is_not_followed(bare: Terminal, doors: Doors) -> None:
    doors.instead.extend([httpx.ConnectError("refused")] * 20)

    assert bare("tail").code == 6


def test_a_key_that_is_revoked_meanwhile_ends_it(bare: Terminal, doors: Doors) -> None:
    refused = httpx.Response(401, json={"type": "unauthorized", "title": "No", "status": 401, "detail": "Send a valid key."})
    doors.instead.extend([page(), refused])

    assert bare("tail").code == 3


def test_hostile_words_of_a_decision_cannot_move_the_cursor(bare: Terminal, doors: Doors) -> None:
    doors.instead.append(page(decision(1, reason="\x1b[2J\u202egpj\r", type="a\nb")))

    ran = bare("tail", "--once")

    assert len(ran.out.splitlines()) == 1
    assert not set(ran.out) & set("\x1b\u202e\r")


def test_only_the_latest_ids_are_remembered() -> None:
    told = Told()

    assert told.is_new("a")
    assert not told.is_new("a")
    assert all(told.is_new(str(n)) for n in range(20_000))
    assert told.is_new("a"), "which is long ago"


def test_a_healthy_stack_is_0_and_one_in_trouble_is_1_with_what_to_do(tocsin: Terminal, world: World) -> None:
    for job in ("sweep", "retention"):
        job_runs.start(world.worker, run_id := uuid7(), job)
        job_runs.finish(world.worker, run_id, outcome="complete", report={}, error="")

    well = tocsin("status")
    close_lane(world, "ses:email", tenant=None)
    ill = tocsin("status")

    assert (well.code, ill.code) == (0, 1)
    assert "Nothing is wrong." in well.out
    assert "do: " in ill.out
    assert "tocsin lanes open ses:email --reason …" in ill.out, "the call that helps, as a command"
    assert tocsin("status", "--json").json["healthy"] is False


def test_watching_tells_each_change_and_goes_on_through_restarts(bare: Terminal, doors: Doors) -> None:
    def shown(*problems: str) -> httpx.Response:
        found = [{"what": what, "since": None, "do": "mend it"} for what in problems]
        return httpx.Response(200, json={"healthy": not found, "problems": found, "at": "2026-11-17T10:00:00Z", "backlog": []})

    doors.instead.extend([shown(), shown(), *[httpx.ConnectError("x")] * 5, shown("Broken."), shown("Broken."), shown()])

    def until_the_end() -> None:
        if not doors.instead:
            raise KeyboardInterrupt

    bare.meanwhile = until_the_end

    ran = bare("status", "--watch")

    assert ran.code == 0
    assert [line.split("  ")[0] for line in ran.out.splitlines() if "wrong" in line] == [
        "Nothing is wrong.",
        "1 thing is wrong.",
        "Nothing is wrong.",
    ]


def test_an_inbox_is_listed_and_marked(tocsin: Terminal, world: World, api: Api) -> None:
    world.add_user("alice")
    for n in range(3):
        api.send(intent(channels=["in_app"], payload={"title": f"Number {n}"}))
    world.dispatch()

    rows = tocsin("inbox", "alice", "--unread", "--json").json["data"]
    shown = tocsin("inbox", "alice", "--limit", "2")
    one = tocsin("inbox", "alice", "--read", rows[0]["id"])
    left = tocsin("inbox", "alice", "--unread", "--json").json["data"]
    rest = tocsin("inbox", "alice", "--read-all", "--json").json

    assert (len(rows), len(left), rest["marked"]) == (3, 2, 2)
    assert (one.out, shown.out.count("Number")) == ("1 marked as read.\n", 2)
    assert tocsin("inbox", "nobody").code == 4


def test_the_refused_one_is_explained_with_the_providers_answer(tocsin: Terminal, world: World, api: Api) -> None:
    world.add_user("alice")
    world.email.answers.append(REFUSED)
    notification_id = api.send(intent()).json["notification_id"]
    world.dispatch()

    ran = tocsin("explain", notification_id)

    assert "Refused for good: attempt 1 by ses" in ran.out
    assert "Address blacklisted." in ran.out
