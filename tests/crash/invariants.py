"""The oracles: what must be true of our records and the provider's ledger after every drain, whatever broke before.

Numbers are those of the design's list of invariants. Each returns sentences about what is wrong; an empty list is good."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.world import World
from tocsin.store.rows import RANKS
from tocsin.upkeep.balance import balance

Row = dict[str, Any]
TERMINAL = {"published", "dead_letter", "skipped", "cancelled"}
SENT = ("email", "sms", "push")


@dataclass(slots=True)
class Evidence:
    """Both sides of the story: our tables, and the ledger by route."""

    records: list[Row]
    routes: dict[str, Row]
    attempts: dict[str, list[Row]]
    outbox: list[Row]
    letters: list[Row]
    events: list[Row]
    ledger: list[Row]
    ledger_of: dict[str, list[Row]] = field(default_factory=dict)
    strangers: list[Row] = field(default_factory=list)  # accepted by the provider for no route of ours


def gather(world: World, ledger: list[Row]) -> Evidence:
    attempts: dict[str, list[Row]] = defaultdict(list)
    for row in world.rows("SELECT * FROM attempts ORDER BY started_at, attempt_no"):
        attempts[_name(row)].append(row)
    found = Evidence(
        records=world.rows("SELECT * FROM records"),
        routes={_name(row): row for row in world.rows("SELECT * FROM routes")},
        attempts=attempts,
        outbox=world.rows("SELECT * FROM outbox"),
        letters=world.rows("SELECT * FROM dead_letters"),
        events=world.rows("SELECT * FROM provider_events"),
        ledger=ledger,
        ledger_of=defaultdict(list),
    )
    by_phone = {row["resolved_phone"]: name for name, row in found.routes.items() if row["channel"] == "sms"}
    for entry in ledger:
        # SNS takes no tags with an SMS: there the number names the route, so scenarios give each route its own.
        name = entry["tags"].get("tocsin_route") or by_phone.get(entry["to"][0])
        if name in found.routes:
            found.ledger_of[name].append(entry)
        else:
            found.strangers.append(entry)
    return found


def every_intent_ends(found: Evidence) -> list[str]:
    """I1: every accepted intent has routes, and every route one terminal state; a buried plan is an end too."""
    planned = {row["notification_id"] for row in found.routes.values()}
    buried = {row["notification_id"] for row in found.letters if row["source_kind"] == "plan"}
    wrong = [f"{row['notification_id']} has no routes" for row in found.records if row["notification_id"] not in planned | buried]
    wrong += [f"{name} is still {row['status']}" for name, row in found.routes.items() if row["status"] not in TERMINAL]
    letters = Counter(f"{row['notification_id']}_{row['route_id']}" for row in found.letters if row["route_id"])
    for name, row in found.routes.items():
        if letters[name] != (row["status"] == "dead_letter"):
            wrong.append(f"{name} is {row['status']} and has {letters[name]} dead letters")
    return wrong


def published_is_accepted(found: Evidence) -> list[str]:
    """I2: published ⇔ the ledger has its attempt; what the ledger has beyond that is on record as a doubt."""
    wrong = []
    for name, row in found.routes.items():
        if row["channel"] not in SENT:
            continue
        entries = {entry["message_id"]: entry for entry in found.ledger_of.get(name, [])}
        if row["status"] == "published":
            proof = entries.get(row["provider_message_id"])
            accepted = [one for one in found.attempts[name] if one["outcome"] == "accepted"]
            if proof is None:
                wrong.append(f"{name} is published and the ledger does not know its message {row['provider_message_id']!r}")
            elif not any(_is_of(proof, one) for one in accepted):
                wrong.append(f"{name} is published without an accepted attempt")
        elif entries and not any(one["outcome"] in (None, "unknown", "accepted") for one in found.attempts[name]):
            wrong.append(f"{name} is {row['status']}, was accepted by the provider, and nothing of ours doubts it")
        elif entries and row["status"] in TERMINAL and not row["may_have_arrived"]:
            wrong.append(f"{name} ended {row['status']}: {row['reason']}, was accepted by the provider, and its end hides it")
    return wrong


def nothing_unrecorded_was_sent(found: Evidence) -> list[str]:
    """I3: ledger ⊆ opened attempts."""
    wrong = [f"the ledger has a message to {entry['to']} for no route" for entry in found.strangers]
    for name, entries in found.ledger_of.items():
        for entry in entries:
            if not any(_is_of(entry, one) for one in found.attempts[name]):
                wrong.append(f"{name} was sent as attempt {entry['tags'].get('tocsin_attempt')} that was never opened")
        if len(entries) > len(found.attempts[name]):
            wrong.append(f"{name} was accepted {len(entries)} times in {len(found.attempts[name])} attempts")
    return wrong


def sent_once(found: Evidence) -> list[str]:
    """I4: one acceptance per route, or two with the doubt recorded and a lost answer in the history."""
    wrong = []
    for name, entries in found.ledger_of.items():
        lost = [one for one in found.attempts[name] if one["outcome"] in (None, "unknown")]
        doubted = found.routes[name]["duplicate_suspected"] and lost
        if len(entries) > (2 if doubted else 1):
            wrong.append(f"{name} was accepted {len(entries)} times, doubt recorded: {bool(doubted)}")
    return wrong


def nothing_is_stuck(found: Evidence) -> list[str]:
    """I17: with the faults over, the backlog empties."""
    return [f"outbox still has {row['source_kind']} of {row['route_id']}, due {row['due_at']}" for row in found.outbox]


def one_record_per_key(found: Evidence) -> list[str]:
    """I8."""
    held = Counter((row["tenant_id"], row["producer"], row["idempotency_key"]) for row in found.records if row["holds_key"])
    return [f"{count} records hold the key {key}" for key, count in held.items() if count > 1]


def feedback_is_the_join_of_its_events(found: Evidence) -> list[str]:
    """I10: the register has the highest rank among the stored events, whatever order they came in."""
    ranks: dict[str, list[str]] = defaultdict(list)
    for event in found.events:
        ranks[_name(event)].append(event["feedback"])
    return [
        f"{name} has feedback {row['feedback']} and events {ranks[name]}"
        for name, row in found.routes.items()
        if row["feedback"] != max(["none", *ranks[name]], key=RANKS.index)
    ]


def routes_carry_the_time_of_their_record(found: Evidence) -> list[str]:
    """The lists rely on it: a route with another time would be missed, or stand in the wrong place."""
    accepted = {row["notification_id"]: row["accepted_at"] for row in found.records}
    return [
        f"{name} carries {row['accepted_at']}"
        for name, row in found.routes.items()
        if row["accepted_at"] != accepted[row["notification_id"]]
    ]


SAFETY = (
    published_is_accepted,
    nothing_unrecorded_was_sent,
    sent_once,
    one_record_per_key,
    feedback_is_the_join_of_its_events,
    routes_carry_the_time_of_their_record,
)
ALL = (every_intent_ends, nothing_is_stuck, *SAFETY)


def check(world: World, ledger: list[Row], where: str = "") -> Evidence:
    """Every invariant, after a drain."""
    found = gather(world, ledger)
    wrong = [f"{oracle.__name__}: {sentence}" for oracle in ALL for sentence in oracle(found)]
    books = balance(world.retention, has_time=lambda: True)
    wrong += [f"the books: {name} {ids}" for name, found_of in books.residue.items() for ids in found_of.values()]
    assert not wrong, "\n".join([where, *wrong])
    return found


def _name(row: Row) -> str:
    return f"{row['notification_id']}_{row['route_id']}"


def _is_of(entry: Row, attempt: Row) -> bool:
    tag = entry["tags"].get("tocsin_attempt")
    return tag is None or tag == f"{attempt['generation']}-{attempt['attempt_no']}"
