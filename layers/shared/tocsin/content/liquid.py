"""The template language: Liquid cut down to what a message needs, read only after a look at its shape. Pure."""

import re
from collections.abc import Iterator
from io import StringIO
from typing import Any, TextIO

from liquid import BoundTemplate, Environment
from liquid.builtin import illegal, literal, statement
from liquid.builtin.tags import assign_tag, capture_tag, case_tag, comment_tag, for_tag, if_tag, inline_comment_tag, unless_tag
from liquid.context import Context
from liquid.exceptions import Error
from liquid.expression import IntegerLiteral, LoopExpression, RangeLiteral
from liquid.extra.tags._with import WithNode, WithTag
from liquid.stream import TokenStream
from liquid.tag import Tag
from markupsafe import Markup, escape

from tocsin.content.liquid_filters import FILTERS
from tocsin.content.liquid_limits import MAX_ITERATIONS, MAX_OUTPUT, BoundedOutput, Budget, Loop, Refused, RenderAllowance
from tocsin.content.liquid_values import escaped_size, shown, size_of

MAX_NESTING = 20
MAX_MARK = 500  # characters between {{ and }}: the library's patterns take cubic time over what is never closed
MAX_MARKS = 32 * 1024  # characters of all marks of a part: compiled, each takes up to 300 bytes
MAX_BRACKETS = 10  # in one mark: the library's time grows fast with a[b[c[…

RENDER = frozenset({"render"})  # for authors, where partials are put in before it is read
COMPOSED = frozenset({"with", "endwith", "content"})  # ours, in what is put together of several sources
_BLOCKS = {"if", "unless", "case", "for", "capture", "comment"}
_TAGS = _BLOCKS | {f"end{name}" for name in _BLOCKS} | {"elsif", "else", "when", "break", "continue", "assign", "#"}
_OPENING = re.compile(r"\{[{%]")
_BEGINS_A_TAG = re.compile(r"[a-zA-Z/!?]")
_TAG_NAME = re.compile(r"-?\s*(#|\w*)")


class _OutputNode(statement.StatementNode):
    def render_to_output(self, context: Context, buffer: TextIO) -> bool | None:
        assert isinstance(buffer, BoundedOutput)  # noqa: S101  for the type checker: get_buffer makes nothing else
        value = self.expression.evaluate(context)
        if not isinstance(value, str):
            buffer.check_room(size_of(value, MAX_OUTPUT))
        words = shown(value)
        if context.env.autoescape and not isinstance(words, Markup):
            if buffer.size + 5 * len(words) > MAX_OUTPUT:
                buffer.check_room(escaped_size(words))
            words = escape(words)
        if context.env.autoescape and buffer.last.endswith(("<", "</")) and _BEGINS_A_TAG.match(words):
            raise Refused("a value stands right behind '<'")  # in the source, a block that is left out stood between them
        buffer.write(words)
        return None


class _Output(statement.Statement):
    node_class = _OutputNode


class _CaptureNode(capture_tag.CaptureNode):
    """What is captured has been escaped on its way, and is shown as it is unless a filter touches it."""

    def _assign(self, context: Context, buf: TextIO) -> None:
        assert isinstance(buf, StringIO)  # noqa: S101  for the type checker: get_buffer makes nothing else
        assert isinstance(context, Budget)  # noqa: S101  likewise
        words = buf.getvalue()
        context.allowance.hold(words)
        context.assign(self.name, Markup(words) if context.env.autoescape else words)  # noqa: S704


class _Capture(capture_tag.CaptureTag):
    node_class = _CaptureNode


class _CommentNode(comment_tag.CommentNode):
    """Does nothing, but ten thousand of them in a loop take their time."""

    def render_to_output(self, context: Context, buffer: TextIO) -> bool | None:
        assert isinstance(context, Budget)  # noqa: S101  likewise
        context.allowance.spend(1)
        return False


class _Comment(comment_tag.CommentTag):
    node_class = _CommentNode


class _InlineComment(inline_comment_tag.InlineCommentTag):
    node_class = _CommentNode


class _WithNode(WithNode):
    def render_to_output(self, context: Context, buffer: TextIO) -> bool | None:
        assert isinstance(context, Budget)  # noqa: S101  likewise
        context.allowance.spend(2 + len(self.args))
        return super().render_to_output(context, buffer)


class _With(WithTag):
    node_class = _WithNode


class _ContentNode(comment_tag.CommentNode):
    """Where the body of a layout goes: written already, and not escaped again."""

    def render_to_output(self, context: Context, buffer: TextIO) -> bool | None:
        assert isinstance(context, Budget)  # noqa: S101  likewise
        buffer.write(context.content)
        return True


class _Content(Tag):
    name = "content"
    block = False
    node_class = _ContentNode

    def parse(self, stream: TokenStream) -> _ContentNode:
        return self.node_class(stream.current)


# The three first: they make the parser that `case` asks for at once.
_TAG_CLASSES: list[type[Tag]] = [
    literal.Literal,
    _Output,
    illegal.Illegal,
    assign_tag.AssignTag,
    _Capture,
    case_tag.CaseTag,
    _Comment,
    for_tag.BreakTag,
    for_tag.ContinueTag,
    for_tag.ForTag,
    if_tag.IfTag,
    _InlineComment,
    unless_tag.UnlessTag,
    _With,
    _Content,
]


class _Template(BoundTemplate):
    def make_partial_namespace(self, *_: Any) -> dict[str, object]:
        return {}  # the library would hide a variable named `partial` here


class _Language(Environment):
    """No loader, so no other template or file can be reached; no tag or filter that is not named here."""

    template_class = _Template

    def setup_tags_and_filters(self) -> None:
        for tag in _TAG_CLASSES:
            self.add_tag(tag)
        for name, function in FILTERS.items():
            self.add_filter(name, function)
        parse_loop = self.parse_loop_expression_value
        self.parse_loop_expression_value = lambda source, line: _bounded(parse_loop(source, line), line)


def _bounded(loop: LoopExpression, line: int) -> LoopExpression:
    bounds = loop.iterable.children() if isinstance(loop.iterable, RangeLiteral) else []
    match [bound.value for bound in bounds if isinstance(bound, IntegerLiteral)]:
        case [start, stop] if stop - start >= MAX_ITERATIONS:
            raise Refused(f"it loops more than {MAX_ITERATIONS} times, on line {line}")
    return Loop(loop.name, loop.iterable, loop.limit, loop.offset, loop.cols, loop.reversed)


_ESCAPED, _PLAIN = (_Language(autoescape=escaped, cache_size=0) for escaped in (True, False))


def compiled(source: str, *, is_html: bool, also: frozenset[str] = frozenset()) -> BoundTemplate:
    """Raises Refused, with words for the template's author. In HTML every value is escaped. `also`: further tags it may have."""
    check_shape(source, also=also)
    try:
        template = (_ESCAPED if is_html else _PLAIN).from_string(source)
        filters = template.analyze(follow_partials=False).filters
    except Error as error:
        if isinstance(error.__cause__, MemoryError):
            raise error.__cause__ from None
        cause = error.__cause__ if isinstance(error.__cause__, Refused) else error
        raise Refused("is nested too deeply" if isinstance(error.__cause__, RecursionError) else str(cause)) from None
    except RecursionError:
        raise Refused("is nested too deeply") from None
    for name, places in filters.items():
        if name not in FILTERS:
            raise Refused(f"the filter '{name}' is not available, on line {places[0][1]}")
    return template


def run(template: BoundTemplate, payload: dict[str, Any], allowance: RenderAllowance, *, content: str = "") -> str:
    """`content`: what stands where a layout has its place for the body."""
    budget = Budget(template, payload, allowance, content)
    page = budget.get_buffer()
    template.render_with_context(budget, page)
    return page.getvalue()


def marks(source: str) -> Iterator[tuple[int, int, str]]:
    """Where each {{ … }} and {% … %} starts and ends, and its tag's name, empty for {{ … }}."""
    at = 0
    while opening := _OPENING.search(source, at):
        start, closing = opening.start(), "}}" if opening[0] == "{{" else "%}"
        end = source.find(closing, start + 2, start + 2 + MAX_MARK)
        if end < 0:
            raise Refused(f"'{opening[0]}' has no '{closing}' within {MAX_MARK} characters, on line {line_of(source, start)}")
        name = _TAG_NAME.match(source, start + 2, end) if closing == "%}" else None
        yield start, end + 2, name[1] if name else ""
        at = end + 2


def depth_after(name: str) -> int:
    """What a tag adds to the depth of blocks."""
    return (name in _BLOCKS or name == "with") - (name[:3] == "end")


def check_shape(source: str, *, also: frozenset[str] = frozenset()) -> None:
    """Raises Refused for what the library must not even read."""
    depth = size = 0
    for start, end, name in marks(source):
        size += end - start
        if size > MAX_MARKS:
            raise Refused(f"its tags and outputs take more than {MAX_MARKS} characters, on line {line_of(source, start)}")
        if source.startswith("{%", start) and name not in _TAGS and name not in also:
            raise Refused(f"the tag '{name[:30]}' is not available, on line {line_of(source, start)}")
        if source.count("[", start, end) > MAX_BRACKETS:
            raise Refused(f"more than {MAX_BRACKETS} brackets stand between '{{{{' and '}}}}', on line {line_of(source, start)}")
        depth += depth_after(name)
        if depth > MAX_NESTING:
            raise Refused(f"blocks are nested more than {MAX_NESTING} deep, on line {line_of(source, start)}")


def line_of(source: str, at: int) -> int:
    return source.count("\n", 0, at) + 1
