"""Templates as files in Git: `<name>/<channel>.<locale>.<html|txt|liquid>`, each with what else it needs in front of its words.

    templates/parcel-sent/email.default.html      an email's HTML …
    templates/parcel-sent/email.default.txt       … and its plain text, if it is not to be derived
    templates/parcel-sent/email.pt.html           the same in another locale
    templates/parcel-sent/sms.default.txt         the words of another channel

    +++
    subject = "{{ order }} has shipped"
    variables = ["order", "eta"]
    +++
    <p>Your order <b>{{ order }}</b> …

What stands between the +++ is TOML. `.liquid` may stand for the body of any channel. One line break at the end of a file
belongs to the file, not to the words."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from tocsin_cli.config import toml_text
from tocsin_cli.failures import usage

CHANNELS = ("email", "sms", "push", "in_app")
_NAME = re.compile(rf"({'|'.join(CHANNELS)})\.(default|[A-Za-z]{{2,3}}(?:[-_][A-Za-z0-9]{{2,8}})*)\.(html|txt|liquid)")
_FRONT = re.compile(r"\+\+\+\n(.*?)^\+\+\+(?:\n|\Z)", re.S | re.M)
_KNOWN = {"subject": str, "variables": list, "layout": str}

Key = tuple[str, str, str]  # name, channel, locale


@dataclass(frozen=True, slots=True)
class Words:
    """One channel and locale of a template, as it is pushed."""

    name: str
    channel: str
    locale: str
    body: str
    subject: str | None = None
    text: str | None = None
    variables: tuple[str, ...] = ()
    layout: str | None = None

    @property
    def key(self) -> Key:
        return self.name, self.channel, self.locale

    @property
    def request(self) -> dict[str, Any]:
        """As POST /v1/templates and its preview take it, without the name."""
        optional = {"subject": self.subject, "text": self.text, "layout": self.layout}
        always = {"channel": self.channel, "locale": self.locale, "body": self.body, "variables": list(self.variables)}
        return always | {name: value for name, value in optional.items() if value is not None}


def of_answer(row: dict[str, Any]) -> Words:
    """A template as the server shows it, with this side's line breaks."""
    name, channel, locale, body = (str(row[key]) for key in ("name", "channel", "locale", "body"))
    text = lines(row["text"]) if row.get("text") is not None else None
    variables = tuple(row.get("variables") or ())
    return Words(name, channel, locale, lines(body), row.get("subject"), text, variables, row.get("layout"))


def read(folder: Path, only: tuple[str, ...] = ()) -> dict[Key, Words]:
    """All that the folder holds; a file that is not as it should be ends it, with its name."""
    if not folder.is_dir():
        raise usage(f"There is no folder {folder}.", "`tocsin templates pull` makes one from what the stack has.")
    found = [
        words for place in sorted(folder.iterdir()) if place.is_dir() and place.name[0] != "." for words in _of_folder(place)
    ]
    known = {words.key: words for words in found if not only or words.name in only}
    if missing := sorted(set(only) - {name for name, _, _ in known}):
        raise usage(f"{folder} has no template `{missing[0]}`.")
    return known


def _of_folder(place: Path) -> Iterator[Words]:
    parts: dict[tuple[str, str], dict[str, Path]] = {}
    for file in sorted(place.iterdir()):
        if file.name[0] == "." or file.name.endswith("~") or file.suffix == ".md":
            continue
        match = _NAME.fullmatch(file.name)
        if not match or not file.is_file():
            raise usage(f"{file}: must be named <channel>.<locale>.html, .txt or .liquid, such as email.default.html.")
        channel, locale, suffix = match.groups()
        part = "text" if channel == "email" and suffix == "txt" else "body"
        if part in parts.setdefault((channel, locale), {}):
            raise usage(f"{file}: there is another body of {channel} in {locale} beside it.")
        parts[channel, locale][part] = file
    for (channel, locale), files in parts.items():
        if "body" not in files:
            raise usage(f"{files['text']}: an email needs its HTML beside it, email.{locale}.html.")
        yield _words(name_of_folder(place), channel, locale, files)


def _words(name: str, channel: str, locale: str, files: dict[str, Path]) -> Words:
    front, body = _split(files["body"])
    text = None
    if "text" in files:
        of_text, text = _split(files["text"])
        if of_text:
            raise usage(f"{files['text']}: the subject and the variables stand in the HTML file.")
    if not body:
        raise usage(f"{files['body']}: has no words.")
    return Words(name, channel, locale, body, front.get("subject"), text, tuple(front.get("variables", ())), front.get("layout"))


def _split(file: Path) -> tuple[dict[str, Any], str]:
    try:
        content = lines(file.read_bytes().decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise usage(f"{file} cannot be read: {error}") from None
    match = _FRONT.match(content)
    body = content[match.end() :] if match else content
    try:
        front = tomllib.loads(match[1]) if match else {}
    except tomllib.TOMLDecodeError as error:
        raise usage(f"{file}: what stands between the +++ is not TOML: {error}") from None
    for name, value in front.items():
        if name not in _KNOWN or not isinstance(value, _KNOWN[name]):
            raise usage(f"{file}: known between the +++ are `subject` and `layout` (text) and `variables` (a list).")
    return front, body.removesuffix("\n")


def files_of(words: Words) -> dict[str, str]:
    """The files that say the same, by their names in the folder of templates."""
    place = f"{folder_name(words.name)}/{words.channel}.{words.locale}"
    front = [f"subject = {toml_text(words.subject)}"] if words.subject is not None else []
    front += [f"variables = [{', '.join(map(toml_text, words.variables))}]"] if words.variables else []
    front += [f"layout = {toml_text(words.layout)}"] if words.layout is not None else []
    needs_front = front or words.body.startswith("+++")
    head = "".join(f"{line}\n" for line in ["+++", *front, "+++"]) if needs_front else ""
    made = {f"{place}.{'html' if words.channel == 'email' else 'txt'}": f"{head}{words.body}\n"}
    if words.text is not None:
        guard = "+++\n+++\n" if words.text.startswith("+++") else ""
        made[f"{place}.txt"] = f"{guard}{words.text}\n"
    return made


def as_text(words: Words | None) -> list[str]:
    """For a diff: the files one after the other, line by line."""
    return [line for content in files_of(words).values() for line in content.splitlines(keepends=True)] if words else []


def folder_name(name: str) -> str:
    """A name is anything; a folder never leads elsewhere, is never hidden, and leads back to the name."""
    quoted = quote(name, safe=" ")
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted


def name_of_folder(place: Path) -> str:
    return unquote(place.name)


def lines(text: str) -> str:
    return text.replace("\r\n", "\n")
