"""The message of a route: its words as they were sent, or would be, made again from what they were made of."""

import json
import re
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.channels import fit
from tocsin.content import plain, render
from tocsin.content.framing import frames
from tocsin.content.part_sources import PartSources
from tocsin.content.plain import Content
from tocsin.content.render import Letterhead
from tocsin.delivery.parts import named_by
from tocsin.feedback import unsubscribe
from tocsin.foundation.database import tenant_transaction
from tocsin.people.addresses import masked
from tocsin.store import brands, notifications, routes
from tocsin.store.routes import Worded
from tocsin.store.rows import Brand, PinnedTemplate

_ERASED = re.compile(r"erased_[0-9a-f]{32}")  # as erasing leaves it


class NotRenderable(Exception):
    """The words cannot be made again; says why. Whoever asked can do nothing about it, or repairs the template."""


@dataclass(frozen=True, slots=True)
class EmailOptions:
    """What the intent asked for its emails: where answers go, who gets a copy (masked), and the names of the files."""

    reply_to: str | None
    cc: list[str]
    attachments: list[str]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a message says. `as_sent`: these are the words that went out; else what would, or what is left of them."""

    channel: str
    recipient: str
    subject: str | None
    html: str | None
    text: str
    url: str | None
    sms: dict[str, Any] | None
    template: PinnedTemplate | None
    headers: dict[str, str]
    rendered_at: datetime
    sent_at: datetime | None
    as_sent: bool
    note: str
    options: EmailOptions | None


def message(conn: Connection[Any], tenant_id: UUID, notification_id: UUID, route_id: str) -> Shown | None:
    """None: there is no such route. Raises NotRenderable."""
    with tenant_transaction(conn, tenant_id):
        one = routes.find_worded(conn, tenant_id, notification_id, route_id)
        row = (
            notifications.find_words(conn, tenant_id, one.user_id, notification_id, planned_at=one.published_at)
            if one and one.wording.channel == "in_app" and one.published_at
            else None
        )
        brand = brands.find(conn, tenant_id) if one and one.wording.channel == "email" else Brand()
        sources = _sources(conn, tenant_id, one) if one else None
    if one is None:
        return None
    if row:
        return _shown(one, Content(row[0], row[1]), "These are the words of the inbox row.", as_sent=True)
    if trouble := _trouble(one):
        raise NotRenderable(trouble)
    try:
        content = render.of_wording(one.wording, _letterhead(one, brand, sources))
    except plain.Unrenderable as error:
        raise NotRenderable(f"It cannot be rendered: {error}.") from None
    is_masked = _ERASED.search(json.dumps(one.wording.payload)) is not None
    return _shown(one, content, _note(one, is_masked=is_masked), as_sent=one.published_at is not None and not is_masked)


def _sources(conn: Connection[Any], tenant_id: UUID, one: Worded) -> PartSources | None:
    """The same versions as it was sent with."""
    template = one.wording.template
    named = named_by(template) if template else None
    if not template or not named:
        return None
    return frames(conn, [(named, named.wanted(tenant_id, template.locale, one.worded_at))])[0]


def _letterhead(one: Worded, brand: Brand, sources: PartSources | None) -> Letterhead:
    """The brand as it is now, and the links without their tokens."""
    links = unsubscribe.masked_links(
        channel=one.wording.channel,
        follows_thread=one.follows_thread,
        is_transactional=one.is_transactional,
        is_known=one.wording.is_known and not unsubscribe.has_copies(one.email_options),
    )
    return Letterhead(brand, links.unsubscribe_url, links.preferences_url, sources)


def _trouble(one: Worded) -> str | None:
    """What of the message is not there any more, or never was."""
    channel, template = one.wording.channel, one.wording.template
    if _ERASED.search(one.recipient_ref) or not one.has_audience:
        return "The person was erased, and with them what the message said."
    if one.template_id and template is None:
        return "The template's version that it was planned with has been forgotten since."
    if one.template_name and template is None and channel != "in_app":
        return f"The template `{one.template_name}` had no words for {channel} when it was planned."
    return None


def _note(one: Worded, *, is_masked: bool) -> str:
    template = one.wording.template
    source = f"template `{template.name}`, version {template.version}, and the recorded payload" if template else "the payload"
    if is_masked:
        return f"Rendered again from {source}. Somebody named in it was erased since, and is masked."
    if one.published_at:
        is_branded = one.wording.channel == "email" and (template is None or template.layout is not None)
        today = ", in the brand as it is today" if is_branded else ""
        return f"Rendered again from {source}: the words that were sent{today}."
    arrived = " An earlier attempt may have arrived." if one.may_have_arrived else ""
    return f"It was not sent ({one.status}{': ' + one.reason if one.reason else ''}). From {source}, this would be.{arrived}"


def _shown(one: Worded, content: Content, note: str, *, as_sent: bool) -> Shown:
    channel = one.wording.channel
    text = _text(channel, content)
    return Shown(
        channel=channel,
        recipient=one.recipient_ref,
        subject=content.title or None if channel != "sms" else None,
        html=content.html or None if channel == "email" else None,
        text=text,
        url=content.url or None if channel == "push" else None,
        sms=_parts(text) if channel == "sms" else None,
        template=one.wording.template,
        headers=unsubscribe.masked_headers(
            channel=channel, follows_thread=one.follows_thread, is_transactional=one.is_transactional
        ),
        rendered_at=one.now,
        sent_at=one.published_at,
        as_sent=as_sent,
        note=note,
        options=_options(one.email_options or {}) if channel == "email" else None,
    )


def _options(asked: dict[str, Any]) -> EmailOptions:
    copies = [masked(address) for address in asked.get("cc") or []]
    return EmailOptions(asked.get("reply_to"), copies, [file["filename"] for file in asked.get("attachments") or []])


def _text(channel: str, content: Content) -> str:
    """As the channel's providers are given it."""
    match channel:
        case "email":
            return content.text
        case "sms":
            return fit.sms_text(content, fit.MAX_SMS)
        case "push":
            return fit.push_words(content).get("body", "")
        case _:
            return "" if content.text == content.title else content.text


def _parts(text: str) -> dict[str, Any]:
    from tocsin.content.sms_parts import count  # noqa: PLC0415 - only SMS need it

    return asdict(count(text))
