"""Templates with their versions, and what they would say."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from tocsin.api.words import ChannelWord, LocalisedTemplateRef, SmsParts
from tocsin.content import plain, publish
from tocsin.content.preview import LacksVariables, Preview, UnknownNotification, preview
from tocsin.content.preview import preview_draft as preview_of_draft
from tocsin.content.publish import Draft, TooManyLocales, UnusableTemplate
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import LANGUAGE, Closed, Matching, Name, RowId
from tocsin.http import paging, problems
from tocsin.http.answers import PageOf
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.intake.intents import ChannelName
from tocsin.store import templates
from tocsin.store.templates import TemplateRow

Locale = Annotated[str, Field(max_length=35), Matching(f"(default|{LANGUAGE})", "a language, such as pt-BR, or `default`")]


class WordsBody(Closed):
    """The words themselves, saved or not."""

    channel: ChannelName
    locale: Locale = "default"
    subject: Annotated[str, Field(max_length=1_000)] | None = None
    body: Annotated[str, Field(min_length=1, max_length=200_000)]
    text: Annotated[str, Field(max_length=200_000)] | None = None
    variables: Annotated[list[Name], Field(max_length=100)] = Field(default_factory=list)
    layout: Name | None = None  # of an email: what its body stands in


class TemplateBody(WordsBody):
    name: Name


class FilledBody(Closed):
    """What a preview is rendered with: a payload, or that of a notification."""

    payload: dict[str, Any] = Field(default_factory=dict)
    notification_id: RowId | None = None


class DraftBody(WordsBody, FilledBody):
    pass


class PreviewBody(FilledBody):
    channel: ChannelName
    locale: Locale = "default"
    version: Annotated[int, Field(ge=1, le=2**31 - 1, strict=True)] | None = None


class ShownTemplate(TypedDict):
    """A version of a template."""

    id: UUID
    name: str
    channel: ChannelWord
    locale: str
    version: int
    subject: str | None
    body: str
    text: str | None
    variables: list[str]
    layout: str | None
    is_active: bool
    created_by: UUID | None
    created_at: datetime
    updated_at: datetime


class TemplatePreview(TypedDict):
    """What a template would say. `payload` is there where it came from a notification, and for drafts."""

    subject: str | None
    html: str | None
    text: str
    template: LocalisedTemplateRef | None
    sms: NotRequired[SmsParts]
    payload: NotRequired[dict[str, Any]]


def post_template(call: Call) -> Response:
    body: TemplateBody = call.request.parsed(TemplateBody)
    try:
        row = publish.publish(call.conn, call.actor, Draft(**body.model_dump()), created_by=call.principal.key_id)
    except UnusableTemplate as error:
        raise unusable(error) from None
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
    payload = _payload_of(call, body)
    with _faults_told():
        previewed = preview(
            call.conn,
            call.tenant_id,
            name_of(call),
            channel=body.channel,
            locale=body.locale,
            version=body.version,
            payload=payload,
        )
    if previewed is None:
        raise problems.not_found(
            "version of this template for this channel" if body.version else "active template for this channel"
        )
    return Response(200, _preview_shown(previewed, body.channel, with_payload=body.notification_id is not None))


def preview_draft(call: Call) -> Response:
    body: DraftBody = call.request.parsed(DraftBody)
    payload = _payload_of(call, body)
    draft = Draft(name="", **body.model_dump(include=set(WordsBody.model_fields)))
    with _faults_told():
        previewed = preview_of_draft(call.conn, call.tenant_id, draft, payload=payload)
    return Response(200, _preview_shown(previewed, body.channel, with_payload=True))


def _payload_of(call: Call, body: FilledBody) -> dict[str, Any] | UUID:
    """The payload, or the notification that has it; whose payload may be seen by those only who may read notifications."""
    if body.notification_id is None:
        return body.payload
    if "payload" in body.model_fields_set:
        raise problems.invalid_field("/notification_id", "takes the place of payload; give one of them")
    if "read" not in call.principal.scopes:
        raise problems.forbidden("read")
    return body.notification_id


@contextmanager
def _faults_told() -> Iterator[None]:
    try:
        yield
    except UnusableTemplate as error:
        raise unusable(error) from None
    except LacksVariables as error:
        errors = [{"pointer": f"/payload/{name}", "message": "is required by the template"} for name in error.names[:20]]
        raise Problem(
            422, "missing-variables", "The payload lacks variables", "The template declares them required.", errors
        ) from None
    except plain.Unrenderable as error:
        raise problems.invalid(f"It cannot be rendered: {error}.") from None
    except UnknownNotification:
        raise problems.not_found("notification") from None


def unusable(error: UnusableTemplate, what: str = "template") -> Problem:
    faults = [{"pointer": pointer, "message": message} for pointer, message in error.faults[:20]]
    return problems.invalid_fields(faults, f"The {what} cannot be used.")


def _preview_shown(previewed: Preview, channel: str, *, with_payload: bool) -> TemplatePreview:
    content = previewed.content
    shown: TemplatePreview = {
        "subject": content.title or None,
        "html": content.html or None,
        "text": content.text,
        "template": _identity(previewed.template),
    }
    if channel == "sms":
        shown["sms"] = _parts(content.text)
    if with_payload:
        shown["payload"] = previewed.payload
    return shown


def _page(call: Call, name: str | None) -> Response:
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = templates.list_page(call.conn, call.tenant_id, name=name, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=_shown, place=lambda row: (row.created_at, row.id))


def name_of(call: Call) -> str:
    name = call.request.path_parameters.get("name", "")
    if not 1 <= len(name) <= 100:
        raise problems.invalid_path("name", "must have 1 to 100 characters")
    return name


def _identity(row: TemplateRow | None) -> LocalisedTemplateRef | None:
    return {"id": row.id, "name": row.name, "version": row.version, "locale": row.locale} if row else None


def _parts(text: str) -> SmsParts:
    from tocsin.content.sms_parts import count  # noqa: PLC0415 - only previews of SMS need it

    counted = count(text)
    return {"encoding": counted.encoding, "units": counted.units, "parts": counted.parts}


def _shown(row: TemplateRow) -> ShownTemplate:
    return {
        "id": row.id,
        "name": row.name,
        "channel": row.channel,
        "locale": row.locale,
        "version": row.version,
        "subject": row.subject,
        "body": row.body,
        "text": row.text,
        "variables": row.variables,
        "layout": row.layout,
        "is_active": row.is_active,
        "created_by": row.created_by,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


_TWO_SCOPES = "The key lacks the scope, or for a `notification_id` also the scope `read`"
ENDPOINTS = [
    Endpoint(
        "GET /v1/templates",
        "manage",
        list_templates,
        "List active templates",
        parameters=paging.PARAMETERS,
        answer=PageOf[ShownTemplate],
    ),
    Endpoint(
        "POST /v1/templates",
        "manage",
        post_template,
        "Make a template, or its next version",
        success=201,
        body=TemplateBody,
        answer=ShownTemplate,
    ),
    Endpoint(
        "GET /v1/templates/{name}",
        "manage",
        get_template,
        "List every version of a template",
        parameters=paging.PARAMETERS,
        answer=PageOf[ShownTemplate],
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
        answer=TemplatePreview,
        answers={403: _TWO_SCOPES, 404: "No such template, version or notification"},
    ),
    Endpoint(
        "POST /v1/templates/preview",
        "manage",
        preview_draft,
        "Render a draft that is not saved",
        body=DraftBody,
        answer=TemplatePreview,
        answers={403: _TWO_SCOPES, 404: "No such notification"},
    ),
]
