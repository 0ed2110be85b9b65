"""An event that cannot be told, or takes its workers down, is set aside after three tries; its neighbours are told in order."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.events import cursor, fan_out_all, happen, inbox, outcomes, populate, route, took_part
from tests.functions.doors import Context, handler_of, module_of, sqs_event
from tests.world import World
from tocsin.audience import fan_out
from tocsin.foundation import database, settings

PAST_LEASE = fan_out.LEASE + timedelta(seconds=1)
SERVER_ERRORS = {
    "integrity": "RAISE EXCEPTION 'poison' USING ERRCODE = 'check_violation'",
    "data": "PERFORM 1 / 0",
    "internal": "RAISE EXCEPTION 'poison' USING ERRCODE = 'XX000'",
    "raised": "RAISE EXCEPTION 'poison' USING ERRCODE = 'data_exception'",
}


@pytest.fixture
def alice(breakable_world: World) -> World:
    """She takes part in the thread already, so that its events may be told in one batch."""
    breakable_world.add_user("alice")
    took_part(breakable_world, "alice", "mention")
    route(breakable_world)
    return breakable_world


POISON = "NEW.outcome <> 'dead_letter' AND NEW.data ->> 'title' LIKE 'poison%'"


def _break(world: World, what_happens: str, *, when: str = POISON, row: str = "UPDATE ON domain_events") -> None:
    """Let the telling of a poisonous event do this to its statement. Tries are counted even if they are rolled back."""
    world.admin.execute(
        f"""CREATE SEQUENCE tries;
            GRANT USAGE, SELECT ON SEQUENCE tries TO tocsin_worker;
            CREATE FUNCTION break() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF {when} THEN
                    PERFORM nextval('tries');
                    {what_happens};
                END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER break BEFORE {row} FOR EACH ROW EXECUTE FUNCTION break()"""
    )


def _tries(world: World) -> int:
    return int(world.one("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM tries"))


def _mention(world: World, *titles: str, **event: Any) -> None:
    for title in titles:
        happen(world, title=title, mentions=["alice"], **event)


def _face(world: World) -> tuple[str, int]:
    row = inbox(world)["alice"]
    return row["title"], row["event_count"]


def test_events_whose_telling_fails_are_set_aside_after_three_tries_and_their_neighbours_are_told_in_order(alice: World) -> None:
    errors = " ".join(f"WHEN 'poison {name}' THEN {statement};" for name, statement in SERVER_ERRORS.items())
    _break(alice, f"CASE NEW.data ->> 'title' {errors} END CASE")
    titles = ["one", "two", *[title for name in SERVER_ERRORS for title in (f"poison {name}", f"after {name}")]]
    _mention(alice, *titles)

    fan_out_all(alice)

    assert _face(alice) == ("after raised", 6)
    assert outcomes(alice) == [("dead_letter", 0) if title.startswith("poison") else ("notified", 1) for title in titles]
    # the first once in the company of its batch; then each three times alone
    assert _tries(alice) == 1 + 3 * 4
    assert cursor(alice)["last_event_id"] == alice.one("SELECT max(id) FROM domain_events")
    assert (cursor(alice)["claim_count"], cursor(alice)["leased_until"]) == (0, None)


def test_a_schema_that_is_not_ours_is_no_fault_of_the_events(alice: World) -> None:
    """Code that runs before its migration must not bury what waits, one event after the other."""
    _break(alice, "EXECUTE 'SELECT nowhere'")
    _mention(alice, "poison", "two")

    with pytest.raises(psycopg.ProgrammingError):
        fan_out_all(alice)

    assert alice.count("dead_letters") == 0
    assert [outcome for outcome, _ in outcomes(alice)] == ["waiting", "waiting"]


def test_the_dead_letter_says_what_it_was_and_what_to_do(alice: World) -> None:
    _break(alice, SERVER_ERRORS["raised"])
    _mention(alice, "poison")

    fan_out_all(alice)

    (letter,), (event,) = alice.dead_letters(), alice.rows("SELECT * FROM domain_events")
    assert (letter["source_kind"], letter["failure_classification"], letter["final_attempt_count"]) == ("fanout", "poison", 3)
    assert (letter["tenant_id"], letter["notification_id"]) == (event["tenant_id"], event["notification_id"])
    assert letter["failure_message"] and letter["recovery_hint"]
    assert (letter["route_id"], letter["resolution"]) == (None, None)
    assert (_tries(alice), outcomes(alice), alice.inbox()) == (3, [("dead_letter", 0)], [])


@pytest.mark.parametrize(
    "titles",
    [["poison 1", "poison 2", "one"], ["one", "two", "poison"]],
    ids=" ".join,
)
def test_wherever_it_stands_only_the_poison_is_set_aside(titles: list[str], alice: World) -> None:
    _break(alice, SERVER_ERRORS["integrity"])
    _mention(alice, *titles)

    fan_out_all(alice)

    good = [title for title in titles if not title.startswith("poison")]
    assert _face(alice) == (good[-1], len(good))
    assert [outcome == "dead_letter" for outcome, _ in outcomes(alice)] == [title not in good for title in titles]
    assert len(alice.dead_letters()) == len(titles) - len(good)


def test_an_event_that_fails_in_the_midst_of_its_pages_keeps_what_was_told_and_is_set_aside(
    alice: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "PAGE", 2)
    monkeypatch.setattr(fan_out, "MOST_IN_BATCH", 2)
    populate(alice, 6)
    last = alice.one("SELECT external_id FROM users ORDER BY id DESC LIMIT 1")
    its_last = f"NEW.user_id = (SELECT id FROM users WHERE external_id = '{last}')"
    _break(alice, SERVER_ERRORS["raised"], when=its_last, row="INSERT ON notifications")

    happen(alice, title="many", mentions=[f"user-{n}" for n in range(1, 7)])
    _mention(alice, "after", thread={"kind": "issue", "id": "2"})
    fan_out_all(alice)

    told = alice.rows("SELECT title, count(DISTINCT user_id) AS people FROM notifications GROUP BY title ORDER BY title")
    assert told == [{"title": "after", "people": 1}, {"title": "many", "people": 6}], "alice and five of the six"
    assert alice.count("dead_letters") == 1
    assert [outcome for outcome, _ in outcomes(alice)] == ["dead_letter", "notified"]
    assert alice.one("SELECT count(*) FROM outbox WHERE source_kind = 'fanout'") == 0


def test_an_event_that_ends_its_workers_session_is_set_aside_after_three_deaths(alice: World) -> None:
    """Nobody is left to record an error: the claims themselves are counted."""
    _break(alice, "PERFORM pg_terminate_backend(pg_backend_pid())")
    _mention(alice, "one", "poison", "two")

    deaths = _fan_out_among_deaths(alice)

    assert (_face(alice), deaths) == (("two", 2), 4)
    assert [outcome for outcome, _ in outcomes(alice)] == ["notified", "dead_letter", "notified"]
    assert [letter["failure_classification"] for letter in alice.dead_letters()] == ["poison"]


def test_an_event_whose_telling_never_ends_is_set_aside_too(alice: World) -> None:
    """The server gives the statement up; that is no error of the event's as far as we can see."""
    _break(alice, "PERFORM pg_sleep(60)")
    _mention(alice, "poison", "one")

    _fan_out_among_deaths(alice, statement_timeout="300ms")

    assert (_face(alice), [outcome for outcome, _ in outcomes(alice)]) == (("one", 1), ["dead_letter", "notified"])


def test_an_event_that_ended_two_workers_and_not_a_third_is_told(alice: World) -> None:
    """As when the server itself was restarted, twice."""
    _break(alice, "IF (SELECT last_value FROM tries) < 3 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF")
    _mention(alice, "poison", "one")

    deaths = _fan_out_among_deaths(alice)

    assert (_face(alice), deaths, alice.dead_letters()) == (("one", 2), 2, [])


def _fan_out_among_deaths(world: World, *, statement_timeout: str = "25s") -> int:
    """A new worker, on a connection of its own, each time that a lease has lapsed; how many of them died."""
    deaths = 0
    for _ in range(10):
        conn = world.connect()
        conn.execute("SELECT set_config('statement_timeout', %s, false)", [statement_timeout])
        try:
            fan_out_all(world, conn)
        except psycopg.OperationalError:
            deaths += 1
            world.pass_time(PAST_LEASE)
        else:
            return deaths
        finally:
            conn.close()
    pytest.fail(f"nothing came of it: {world.rows('SELECT * FROM domain_events_processed')}")


@pytest.mark.filterwarnings("ignore:No application metrics to publish")
@pytest.mark.parametrize(
    "mishap",
    ["RAISE EXCEPTION 'lost' USING ERRCODE = 'deadlock_detected'", "PERFORM pg_terminate_backend(pg_backend_pid())"],
    ids=["deadlock", "failover"],
)
def test_a_mishap_of_the_database_costs_a_repetition_and_not_a_lease(
    mishap: str, alice: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Someone who marks rows as read may meet the fan-out. The work is repeated at once, and must find its own lease."""
    monkeypatch.setenv("TOCSIN_DATABASE_URL", alice.dsn("tocsin_worker"))
    settings.settings.cache_clear()
    database.disconnect()
    monkeypatch.setattr(module_of("dispatch"), "_ways", lambda: alice.worker_policy().ways)
    _break(alice, mishap, when="NOT (SELECT is_called FROM tries)")
    _mention(alice, "one", "two")

    dispatch: Callable[..., dict[str, Any]] = handler_of("dispatch")
    answer = dispatch(sqs_event({"v": 1, "ids": [], "fanout": True}), Context())

    assert answer == {"batchItemFailures": []}
    assert _face(alice) == ("two", 2)
