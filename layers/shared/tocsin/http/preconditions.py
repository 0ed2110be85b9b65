"""Preconditions of a request (RFC 9110): which state of a thing a write is meant for. Pure."""

import re
from collections.abc import Mapping

from tocsin.http import problems
from tocsin.http.problems import Problem

ANY = "*"
_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e]*)"')


def if_match(headers: Mapping[str, str]) -> list[str] | str | None:
    """The tags, without quotes, of which one must be the present state's; ANY: there must be a state; None: nothing is asked."""
    told = headers.get("if-match")
    if told is None or told.strip() == ANY:
        return ANY if told else None
    tags = [_TAG.fullmatch(part.strip()) for part in told.split(",")]
    if not all(tags):
        raise problems.invalid_header("If-Match", "must be an ETag in double quotes as it came, or *")
    if any(tag and tag[1] for tag in tags):
        raise problems.invalid_header("If-Match", 'cannot be a weak ETag (W/"…"): it may stand for several states')
    return [tag[2] for tag in tags if tag]


def if_none_match_any(headers: Mapping[str, str]) -> bool:
    """Whether there must be no state yet: the only use a write has for this header here."""
    told = headers.get("if-none-match")
    if told is not None and told.strip() != ANY:
        raise problems.invalid_header("If-None-Match", "must be * where something is written; If-Match takes an ETag")
    return told is not None


def failed(detail: str) -> Problem:
    return Problem(412, "precondition-failed", "A precondition does not hold", detail)
