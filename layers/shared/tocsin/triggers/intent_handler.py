"""The handler `intent`: the trigger's intent, filled with the event's values, is accepted as if its key had sent it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from pydantic import ValidationError

from tocsin.access.audit import Actor
from tocsin.access.authenticate import Principal
from tocsin.content.plain import Unrenderable
from tocsin.foundation import strict_json
from tocsin.foundation.field_errors import errors_of
from tocsin.foundation.fields import MAX_BODY
from tocsin.foundation.settings import settings
from tocsin.intake import accept_intents, admission
from tocsin.intake.accept_intents import Admitted, Asked, KeyReused, UnknownUsers
from tocsin.intake.intents import Intent
from tocsin.intake.refusal_words import code_of, words_of
from tocsin.intake.reserve import Entangled
from tocsin.store.rows import TriggerRun
from tocsin.triggers.event import event_of
from tocsin.triggers.retry import HandlerFailure

_LIMIT = "intents"
IN_FLIGHT = timedelta(seconds=1)
NEXT_WINDOW = timedelta(minutes=1)  # of the key's own limit

Sending = tuple[TriggerRun, Asked]


def asked(run: TriggerRun) -> Asked | HandlerFailure:
    """The intent as it is to be accepted. The run's id is its idempotency key: however often it is run, it is sent once."""
    from tocsin.content.fill import filled  # noqa: PLC0415  the engine is slow to import, so only on use

    assert run.handler  # noqa: S101  for the type checker: what is gone is not run
    try:
        value = filled(run.handler.config.get("intent"), {"event": event_of(run)})
        intent = Intent.model_validate(value, context=admission.context())
    except Unrenderable as error:
        return HandlerFailure("unrenderable", str(error), is_permanent=True)
    except ValidationError as error:
        wrong = "; ".join(f"{one['pointer']} {one['message']}" for one in errors_of(error))
        return HandlerFailure("invalid_intent", f"filled with the event it is no intent: {wrong}", is_permanent=True)
    if len(strict_json.canonical(value)) > MAX_BODY:
        return HandlerFailure("too_large", f"filled with the event it has more than {MAX_BODY} bytes", is_permanent=True)
    if accept_intents.send_at_is_too_far(intent):
        return HandlerFailure("invalid_intent", "/send_at must be within 365 days", is_permanent=True)
    if run.key is not None and accept_intents.asks_for_more(intent, run.key.mode):
        return HandlerFailure("invalid_intent", "/mode cannot be live: a test key registered the trigger", is_permanent=True)
    if run.key is not None and intent.given_users and not admission.may_give_users(_principal(run)):
        said = "/audience/user_ids gives users, which needs a key with the scope manage"
        return HandlerFailure("forbidden", said, is_permanent=True)
    depth = run.work.trigger_depth
    sent_by = "letter" if run.letter is not None else "trigger"  # what a letter causes fires no further dead-letter trigger
    return Asked(f"{sent_by}:{run.work.id}", intent, strict_json.fingerprint(value), trigger_depth=depth)


def send(conn: Connection[Any], sending: list[Sending]) -> list[tuple[TriggerRun, HandlerFailure | None]]:
    """Accept the intents, those of one key together, or say of each why not."""
    groups: dict[tuple[UUID, str], list[Sending]] = {}
    for one, intent in sending:
        assert one.key  # noqa: S101  likewise
        groups.setdefault((one.key.id, one.trace_id), []).append((one, intent))
    return [sent for group in groups.values() for sent in _send(conn, group)]


def _send(conn: Connection[Any], group: list[Sending]) -> list[tuple[TriggerRun, HandlerFailure | None]]:
    """What cannot be accepted together is accepted one by one, so that none has to wait for its neighbour."""
    config = settings()
    first = group[0][0]
    principal = _principal(first)
    actor = Actor(principal.tenant_id, f"key:{principal.key_id}", user_id=principal.user_id)
    sender = admission.sender_of(principal, usual_limit=config.rate_limit_per_minute, actor=actor)
    try:
        with admission.admitted(sender, _LIMIT, len(group)):
            ends, _ = accept_intents.accept(
                conn,
                [intent for _, intent in group],
                sender=sender,
                request_id=str(first.work.id),
                trace_id=first.trace_id,
                window=timedelta(days=config.idempotency_days),
            )
            return [(one, _failure(end)) for (one, _), end in zip(group, ends, strict=True)]
    except (admission.RateExceeded, admission.KeyInFlight, Entangled) as refusal:
        if len(group) > 1:
            return [sent for one in group for sent in _send(conn, [one])]
        if isinstance(refusal, admission.KeyInFlight):
            return [(first, HandlerFailure("in_flight", "another worker is accepting it", wait=IN_FLIGHT))]
        said = f"the key may send {sender.rate_limit} intents in a minute, and has"
        return [(first, HandlerFailure("rate_limited", said, wait=NEXT_WINDOW))]


def _principal(run: TriggerRun) -> Principal:
    assert run.key  # noqa: S101  likewise
    key = run.key
    return Principal(key.id, run.work.tenant_id, key.producer, key.mode, frozenset(key.scopes), key.rate_limit)


def _failure(end: accept_intents.IntakeEnd) -> HandlerFailure | None:
    if isinstance(end, Admitted | KeyReused):  # reused by this run itself, whose trigger was changed between two tries
        return None
    code = "unknown_users" if isinstance(end, UnknownUsers) else code_of(end)
    return HandlerFailure(code, words_of(end), is_permanent=True)
