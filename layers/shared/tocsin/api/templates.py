"""Templates with their versions, and what they would say."""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from tocsin.content import plain, publish
from tocsin.content.preview import LacksVariables, preview
from tocsin.content.publish import Draft, TooManyLocales, UnusableTemplate
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, Name
from tocsin.http import paging, problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.intake.intents import ChannelName
from tocsin.store import templates
from tocsin.store.templates import TemplateRow

Locale = Annotated[str, Field(pattern=r"^(default|[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*)$", max_length=35)]


class TemplateBody(Closed):
    name: Name
    channel: ChannelName
    locale: Locale = "default"
    subject: Annotated[str, Field(max_length=1_000)] | None = None
    body: Annotated[str, Field(min_length=1, max_length=200_000)]
    text: Annotated[str, Field(max_length=200_000)] | None = None
    variables: Annotated[list[Name], Field(max_length=100)] = Field(default_factory=list)


class PreviewBody(Closed):
    channel: ChannelName
    locale: Locale = "default"
    payload: dict[str, Any] = Field(default_factory=dict)


def post_template(call: Call) -> Response:
    body: TemplateBody = call.request.parsed(TemplateBody)
    try:
        row = publish.publish(call.conn, call.actor, Draft(**body.model_dump()), created_by=call.principal.key_id)
    except UnusableTemplate as error:
        faults = [{"pointer": pointer, "message": message} for pointer, message in error.faults[:20]]
        raise problems.invalid("The template cannot be used.", faults) from None
    except TooManyLocales as error:
        raise problems.invalid_field("/locale", str(error)) from None
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
    if not publish.withdraw(call.conn, call.actor, name_of(call)):
        raise problems.not_found("active template")
    return Response(204)


def preview_template(call: Call) -> Response:
    body: PreviewBody = call.request.parsed(PreviewBody)
    try:
        previewed = preview(call.conn, call.tenant_id, name_of(call), **body.model_dump())
    except LacksVariables as error:
        errors = [{"pointer": f"/payload/{name}", "message": "is required by the template"} for name in error.names[:20]]
        raise Problem(
            422, "missing-variables", "The payload lacks variables", "The template declares them required.", errors
        ) from None
    except plain.Unrenderable as error:
        raise problems.invalid(f"It cannot be rendered: {error}.") from None
    if previewed is None:
        raise problems.not_found("active template for this channel")
    row, content = previewed.template, previewed.content
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
