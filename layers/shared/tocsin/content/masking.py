"""Masking: a recorded payload without its secrets, in the same shape, for whoever tries words on a real message. Pure.

A secret is known by the name it stands under (`password`, `otp`, `resetToken`), in a link by its parameter, and by its look (a
signed token). What was hidden in one place is hidden wherever else it is said. A secret that is only told in a sentence has no
name and is not found."""

import re
from typing import Any
from urllib.parse import unquote

MASK = "•••"
MOST_SECRETS = 100  # that are looked for in other places too, the longest first
_LEAST = 4  # characters of a secret that is looked for elsewhere; `12` stands in too many words


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SECRET = _words_of("""
    password passwords passwd passphrase passcode passcodes pwd passwort kennwort senha contraseña secret secrets token tokens jwt
    otp totp mfa 2fa code codes pin pins pincode puk tan authorization authentication auth bearer cookie cookies nonce
    credential credentials apikey apikeys signature sig cvv cvc csc ssn
""")
_SECRET_ENDS = ("password", "passwd", "passphrase", "passcode", "secret", "token", "apikey", "accesskey", "otp", "cookie")
_SECRET_PAIRS = _words_of("api_key access_key private_key secret_key signing_key session_key session_id card_number")
# Codes that everybody may know, by the word before; what is told of a secret without telling it, by the last word.
_PUBLIC_CODE = _words_of("""
    country currency language locale postal post zip area dial dialling dialing calling region state status error reason response
    http product item color colour airport airline station bar qr tax branch sort
""")
_ABOUT = _words_of("""
    at on until date time expires expiry expiration ttl minutes seconds hours days count length attempts remaining type kind name
    label hint policy changed enabled required sent used
""")
_LINK = _words_of("url uri link href")
_LINK_PURPOSE = _words_of("""
    reset verify verification confirm confirmation activate activation magic invite invitation login signin signon sso recover
    recovery unsubscribe
""")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_URL = re.compile(
    r"(?P<origin>\b[a-z][a-z0-9+.-]{0,20}://)(?P<who>[^\s/?#@\"'<>]+@)?(?P<host>[^\s/?#\"'<>]*)(?P<path>[^\s?#\"'<>]*)"
    r"(?P<query>[^\s\"'<>]*)",
    re.IGNORECASE,
)
_PARAMETER = re.compile(r"(?P<before>[?&#;])(?P<name>[^=&#;?]+)=(?P<value>[^&#;]+)")
_SIGNED = re.compile(r"(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*|(?<=\bBearer )\S{8,}|(?<=\bBasic )[\w+/=]{8,}")
_LEAST_IN_PATH = 6  # characters after `/reset/` that may be the key to it


def masked(payload: dict[str, Any]) -> dict[str, Any]:
    """The payload in its own shape, with `•••` for each text and number that is a secret; true, false and null stay."""
    found: set[str] = set()
    shown: dict[str, Any] = _masked(payload, found)
    repeated = sorted((one for one in found if len(one) >= _LEAST), key=lambda one: (-len(one), one))[:MOST_SECRETS]
    if not repeated:
        return shown
    again = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, repeated))})(?!\w)")
    without: dict[str, Any] = _without(shown, again)
    return without


def is_secret(name: str) -> bool:
    """Whether what has this name is a secret: `reset_token` is one, `token_expires_at` and `country_code` are not."""
    words = _words(name)
    if not words or words[-1] in _ABOUT or words[-1] in _LINK:
        return False
    return _names_a_secret(words)


def _names_a_secret(words: list[str]) -> bool:
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if (word in _SECRET or word.endswith(_SECRET_ENDS)) and not (word in ("code", "codes") and before in _PUBLIC_CODE):
            return True
        if f"{before}_{word}" in _SECRET_PAIRS:
            return True
    return False


def _leads_to_a_secret(name: str) -> bool:
    """Whether a link of this name is one that lets its holder in, whatever stands in it: `password_reset_url`, `magic_link`."""
    words = _words(name)
    return bool(words) and words[-1] in _LINK and (_names_a_secret(words[:-1]) or not _LINK_PURPOSE.isdisjoint(words))


def _words(name: str) -> list[str]:
    """The words of a name in any spelling (api_key, api-key, apiKey, APIKey2), without numbers at their ends."""
    words = (word.lower().rstrip("0123456789") for word in _WORD.findall(_CAPITAL.sub("_", name)))
    return [word for word in words if word]


def _masked(value: Any, found: set[str], name: str = "") -> Any:
    match value:
        case dict():
            named = value.get("name", value.get("key"))  # {"name": "otp", "value": …}, as forms and headers are listed
            told = named if isinstance(named, str) else "value"
            return {key: _part(part, found, told if key == "value" else key) for key, part in value.items()}
        case list():
            return [_masked(part, found, name) for part in value]
        case str():
            return _text(value, found, is_way_in=_leads_to_a_secret(name))
        case _:
            return value


def _part(value: Any, found: set[str], name: str) -> Any:
    return _hidden(value, found) if is_secret(name) else _masked(value, found, name)


def _hidden(value: Any, found: set[str]) -> Any:
    """All that stands under a secret's name."""
    match value:
        case dict():
            return {key: _hidden(part, found) for key, part in value.items()}
        case list():
            return [_hidden(part, found) for part in value]
        case None | bool() | "":
            return value
        case _:
            found.add(str(value))
            return MASK


def _text(text: str, found: set[str], *, is_way_in: bool) -> str:
    def link(url: re.Match[str]) -> str:
        who = f"{MASK}@" if url["who"] else ""
        if is_way_in and len(url["path"] + url["query"]) > 1:
            return f"{url['origin']}{who}{url['host']}/{MASK}"
        return f"{url['origin']}{who}{url['host']}{_path(url['path'])}{_query(url['query'], found)}"

    if "://" in text:
        text = _URL.sub(link, text)
    elif is_way_in and text:
        return MASK
    return _SIGNED.sub(MASK, text)


def _path(path: str) -> str:
    """`/reset/7f3a…`: what follows a word that speaks of a secret may be one."""
    steps = path.split("/")
    return "/".join(
        MASK if len(step) >= _LEAST_IN_PATH and place and _opens(steps[place - 1]) else step for place, step in enumerate(steps)
    )


def _opens(step: str) -> bool:
    words = _words(unquote(step))
    return _names_a_secret(words) or not _LINK_PURPOSE.isdisjoint(words)


def _query(query: str, found: set[str]) -> str:
    def parameter(one: re.Match[str]) -> str:
        if not is_secret(unquote(one["name"])):
            return one[0]
        found.update((one["value"], unquote(one["value"])))
        return f"{one['before']}{one['name']}={MASK}"

    return _PARAMETER.sub(parameter, query)


def _without(value: Any, again: re.Pattern[str]) -> Any:
    match value:
        case dict():
            return {key: _without(part, again) for key, part in value.items()}
        case list():
            return [_without(part, again) for part in value]
        case str():
            return again.sub(MASK, value)
        case int() | float() if not isinstance(value, bool) and again.fullmatch(str(value)):
            return MASK
        case _:
            return value
