"""Suppressing: whom not to write to, by hand and by one click."""

import base64
import hashlib
from dataclasses import asdict
from typing import Annotated, Any, Literal

from aws_lambda_powertools import Logger
from psycopg import Connection
from pydantic import Field

from tocsin import addresses, audit, database, paging, problems, unsubscribe
from tocsin.database import tenant_transaction
from tocsin.http import Call, Endpoint, Request, Response
from tocsin.ids import as_uuid, uuid7
from tocsin.intents import Closed, Name
from tocsin.problems import Problem
from tocsin.store import suppressions
from tocsin.store.suppressions import Suppression

log = Logger(child=True)
_CHANNELS = ("email", "sms")
_STYLE = (
    "body { font: 18px/1.5 system-ui, sans-serif; max-width: 28rem; margin: 15vh auto; padding: 0 1rem; } "
    "button { font: inherit; padding: .6rem 1.4rem; border: 0; border-radius: .5rem; background: #2456a6; color: #fff; }"
)
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


class SuppressionBody(Closed):
    channel: Literal["email", "sms"]
    address: Annotated[str, Field(min_length=3, max_length=254)]
    notification_type: Name | None = None


def list_suppressions(call: Call) -> Response:
    channel, address = call.request.query.get("channel"), call.request.query.get("address")
    if channel is not None and channel not in _CHANNELS:
        raise problems.invalid_parameter("channel", f"must be one of {', '.join(_CHANNELS)}")
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = suppressions.list_page(call.conn, call.tenant_id, channel=channel, address=address, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=asdict, place=lambda row: (row.created_at, row.id))


def post_suppression(call: Call) -> Response:
    body: SuppressionBody = call.request.parsed(SuppressionBody)
    try:
        address = addresses.email(body.address) if body.channel == "email" else addresses.phone(body.address)
    except ValueError as error:
        raise problems.invalid_field("/address", str(error)) from None
    with tenant_transaction(call.conn, call.tenant_id):
        suppressions.insert_or_strengthen(
            call.conn,
            suppression_id=uuid7(),
            tenant_id=call.tenant_id,
            channel=body.channel,
            address=address,
            notification_type=body.notification_type or "",
            reason="manual",
        )
        rows = suppressions.list_page(call.conn, call.tenant_id, channel=body.channel, address=address, limit=200, after=None)
        (row,) = [row for row in rows if row.notification_type == (body.notification_type or "")]
        audit.record(call, "suppress", "suppression", str(row.id), {"new": {"channel": row.channel, "reason": row.reason}})
    return Response(201, asdict(row))


def delete_suppression(call: Call) -> Response:
    """Lift a suppression. A complaint was a person's word: lifting it takes an operator and a reason."""
    reason = call.request.query.get("reason", "").strip()
    with tenant_transaction(call.conn, call.tenant_id):
        row = _find(call)
        if row.reason == "complaint" and "operate" not in call.principal.scopes:
            raise problems.forbidden("operate")
        if row.reason == "complaint" and not reason:
            raise Problem(422, "reason-required", "A reason is required", "Say why with `?reason=`: a person complained.")
        suppressions.delete(call.conn, call.tenant_id, row.id)
        old = {"channel": row.channel, "reason": row.reason, "notification_type": row.notification_type}
        audit.record(call, "lift", "suppression", str(row.id), {"old": old, "reason": reason[:500]})
    return Response(204)


def _find(call: Call) -> Suppression:
    suppression_id = as_uuid(call.request.path_parameters.get("id", ""))
    row = suppressions.find(call.conn, call.tenant_id, suppression_id) if suppression_id else None
    if row is None:
        raise problems.not_found("suppression")
    return row


def get_unsubscribe(request: Request) -> Response:
    """A page that asks; reading it changes nothing, so that a mail scanner following links unsubscribes nobody."""
    return _page(
        "Unsubscribe?",
        """<p>This stops emails of this kind, or about this thread.</p>
        <form method="post"><button>Unsubscribe</button></form>""",  # without an action: to where the page came from
    )


def post_unsubscribe(request: Request) -> Response:
    """Acts, and answers every token alike."""

    def act(conn: Connection[Any]) -> bool:
        return unsubscribe.unsubscribe(conn, request.path_parameters.get("token", ""))

    try:
        database.run(act)
    except unsubscribe.SecretUnavailable as error:
        log.error("the secret of the links cannot be read", extra={"request_id": request.request_id, "error": str(error)})
        raise problems.unavailable("The link cannot be checked just now.") from None
    return _page("Done", "<p>If this link was ours, such emails stop. You can close this page.</p>")


def _page(title: str, content: str) -> Response:
    page = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
        <meta name="robots" content="noindex"><style>{_STYLE}</style><main><h1>{title}</h1>{content}</main></html>"""
    return Response(
        200,
        page,
        {
            "Content-Type": "text/html; charset=utf-8",
            "Referrer-Policy": "no-referrer",
            "Content-Security-Policy": _POLICY,
        },
    )


_FILTERS: list[dict[str, Any]] = [
    {"name": "channel", "in": "query", "schema": {"enum": list(_CHANNELS)}},
    {"name": "address", "in": "query", "schema": {"type": "string"}},
]
_REASON: list[dict[str, Any]] = [{"name": "reason", "in": "query", "schema": {"type": "string"}}]

ENDPOINTS = [
    Endpoint(
        "GET /v1/suppressions",
        "manage",
        list_suppressions,
        "List suppressed addresses",
        parameters=[*_FILTERS, *paging.PARAMETERS],
    ),
    Endpoint(
        "POST /v1/suppressions",
        "manage",
        post_suppression,
        "Suppress an address",
        success=201,
        body=SuppressionBody,
    ),
    Endpoint(
        "DELETE /v1/suppressions/{id}",
        "manage",
        delete_suppression,
        "Lift a suppression",
        success=204,
        parameters=_REASON,
        answers={404: "No such suppression", 422: "A complaint needs a reason, or a parameter is not valid"},
    ),
]

_HTML = ("text/html",)

PUBLIC_ENDPOINTS = [
    Endpoint(
        "GET /u/{token}",
        None,
        get_unsubscribe,
        "The page of an unsubscribe link; changes nothing",
        answer_types=_HTML,
        is_link=True,
    ),
    Endpoint(
        "POST /u/{token}",
        None,
        post_unsubscribe,
        "One-click unsubscribe (RFC 8058)",
        answers={503: "It cannot be noted just now; try again later"},
        answer_types=_HTML,
        is_link=True,
    ),
]
