"""Wordings: a template's words for a payload, from wherever the template comes. The engine is slow to import, so only on use."""

from dataclasses import replace
from typing import Any

from tocsin import rendering
from tocsin.store.outbox import Claimed
from tocsin.store.templates import TemplateRow


def of_row(row: TemplateRow, payload: dict[str, Any], *, used_seconds: float = 0.0) -> rendering.Content:
    from tocsin.templating import Template, render  # noqa: PLC0415

    template = Template(row.id, row.name, row.version, row.channel, row.locale, row.subject, row.body, row.text)
    return render(template, payload, used_seconds=used_seconds)


def of_claimed(one: Claimed) -> rendering.Content:
    """The words of a delivery: its pinned template's, or the built-in rendering.

    A template places a link itself; but where a tap on a push leads stands beside its words."""
    payload = one.payload | {"reason": one.audience_reason} if one.audience_reason else one.payload
    if one.template_id is None:
        return _plain(one)
    from tocsin.templating import Template, render  # noqa: PLC0415

    template = Template(
        one.template_id,
        one.template or "",
        one.template_version or 0,
        one.channel or "",
        one.template_locale or "",
        one.template_subject,
        one.template_body or "",
        one.template_text,
    )
    content = render(template, payload)
    return replace(content, url=rendering.link_of(payload)) if one.channel == "push" else content


def _plain(one: Claimed) -> rendering.Content:
    match one.audience_kind:
        case "digest":
            return rendering.digest(one.payload)
        case "event":
            return rendering.event(one.notification_type, one.payload)
        case _:
            return rendering.render(one.notification_type, one.payload)


def distance(locale: str, wanted: str) -> int:
    """How far a locale is from the one that is wanted; the same as tocsin_locale_distance in SQL."""
    have, want = locale.lower().replace("_", "-"), wanted.lower().replace("_", "-")
    if have == want:
        return 0
    if have == want.split("-", 1)[0]:
        return 1
    return 2 if locale == "default" else 3
