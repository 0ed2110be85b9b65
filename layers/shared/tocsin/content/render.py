"""Render: a template's words for a payload, from wherever the template comes. The engine is slow to import, so only on use."""

from dataclasses import dataclass, field, replace
from typing import Any

from tocsin.content import email_page, email_words, plain
from tocsin.content.email_page import Footer
from tocsin.content.part_sources import PartSources, reader_of
from tocsin.foundation.languages import language_of
from tocsin.foundation.text import bidi_closed
from tocsin.store.rows import Brand, Delivery, PinnedTemplate, Wording
from tocsin.store.templates import TemplateRow


@dataclass(frozen=True, slots=True)
class Letterhead:
    """What stands around the words of an email: who writes, the ways out, and what its template is put together with."""

    brand: Brand = field(default_factory=Brand)
    unsubscribe_url: str = ""
    preferences_url: str = ""
    sources: PartSources | None = None

    def reader(self, why: str) -> dict[str, Any] | None:
        """What a layout says besides the payload; nothing where there is none."""
        if self.sources is None or self.sources.layout_name is None:
            return None
        return reader_of(self.brand, why=why, unsubscribe_url=self.unsubscribe_url, preferences_url=self.preferences_url)


BARE = Letterhead()


def of_row(
    row: TemplateRow, payload: dict[str, Any], *, used_seconds: float = 0.0, letterhead: Letterhead = BARE, why: str = ""
) -> plain.Content:
    return _rendered(row, row.channel, payload, letterhead, letterhead.reader(why), used_seconds)


def of_delivery(one: Delivery, letterhead: Letterhead) -> plain.Content:
    """The words of a delivery: its pinned template's, or the built-in ones, of which an email has a page around them.

    A template places a link itself; but where a tap on a push leads stands beside its words."""
    return of_wording(wording_of(one), letterhead)


def wording_of(one: Delivery) -> Wording:
    record, route = one.record, one.route
    return Wording(
        route.channel,
        route.audience_reason,
        record.notification_type,
        record.audience_kind,
        record.payload,
        one.template,
        route.locale,
        route.user_id is not None,
    )


def of_wording(one: Wording, letterhead: Letterhead) -> plain.Content:
    if one.template is None:
        language = language_of(one.locale)
        words = _plain(one, language)
        return (
            email_page.complete(words, letterhead.brand, footer_of(one, letterhead), language)
            if one.channel == "email"
            else words
        )
    payload = one.payload | {"reason": one.audience_reason} if one.audience_reason else one.payload
    reader = letterhead.reader(footer_of(one, letterhead).why) if letterhead.sources else None
    content = _rendered(one.template, one.channel, payload, letterhead, reader)
    return replace(content, url=plain.link_of(payload)) if one.channel == "push" else content


def _rendered(
    version: TemplateRow | PinnedTemplate,
    channel: str,
    payload: dict[str, Any],
    letterhead: Letterhead,
    reader: dict[str, Any] | None,
    used_seconds: float = 0.0,
) -> plain.Content:
    from tocsin.content.templates import Template, render  # noqa: PLC0415

    words = (version.subject, version.body, version.text)
    template = Template(version.id, version.name, version.version, channel, version.locale, *words, letterhead.sources)
    return render(template, payload, used_seconds=used_seconds, reader=reader)


def footer_of(one: Wording, letterhead: Letterhead) -> Footer:
    """In the language of whoever reads it."""
    brand, language = bidi_closed(letterhead.brand.name), language_of(one.locale)
    why = email_words.why(one.audience_reason, brand=brand, is_known=one.is_known, language=language)
    return Footer(why, letterhead.unsubscribe_url, letterhead.preferences_url)


def _plain(one: Wording, language: str) -> plain.Content:
    match one.audience_kind:
        case "digest":
            return plain.digest(one.payload, language)
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
