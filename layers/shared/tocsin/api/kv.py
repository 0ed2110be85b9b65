"""KV: small JSON values that producers keep, whose changes fire triggers."""

import re
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from pydantic import RootModel
from typing_extensions import TypedDict

from tocsin.api.depth import HEADER_PARAMETER, depth_of
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import as_uuid, uuid7
from tocsin.http import cursors, door, paging, preconditions, problems
from tocsin.http.answers import PageOf
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import kv_entries
from tocsin.store.flow.write_kv import KvCondition
from tocsin.triggers import kv, names
from tocsin.triggers.kv import KvFull, ValueTooLarge

MAX_VALUE = 64 * 1024
MAX_PAGE = 1024 * 1024  # bytes of the values of one page
MOST_COUNTED = 10_000  # entries of one collection
_VERSION = re.compile(r"[1-9][0-9]{0,17}")


class ValueBody(RootModel[Any]):
    """Any JSON value, null too, of up to 64 KiB."""


class KvState(TypedDict):
    """An entry without its value."""

    collection: str
    key: str
    version: int
    created_at: datetime
    updated_at: datetime


class ShownKvEntry(KvState):
    """An entry: a JSON value under its key."""

    value: Any


class ShownKvCollection(TypedDict):
    """A collection, and how many entries it has. `at_least`: there are more than were counted."""

    collection: str
    count: int
    at_least: bool
    updated_at: datetime


def put_kv(call: Call) -> Response:
    collection, key = _place(call)
    if len(call.request.body) > MAX_VALUE:
        raise Problem(413, "too-large", "The value is too large", f"A value may have at most {MAX_VALUE} bytes.")
    value, condition, depth = call.request.json(), _condition(call), depth_of(call)
    try:
        entry = kv.put(
            call.conn,
            call.actor,
            collection,
            key,
            value,
            condition=condition,
            write_id=_write_id(call),
            depth=depth,
            mode=call.principal.mode,
        )
    except KvFull as error:
        detail = f"This tenant may keep {error.limit} entries (KvEntriesPerTenant). Delete some first; nothing was stored."
        raise Problem(409, "kv-full", "There are too many entries", detail) from None
    except ValueTooLarge:
        detail = "Its numbers take too much room when they are written out, as 1e308 does: send them as strings."
        raise Problem(413, "too-large", "The value is too large", detail) from None
    if entry is None:
        raise preconditions.failed("The entry is not in the state that the request names; nothing was changed.")
    return Response(201 if entry.version == 1 else 200, _state(entry), {"ETag": _tag(entry)})


def get_kv(call: Call) -> Response:
    collection, key = _place(call)
    with tenant_transaction(call.conn, call.tenant_id):
        entry = kv_entries.find(call.conn, call.tenant_id, collection, key)
    if entry is None:
        raise problems.not_found("entry")
    return door.conditional(call.request, Response(200, _shown(entry)), tag=_tag(entry))


def delete_kv(call: Call) -> Response:
    (collection, key), condition, depth = _place(call), _wanted(call), depth_of(call)
    if kv.delete(call.conn, call.actor, collection, key, condition=condition, depth=depth, mode=call.principal.mode):
        return Response(204)
    if "if-match" in call.request.headers:
        raise preconditions.failed("The entry is not in the state that the request names, or is gone; nothing was changed.")
    raise problems.not_found("entry")


def list_kv(call: Call) -> Response:
    """In the order of the keys: whoever looks something up by a prefix expects it so."""
    collection, query = _collection(call), call.request.query
    prefix, cursor, limit = query.get("prefix", ""), query.get("cursor"), paging.limit_of(call.request)
    if not names.PREFIX.fullmatch(prefix):
        raise problems.invalid_parameter("prefix", f"must have at most {names.MAX_KEY} {names.CHARACTERS}")
    after = cursors.decode_name(cursor, names.KEY) if cursor else ""
    with tenant_transaction(call.conn, call.tenant_id):
        page = kv_entries.list_page(
            call.conn, call.tenant_id, collection, prefix=prefix, after=after, limit=limit, max_bytes=MAX_PAGE
        )
    next_cursor = None if page.is_last else cursors.encode_name(page.entries[-1].key)
    return paging.whole([_shown(entry) for entry in page.entries], next_cursor)


def list_collections(call: Call) -> Response:
    cursor, limit = call.request.query.get("cursor"), paging.limit_of(call.request)
    after = cursors.decode_name(cursor, names.COLLECTION) if cursor else ""
    with tenant_transaction(call.conn, call.tenant_id):
        rows = kv_entries.list_collections(call.conn, call.tenant_id, after=after, limit=limit + 1, most=MOST_COUNTED + 1)
    next_cursor = cursors.encode_name(rows[limit - 1].collection) if len(rows) > limit else None
    return paging.whole([_shown_collection(row) for row in rows[:limit]], next_cursor)


def _place(call: Call) -> tuple[str, str]:
    key = call.request.path_parameters.get("key", "")
    if not names.KEY.fullmatch(key):
        raise problems.invalid_path("key", f"must have 1 to {names.MAX_KEY} {names.CHARACTERS}")
    return _collection(call), key


def _collection(call: Call) -> str:
    collection = call.request.path_parameters.get("collection", "")
    if not names.COLLECTION.fullmatch(collection):
        raise problems.invalid_path("collection", f"must have 1 to {names.MAX_COLLECTION} {names.CHARACTERS}")
    return collection


def _condition(call: Call) -> KvCondition:
    if not preconditions.if_none_match_any(call.request.headers):
        return _wanted(call)
    if "if-match" in call.request.headers:
        raise problems.invalid_header("If-None-Match", "contradicts If-Match; send one of them")
    return KvCondition(must_be_new=True)


def _wanted(call: Call) -> KvCondition:
    tags = preconditions.if_match(call.request.headers)
    if tags is None or tags == preconditions.ANY:
        return KvCondition(must_exist=tags is not None)
    return KvCondition(
        must_exist=True,
        write_ids=[write_id for tag in tags if (write_id := as_uuid(tag))],
        versions=[int(tag) for tag in tags if _VERSION.fullmatch(tag)],
    )


def _write_id(call: Call) -> UUID:
    """The same for the same request, so that a repeated try recognises its own first one."""
    return uuid5(call.tenant_id, call.request.request_id) if call.request.request_id else uuid7()


def _tag(entry: kv_entries.KvEntry) -> str:
    return f'"{entry.write_id}"'


def _state(entry: kv_entries.KvEntry) -> KvState:
    return {
        "collection": entry.collection,
        "key": entry.key,
        "version": entry.version,
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
    }


def _shown(entry: kv_entries.KvEntry) -> ShownKvEntry:
    return {**_state(entry), "value": entry.value}


def _shown_collection(row: kv_entries.KvCollection) -> ShownKvCollection:
    return {
        "collection": row.collection,
        "count": min(row.count, MOST_COUNTED),
        "at_least": row.count > MOST_COUNTED,
        "updated_at": row.updated_at,
    }


_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "description": "The ETag, or the version in quotes, of the state that is meant; `*`: any. Else nothing is changed (412).",
    "schema": {"type": "string"},
}
_IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "description": "`*`: write only what is new; else nothing is changed, and the answer is 412.",
    "schema": {"type": "string", "pattern": r"^\*$"},
}
_KNOWN = {"name": "If-None-Match", "in": "header", "description": "ETags that the caller has", "schema": {"type": "string"}}
_PREFIX = {
    "name": "prefix",
    "in": "query",
    "description": "Only keys that begin so",
    "schema": {"type": "string", "maxLength": names.MAX_KEY},
}
_NONE = {404: "No such entry"}
_NOT_MET = {412: "The entry is not in the state that the request names"}

ENDPOINTS = [
    Endpoint(
        "PUT /v1/kv/{collection}/{key}",
        "data",
        put_kv,
        "Keep a value, and fire the triggers that wait for it",
        body=ValueBody,
        parameters=[_IF_MATCH, _IF_NONE_MATCH, HEADER_PARAMETER],
        answers=_NOT_MET | {201: "The key is new", 409: "The tenant has as many as it may, or the call comes out of a loop"},
        answer=KvState,
    ),
    Endpoint(
        "GET /v1/kv/{collection}/{key}",
        "data",
        get_kv,
        "Show a value",
        parameters=[_KNOWN],
        answers=_NONE | {304: "Not changed"},
        answer=ShownKvEntry,
    ),
    Endpoint(
        "DELETE /v1/kv/{collection}/{key}",
        "data",
        delete_kv,
        "Delete a value, and fire the triggers that wait for it",
        success=204,
        parameters=[_IF_MATCH, HEADER_PARAMETER],
        answers=_NONE | _NOT_MET | {409: "The call comes out of a loop"},
    ),
    Endpoint(
        "GET /v1/kv/{collection}",
        "data",
        list_kv,
        "List values in the order of their keys; a page ends early where its values reach 1 MiB",
        parameters=[_PREFIX, *paging.PARAMETERS],
        answer=PageOf[ShownKvEntry],
    ),
    Endpoint(
        "GET /v1/kv",
        "data",
        list_collections,
        "List the collections in the order of their names, with how many entries each has",
        parameters=paging.PARAMETERS,
        answer=PageOf[ShownKvCollection],
    ),
]
