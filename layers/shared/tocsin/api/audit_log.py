"""The audit log: who changed what, and whether it is still what was written."""

import re
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.access import verify_audit
from tocsin.access.verify_audit import BEGINNING, PAGE, ChainPlace
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.http import cursors, filters, paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Request, Response
from tocsin.store import audit_logs, users

MOST_VERIFIED = 10_000
_PLACE = re.compile(r"([1-9][0-9]{0,17}):([0-9a-f]{64})", re.ASCII)
_TEXTS = ("actor", "person", "action", "resource_type", "resource_id")


class ShownAuditEntry(TypedDict):
    """Who changed what."""

    id: UUID
    seq: int | None
    hash: str | None
    actor: str
    user_id: str | None
    person: str | None
    action: str
    resource_type: str
    resource_id: str
    ip_address: str | None
    user_agent: str | None
    changes: dict[str, Any]
    created_at: datetime


class AuditHead(TypedDict):
    """The last row of the chain: keep it elsewhere, and give it as `known` later."""

    seq: int
    hash: str


class BrokenAuditEntry(TypedDict):
    """The first row that is not what was written."""

    seq: int | None
    id: UUID | None
    problem: Annotated[str, one_of("altered", "missing", "reordered", "unchained", "head")]
    detail: str


class AuditVerification(TypedDict):
    """Whether a stretch of the audit log is what was written, as `verify_audit.shown` has it."""

    holds: bool
    broken: BrokenAuditEntry | None
    checked: int
    first_seq: int
    head: AuditHead
    next_cursor: str | None


def list_audit_log(call: Call) -> Response:
    query = call.request.query
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    wanted: dict[str, Any] = {name: query.get(name) for name in _TEXTS}
    wanted |= {name: filters.moment_of(call.request, name) for name in ("since", "until")}
    with tenant_transaction(call.conn, call.tenant_id):
        wanted["user_id"] = _user(call, query["user_id"]) if "user_id" in query else None
        if wanted["resource_type"] == "user" and wanted["resource_id"] and not as_uuid(wanted["resource_id"]):
            wanted["resource_id"] = str(_user(call, wanted["resource_id"]))
        rows = audit_logs.list_page(call.conn, call.tenant_id, filters=wanted, limit=limit + 1, after=after)
        names = users.external_ids(call.conn, call.tenant_id, _people_in(rows))
    return paging.page(rows, limit, shown=lambda row: _shown(row, names), place=lambda row: (row.created_at, row.id))


def verify_audit_log(call: Call) -> Response:
    """Walks the chain page by page; `known` is a head that was answered before and kept elsewhere."""
    after = _place(cursors.decode_name(call.request.query["cursor"], _PLACE)) if "cursor" in call.request.query else BEGINNING
    verdict = verify_audit.verify(call.conn, call.tenant_id, after=after, limit=_limit(call.request), known=_known(call.request))
    shown = verify_audit.shown(verdict)
    cursor = shown["next_cursor"]
    return Response(200, shown | {"next_cursor": cursors.encode_name(cursor) if cursor else None})


def _user(call: Call, external_id: str) -> UUID:
    """Our own id of this user; of one whom nobody knows, an id that nobody has."""
    user = users.find(call.conn, call.tenant_id, external_id)
    return user.id if user else UUID(int=0)


def _people_in(rows: list[audit_logs.AuditEntry]) -> list[UUID]:
    about = [as_uuid(row.resource_id) for row in rows if row.resource_type in ("user", "user_token")]
    return list({one for one in (*about, *(row.user_id for row in rows)) if one})


def _shown(row: audit_logs.AuditEntry, names: dict[UUID, str]) -> ShownAuditEntry:
    about = as_uuid(row.resource_id) if row.resource_type in ("user", "user_token") else None
    return {
        "id": row.id,
        "seq": row.seq,
        "hash": row.hash.hex() if row.hash else None,
        "actor": row.actor,
        "user_id": names.get(row.user_id) if row.user_id else None,
        "person": row.person,
        "action": row.action,
        "resource_type": row.resource_type,
        "resource_id": names.get(about, row.resource_id) if about else row.resource_id,
        "ip_address": str(row.ip_address) if row.ip_address else None,
        "user_agent": row.user_agent,
        "changes": row.changes,
        "created_at": row.created_at,
    }


def _limit(request: Request) -> int:
    text = request.query.get("limit", str(PAGE))
    if not text.isascii() or not text.isdigit() or len(text) > 5 or not 1 <= int(text) <= MOST_VERIFIED:
        raise problems.invalid_parameter("limit", f"must be a number from 1 to {MOST_VERIFIED}")
    return int(text)


def _known(request: Request) -> ChainPlace | None:
    text = request.query.get("known")
    if text is None:
        return None
    if not _PLACE.fullmatch(text):
        raise problems.invalid_parameter("known", "must be a number and a hash, such as 17:9f86…, as `head` has them")
    return _place(text)


def _place(text: str) -> ChainPlace:
    seq, _, row_hash = text.partition(":")
    return ChainPlace(int(seq), bytes.fromhex(row_hash))


_FILTERS: list[dict[str, Any]] = [
    {"name": "actor", "in": "query", "schema": {"type": "string"}, "description": "key:<id>, user:<id>, job:<name> …"},
    {"name": "user_id", "in": "query", "schema": {"type": "string"}, "description": "Who acted, or owns the key that did"},
    {"name": "person", "in": "query", "schema": {"type": "string"}, "description": "Whom the caller named, as it was written"},
    *({"name": name, "in": "query", "schema": {"type": "string"}} for name in ("action", "resource_type", "resource_id")),
    *({"name": name, "in": "query", "schema": {"type": "string", "format": "date-time"}} for name in ("since", "until")),
]

ENDPOINTS = [
    Endpoint(
        "GET /v1/audit-log",
        "admin",
        list_audit_log,
        "List who changed what, newest first",
        parameters=[*_FILTERS, *paging.PARAMETERS],
        answer=PageOf[ShownAuditEntry],
    ),
    Endpoint(
        "GET /v1/audit-log/verify",
        "admin",
        verify_audit_log,
        "Is the audit log what was written? Names the first row that is not",
        parameters=[
            {
                "name": "limit",
                "in": "query",
                "schema": {"type": "integer", "minimum": 1, "maximum": MOST_VERIFIED, "default": PAGE},
            },
            {"name": "known", "in": "query", "schema": {"type": "string"}, "description": "A head that you kept: seq:hash"},
            paging.CURSOR,
        ],
        answer=AuditVerification,
    ),
]
