"""Templates: what one may contain, and the message it makes of a payload. Pure."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from liquid import BoundTemplate
from liquid import exceptions as liquid

from tocsin.content import html_safety, sms_parts
from tocsin.content.html_to_text import html_to_text
from tocsin.content.html_tokens import Piece, TooManyAttributes, pieces
from tocsin.content.liquid import COMPOSED, compiled, marks, run
from tocsin.content.liquid_cache import Cache
from tocsin.content.liquid_limits import Refused, RenderAllowance
from tocsin.content.part_sources import PartSources
from tocsin.content.parts import check_layout, expanded, layout_around, whole_body, with_colours
from tocsin.content.plain import MAX_TEXT, MAX_TITLE, Content, Unrenderable, note_on_title
from tocsin.foundation.text import one_line, shortened

MAX_SUBJECT = 1_000
MAX_PREHEADER = 150
MAX_SOURCE = 128 * 1024
MAX_VARIABLES = 100
MAX_CACHED = 64
MAX_CACHED_MARKS = 128 * 1024  # characters between {{ and }} of all that are kept; about 40 MB at worst

TemplateProblem = tuple[str, str]  # a JSON pointer and a message

_WITH_SUBJECT = {"email", "push", "in_app"}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CAUSES: list[tuple[type[Exception], str]] = [
    (liquid.ContextDepthError, "its loops are nested too deeply"),
    (RecursionError, "it is nested too deeply"),
    (liquid.LiquidSyntaxError, "a tag or a number stands where it cannot"),
]


@dataclass(frozen=True, slots=True)
class Template:
    """One immutable version. `text` is the plain part of an email; without it, one is derived from the body. `frame`: what else
    its body is put together with."""

    id: UUID
    name: str
    version: int
    channel: str
    locale: str
    subject: str | None
    body: str
    text: str | None
    frame: PartSources | None = None


@dataclass(frozen=True, slots=True)
class _Compiled:
    subject: BoundTemplate | None
    body: BoundTemplate
    text: BoundTemplate | None
    layout: BoundTemplate | None = None
    has_preheader: bool = False  # the layout shows one
    shows_colours: bool = False  # the brand's, in a style of the body: there the payload has no brand of its own


def render(
    template: Template, payload: dict[str, Any], *, used_seconds: float = 0.0, reader: dict[str, Any] | None = None
) -> Content:
    """Depends on the template, the payload and the reader alone: a retry sends the same words. Raises Unrenderable.

    `used_seconds`: how much of its time went to the same message in other locales. `reader`: what a layout says of whom it is
    for and from. In the template itself the payload's own names come first, in the layout these, and the brand wherever its
    colours stand in a style."""
    try:
        parts = _CACHE.get(template, _compiled)
    except Refused as refused:
        raise Unrenderable(f"the template: {refused}") from None
    try:
        allowance = RenderAllowance(payload, used_seconds=used_seconds)
    except Refused as refused:
        raise Unrenderable(str(refused)) from None
    names = (reader or {}) | payload | ({"brand": (reader or {}).get("brand")} if parts.shows_colours else {})
    fill = partial(_filled, payload=names, allowance=allowance)
    subject = one_line(fill("subject", parts.subject)) if parts.subject else ""
    title, note = shortened(subject, MAX_TITLE), note_on_title(subject)
    body = fill("body", parts.body)
    if template.channel == "email":
        if parts.layout is not None:
            around = payload | (reader or {})
            if parts.has_preheader:
                around["preheader"] = _preheader(payload, body, allowance)
            body = rendered("the layout", parts.layout, around, allowance, content=body)
        page = _checked(body, allowance)
        text = html_to_text(page) if parts.text is None else fill("text", parts.text)
        deque(page, maxlen=0)  # to the end, where nobody has read it
        return Content(title, text or title, body, note=note)
    if template.channel == "sms" and (needed := sms_parts.count(body).parts) > sms_parts.MAX_PARTS:
        raise Unrenderable(f"the text takes {needed} SMS parts; at most {sms_parts.MAX_PARTS} can be sent")
    if len(body) > MAX_TEXT:
        raise Unrenderable(f"the text has {len(body)} characters; at most {MAX_TEXT} can be sent")
    return Content(title, body, note=note)


def problems_of(
    channel: str, subject: str | None, body: str, text: str | None, variables: list[str], frame: PartSources | None = None
) -> list[TemplateProblem]:
    """What keeps these sources from becoming a template; one message for each part that is wrong. `frame`: what an email's body
    is put together with."""
    problems = _problems_of_parts(channel, subject, text)
    sources = (("subject", subject, MAX_SUBJECT), ("body", body, MAX_SOURCE), ("text", text, MAX_SOURCE))
    for part, source, limit in sources:
        is_html = _is_html(channel, part)
        around = frame if is_html else None
        if source is not None and (message := _problem_of_source(part, source, limit, is_html=is_html, frame=around)):
            problems.append((f"/{part}", message))
    return problems + _problems_of_variables(variables)


def problem_of_shared(source: str, *, is_layout: bool, partials: dict[str, str]) -> str | None:
    """What keeps a source from becoming a layout or a partial. `partials`: those that it renders, with all of theirs."""
    if problem := _problem_of_text("body", source, MAX_SOURCE):
        return problem
    try:
        whole = expanded(source, partials)
        compiled(whole, is_html=True, also=COMPOSED)
        if not is_layout:
            return html_safety.problem_of(with_colours(whole))
        check_layout(source, partials)
    except Refused as refused:
        return str(refused)
    return None


def _compiled(template: Template) -> tuple[_Compiled, int]:
    """With its weight in the cache. One that was stored before a rule was made is held to it all the same."""
    is_html = _is_html(template.channel, "body")
    body = whole_body(template.frame, template.body) if template.frame else template.body
    layout = layout_around(template.frame, body) if template.frame else None
    if is_html and (problem := _problem_of_body(body, has_layout=layout is not None)):
        raise Refused(problem)
    parts = _Compiled(
        compiled(template.subject, is_html=False) if template.subject is not None else None,
        compiled(body, is_html=is_html, also=COMPOSED if template.frame else frozenset()),
        compiled(template.text, is_html=False) if template.text is not None else None,
        compiled(layout, is_html=True, also=COMPOSED) if layout is not None else None,
        has_preheader=layout is not None and "preheader" in layout,
        shows_colours=is_html and layout is not None and html_safety.problem_of(body) is not None,
    )
    sources = [one for one in (template.subject, body, template.text, layout) if one is not None]
    return parts, sum(end - start for source in sources for start, end, _ in marks(source))


def _problem_of_body(body: str, *, has_layout: bool) -> str | None:
    """Beside a layout the brand is at hand, and its colours may stand in a style of the body too."""
    problem = html_safety.problem_of(body)
    otherwise = html_safety.problem_of(with_colours(body)) if problem else None
    if problem and not otherwise:
        return None if has_layout else f"{problem}; the brand's colours may, if the template has a `layout`"
    return otherwise


# By the whole version and not by its id alone, so that a preview can never stand in for a stored one.
_CACHE: Cache[Template, _Compiled] = Cache(most=MAX_CACHED, most_weight=MAX_CACHED_MARKS)


def _checked(page: str, allowance: RenderAllowance) -> Iterator[Piece]:
    try:
        for piece in html_safety.checked(pieces(page)):
            allowance.spend(3)
            yield piece
    except (html_safety.ForbiddenLink, TooManyAttributes, Refused) as refused:
        raise Unrenderable(f"the body: {refused}") from None


def _filled(part: str, template: BoundTemplate, *, payload: dict[str, Any], allowance: RenderAllowance) -> str:
    words = rendered(f"the {part}", template, payload, allowance)
    if not one_line(words):
        raise Unrenderable(f"the {part} is empty with this payload")
    return words


def _preheader(payload: dict[str, Any], body: str, allowance: RenderAllowance) -> str:
    """What mail programs show beside the subject: the payload's, or how the text begins."""
    given = payload.get("preheader")
    words = given if isinstance(given, str) else html_to_text(_checked(body, allowance))
    return one_line(words)[:MAX_PREHEADER]


def rendered(
    part: str, template: BoundTemplate, payload: dict[str, Any], allowance: RenderAllowance, *, content: str = ""
) -> str:
    """One part with the payload's values. Raises Unrenderable, in words that name the part and no value."""
    try:
        return run(template, payload, allowance, content=content)
    except Refused as refused:
        raise Unrenderable(f"{part}: {refused}") from None
    # The library lets through whatever Python raises (OverflowError for a range, UnicodeEncodeError for half a surrogate).
    # Its messages quote values, which belong in no log, so they are told apart by their class.
    except Exception as error:
        if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
            raise  # that is our fault, whatever the template says
        cause = next((words for kind, words in _CAUSES if isinstance(error, kind)), "a value is not what the template expects")
        line = f", on line {error.linenum}" if isinstance(error, liquid.Error) and error.linenum else ""
        raise Unrenderable(f"{part} cannot be rendered with this payload: {cause}{line}") from None


def _is_html(channel: str, part: str) -> bool:
    return channel == "email" and part == "body"


def _problems_of_parts(channel: str, subject: str | None, text: str | None) -> list[TemplateProblem]:
    problems = []
    if channel in _WITH_SUBJECT and subject is None:
        problems.append(("/subject", f"is required for the channel {channel}"))
    if channel not in _WITH_SUBJECT and subject is not None:
        problems.append(("/subject", f"has no place on the channel {channel}"))
    if channel != "email" and text is not None:
        problems.append(("/text", "is for the channel email; elsewhere the body is the text"))
    return problems


def _problem_of_source(part: str, source: str, limit: int, *, is_html: bool, frame: PartSources | None = None) -> str | None:
    if problem := _problem_of_text(part, source, limit):
        return problem
    try:
        whole = whole_body(frame, source) if frame else source
        compiled(whole, is_html=is_html, also=COMPOSED if frame else frozenset())
        if is_html and (problem := _problem_of_body(whole, has_layout=frame is not None and frame.layout_name is not None)):
            return problem
        if frame and (layout := layout_around(frame, whole)) is not None:
            compiled(layout, is_html=True, also=COMPOSED)
    except Refused as refused:
        return str(refused)
    return None


def _problem_of_text(part: str, source: str, limit: int) -> str | None:
    if not source.strip():
        return "must not be empty"
    if len(source) > limit:
        return f"has {len(source)} characters; at most {limit} are allowed"
    if _CONTROL.search(source) or (part == "subject" and one_line(source) != source.strip()):
        return "must not hold control characters" if part != "subject" else "must be a single line without control characters"
    return None


def _problems_of_variables(variables: list[str]) -> list[TemplateProblem]:
    if len(variables) > MAX_VARIABLES:
        return [("/variables", f"names {len(variables)} variables; at most {MAX_VARIABLES} are allowed")]
    wrong = [
        (index, "must be a name of letters, digits and _")
        for index, name in enumerate(variables)
        if not _VARIABLE.fullmatch(name)
    ]
    twice = [(index, "stands twice") for index, name in enumerate(variables) if name in variables[:index]]
    return [(f"/variables/{index}", message) for index, message in sorted(wrong + twice)]
