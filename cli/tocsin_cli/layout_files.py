"""Layouts and partials as files in Git: `<name>/<layout|partial>.<locale>.<html|liquid>`."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tocsin_cli.failures import usage
from tocsin_cli.template_files import folder_name, lines, name_of_folder

_NAME = re.compile(r"(layout|partial)\.(default|[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*)\.(html|liquid)")
_RENDERS = re.compile(r"\{%-?\s*render\s+[\"']([^\"']+)[\"']")

Key = tuple[str, str]  # name, locale


@dataclass(frozen=True, slots=True)
class Shared:
    """A layout or a partial in one locale, as it is pushed."""

    kind: str
    name: str
    locale: str
    body: str

    @property
    def key(self) -> Key:
        return self.name, self.locale

    @property
    def request(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "locale": self.locale, "body": self.body}

    @property
    def file(self) -> str:
        return f"{folder_name(self.name)}/{self.kind}.{self.locale}.html"

    @property
    def content(self) -> str:
        return f"{self.body}\n"


def of_answer(row: dict[str, Any]) -> Shared:
    return Shared(str(row["kind"]), str(row["name"]), str(row["locale"]), lines(str(row["body"])))


def read(folder: Path, only: tuple[str, ...] = ()) -> dict[Key, Shared]:
    """All that the folder holds; a file that is not as it should be ends it, with its name."""
    if not folder.is_dir():
        raise usage(f"There is no folder {folder}.", "`tocsin layouts pull` makes one from what the stack has.")
    places = [place for place in sorted(folder.iterdir()) if place.is_dir() and place.name[0] != "."]
    found = [shared for place in places for shared in _of_folder(place)]
    known = {shared.key: shared for shared in found if not only or shared.name in only}
    if missing := sorted(set(only) - {name for name, _ in known}):
        raise usage(f"{folder} has no layout or partial `{missing[0]}`.")
    return known


def _of_folder(place: Path) -> list[Shared]:
    found: dict[str, Shared] = {}
    for file in sorted(place.iterdir()):
        if file.name[0] == "." or file.name.endswith("~") or file.suffix == ".md":
            continue
        match = _NAME.fullmatch(file.name)
        if not match or not file.is_file():
            raise usage(f"{file}: must be named layout.<locale>.html or partial.<locale>.html, such as layout.default.html.")
        kind, locale, _ = match.groups()
        if locale in found:
            raise usage(f"{file}: there is another body in {locale} beside it.")
        found[locale] = Shared(kind, name_of_folder(place), locale, _body(file))
    return list(found.values())


def _body(file: Path) -> str:
    try:
        body = lines(file.read_bytes().decode("utf-8-sig")).removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise usage(f"{file} cannot be read: {error}") from None
    if not body:
        raise usage(f"{file}: has no words.")
    return body


def in_order(shared: list[Shared]) -> list[Shared]:
    """Each after the partials that it renders; the stack knows a partial before it takes what has it."""
    ordered: list[Shared] = []

    def put(one: Shared, trail: tuple[str, ...]) -> None:
        names = set(_RENDERS.findall(one.body)) - {*trail, one.name}  # the stack tells of a ring in its own words
        for other in shared:
            if other.name in names and other not in ordered:
                put(other, (*trail, one.name))
        if one not in ordered:
            ordered.append(one)

    for one in sorted(shared, key=lambda one: (one.kind == "layout", one.key)):
        put(one, ())
    return ordered
