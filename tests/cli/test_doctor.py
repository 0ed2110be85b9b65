"""`tocsin doctor` names the first thing to fix; `tocsin demo` does what the stack describes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.cli.conftest import Terminal
from tests.cli.stack import Doors
from tests.functions.doors import Api
from tests.world import World
from tocsin_cli.commands import doctor
from tocsin_cli.demo_steps import Unusable, steps

NOW = datetime(2026, 11, 17, 10, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no server behind the address of these tests: TLS is looked at elsewhere."""
    monkeypatch.setattr(doctor, "_tls", lambda session: iter([doctor.Check("tls", "ok", "TLSv1.3")]))


def states(ran: Any) -> dict[str, str]:
    return {check["name"]: check["state"] for check in ran.json["checks"]}


def test_a_healthy_stack_passes_every_check(tocsin: Terminal) -> None:
    ran = tocsin("doctor", "--json")

    assert ran.code in (0, 1)
    found = states(ran)
    assert [found[name] for name in ("profile", "reachable", "tls", "your clock", "ready", "key")] == ["ok"] * 6
    assert "database" in found


def test_without_a_profile_that_is_the_first_thing(bare: Terminal, doors: Doors) -> None:
    bare.env = {"TOCSIN_CONFIG": bare.env["TOCSIN_CONFIG"]}

    ran = bare("doctor")

    assert (ran.code, doors.calls) == (1, [])
    assert "Fix this first: profile: No stack is configured." in ran.out


def test_a_stack_that_cannot_be_reached_is_the_first_thing_and_nothing_more_is_asked(bare: Terminal, doors: Doors) -> None:
    doors.instead.extend([httpx.ConnectError("refused")] * 10)

    ran = bare("doctor", "--url", "http://127.0.0.1:1", "--json")

    assert ran.code == 1
    assert (ran.json["first"]["name"], states(ran)) == ("reachable", {"profile": "ok", "reachable": "failed"})
    assert "Nobody listens at 127.0.0.1:1" in ran.json["first"]["fix"]


def test_an_address_that_is_something_else_is_told(bare: Terminal, doors: Doors) -> None:
    doors.instead.append(httpx.Response(404, json={"message": "Not Found"}))

    assert "ApiUrl" in bare("doctor").out


def test_a_clock_that_is_off_is_told(tocsin: Terminal, doors: Doors) -> None:
    doors.skew = timedelta(minutes=7)

    ran = tocsin("doctor", "--json")

    assert states(ran)["your clock"] == "warning"
    (clock,) = [check for check in ran.json["checks"] if check["name"] == "your clock"]
    assert clock["detail"] in ("this machine is 7 min behind the stack", "this machine is 6 min behind the stack")


def test_a_schema_that_is_behind_ends_it(tocsin: Terminal, doors: Doors, world: World) -> None:
    ok = httpx.Response(200, json={"status": "ok"}, headers={"date": "Tue, 17 Nov 2026 10:00:00 GMT"})
    behind = {"type": "unavailable", "title": "Temporarily unavailable", "status": 503, "detail": "The schema is not the one."}
    doors.instead.extend([ok, ok, *[httpx.Response(503, json=behind)] * 2])

    ran = tocsin("doctor")

    assert ran.code == 1
    assert "Fix this first: ready: The schema is not the one." in ran.out


def test_a_key_that_is_not_valid_is_told(tocsin: Terminal) -> None:
    ran = tocsin("doctor", TOCSIN_KEY="tcn_live_nonsense")

    assert ran.code == 1
    assert "Fix this first: key" in ran.out


def test_what_the_stack_says_of_itself_is_told_the_failed_before_the_warnings(tocsin: Terminal, doors: Doors, api: Api) -> None:
    told = {"at": "2026-11-17T10:00:00Z", "healthy": False, "checks": [
        {"name": "queues", "state": "warning", "detail": "12 wait.", "fix": "Look."},
        {"name": "ses_identity", "state": "failed", "detail": "The sender is not verified.", "fix": "Verify it."},
    ]}  # fmt: skip
    doors.pages["/v1/diagnostics"] = told

    ran = tocsin("doctor")

    assert ran.code == 1
    assert "Fix this first: ses_identity: The sender is not verified.\n  do: Verify it." in ran.out


DEMO = {
    "steps": [
        {"say": "People", "method": "PUT", "path": "/v1/users/{person}-{run}", "each": ["ada", "bo"], "as": "person",
         "body": {"email": "{person}-{run}@example.com", "attributes": {"n": "{n}{n0}", "keep": "{{ person }} {unknown}"}}},
        {"say": "Many", "method": "POST", "path": "/v1/intents/batch", "each": 150, "gather": "intents",
         "body": {"idempotency_key": "{run}-{n}", "type": "demo", "audience": {"kind": "users", "user_ids": ["ada-{run}"]},
                  "payload": {"title": "Number {n}"}, "occurred_at": "{now-90m}"}},
        {"say": "Refused", "method": "PUT", "path": "/v1/users/x", "body": {"email": "nonsense"}, "may_fail": True},
        {"say": "Only here", "method": "PUT", "path": "/v1/users/local", "body": {}, "only": "local"},
    ]
}  # fmt: skip


def test_the_steps_of_the_stack_are_carried_out(tocsin: Terminal, doors: Doors, world: World) -> None:
    doors.pages["/console/demo.json"] = DEMO

    ran = tocsin("demo", "--yes", "--json")

    assert ran.code == 0, ran.err
    run = ran.json["run"]
    users = {row["external_id"]: row for row in world.rows("SELECT external_id, email, attributes FROM users")}
    assert users.keys() == {f"ada-{run}", f"bo-{run}"}
    assert users[f"bo-{run}"]["attributes"] == {"n": "21", "keep": "{{ person }} {unknown}"}
    assert world.count("records") == 150
    assert [call["status"] for call in ran.json["calls"]] == [201, 201, 200, 200, 422]
    assert "/email" in ran.err, "what is refused is shown"


def test_steps_of_a_local_stack_are_done_where_it_is_local(tocsin: Terminal, doors: Doors, world: World) -> None:
    doors.pages |= {"/console/demo.json": DEMO, "/_local": {"base_url": "x"}}

    assert tocsin("demo").code == 0, "a local stack needs no question"
    assert world.one("SELECT count(*) FROM users WHERE external_id = 'local'") == 1


def test_a_step_may_take_its_time(tocsin: Terminal, doors: Doors, world: World) -> None:
    step = {"say": "One a second", "method": "PUT", "path": "/v1/users/u-{n}", "body": {}, "each": 3, "pause_seconds": 1}
    doors.pages["/console/demo.json"] = {"steps": [step]}

    tocsin("demo", "--yes")

    assert (tocsin.pauses, world.count("users")) == ([1.0, 1.0, 1.0], 3)


def test_a_stack_that_people_may_rely_on_is_asked_about(tocsin: Terminal, doors: Doors, world: World) -> None:
    doors.pages["/console/demo.json"] = DEMO

    assert (tocsin("demo").code, tocsin("demo", typed="n\n").code, world.count("users")) == (2, 1, 0)
    assert tocsin("demo", "--dry-run").code == 0
    assert world.count("users") == 0


def test_a_step_that_must_not_fail_ends_it_with_1(tocsin: Terminal, doors: Doors) -> None:
    step = {"say": "People", "method": "PUT", "path": "/v1/users/ada", "body": {"email": "nonsense"}}
    doors.pages["/console/demo.json"] = {"steps": [step, step | {"path": "/v1/users/bo"}]}

    ran = tocsin("demo", "--yes")

    assert ran.code == 1
    assert ("PUT", "/v1/users/bo") not in doors.asked()
    assert "/email" in ran.err


@pytest.mark.parametrize(
    "document",
    [[], {}, {"steps": {}}, {"steps": [1]}, {"steps": [{"path": "/x"}]}, {"steps": [{"method": "PUT", "path": "https://elsewhere.example/"}]},
     {"steps": [{"method": "PUT", "path": "//elsewhere.example/"}]}, {"steps": [{"method": "TRACE", "path": "/"}]}],
)  # fmt: skip
def test_a_file_of_steps_that_cannot_be_used_is_told_before_anything_is_done(
    tocsin: Terminal, doors: Doors, document: Any
) -> None:
    doors.pages["/console/demo.json"] = document

    ran = tocsin("demo", "--yes")

    assert ran.code == 6
    assert {method for method, _ in doors.asked()} == {"GET"}


def test_moments_are_shifted_and_numbers_count_from_1() -> None:
    document = {
        "steps": [{"method": "POST", "path": "/{n}", "each": 3, "body": {"at": "{now}", "was": "{now-90m}", "will": "{now+2h}"}}]
    }

    (step,) = steps(document, run="abc", now=NOW)

    assert [call.path for call in step.calls] == ["/1", "/2", "/3"]
    assert step.calls[0].body == {
        "at": "2026-11-17T10:00:00.000000Z",
        "was": "2026-11-17T08:30:00.000000Z",
        "will": "2026-11-17T12:00:00.000000Z",
    }
    with pytest.raises(Unusable):
        list(steps({"steps": "no"}, run="abc", now=NOW))
