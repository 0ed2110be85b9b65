"""Templates with their versions, and what they would say."""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from tocsin.access import audit
from tocsin.content import plain, render
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, Name
from tocsin.foundation.ids import uuid7
from tocsin.http import paging, problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.intake.intents import Channel
from tocsin.store import templates
from tocsin.store.templates import TemplateRow

MAX_LOCALES = 50  # of one name on one channel: an inbox row is rendered in all of them


Locale = Annotated[str, Field(pattern=r"^(default|[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*)$", max_length=35)]


class TemplateBody(Closed):
    name: Name
    channel: Channel
    locale: Locale = "default"
    subject: Annotated[str, Field(max_length=1_000)] | None = None
    body: Annotated[str, Field(min_length=1, max_length=200_000)]
    text: Annotated[str, Field(max_length=200_000)] | None = None
    variables: Annotated[list[Name], Field(max_length=100)] = Field(default_factory=list)


class PreviewBody(Closed):
    channel: Channel
    locale: Locale = "default"
    payload: dict[str, Any] = Field(default_factory=dict)


def post_template(call: Call) -> Response:
    body: TemplateBody = call.request.parsed(TemplateBody)
    from tocsin.content.templates import problems_of  # noqa: PLC0415 - slow to import, and only this call needs it

    wrong = problems_of(body.channel, body.subject, body.body, body.text, body.variables)
    if wrong:
        raise problems.invalid(
            "The template cannot be used.", [{"pointer": pointer, "message": message} for pointer, message in wrong[:20]]
        )
    with tenant_transaction(call.conn, call.tenant_id):
        if templates.count_other_locales(call.conn, call.tenant_id, body.name, body.channel, body.locale) >= MAX_LOCALES:
            raise problems.invalid_field("/locale", f"is the template's {MAX_LOCALES + 1}st on this channel; no more are allowed")
        row = templates.insert_version(
            call.conn,
            template_id=uuid7(),
            tenant_id=call.tenant_id,
            created_by=call.principal.key_id,
            **body.model_dump(),
        )
        names = {"name": row.name, "channel": row.channel, "locale": row.locale, "version": row.version}
        audit.record(call.conn, call.actor, "create", "template", str(row.id), {"new": names})
    return Response(201, _shown(row))


def list_templates(call: Call) -> Response:
    return _page(call, None)


def get_template(call: Call) -> Response:
    """Every version of a name, newest first."""
    response = _page(call, name_of(call))
    if not response.body["data"] and "cursor" not in call.request.query:
        raise problems.not_found("template")
    return response


def delete_template(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        if not templates.deactivate(call.conn, call.tenant_id, name_of(call)):
            raise problems.not_found("active template")
        audit.record(call.conn, call.actor, "deactivate", "template", name_of(call), {})
    return Response(204)


def preview_template(call: Call) -> Response:
    body: PreviewBody = call.request.parsed(PreviewBody)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = templates.find_active(call.conn, [(call.tenant_id, name_of(call))], channel=body.channel)
    if not rows:
        raise problems.not_found("active template for this channel")
    row = min(rows, key=lambda row: render.distance(row.locale, body.locale))
    missing = [name for name in row.variables if name not in body.payload]
    if missing:
        errors = [{"pointer": f"/payload/{name}", "message": "is required by the template"} for name in missing[:20]]
        raise Problem(422, "missing-variables", "The payload lacks variables", "The template declares them required.", errors)
    try:
        content = render.of_row(row, body.payload)
    except plain.Unrenderable as error:
        raise problems.invalid(f"It cannot be rendered: {error}.") from None
    shown = {"subject": content.title or None, "html": content.html or None, "text": content.text}
    return Response(200, shown | _identity(row) | _parts(row.channel, content.text))


def _page(call: Call, name: str | None) -> Response:
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = templates.list_page(call.conn, call.tenant_id, name=name, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=_shown, place=lambda row: (row.created_at, row.id))


def name_of(call: Call) -> str:
    name = call.request.path_parameters.get("name", "")
    if not 1 <= len(name) <= 100:
        raise problems.invalid("A name has 1 to 100 characters.")
    return name


def _identity(row: TemplateRow) -> dict[str, Any]:
    return {"template": {"id": row.id, "name": row.name, "version": row.version, "locale": row.locale}}


def _parts(channel: str, text: str) -> dict[str, Any]:
    if channel != "sms":
        return {}
    from tocsin.content.sms_parts import count  # noqa: PLC0415 - only previews of SMS need it

    return {"sms": asdict(count(text))}


def _shown(row: TemplateRow) -> dict[str, Any]:
    shown = asdict(row)
    del shown["tenant_id"]
    return shown


ENDPOINTS = [
    Endpoint("GET /v1/templates", "manage", list_templates, "List active templates", parameters=paging.PARAMETERS),
    Endpoint(
        "POST /v1/templates",
        "manage",
        post_template,
        "Make a template, or its next version",
        success=201,
        body=TemplateBody,
    ),
    Endpoint(
        "GET /v1/templates/{name}",
        "manage",
        get_template,
        "List every version of a template",
        parameters=paging.PARAMETERS,
        answers={404: "No such template"},
    ),
    Endpoint(
        "DELETE /v1/templates/{name}",
        "manage",
        delete_template,
        "Take a template out of use",
        success=204,
        answers={404: "No such template"},
    ),
    Endpoint(
        "POST /v1/templates/{name}/preview",
        "manage",
        preview_template,
        "Render without sending",
        body=PreviewBody,
        answers={404: "No such template"},
    ),
]
