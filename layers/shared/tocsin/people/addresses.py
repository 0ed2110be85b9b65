"""One strict reading of email addresses, phone numbers and links. Nothing here guesses. Pure."""

import re
from urllib.parse import urlsplit

_LOCAL = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = re.compile(rf"{_LOCAL}@(?:{_LABEL}\.)+(?=[^.]*[A-Za-z]){_LABEL}")  # the last label is a name: no IP address
_PHONE = re.compile(r"\+[1-9][0-9]{6,14}")
_WEB = re.compile(r"https?://[^\x00-\x20\x7f-\xa0\s<>\"\\^`{|}]+", re.I)


def email(text: str) -> str:
    """The address in ASCII, its domain in lower case; ValueError when it is not exactly one plain address."""
    if len(text) > 254 or text.count("@") != 1:
        raise ValueError("must be one email address")
    local, domain = text.split("@")
    address = f"{local}@{_ascii(domain)}"
    if not _EMAIL.fullmatch(address) or len(local) > 64 or len(address) > 254:
        raise ValueError("must be one email address")
    return address


def masked(address: str) -> str:
    """An email address for whoever knows it already: its first letter and its domain."""
    local, _, domain = address.rpartition("@")
    return f"{local[:1] if len(local) > 1 else ''}•••@{domain}"


def _ascii(domain: str) -> str:
    """The domain as it goes over the wire. One that would silently become another domain (straße, strasse) is refused."""
    domain = domain.lower()
    if domain.isascii():
        return domain
    try:
        encoded = domain.encode("idna")
        if encoded.decode("idna") != domain:
            raise ValueError("must have a valid domain")
    except UnicodeError:
        raise ValueError("must have a valid domain") from None
    return encoded.decode("ascii")


def phone(text: str) -> str:
    if not _PHONE.fullmatch(text):
        raise ValueError("must be a phone number in E.164, such as +14155550100")
    return text


def web(text: str) -> str:
    """A link that people may be given: http or https, with a host, and without what could end an attribute or a line."""
    if not _WEB.fullmatch(text) or not host_of(text):
        raise ValueError("must be an http or https address")
    return text


def host_of(url: str) -> str:
    """The host that a link leads to; empty when it leads to none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # half an IPv6 address
        return ""
