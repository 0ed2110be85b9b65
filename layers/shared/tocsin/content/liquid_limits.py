"""What a template may use up, and the render context that counts it. Pure.

No value in a rendering is ever larger than the payload may be or a filter may make (`template_values.size_of`), so whatever the
library does with one (compare, copy, put it into the message of an error) takes bounded time and memory.
"""

import sys
import time
from collections.abc import Callable
from functools import reduce
from io import StringIO
from typing import Any, TextIO

from liquid import BoundTemplate
from liquid.chain_map import ReadOnlyChainMap
from liquid.context import Context
from liquid.exceptions import Error
from liquid.expression import LoopExpression

from tocsin.content.liquid_values import size_of

MAX_OUTPUT = 512 * 1024  # bytes of one part; also the characters of any text, or of a list as text, on the way there
MAX_PAYLOAD = 1024 * 1024  # characters of the payload as JSON
MAX_MADE = 64 * 1024 * 1024  # bytes of all values that filters and captures make for one message, kept or not
MAX_ITERATIONS = 10_000  # of all loops of one part together
MAX_ITEMS = 10_000  # of a list that a filter takes or makes
MAX_NUMBER = 2**63
MAX_SECONDS = 1.0  # of the processor, for one message: a busy machine does not change what can be rendered

_BETWEEN_LOOKS = 500  # units of work, about a microsecond each: asking for the processor's time is slow
_CHARACTERS_PER_UNIT = 100
_CONTAINERS = (list, tuple, dict)


class Refused(Error):
    """The template asks for more than it may. The message names no value, so it can be shown and logged."""


class RenderAllowance:
    """What one message may use up in all its parts together: time, of which some may be used up, and what its filters make."""

    def __init__(self, payload: dict[str, Any], *, used_seconds: float = 0.0) -> None:
        if size_of(payload, MAX_PAYLOAD) > MAX_PAYLOAD:
            raise Refused(f"the payload has more than {MAX_PAYLOAD} characters")
        self._until = time.thread_time() + MAX_SECONDS - used_seconds
        self._work = 0
        self._made = 0

    def spend(self, work: int) -> None:
        self._work += work
        if self._work >= _BETWEEN_LOOKS:
            self._work = 0
            if time.thread_time() > self._until:
                raise Refused(f"it takes more than {MAX_SECONDS:g} s of the processor's time")

    def hold(self, made: object, *, with_items: bool = False) -> None:
        """Count what was made. It may be dropped at once, but what is kept can never be more than this."""
        if isinstance(made, str | list):
            self._made += sys.getsizeof(made)
            if with_items and isinstance(made, list):
                self._made += sum(map(sys.getsizeof, made))
            if self._made > MAX_MADE:
                raise Refused(f"its filters and captures make more than {MAX_MADE} bytes")


class Budget(Context):
    """A render context whose every lookup, filter, loop and write costs, and in which only JSON can be found."""

    __slots__ = ("_iterations", "allowance", "content")

    def __init__(self, template: BoundTemplate, payload: dict[str, Any], allowance: RenderAllowance, content: str = "") -> None:
        super().__init__(template.env, globals=payload, template=template)
        # Without the library's `now` and `today`: a retried message must read as it did the first time.
        self.scope = ReadOnlyChainMap(self.locals, self.globals)
        # Otherwise the library takes texts in quotes for markup, and a filter could turn a value into markup with them.
        self.autoescape = False
        self.allowance = allowance
        self.content = content
        self._iterations = 0

    def get(self, path: Any, *_: Any) -> object:
        """Without the library's hint at what was not found, which writes out every index, long lists too."""
        name, *indexes = [path] if isinstance(path, str) else path
        try:
            value = reduce(self.getitem, indexes, self.scope[name])
        except (KeyError, IndexError, TypeError):
            value = self.env.undefined(name)
        self.allowance.spend(_work_of(value))
        return value

    def filter(self, name: str) -> Callable[..., object]:
        function = super().filter(name)

        def call(value: object, *arguments: object, **options: object) -> object:
            made = function(value, *arguments, **options)
            self.allowance.hold(made, with_items=name == "split")
            self.allowance.spend(_work_of(value) + _work_of(made))
            return made

        return call

    def assign(self, key: str, val: Any) -> None:
        self.allowance.spend(2)
        self.locals[key] = val

    def raise_for_loop_limit(self, length: int = 1) -> None:
        """Called as a loop begins, so an inner loop counts once for each round of the outer one."""
        self._iterations += length
        if self._iterations > MAX_ITERATIONS:
            raise Refused(f"it loops more than {MAX_ITERATIONS} times")

    def get_buffer(self, buf: TextIO | None = None) -> StringIO:
        return (
            BoundedOutput(self.allowance, buf.size, buf.last) if isinstance(buf, BoundedOutput) else BoundedOutput(self.allowance)
        )


class BoundedOutput(StringIO):
    """What has been written so far, by this block and the blocks around it: how much, and at last what (two characters
    or more)."""

    def __init__(self, allowance: RenderAllowance, size: int = 0, last: str = "") -> None:
        super().__init__()
        self.allowance, self.size, self.last = allowance, size, last
        allowance.spend(1)

    def check_room(self, size: int) -> None:
        if self.size + size > MAX_OUTPUT:
            raise Refused(f"it renders to more than {MAX_OUTPUT} bytes")

    def write(self, text: str, /) -> int:
        self.allowance.spend(1 + len(text) // _CHARACTERS_PER_UNIT)
        size = len(text) if text.isascii() else len(text.encode("utf-8"))
        self.check_room(size)
        self.size += size
        if size:
            self.last = text if len(text) > 1 else str(self.last[-1:]) + str(text)
        return super().write(text)


class Loop(LoopExpression):
    """A loop that looks at a range's length before the library copies it, as it does for `reversed`."""

    __slots__ = ()

    def _obj_to_iter(self, obj: object, context: Context) -> tuple[Any, int]:
        if isinstance(obj, range) and obj.stop - obj.start > MAX_ITERATIONS:
            raise Refused(f"it loops more than {MAX_ITERATIONS} times")
        return super()._obj_to_iter(obj, context)


def _work_of(value: object) -> int:
    """A look at the clock for each list and object, however short: what it holds may be long."""
    if isinstance(value, _CONTAINERS):
        return _BETWEEN_LOOKS
    return 2 + len(value) // _CHARACTERS_PER_UNIT if isinstance(value, str) else 2
