"""When a door is killed: before its first exchange with the world, and after each of them.

What lies between two exchanges reaches nobody, so before the next is after the last. That holds where one is made after the
other, which the tests of each door's boundaries assert."""

from collections.abc import Sequence

MOST_EXCHANGES = 100
FIRST = (1, "before ")
LATER = [(n, "after ") for n in range(1, MOST_EXCHANGES)]


def moments(chunk: int = 0, chunks: int = 1) -> list[tuple[int, str]]:
    """The number of each, and what is counted; of several chunks, one."""
    return [FIRST, *LATER][chunk::chunks]


def assert_one_after_the_other(crossed: Sequence[str]) -> None:
    """Each exchange ends before the next begins."""
    befores, afters = crossed[::2], crossed[1::2]
    assert [f"after {name.removeprefix('before ')}" for name in befores] == list(afters), "\n".join(crossed)
