"""Layouts, in which the bodies of emails stand, and partials, which they share; with their versions."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from tocsin.api.templates import Locale, name_of, unusable
from tocsin.content import publish_layout
from tocsin.content.publish import TooManyLocales, UnusableTemplate
from tocsin.content.publish_layout import LayoutDraft, LayoutInUse
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, Matching
from tocsin.http import paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import layouts
from tocsin.store.layouts import LayoutRow

# In quotes in a template, and in the path of its own address.
PartName = Annotated[
    str, Field(min_length=1, max_length=100), Matching("[^'\"\\x00-\\x1f\\x7f]+", "a name without quotes and control characters")
]


class LayoutBody(Closed):
    kind: Literal["layout", "partial"]
    name: PartName
    locale: Locale = "default"
    body: Annotated[str, Field(min_length=1, max_length=200_000)]


class ShownLayout(TypedDict):
    """A version of a layout, or of a partial. `partials` are those that it renders."""

    id: UUID
    kind: Annotated[str, one_of("layout", "partial")]
    name: str
    locale: str
    version: int
    body: str
    partials: list[str]
    is_active: bool
    created_by: UUID | None
    created_at: datetime
    updated_at: datetime


def post_layout(call: Call) -> Response:
    body: LayoutBody = call.request.parsed(LayoutBody)
    try:
        row = publish_layout.publish(call.conn, call.actor, LayoutDraft(**body.model_dump()), created_by=call.principal.key_id)
    except UnusableTemplate as error:
        raise unusable(error, body.kind) from None
    except TooManyLocales as error:
        raise problems.invalid_field("/locale", str(error)) from None
    return Response(201, _shown(row))


def list_layouts(call: Call) -> Response:
    return _page(call, None)


def get_layout(call: Call) -> Response:
    """Every version of a name, newest first."""
    response = _page(call, name_of(call))
    if not response.body["data"] and "cursor" not in call.request.query:
        raise problems.not_found("layout")
    return response


def delete_layout(call: Call) -> Response:
    try:
        if not publish_layout.withdraw(call.conn, call.actor, name_of(call)):
            raise problems.not_found("active layout")
    except LayoutInUse as error:
        detail = f"Change or withdraw first what uses it: {', '.join(error.users)}."
        raise Problem(409, "layout-in-use", "The layout is in use", detail) from None
    return Response(204)


def _page(call: Call, name: str | None) -> Response:
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = layouts.list_page(call.conn, call.tenant_id, name=name, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=_shown, place=lambda row: (row.created_at, row.id))


def _shown(row: LayoutRow) -> ShownLayout:
    return {
        "id": row.id,
        "kind": row.kind,
        "name": row.name,
        "locale": row.locale,
        "version": row.version,
        "body": row.body,
        "partials": row.partials,
        "is_active": row.is_active,
        "created_by": row.created_by,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


ENDPOINTS = [
    Endpoint(
        "GET /v1/layouts",
        "manage",
        list_layouts,
        "List active layouts and partials",
        parameters=paging.PARAMETERS,
        answer=PageOf[ShownLayout],
    ),
    Endpoint(
        "POST /v1/layouts",
        "manage",
        post_layout,
        "Make a layout or a partial, or its next version",
        success=201,
        body=LayoutBody,
        answer=ShownLayout,
    ),
    Endpoint(
        "GET /v1/layouts/{name}",
        "manage",
        get_layout,
        "List every version of a layout or a partial",
        parameters=paging.PARAMETERS,
        answer=PageOf[ShownLayout],
        answers={404: "No such layout"},
    ),
    Endpoint(
        "DELETE /v1/layouts/{name}",
        "manage",
        delete_layout,
        "Take a layout or a partial out of use",
        success=204,
        answers={404: "No such layout", 409: "A template, layout or partial that is in use has it"},
    ),
]
