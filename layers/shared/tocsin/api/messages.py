"""Messages: the words that a route was sent with, or would be."""

from datetime import datetime
from typing import NotRequired

from typing_extensions import TypedDict

from tocsin.api.words import LocalisedTemplateRef, SmsParts, WayWord
from tocsin.delivery.message import NotRenderable, Shown, message
from tocsin.foundation.ids import as_uuid
from tocsin.http import problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem


class ShownMessage(TypedDict):
    """The words of a route. `as_sent`: they went out so; else `note` says what these are.
    An email has what the intent asked: `reply_to`, `cc` (masked) and the names of its `attachments`."""

    channel: WayWord
    recipient: str
    subject: str | None
    html: str | None
    text: str
    template: LocalisedTemplateRef | None
    headers: dict[str, str]
    rendered_at: datetime
    sent_at: datetime | None
    as_sent: bool
    note: str
    url: NotRequired[str]
    sms: NotRequired[SmsParts]
    reply_to: NotRequired[str | None]
    cc: NotRequired[list[str]]
    attachments: NotRequired[list[str]]


def get_message(call: Call) -> Response:
    names = call.request.path_parameters
    notification_id = as_uuid(names.get("id", ""))
    try:
        found = message(call.conn, call.tenant_id, notification_id, names.get("route_id", "")) if notification_id else None
    except NotRenderable as error:
        raise Problem(409, "not-renderable", "The message cannot be shown", str(error)) from None
    if found is None:
        raise problems.not_found("route")
    return Response(200, _shown(found))


def _shown(one: Shown) -> ShownMessage:
    template = one.template
    shown: ShownMessage = {
        "channel": one.channel,
        "recipient": one.recipient,
        "subject": one.subject,
        "html": one.html,
        "text": one.text,
        "template": {"id": template.id, "name": template.name, "version": template.version, "locale": template.locale}
        if template
        else None,
        "headers": one.headers,
        "rendered_at": one.rendered_at,
        "sent_at": one.sent_at,
        "as_sent": one.as_sent,
        "note": one.note,
    }
    if one.url:
        shown["url"] = one.url
    if one.sms:
        shown["sms"] = {"encoding": one.sms["encoding"], "units": one.sms["units"], "parts": one.sms["parts"]}
    if one.options:
        shown |= {"reply_to": one.options.reply_to, "cc": one.options.cc, "attachments": one.options.attachments}
    return shown


ENDPOINTS = [
    Endpoint(
        "GET /v1/notifications/{id}/routes/{route_id}/message", "read", get_message, "Show the words that a route was sent with",
        answers={404: "No such route", 409: "It cannot be rendered; the detail says why"}, answer=ShownMessage,
    ),
]  # fmt: skip
