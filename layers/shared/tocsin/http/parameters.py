"""The parameters of a request: text, each said once, and each known, so that a misspelt filter is an error. Pure."""

from collections.abc import Iterable
from difflib import get_close_matches

from tocsin.foundation.text import is_storable, percent_decoded
from tocsin.http import problems

MOST_ERRORS = 20


def read_query(raw: str, known: Iterable[str]) -> dict[str, str]:
    """The query's parameters by their names; a Problem that lists what is wrong with them, up to twenty."""
    query: dict[str, str] = {}
    errors: dict[str, str] = {}
    names = set(known)
    for part in filter(None, raw.split("&")):
        if len(errors) == MOST_ERRORS:
            break
        written, _, text = part.partition("=")
        name, value = _decoded(written), _decoded(text)
        if name is None:
            errors[_shown(written)] = "is not text in UTF-8"
        elif name not in names:
            errors[name] = _unknown(name, names)
        elif value is None:
            errors[name] = "is not text in UTF-8"
        elif name in query:
            errors[name] = "stands twice; one value is meant"
        else:
            query[name] = value
    if errors:
        told = [{"pointer": f"?{name[:100]}", "message": message} for name, message in errors.items()]
        raise problems.invalid_fields(told)
    return query


def is_text(place: str) -> bool:
    """Whether this part of a path was text. API Gateway hands on bytes that are no UTF-8 as U+FFFD, all alike."""
    return is_storable(place) and "\ufffd" not in place


def _decoded(written: str) -> str | None:
    try:
        return percent_decoded(written.replace("+", " "))
    except ValueError:
        return None


def _shown(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _unknown(name: str, known: set[str]) -> str:
    near = get_close_matches(name[:100], known, n=1)
    if near:
        return f"is not a known parameter; did you mean `{near[0]}`?"
    return (
        f"is not a known parameter; there are {', '.join(sorted(known))}" if known else "is not a known parameter; there are none"
    )
