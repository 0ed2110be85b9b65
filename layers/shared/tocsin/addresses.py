"""One strict reading of email addresses and phone numbers. Nothing here guesses."""

import re

_LOCAL = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = re.compile(rf"(?P<local>{_LOCAL})@(?P<domain>(?:{_LABEL}\.)+{_LABEL})")
_PHONE = re.compile(r"\+[1-9][0-9]{6,14}")


def email(text: str) -> str:
    """The address in ASCII, its domain in lower case; ValueError when it is not exactly one plain address."""
    if len(text) > 254 or text.count("@") != 1:
        raise ValueError("must be one email address")
    local, domain = text.split("@")
    if not domain.isascii():
        try:
            domain = domain.encode("idna").decode("ascii")
        except UnicodeError:
            raise ValueError("must have a valid domain") from None
    match = _EMAIL.fullmatch(f"{local}@{domain}")
    if not match or len(local) > 64:
        raise ValueError("must be one email address")
    return f"{local}@{domain.lower()}"


def phone(text: str) -> str:
    if not _PHONE.fullmatch(text):
        raise ValueError("must be a phone number in E.164, such as +14155550100")
    return text
