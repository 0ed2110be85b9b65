"""Receipts: what was erased, when, and by whose wish."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api.words import AtLeast
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.http import paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store import erasures


class ErasureReceipt(TypedDict):
    """What was erased, when, and by whose wish. `subject_hash` tells whose it was to those who know."""

    id: UUID
    kind: Annotated[str, one_of("user", "tenant")]
    status: Annotated[str, one_of("running", "finished")]
    subject_hash: str
    erased: dict[str, int]
    requested_by: str
    requested_at: datetime
    finished_at: datetime | None


def list_erasures(call: Call) -> Response:
    limit = paging.limit_of(call.request)
    after = paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = erasures.list_page(call.conn, call.tenant_id, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=shown_receipt, place=lambda one: (one.requested_at, one.id))


def get_erasure(call: Call) -> Response:
    erasure_id = as_uuid(call.request.path_parameters.get("id", ""))
    with tenant_transaction(call.conn, call.tenant_id):
        found = erasures.find(call.conn, call.tenant_id, erasure_id) if erasure_id else None
    if found is None:
        raise problems.not_found("receipt")
    return Response(200, shown_receipt(found))


def shown_receipt(erasure: erasures.Erasure) -> ErasureReceipt:
    return {
        "id": erasure.id,
        "kind": erasure.kind,
        "status": "finished" if erasure.finished_at else "running",
        "subject_hash": erasure.subject_hash.hex(),
        "erased": erasure.counts,
        "requested_by": erasure.requested_by,
        "requested_at": erasure.requested_at,
        "finished_at": erasure.finished_at,
    }


def shown_count(count: int, *, is_cut: bool) -> int | AtLeast:
    """A number; where there may be more than was counted, it says so."""
    return {"count": count, "at_least": True} if is_cut else count


ENDPOINTS = [
    Endpoint(
        "GET /v1/erasures",
        "manage",
        list_erasures,
        "List receipts of erasures",
        parameters=paging.PARAMETERS,
        answer=PageOf[ErasureReceipt],
    ),
    Endpoint(
        "GET /v1/erasures/{id}",
        "manage",
        get_erasure,
        "Show a receipt",
        answers={404: "No such receipt"},
        answer=ErasureReceipt,
    ),
]
