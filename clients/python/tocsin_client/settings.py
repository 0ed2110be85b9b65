"""Where calls go, and with which key: arguments, or the environment."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from tocsin_client.problems import NotConfigured

_KEY = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Settings:
    url: str
    key: str = field(repr=False)  # handed on within this, so that no traceback shows it among the variables

    def without_key(self, content: bytes) -> bytes:
        return content.replace(self.key.encode(), b"[key]")


def resolve(url: str | None, key: str | None, *, allow_http: bool, env: Mapping[str, str]) -> Settings:
    """What was given, else TOCSIN_URL and TOCSIN_KEY. No message shows the key."""
    address = (url if url is not None else env.get("TOCSIN_URL", "")).strip().rstrip("/")
    secret = (key if key is not None else env.get("TOCSIN_KEY", "")).strip()
    if not address:
        raise NotConfigured("No address of a Tocsin stack: give `url`, or set TOCSIN_URL.")
    if not secret:
        raise NotConfigured("No API key: give `key`, or set TOCSIN_KEY.")
    if not _KEY.fullmatch(secret):
        raise NotConfigured("The API key has a character that no key has, such as a space or a line break.")
    return Settings(_checked(address, allow_http=allow_http), secret)


def _checked(url: str, *, allow_http: bool) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise NotConfigured("The address of the stack is not such as https://notify.example.com")
    if parts.username is not None or parts.password is not None:
        raise NotConfigured("The address of the stack must not hold a name or a password.")
    if parts.scheme == "http" and not allow_http and not _is_loopback(host):
        raise NotConfigured(f"http://{host} is not encrypted: the key could be read on its way. Use https, or allow_http=True.")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
