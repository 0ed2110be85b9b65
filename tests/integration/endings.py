"""A register of every statement that ends a route, hears of one or buries work: how each comes about, and what is told of it."""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from tests.cancelling import cancel
from tests.claiming import claim
from tests.content import add_suppression
from tests.events import TYPE, Visit, fan_out_all, fan_out_once, happen, route, wait_until_readable
from tests.listening import Said, carry_out, dead, sent
from tests.recipients import THREAD, prefer
from tests.ses_events import heard
from tests.unit.source import LAYER, Module, modules, texts
from tests.unit.test_updated_at import _UPDATE
from tests.world import LEASE, TENANT, World
from tocsin.audience import fan_out
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.feedback.apply import apply_events
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store.flow import erase
from tocsin.store.flow.settle_runs import settle_runs
from tocsin.store.flow.settle_webhooks import WebhookSettlement, settle_webhooks
from tocsin.store.rows import RunEnd

MINUTE = timedelta(minutes=1)
PAST_LEASE = LEASE + timedelta(seconds=1)
TRANSIENT = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "later")
REFUSED = Failure(FailureClass.PERMANENT, "MessageRejected", "no")
LOST = Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "no answer")

_INSERT = re.compile(r"\b(?:INSERT INTO|MERGE INTO|COPY) (routes|dead_letters)\b")
_TELLING = re.compile(r"(?:^|[,(]\s*|\s)(?:status|feedback)\s+=(?!=)")

Act = Callable[[World], list[Said]]


@dataclass(frozen=True, slots=True)
class Ending:
    """How something ends through the real use case, which statement writes it, and which trigger of the schema tells of it (none:
    there is nothing to tell). `act` returns all that is said from beginning to end."""

    statement: str
    act: Act
    trigger: str | None
    letters: int = 0

    @property
    def name(self) -> str:
        return f"{self.statement.split()[0]}-{self.act.__name__}"


ENDINGS: list[Ending] = []


def ending(statement: str, trigger: str | None, *, letters: int = 0) -> Callable[[Act], Act]:
    def register(act: Act) -> Act:
        ENDINGS.append(Ending(statement, act, trigger, letters))
        return act

    return register


def statements() -> dict[str, str]:
    """What is found in the source: each statement by its name, with its place."""
    found = {}
    for module in modules():
        for node, text in texts(module):
            written = {f"INSERT {table}" for table in _INSERT.findall(text)}
            updates = [one for one in _UPDATE.finditer(text) if one["table"] == "routes" and _TELLING.search(one["set"])]
            updates = [one for one in updates if "status = 'pending'" not in one["set"]]  # a replay begins, and ends nothing
            for what in written | ({"UPDATE routes"} if updates else set()):
                path = module.path.removeprefix(f"{LAYER}/store/").removesuffix(".py")
                found[f"{path}.{_function(module, node)} {what}"] = module.at(node, what)
    return found


def _function(module: Module, node: ast.AST) -> str:
    around = [one for one in module.tree.body if isinstance(one, ast.FunctionDef) and node in ast.walk(one)]
    return around[0].name if around else ""


PLAN = "flow/plan.plan INSERT routes"
FAN_OUT = "flow/fan_out.fan_out INSERT routes"
DIGEST = "flow/dampen.hold INSERT routes"
SETTLE = "flow/settle.settle UPDATE routes"
SETTLE_DEAD = "flow/settle.settle INSERT dead_letters"
CANCEL = "flow/cancel.cancel_unsent UPDATE routes"
ERASE = "flow/erase.cancel_unsent UPDATE routes"
FEEDBACK = "routes.raise_feedback UPDATE routes"
BURY = "flow/bury.bury INSERT dead_letters"
HOOK_DEAD = "flow/settle_webhooks.settle_webhooks INSERT dead_letters"
RUN_DEAD = "flow/settle_runs.settle_runs INSERT dead_letters"
SET_ASIDE = "flow/set_aside.set_aside INSERT dead_letters"


# --- planning


@ending(PLAN, "tell_of_new_route")
def no_address(world: World) -> list[Said]:
    world.add_user("alice", email=None)
    world.accept(channels=["email", "sms"])
    carry_out(world)
    return [Said("skipped", "no_address"), Said("skipped", "no_address", "sms")]


@ending(PLAN, "tell_of_new_route")
def cancelled_before_planning(world: World) -> list[Said]:
    world.add_user()
    asked = world.accept()
    cancel(world.app, TENANT, asked.notification_id)
    carry_out(world)
    return [Said("cancelled", "cancelled")]


@ending(PLAN, "tell_of_new_route")
def expired_before_planning(world: World) -> list[Said]:
    world.add_user()
    world.accept(expires_at=(datetime.now(UTC) + MINUTE).isoformat())
    carry_out(world, 2 * MINUTE)
    return [Said("skipped", "expired")]


@ending(PLAN, "tell_of_new_route")
def in_the_inbox(world: World) -> list[Said]:
    world.add_user()
    world.accept(channels=["in_app"])
    carry_out(world)
    return [Said("published", channel="in_app", provider="inbox")]


@ending(PLAN, "tell_of_new_route")
def in_everyones_inbox(world: World) -> list[Said]:
    world.add_user()
    world.accept(channels=["in_app"], audience={"kind": "tenant"})
    carry_out(world)
    return [Said("published", channel="in_app", recipient="tenant", provider="inbox")]


# --- fan-out


@ending(FAN_OUT, "tell_of_new_route")
def event_for_somebody_without_an_address(world: World) -> list[Said]:
    world.add_user("alice", email=None)
    route(world, rules={"mention": ["email", "in_app"]})
    happen(world, title="Look", mentions=["alice"])
    fan_out_all(world)
    return [Said("skipped", "no_address", type=TYPE, producer="/repo")]


@ending(FAN_OUT, None)
def event_for_the_inbox_alone_makes_no_route(world: World) -> list[Said]:
    world.add_user()
    route(world)
    happen(world, title="Look", mentions=["alice"])
    fan_out_all(world)
    assert world.count("notifications") == 1
    return []


# --- settling


@ending(SETTLE, "tell_of_route")
def accepted_by_the_provider(world: World) -> list[Said]:
    world.add_user()
    world.accept()
    carry_out(world)
    return [sent()]


@ending(SETTLE, "tell_of_route")
def accepted_after_a_retry(world: World) -> list[Said]:
    """The failure in between is no end and is not told."""
    world.add_user()
    world.email.answers.append(TRANSIENT)
    world.accept()
    carry_out(world)
    assert world.route()["status"] == "failed"
    carry_out(world, MINUTE)
    return [sent(attempts=2)]


@ending(SETTLE, "tell_of_route")
def email_of_an_event(world: World) -> list[Said]:
    world.add_user()
    route(world, rules={"mention": ["email"]})
    happen(world, title="Look", mentions=["alice"])
    fan_out_all(world)
    carry_out(world)
    return [sent(type=TYPE, producer="/repo")]


@ending(SETTLE, "tell_of_route")
def suppressed(world: World) -> list[Said]:
    world.add_user()
    add_suppression(world)
    world.accept()
    carry_out(world)
    return [Said("skipped", "suppressed: manual")]


@ending(SETTLE, "tell_of_route")
def not_wanted(world: World) -> list[Said]:
    prefer(world, world.add_user(), enabled=False)
    world.accept()
    carry_out(world)
    return [Said("skipped", "preference: email off")]


@ending(SETTLE, "tell_of_route")
def expired_while_waiting(world: World) -> list[Said]:
    world.add_user()
    world.email.answers.append(TRANSIENT)
    world.accept(expires_at=(datetime.now(UTC) + 10 * MINUTE).isoformat())
    carry_out(world)
    carry_out(world, 11 * MINUTE)
    return [Said("skipped", "expired", attempts=1, provider="ses")]


@ending(SETTLE, "tell_of_route")
def cancelled_in_the_providers_hands(world: World) -> list[Said]:
    world.add_user()
    asked = world.accept()

    def cancel_meanwhile(message: object) -> Failure:
        cancel(world.app, TENANT, asked.notification_id)
        return TRANSIENT

    world.email.answers.append(cancel_meanwhile)
    carry_out(world)
    carry_out(world, MINUTE)
    return [Said("cancelled", "cancelled", attempts=1, provider="ses")]


@ending(SETTLE, "tell_of_route")
def answer_lost_and_proven(world: World) -> list[Said]:
    world.add_user()
    world.accept()
    world.email.answers.append(LOST)
    carry_out(world)
    apply_events(world.worker, [heard("send", world.attempts()[0], message_id="m-proof")])
    carry_out(world)
    return [sent(provider_message_id="m-proof")]


@ending(SETTLE_DEAD, "tell_of_route", letters=1)
def refused_by_the_provider(world: World) -> list[Said]:
    world.add_user()
    world.email.answers.append(REFUSED)
    world.accept()
    carry_out(world)
    return [Said("dead_lettered", "permanent", attempts=1, provider="ses")]


@ending(SETTLE_DEAD, "tell_of_route", letters=1)
def tries_used_up(world: World) -> list[Said]:
    world.add_user()
    world.email.answers += [TRANSIENT, TRANSIENT]
    world.accept(retry={"max_attempts": 2, "backoff": "constant", "base_ms": 1000})
    carry_out(world)
    carry_out(world, MINUTE)
    return [Said("dead_lettered", "exhausted", attempts=2, provider="ses")]


@ending(SETTLE_DEAD, "tell_of_route", letters=1)
def delivery_that_ended_three_workers(world: World) -> list[Said]:
    world.add_user()
    world.email.answers.append(TRANSIENT)
    world.accept()
    carry_out(world)
    world.pass_time(MINUTE)
    _end_three_workers(world)
    carry_out(world)
    return [Said("dead_lettered", "poison", attempts=1, provider="ses")]


# --- digests


@ending(DIGEST, "tell_of_route")
def held_back_and_told_by_a_digest(world: World) -> list[Said]:
    """The digest that is opened says nothing until its own email ends."""
    world.add_user()
    for title in ("one", "two"):
        world.accept(thread=THREAD, payload={"title": title, "message": "m"})
        carry_out(world)
    (digest,) = world.rows("SELECT * FROM records WHERE audience_kind = 'digest'")
    carry_out(world, 11 * MINUTE)
    return [
        sent(),
        Said("skipped", f"dampened: told by digest {digest['notification_id']}"),
        sent(provider_message_id="m-2", producer="tocsin"),
    ]


# --- the cancel call


@ending(CANCEL, "tell_of_route")
def cancelled_by_the_call(world: World) -> list[Said]:
    world.add_user()
    world.email.answers.append(TRANSIENT)
    asked = world.accept()
    carry_out(world)
    cancel(world.app, TENANT, asked.notification_id)
    return [Said("cancelled", "cancelled", attempts=1, provider="ses")]


# --- somebody is erased


@ending(ERASE, "tell_of_route")
def cancelled_because_its_recipient_is_erased(world: World) -> list[Said]:
    world.add_user()
    world.email.answers.append(TRANSIENT)
    world.accept()
    carry_out(world)
    with tenant_transaction(world.app, TENANT):
        erase.cancel_unsent(world.app, TENANT, recipient="user:alice", until=datetime.now(UTC) + LEASE, limit=10)
    return [Said("cancelled", "erased", attempts=1, provider="ses")]


# --- feedback


def _heard(world: World, *news: str) -> None:
    world.add_user()
    world.accept()
    carry_out(world)
    for one in news:
        apply_events(world.worker, [heard(one, world.attempts()[0])])


@ending(FEEDBACK, "tell_of_route")
def delivered(world: World) -> list[Said]:
    _heard(world, "send", "delay", "delivery")
    return [sent(), sent("delivered", feedback="delivered")]


@ending(FEEDBACK, "tell_of_route")
def bounced_for_now_and_for_good(world: World) -> list[Said]:
    _heard(world, "soft bounce", "hard bounce")
    return [sent(), sent("bounced", feedback="soft_bounced"), sent("bounced", feedback="hard_bounced")]


@ending(FEEDBACK, "tell_of_route")
def complained(world: World) -> list[Said]:
    """What comes late and ranks lower changes nothing, and is not told."""
    _heard(world, "delivery", "complaint", "delivery", "hard bounce")
    return [sent(), sent("delivered", feedback="delivered"), sent("complained", feedback="complained")]


# --- what has no route


@ending(BURY, "tell_of_dead_letter", letters=1)
def plan_that_ended_three_workers(world: World) -> list[Said]:
    world.add_user()
    world.accept()
    _end_three_workers(world)
    carry_out(world)
    return [dead("poison", attempts=3)]


@ending(BURY, "tell_of_dead_letter", letters=1)
def page_that_ended_three_workers(world: World) -> list[Said]:
    most, fan_out.MOST_IN_BATCH = fan_out.MOST_IN_BATCH, 2
    try:
        for person in ("alice", "bob", "carol"):
            world.add_user(person)
        route(world)
        happen(world, mode="live", title="Look", mentions=["alice", "bob", "carol"])
        wait_until_readable(world)
        fan_out_once(world)
    finally:
        fan_out.MOST_IN_BATCH = most
    _end_three_workers(world)
    carry_out(world)
    return [dead("poison", attempts=3, type=TYPE, producer="/repo")]


@ending(BURY, "tell_of_dead_letter", letters=1)
def delivery_about_nothing(world: World) -> list[Said]:
    put(world, "deliver", "email")
    carry_out(world)
    return [dead("orphaned", type=None, producer=None)]


@ending(BURY, "tell_of_dead_letter", letters=1)
def delivery_whose_route_is_gone(world: World) -> list[Said]:
    world.add_user()
    world.email.answers.append(TRANSIENT)
    world.accept()
    carry_out(world)
    world.admin.execute("DELETE FROM routes")
    carry_out(world, MINUTE)
    return [dead("orphaned", attempts=1)]


@ending(SET_ASIDE, "tell_of_dead_letter", letters=1)
def event_that_ended_three_workers(world: World) -> list[Said]:
    return set_an_event_aside(world, "live")


@ending(HOOK_DEAD, None, letters=1)
def hook_that_never_answered(world: World) -> list[Said]:
    """What could not be told is not told of either."""
    said = accepted_by_the_provider(world)
    token = uuid4()
    due = [row["id"] for row in world.rows("SELECT id FROM outbox WHERE queue = 'webhook'")]
    (work,) = claim(world.worker, due, token=token)
    failed = WebhookSettlement(work.id, token, "failed", error="timeout", failure_message="no answer", recovery_hint="mend it")
    settle_webhooks(world.worker, [failed])
    return said


@ending(RUN_DEAD, None, letters=1)
def run_that_kept_failing(world: World) -> list[Said]:
    """A trigger's run is no notification."""
    token = uuid4()
    (work,) = claim(world.worker, [put(world, "trigger", "trigger")], token=token)
    failed = RunEnd(work.id, "failed", classification="exhausted", message="no answer", hint="mend it")
    settle_runs(world.worker, [(failed, token)])
    return []


def set_an_event_aside(world: World, mode: str) -> list[Said]:
    world.add_user()
    route(world)
    happen(world, mode=mode, title="Look", mentions=["alice"])
    for _ in range(fan_out.MAX_TRIES):
        Visit(world)
        world.pass_time(fan_out.LEASE + timedelta(seconds=1))
    fan_out_all(world)
    return [dead("poison", attempts=3, type=TYPE, producer="/repo", mode=mode)]


def _end_three_workers(world: World) -> None:
    """Whatever is due takes down whoever claims it, three times."""
    for _ in range(3):
        claim(world.worker, world.due())
        world.pass_time(PAST_LEASE)


def put(world: World, kind: str, queue: str) -> UUID:
    """Work that belongs to nothing."""
    outbox_id = uuid7()
    world.admin.execute(
        "INSERT INTO outbox (id, tenant_id, source_kind, queue, due_at, max_attempts, retry_backoff, retry_base_ms)"
        " VALUES (%s, %s, %s, %s, tocsin_now(), 5, 'exponential', 1000)",
        [outbox_id, TENANT, kind, queue],
    )
    return outbox_id
