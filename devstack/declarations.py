"""Single declarations of a template, as plain values: a route, an event source, a switch."""

import json
import re
from collections.abc import Iterator
from typing import Any

from devstack import event_patterns
from devstack.declared import Cors, QueueSource, Route
from devstack.intrinsics import TemplateError, text

ANY_METHOD = {"*", "ANY", "X-AMAZON-APIGATEWAY-ANY-METHOD"}


def route(function: str, event: dict[str, Any]) -> Route:
    path, method = event.get("Path"), str(event.get("Method", "ANY")).upper()
    if path is None or re.fullmatch(r"/?\$default", path):
        return Route("ANY", "$default", function)
    return Route("ANY" if method in ANY_METHOD else method, path, function)


def cors(api: dict[str, Any]) -> Cors:
    given = api["CorsConfiguration"]
    return Cors(
        origins=tuple(given.get("AllowOrigins", ())),
        methods=tuple(given.get("AllowMethods", ())),
        headers=tuple(given.get("AllowHeaders", ())),
        exposed=tuple(given.get("ExposeHeaders", ())),
        max_age=whole(given.get("MaxAge")),
        with_credentials=bool(given.get("AllowCredentials", False)),
    )


def queue_source(function: str, event: dict[str, Any]) -> QueueSource:
    return QueueSource(
        function=function,
        queue=event["Queue"],
        batch_size=int(event.get("BatchSize", 10)),
        window=int(event.get("MaximumBatchingWindowInSeconds", 0)),
        reports_item_failures="ReportBatchItemFailures" in event.get("FunctionResponseTypes", []),
        max_concurrency=whole(event.get("ScalingConfig", {}).get("MaximumConcurrency")),
        filters=tuple(_filters(function, event)),
    )


def _filters(function: str, event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for each in event.get("FilterCriteria", {}).get("Filters", []):
        try:
            pattern = as_json(each["Pattern"])
        except ValueError:
            raise TemplateError(f"a filter of {function} is not JSON: {each['Pattern']}") from None
        event_patterns.check(pattern, f"a filter of {function}")
        yield pattern


def is_enabled(properties: dict[str, Any]) -> bool:
    state = properties.get("State", "ENABLED")
    if state not in ("ENABLED", "DISABLED"):
        raise TemplateError(f"the local stack knows the states ENABLED and DISABLED, not {state}")
    return text(properties.get("Enabled", True)) == "true" and state == "ENABLED"


def whole(value: Any) -> int | None:
    return None if value is None else int(value)


def as_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def merged(shared: Any, own: Any) -> Any:
    """Globals under a function's own properties, as SAM merges them: maps by key, lists one after the other."""
    if isinstance(shared, dict) and isinstance(own, dict):
        return {
            **shared,
            **{key: merged(shared[key], value) if key in shared else value for key, value in own.items()},
        }
    if isinstance(shared, list) and isinstance(own, list):
        return [*shared, *own]
    return own
