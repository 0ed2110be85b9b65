"""What a template may use up, and the render context that counts it."""

import time
from io import StringIO
from typing import Any, TextIO

from liquid import BoundTemplate
from liquid.chain_map import ReadOnlyChainMap
from liquid.context import Context
from liquid.exceptions import Error
from liquid.expression import LoopExpression

MAX_OUTPUT = 512 * 1024  # bytes of one part; also the length of any text on the way there
MAX_ITERATIONS = 10_000  # of all loops of one rendering together
MAX_LOCALS = 2 * 1024 * 1024  # bytes held by assign and capture
MAX_ITEMS = 10_000  # of a list that a filter takes or makes
MAX_NUMBER = 2**63
# The steps between two looks at the clock are bounded by the limits above: a filter over 512 KiB takes milliseconds.
MAX_SECONDS = 2.0


class Refused(Error):
    """The template asks for more than it may. The message names no value, so it can be shown and logged."""


class Budget(Context):
    """A render context whose every lookup, filter, loop and write costs, and in which only JSON can be found."""

    __slots__ = ("_iterations", "_until")

    def __init__(self, template: BoundTemplate, payload: dict[str, Any]) -> None:
        super().__init__(template.env, globals=payload, template=template)
        # Without the library's `now` and `today`: a retried message must read as it did the first time.
        self.scope = ReadOnlyChainMap(self.locals, self.globals)
        # Otherwise the library takes texts in quotes for markup, and a filter could turn a value into markup with them.
        self.autoescape = False
        self._iterations = 0
        self._until = time.monotonic() + MAX_SECONDS

    def look_at_the_clock(self) -> None:
        if time.monotonic() > self._until:
            raise Refused(f"it takes longer than {MAX_SECONDS:g} seconds")

    def get(self, *args: Any, **kwargs: Any) -> object:
        self.look_at_the_clock()
        return super().get(*args, **kwargs)

    def filter(self, name: str) -> Any:
        self.look_at_the_clock()
        return super().filter(name)

    def assign(self, key: str, val: Any) -> None:
        self.look_at_the_clock()
        super().assign(key, val)

    def raise_for_loop_limit(self, length: int = 1) -> None:
        """Called as a loop begins, so an inner loop counts once for each round of the outer one."""
        self._iterations += length
        if self._iterations > MAX_ITERATIONS:
            raise Refused(f"it loops more than {MAX_ITERATIONS} times")

    def get_buffer(self, buf: TextIO | None = None) -> StringIO:
        return _Page(self, buf.size if isinstance(buf, _Page) else 0)


class _Page(StringIO):
    """What has been written so far, by this block and the blocks around it."""

    def __init__(self, budget: Budget, size: int) -> None:
        super().__init__()
        self.budget, self.size = budget, size

    def write(self, text: str, /) -> int:
        self.budget.look_at_the_clock()
        self.size += len(text.encode("utf-8"))
        if self.size > MAX_OUTPUT:
            raise Refused(f"it renders to more than {MAX_OUTPUT} bytes")
        return super().write(text)


class Loop(LoopExpression):
    """A loop that looks at a range's length before the library copies it, as it does for `reversed`."""

    __slots__ = ()

    def _obj_to_iter(self, obj: object, context: Context) -> tuple[Any, int]:
        if isinstance(obj, range) and obj.stop - obj.start > MAX_ITERATIONS:
            raise Refused(f"it loops more than {MAX_ITERATIONS} times")
        return super()._obj_to_iter(obj, context)
