"""What this stack consists of: queues with what waits on them, routes and schedules; as JSON and as a page."""

from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from devstack.declared import Declared
from devstack.page_files import part

Depths = Callable[[], dict[str, dict[str, int]]]


class Overview:
    def __init__(self, url: str, declared: Declared, depths: Depths) -> None:
        self._url = url
        self._declared = declared
        self._depths = depths

    def as_json(self) -> dict[str, Any]:
        return {
            "base_url": self._url,
            "pages": ["/console", "/_local/", "/_local/mailbox", "/_local/inbox", "/health", "/ready", "/v1/openapi.json"],
            "queues": self._counted(),
            "routes": [route.key for route in self._declared.routes],
            "schedules": {each.name: each.expression for each in self._declared.schedules},
        }

    def as_html(self, elsewhere: str) -> str:
        queues = [(name, _shown(depth["waiting"]), _shown(depth["in_flight"])) for name, depth in self._counted().items()]
        routes = [(route.method, route.path, route.function) for route in self._declared.routes]
        schedules = [(each.name, each.expression) for each in self._declared.schedules]
        return part("overview.html").substitute(
            url=escape(self._url),
            elsewhere=escape(elsewhere),
            queues=_table(("Queue", "Waiting", "In flight"), queues),
            routes=_table(("Method", "Path", "Function"), routes),
            schedules=_table(("Schedule", "When"), schedules),
        )

    def _counted(self) -> dict[str, dict[str, int]]:
        try:
            return self._depths()
        except Exception:  # AWS is down, which is worth seeing on a page that still works
            return {queue.name: {"waiting": -1, "in_flight": -1} for queue in self._declared.queues}


def _shown(count: int) -> str:
    return str(count) if count >= 0 else "unknown: AWS does not answer"


def _table(names: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(f"<tr>{_cells(names, row)}</tr>" for row in rows)
    return f'<div class="table-box"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cells(names: tuple[str, ...], row: tuple[Any, ...]) -> str:
    """On a phone each cell says what it is."""
    return "".join(f'<td data-label="{name}">{escape(str(cell))}</td>' for name, cell in zip(names, row, strict=True))
