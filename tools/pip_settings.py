"""What pip was told about where packages come from: variables and pip.conf, and what of it uv calls otherwise."""

from __future__ import annotations

import configparser
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

DEFAULT_INDEX = "https://pypi.org/simple"
MACHINE = Path("/etc")
# What uv calls otherwise.
_OF_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
}
_LISTS = ("extra-index-url", "find-links", "trusted-host")
# What changes how pip talks and where it keeps things, not what is installed.
_HARMLESS = re.compile(
    r"(no-)?(cache-dir|input|color|compile|warn-\w+(-\w+)*)|disable-pip-version-check|progress-bar|quiet|verbose|log|retries|no-index"
    r"|user|break-system-packages|require-virtualenv|root-user-action|no-python-version-warning|require-hashes|only-binary"
)


@dataclass(frozen=True, slots=True)
class PipSettings:
    options: Mapping[str, str]

    @classmethod
    def of_this_machine(cls, environ: Mapping[str, str] = os.environ) -> PipSettings:
        options: dict[str, str] = {}
        for path in _files(environ):
            options |= _read(path)
        named = {name[4:].lower().replace("_", "-"): value for name, value in environ.items() if name.startswith("PIP_")}
        options |= {name: value for name, value in named.items() if name != "config-file"}
        if "default-timeout" in options:  # its older name
            options.setdefault("timeout", options.pop("default-timeout"))
        bundle = environ.get("REQUESTS_CA_BUNDLE") or environ.get("CURL_CA_BUNDLE")
        return cls(options if "cert" in options or not bundle else {**options, "cert": bundle})

    @property
    def index(self) -> str:
        return self.options.get("index-url") or DEFAULT_INDEX

    @property
    def shown_index(self) -> str:
        """Where packages come from, without the password that may stand in an address."""
        return " and ".join(without_password(each) for each in [self.index, *self._list("extra-index-url")])

    @property
    def uses_no_index(self) -> bool:
        return self.options.get("no-index", "").lower() in ("1", "true", "yes", "on", "y", "t")

    @property
    def unknown_to_uv(self) -> str | None:
        """A setting that uv has no word for: whoever made it wants pip."""
        return next((name for name in self.options if name not in _OF_UV and not _HARMLESS.fullmatch(name)), None)

    def for_uv(self) -> dict[str, str]:
        """The same as variables. Every package is known by its hash, so it does not matter which of several indexes has it."""
        joined = {name: " ".join(self._list(name)) if name in _LISTS else value for name, value in self.options.items()}
        joined["find-links"] = ",".join(self._list("find-links"))
        variables = {_OF_UV[name]: value for name, value in joined.items() if name in _OF_UV and value}
        return variables | {"UV_INDEX_STRATEGY": "unsafe-best-match"}

    def _list(self, name: str) -> list[str]:
        return self.options.get(name, "").split()


def without_password(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _files(environ: Mapping[str, str]) -> list[Path]:
    """pip's own order, the stronger later."""
    home = Path(environ.get("HOME") or "/nonexistent")
    chosen = environ.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return []
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    everybody = [Path(each) / "pip" for each in (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")]
    own = [home / ".pip", *([home / "Library/Application Support/pip"] if sys.platform == "darwin" else []), config / "pip"]
    folders = [*everybody, MACHINE, *([] if chosen and Path(chosen).exists() else own), Path(".venv")]
    return [*(folder / "pip.conf" for folder in folders), *([Path(chosen)] if chosen else [])]


def _read(path: Path) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except (OSError, configparser.Error, UnicodeDecodeError):
        return {}  # pip says what is wrong with it
    sections = [dict(parser.items(name)) for name in ("global", "install") if parser.has_section(name)]
    return {name.replace("_", "-"): value.strip() for section in sections for name, value in section.items()}
