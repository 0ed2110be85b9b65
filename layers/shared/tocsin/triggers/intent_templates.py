"""An intent with Liquid in its texts, as a trigger keeps one: what can be known to be wrong before it is ever filled in. Pure."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from tocsin.content.liquid import compiled
from tocsin.content.liquid_limits import Refused
from tocsin.foundation.field_errors import errors_of
from tocsin.intake.intents import Intent

MAX_INTENT = 32 * 1024
_NAMES = ("extra_forbidden", "missing")  # what is wrong with the names of fields, in which Liquid is not filled in

IntentFault = tuple[str, str]  # a JSON pointer and a message


def faults_of(intent: Any) -> list[IntentFault]:
    """What is wrong with its Liquid, and with every part of it that is no Liquid."""
    if not isinstance(intent, dict):
        return [("", "must be an object")]
    if len(json.dumps(intent, ensure_ascii=False).encode()) > MAX_INTENT:
        return [("", f"must have at most {MAX_INTENT} bytes")]
    faults = [(pointer, f"is not valid Liquid: {message}") for pointer, message in _refused(intent)]
    return faults or _misshapen(intent)


def _misshapen(intent: dict[str, Any]) -> list[IntentFault]:
    try:
        Intent.model_validate(intent, context={"allow_private": True})  # when it runs, its links are looked at
    except ValidationError as error:
        told = zip(error.errors(include_url=False), errors_of(error), strict=False)
        return [
            (one["pointer"], one["message"])
            for detail, one in told
            if detail["type"] in _NAMES or not _holds_liquid(detail.get("ctx", {}).get("tag", detail["input"]))
        ]
    return []


def _refused(intent: dict[str, Any]) -> Iterator[IntentFault]:
    for pointer, text in _texts(intent, ""):
        try:
            compiled(text, is_html=False)
        except Refused as refused:
            yield pointer, str(refused)


def _holds_liquid(value: Any) -> bool:
    return any("{{" in text or "{%" in text for _, text in _texts(value, ""))


def _texts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """Every text that is a value, with its place."""
    match value:
        case str():
            yield pointer, value
        case dict():
            for name, item in value.items():
                yield from _texts(item, f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}")
        case list():
            for n, item in enumerate(value):
                yield from _texts(item, f"{pointer}/{n}")
