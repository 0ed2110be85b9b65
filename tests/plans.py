"""Plans that really ran: what auto_explain tells of them, node by node."""

from collections.abc import Iterator
from typing import Any

Node = dict[str, Any]

# settings of auto_explain, without their prefix
EXPLAINING = {"min_duration": "0", "analyze": "on", "buffers": "on", "timing": "off", "format": "json", "level": "notice"}


def walk(node: Node) -> Iterator[Node]:
    yield node
    for part in node.get("Plans", []):
        yield from walk(part)


def rows_of(node: Node) -> int:
    """How many rows a node handled in all, those it threw away too."""
    each = node["Actual Rows"] + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return int(each * node["Actual Loops"])
