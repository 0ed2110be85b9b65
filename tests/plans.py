"""Plans that really ran: what auto_explain tells of them, node by node."""

import json
from collections.abc import Iterator
from typing import Any

from psycopg import Connection
from psycopg.errors import Diagnostic

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


def blocks_of(node: Node) -> int:
    """How many blocks a node and those below it read in all, wherever they were."""
    return int(node["Shared Hit Blocks"] + node["Shared Read Blocks"])


def telling(conn: Connection[Any], role: str) -> list[Node]:
    """Let a superuser's connection act as another role and tell how it runs each statement from now on: the list grows with them.

    It keeps to indexes, however small the tables are: what it does not use then, it cannot use."""
    plans: list[Node] = []

    def hear(notice: Diagnostic) -> None:
        text = notice.message_primary or ""
        if "{" in text and text.startswith("duration:"):
            plans.append(json.loads(text[text.index("{") :]))

    conn.execute("LOAD 'auto_explain'")
    for name, value in (EXPLAINING | {"nested_statements": "on"}).items():
        conn.execute(f"SET auto_explain.log_{name} = '{value}'")  # type: ignore[call-overload]
    conn.execute(f"SET enable_seqscan = off; SET enable_sort = off; SET ROLE {role}")  # type: ignore[call-overload]
    conn.add_notice_handler(hear)
    return plans


def indexes_in(plans: list[Node]) -> set[str]:
    return {node["Index Name"] for plan in plans for node in walk(plan["Plan"]) if "Index Name" in node}
