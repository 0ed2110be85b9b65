"""Users in files: CSV, NDJSON or JSON, read row by row, with what is wrong told before anything is sent. Pure but for reading."""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO
from zoneinfo import available_timezones

from tocsin_cli.failures import usage

FIELDS = ("email", "phone", "username", "locale", "timezone", "avatar_url")
BATCH = 500
MAX_BYTES = 200_000  # of a batch: a body may have 256 KiB
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_PHONE = re.compile(r"\+[1-9]\d{6,14}", re.ASCII)
_LOCALE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")


@dataclass(frozen=True, slots=True)
class Row:
    """One user of a file: its number from 1, what it says, and why it cannot be sent, if it cannot."""

    number: int
    user: Any
    fault: str = ""


def format_of(path: str, said: str | None) -> str:
    if said:
        return said
    found = {".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "json"}.get(Path(path).suffix.lower())
    if found is None:
        raise usage("Say what it is: --format csv, ndjson or json.")
    return found


def read(file: TextIO, kind: str) -> Iterator[Row]:
    """The rows in order, checked as far as that is possible without the server."""
    seen: set[str] = set()
    readers = {"csv": _csv, "ndjson": _ndjson, "json": _json}
    for number, found in enumerate(readers[kind](file), 1):
        if isinstance(found, Fault):
            yield Row(number, found.text, found.why)
            continue
        fault = fault_of(found)
        if not fault and found["id"] in seen:
            fault = "/id: was named before in this file"
        seen.update([found["id"]] if not fault else [])
        yield Row(number, found, fault)


@dataclass(frozen=True, slots=True)
class Fault:
    text: str
    why: str


def _csv(file: TextIO) -> Iterator[Any]:
    """A column for each field; `attributes.plan` is one attribute, `attributes` all of them as JSON. Empty is absent."""
    reader = csv.DictReader(file, strict=True)
    names = [name.strip().removeprefix("\ufeff") for name in reader.fieldnames or []]
    strange = [name for name in names if name not in ("id", "attributes", *FIELDS) and not name.startswith("attributes.")]
    if "id" not in names:
        raise usage("The first line of the CSV must name the columns, and `id` must be one of them.")
    if strange:
        known = ", ".join(("id", *FIELDS, "attributes", "attributes.NAME"))
        raise usage(f"The CSV has a column `{strange[0]}`. Known are {known}.")
    reader.fieldnames = names
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Fault("", f"is not CSV: {error}")
            continue
        yield _of_cells(row)


def _of_cells(row: dict[str | Any, Any]) -> Any:
    if None in row or None in row.values():
        return Fault(json.dumps([row.get(name) for name in row if name]), "has more or fewer cells than the first line")
    user: dict[str, Any] = {name: row[name].strip() for name in ("id", *FIELDS) if row.get(name, "").strip()}
    attributes: dict[str, Any] = {}
    if row.get("attributes", "").strip():
        try:
            attributes = json.loads(row["attributes"])
        except ValueError:
            return Fault(row["attributes"], "/attributes: is not JSON")
    for name, value in row.items():
        if name.startswith("attributes.") and value.strip():
            attributes[name.removeprefix("attributes.")] = value.strip()
    return user | ({"attributes": attributes} if attributes else {})


def _ndjson(file: TextIO) -> Iterator[Any]:
    for line in file:
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                yield Fault(line.strip(), f"is not JSON: {error}")


def _json(file: TextIO) -> Iterator[Any]:
    try:
        found = json.load(file)
    except (ValueError, RecursionError) as error:
        raise usage(f"The file is not JSON: {error}") from None
    rows = found.get("users") if isinstance(found, dict) else found
    if not isinstance(rows, list):
        raise usage('The JSON must be a list of users, or {"users": […]}.')
    yield from rows


def fault_of(user: Any) -> str:
    """What the server would refuse, with a pointer; empty where nothing is to be seen from here."""
    if not isinstance(user, dict):
        return "must be an object"
    if strange := [name for name in user if name not in ("id", "attributes", *FIELDS)]:
        return f"/{strange[0]}: is not a known field"
    user_id = user.get("id")
    if not isinstance(user_id, str) or not 1 <= len(user_id) <= 255:
        return "/id: must be text of 1 to 255 characters"
    for name in FIELDS:
        value = user.get(name)
        if value is not None and not isinstance(value, str):
            return f"/{name}: must be text"
    checks = (
        ("email", _EMAIL, "is no email address"),
        ("phone", _PHONE, "must be a number such as +4915112345678"),
        ("locale", _LOCALE, "must be such as de or pt-BR"),
    )
    for name, pattern, wrong in checks:
        if user.get(name) and not pattern.fullmatch(user[name]):
            return f"/{name}: {wrong}"
    if user.get("timezone") and user["timezone"] not in available_timezones():
        return "/timezone: is no time zone, such as Europe/Berlin"
    return "" if isinstance(user.get("attributes", {}), dict) else "/attributes: must be an object"


def batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """At most 500, and no more than a body may hold. What cannot be sent rides along, so that rows stay in order."""
    batch: list[Row] = []
    size = 0
    for row in rows:
        length = len(json.dumps(row.user)) if not row.fault else 0
        if batch and (len(batch) >= BATCH or size + length > MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += length
    if batch:
        yield batch
