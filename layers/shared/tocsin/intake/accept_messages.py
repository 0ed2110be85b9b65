"""Accept intents and events that come by queue or event bus. What cannot be accepted is kept: not lost, not looped."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from pydantic import BaseModel, ValidationError

from tocsin.access.audit import Actor
from tocsin.foundation import strict_json
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.field_errors import errors_of
from tocsin.foundation.fields import MAX_BODY
from tocsin.foundation.ids import as_uuid, uuid7
from tocsin.intake.accept_events import Told, record_events
from tocsin.intake.accept_intents import Admitted, Asked, accept, send_at_is_too_far
from tocsin.intake.admission import Sender, context
from tocsin.intake.cloud_events import MAX_DATA, CloudEvent, data_is_too_large
from tocsin.intake.intents import KEY, Intent
from tocsin.intake.refusal_words import code_of, words_of
from tocsin.store import malformed_intents, tenants

MAX_RAW = 8 * 1024
INTENT = "tocsin.intent"  # any other detail-type on the bus is a domain event
ENVELOPE = ("idempotency_key", "tenant_id", "producer")


@dataclass(frozen=True, slots=True)
class Entry:
    """One message as the queue gave it. `id` stays the same over redeliveries."""

    id: str
    body: str


@dataclass(frozen=True, slots=True)
class Defaults:
    tenant_id: UUID | None
    window: timedelta


class Malformed(Exception):
    """The entry cannot be accepted, now or later. It is recorded as a malformed intent."""

    def __init__(self, code: str, message: str, fields: dict[str, Any] | None = None, tenant_id: UUID | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.fields = fields or {}
        self.tenant_id = tenant_id  # whose it is, where that is not known otherwise


def accept_entry(conn: Connection[Any], entry: Entry, defaults: Defaults) -> str:
    """How it ended: accepted, duplicate or malformed. Raises when the database cannot be asked: then the queue redelivers."""
    tenant_id, entry_id, source = defaults.tenant_id, entry.id, "queue"
    try:
        fields, entry_id, source = _read(entry)
        tenant_id = _tenant(conn, fields, defaults)
        sender = Sender(
            tenant_id,
            producer=str(fields.get("producer") or source),
            mode="live",
            rate_subject="intake-queue",
            rate_limit=2_000_000_000,  # the queue itself is the throttle: a limit here could only lose or loop
            actor=Actor(tenant_id, _actor_name(source, fields.get("producer"))),
        )
        if "specversion" in fields:
            told = _told({name: part for name, part in fields.items() if name not in ENVELOPE}, fields)
            (recorded,), _ = record_events(conn, [told], sender=sender, request_id=entry.id, trace_id="")
            return "duplicate" if recorded.is_duplicate else "accepted"
        asked = _asked(fields, entry_id)
        (end,), _ = accept(conn, [asked], sender=sender, request_id=entry.id, trace_id="", window=defaults.window)
        if isinstance(end, Admitted):
            return "duplicate" if end.is_replay else "accepted"
        raise Malformed(code_of(end), words_of(end), fields)
    except Malformed as problem:
        whose = problem.tenant_id or tenant_id
        if whose is None:
            raise
        _keep(conn, entry, problem, whose, key=entry_id, producer=source)
        return "malformed"


def _actor_name(source: str, producer: Any) -> str:
    """Whoever puts it there chooses the words, so they begin with one of ours: nobody passes for a key or a job."""
    way = "queue" if source == "queue" else f"events:{source}"
    return (f"{way}:{producer}" if producer else way)[:255]


def _read(entry: Entry) -> tuple[dict[str, Any], str, str]:
    """The fields, the id that deduplicates, and where it came from."""
    raw = entry.body.encode("utf-8", "surrogatepass")
    if len(raw) > MAX_BODY:
        raise Malformed("too_large", f"the message has {len(raw)} bytes; at most {MAX_BODY} are accepted")
    try:
        value = strict_json.parse(raw)
    except (strict_json.InvalidJson, strict_json.UnsafeJson) as error:
        raise Malformed("invalid_json", str(error)) from None
    if not isinstance(value, dict):
        raise Malformed("schema", "an intent must be an object")
    if "detail-type" in value and isinstance(value.get("detail"), dict):
        fields = value["detail"] if value["detail-type"] == INTENT else _as_event(value)
        return fields, str(value.get("id") or entry.id), str(value.get("source") or "events")
    return value, entry.id, "queue"


def _as_event(envelope: dict[str, Any]) -> dict[str, Any]:
    """What EventBridge says of an event, in CloudEvents' words; unless its detail is a CloudEvent already."""
    detail = envelope["detail"]
    if "specversion" in detail:
        return dict(detail)
    event = {
        "specversion": "1.0",
        "id": envelope.get("id"),
        "source": envelope.get("source"),
        "type": envelope["detail-type"],
        "time": envelope.get("time"),
        "data": {name: part for name, part in detail.items() if name != "tenant_id"},
    }
    return event | ({"tenant_id": detail["tenant_id"]} if "tenant_id" in detail else {})


def _tenant(conn: Connection[Any], fields: dict[str, Any], defaults: Defaults) -> UUID:
    named = fields.get("tenant_id")
    if named is None:
        if defaults.tenant_id is None:
            raise Malformed("schema", "tenant_id is required: this installation has no default tenant", fields)
        return defaults.tenant_id
    tenant_id = as_uuid(named) if isinstance(named, str) else None
    if tenant_id is not None:
        with tenant_transaction(conn, tenant_id):
            status = tenants.status_of(conn, tenant_id)
        if status == "suspended":
            raise Malformed("tenant_suspended", "the tenant is suspended", fields, tenant_id)
        if status == "active":
            return tenant_id
    raise Malformed("unknown_tenant", "there is no such tenant", fields)


def _told(value: dict[str, Any], fields: dict[str, Any]) -> Told:
    if data_is_too_large(value):
        raise Malformed("too_large", f"/data has more than {MAX_DATA} bytes", fields)
    try:
        return Told(CloudEvent.model_validate(value), value.get("data") or {}, uuid7())
    except ValidationError as error:
        raise _misshapen(error, fields, CloudEvent) from None


def _misshapen(error: ValidationError, fields: dict[str, Any], model: type[BaseModel]) -> Malformed:
    wrong = "; ".join(f"{one['pointer'] or '/'} {one['message']}" for one in errors_of(error, model))
    return Malformed("schema", wrong, fields)


def _asked(fields: dict[str, Any], entry_id: str) -> Asked:
    key = fields.get("idempotency_key", entry_id)
    producer = fields.get("producer", "")
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise Malformed("schema", "idempotency_key must be 1 to 255 printable ASCII characters", fields)
    if not isinstance(producer, str) or len(producer) > 100:
        raise Malformed("schema", "producer must be a string of at most 100 characters", fields)
    value = {name: part for name, part in fields.items() if name not in ENVELOPE}
    try:
        intent = Intent.model_validate(value, context=context())
    except ValidationError as error:
        raise _misshapen(error, fields, Intent) from None
    if send_at_is_too_far(intent):
        raise Malformed("schema", "/send_at must be within 365 days", fields)
    return Asked(key, intent, strict_json.fingerprint(value))


def _keep(conn: Connection[Any], entry: Entry, problem: Malformed, tenant_id: UUID, *, key: str, producer: str) -> None:
    """With the key and producer that it would have had: whoever repairs it accepts it as what it was."""
    fields = problem.fields
    with tenant_transaction(conn, tenant_id):
        malformed_intents.insert_unless_known(
            conn,
            stream_entry_id=entry.id,
            tenant_id=tenant_id,
            notification_type=_text(fields.get("type")),
            producer=_text(fields.get("producer")) or producer[:255],
            idempotency_key=_text(fields.get("idempotency_key")) or key[:255],
            failure_code=problem.code,
            failure_message=str(problem)[:1000],
            raw_fields=_capped(fields, entry.body),
        )


def _text(value: Any) -> str:
    return value[:255] if isinstance(value, str) else ""


def _capped(fields: dict[str, Any], body: str) -> dict[str, Any]:
    """What came in, whole if it is small and readable, else its beginning."""
    if fields and len(json.dumps(fields)) <= MAX_RAW:
        return fields
    head = body[:MAX_RAW].replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    return {"beginning": head, "length": len(body)}
