"""Render: a template's words for a payload, from wherever the template comes. The engine is slow to import, so only on use."""

from dataclasses import replace
from typing import Any

from tocsin.content import plain
from tocsin.content.frames import BARE, Dress
from tocsin.store.rows import Delivery, Wording
from tocsin.store.templates import TemplateRow


def of_row(row: TemplateRow, payload: dict[str, Any], *, used_seconds: float = 0.0, dress: Dress = BARE) -> plain.Content:
    from tocsin.content.templates import Template, render  # noqa: PLC0415

    template = Template(row.id, row.name, row.version, row.channel, row.locale, row.subject, row.body, row.text, dress.frame)
    return render(template, payload, used_seconds=used_seconds, reader=dress.reader)


def of_delivery(one: Delivery, dress: Dress = BARE) -> plain.Content:
    """The words of a delivery: its pinned template's, or the built-in rendering.

    A template places a link itself; but where a tap on a push leads stands beside its words."""
    return of_wording(
        Wording(
            one.route.channel,
            one.route.audience_reason,
            one.record.notification_type,
            one.record.audience_kind,
            one.record.payload,
            one.template,
        ),
        dress,
    )


def of_wording(one: Wording, dress: Dress = BARE) -> plain.Content:
    if one.template is None:
        return _plain(one)
    from tocsin.content.templates import Template, render  # noqa: PLC0415

    pinned, channel = one.template, one.channel
    template = Template(
        pinned.id, pinned.name, pinned.version, channel, pinned.locale, pinned.subject, pinned.body, pinned.text, dress.frame
    )
    payload = one.payload | {"reason": one.audience_reason} if one.audience_reason else one.payload
    content = render(template, payload, reader=dress.reader)
    return replace(content, url=plain.link_of(payload)) if channel == "push" else content


def _plain(one: Wording) -> plain.Content:
    match one.audience_kind:
        case "digest":
            return plain.digest(one.payload)
        case "event":
            return plain.event(one.notification_type, one.payload)
        case _:
            return plain.render(one.notification_type, one.payload)


def distance(locale: str, wanted: str) -> int:
    """How far a locale is from the one that is wanted; the same as tocsin_locale_distance in SQL."""
    have, want = locale.lower().replace("_", "-"), wanted.lower().replace("_", "-")
    if have == want:
        return 0
    if have == want.split("-", 1)[0]:
        return 1
    return 2 if locale == "default" else 3
