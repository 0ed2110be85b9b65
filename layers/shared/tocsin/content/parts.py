"""What emails share: partials put where they are rendered, and the body where its layout has the place for it. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tocsin.content import html_safety
from tocsin.content.html_tokens import pieces
from tocsin.content.liquid import RENDER, check_shape, depth_after, line_of, marks
from tocsin.content.liquid_limits import Refused
from tocsin.content.part_sources import PartSources

MAX_DEPTH = 5  # of partials in partials
MAX_WHOLE = 256 * 1024  # characters of a source with all its partials
_COST = 32  # characters that each `render` counts for, however short its partial is
_RENDER = re.compile(r"\{%(-?)\s*render\s+(?:'([^']{1,100})'|\"([^\"]{1,100})\")\s*(?:,(.*?))?\s*(-?)%\}", re.S)
_CONTENT = re.compile(r"\{\{(-?)\s*content\s*(-?)\}\}")
_COLOR = re.compile(r"\{\{-?\s*brand\.(?:color|ink)\s*-?\}\}")
_NAMING = ("assign", "capture", "for", "render", "with")  # the tags by which something else could be called `brand`
_OTHER_BRAND = re.compile(r"\bbrand\b(?!\s*\.)")
_PLACE = "<v\x02>"  # a tag that no author can write: a source has no control characters


@dataclass(slots=True)
class _Written:
    """How much was put together so far."""

    size: int = 0
    trail: list[str] = field(default_factory=list)

    def add(self, size: int) -> None:
        self.size += size
        if self.size > MAX_WHOLE:
            raise Refused(f"with its partials it has more than {MAX_WHOLE} characters")


def whole_body(frame: PartSources, body: str) -> str:
    """The body with its partials. Raises Refused."""
    return expanded(body, dict(frame.partials))


def layout_around(frame: PartSources, body: str) -> str | None:
    """The layout with its partials, its place marked by a tag of ours; None: there is none. `body` is whole. Raises Refused, also
    for a body that would change what the layout's own values stand in."""
    if frame.layout_name is None:
        return None
    if frame.layout is None:
        raise Refused(f"the layout `{frame.layout_name}` is not known")
    before, after, place = _split(expanded(frame.layout, dict(frame.partials)))
    if problem := _problem_around(before, with_colours(body), after):
        raise Refused(f"in its layout, {problem}")
    return before + place + after


def rendered_names(source: str) -> list[str]:
    """The partials that a source renders itself, each once. Raises Refused."""
    found = [_render_of(source, start, end)[1] for start, end, name in marks(source) if name == "render"]
    return list(dict.fromkeys(found))


def expanded(source: str, partials: Mapping[str, str]) -> str:
    """The source with each partial in its place, and theirs in theirs. Raises Refused: unknown, too deep, in a ring, too much."""
    return _expanded(source, partials, _Written())


def check_layout(source: str, partials: Mapping[str, str]) -> None:
    """Raises Refused for what is no layout: its place for the body must be there, once, and in the text."""
    before, after, _ = _split(expanded(source, partials))
    if problem := _problem_around(before, "", after):
        raise Refused(problem)


def with_colours(source: str) -> str:
    """For a check: the brand's colours are colours, whatever is sent, so where nothing else has that name they may stand in a
    style."""
    return source if _has_other_brand(source) else _COLOR.sub("#000000", source)


def _has_other_brand(source: str) -> bool:
    return any(name in _NAMING and _OTHER_BRAND.search(source, start, end) for start, end, name in marks(source))


def _problem_around(before: str, body: str, after: str) -> str | None:
    if not _has_other_brand(before + after):
        before, after = with_colours(before), with_colours(after)
    return html_safety.problem_of(before + body + after)


def _expanded(source: str, partials: Mapping[str, str], written: _Written) -> str:
    check_shape(source, also=RENDER)
    out, at = [], 0
    for start, end, name in marks(source):
        if name != "render":
            continue
        opening, partial, arguments, closing = _render_of(source, start, end)
        if partial in written.trail:
            ring = " → ".join([*written.trail[written.trail.index(partial) :], partial])
            raise Refused(f"the partial `{partial}` renders itself: {ring}")
        if partial not in partials:
            raise Refused(f"the partial `{partial}` is not known, on line {line_of(source, start)}")
        if len(written.trail) == MAX_DEPTH:
            raise Refused(f"partials render partials more than {MAX_DEPTH} deep: {' → '.join([*written.trail, partial])}")
        written.add(_COST)
        written.trail.append(partial)
        inner = _expanded(partials[partial], partials, written)
        written.trail.pop()
        # What a partial is given, it alone sees; an empty remark keeps what the dashes ask for.
        begin, finish = (f"with {arguments}", "endwith") if arguments else ("#", "#")
        if arguments or opening or closing:
            inner = f"{{%{opening} {begin} %}}{inner}{{% {finish} {closing}%}}"
        out += [source[at:start], inner]
        at = end
    written.add(len(source))
    return "".join(out) + source[at:]


def _render_of(source: str, start: int, end: int) -> tuple[str, str, str, str]:
    """A `render` taken apart: the dash before, the partial's name, what it is given, the dash behind."""
    found = _RENDER.fullmatch(source, start, end)
    if found is None:
        raise Refused(
            f"`render` takes the name of a partial in quotes, and then names with values, on line {line_of(source, start)}"
        )
    return found[1], found[2] or found[3], (found[4] or "").strip(), found[5]


def _split(layout: str) -> tuple[str, str, str]:
    """What stands before the place for the body, what behind, and the tag for it."""
    depth, places = 0, []
    for start, end, name in marks(layout):
        depth += depth_after(name)
        if place := _CONTENT.fullmatch(layout, start, end):
            if depth:
                raise Refused("`{{ content }}` cannot stand inside of a block such as `if` or `for`")
            places.append(place)
    if len(places) != 1:
        missing = "`{{ content }}` is missing: the body goes there"
        raise Refused(f"`{{{{ content }}}}` stands {len(places)} times; the body goes in once" if places else missing)
    before, after = layout[: places[0].start()], layout[places[0].end() :]
    page = pieces(html_safety.without_marks(before + _PLACE + after))
    if not any(piece.kind == "open" and piece.text == _PLACE[1:-1] for piece in page):
        raise Refused("`{{ content }}` must stand in the text, not in an attribute, a comment, a title or a style")
    return before, after, f"{{%{places[0][1]} content {places[0][2]}%}}"
