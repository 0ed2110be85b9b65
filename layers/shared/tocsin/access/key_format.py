"""API keys: `tcn_<live|test>_<id>_<secret><checksum>`. Garbage is told apart without asking the database. Pure."""

import hashlib
import hmac
import re
import secrets
import zlib
from dataclasses import dataclass
from typing import Literal, get_args
from uuid import UUID

Scope = Literal["send", "read", "inbox", "data", "manage", "operate", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ID_LENGTH, _SECRET_LENGTH, _CHECKSUM_LENGTH = 22, 43, 6
_SHAPE = re.compile(r"tcn_(live|test)_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}")


@dataclass(frozen=True, slots=True)
class MintedKey:
    """A new key. `plain` is shown once and kept nowhere."""

    plain: str
    prefix: str
    hash: bytes


def mint(key_id: UUID, mode: str) -> MintedKey:
    prefix = f"tcn_{mode}_{_base62(key_id.int, _ID_LENGTH)}"
    body = f"{prefix}_{_base62(secrets.randbits(256), _SECRET_LENGTH)}"
    plain = body + _checksum(body)
    return MintedKey(plain, prefix, digest(plain))


def is_well_formed(plain: str) -> bool:
    if len(plain) > 100 or not _SHAPE.fullmatch(plain):
        return False
    body, checksum = plain[:-_CHECKSUM_LENGTH], plain[-_CHECKSUM_LENGTH:]
    return hmac.compare_digest(_checksum(body), checksum)


def digest(plain: str) -> bytes:
    """What is stored. A plain SHA-256 is enough: the secret has 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(plain.encode("ascii")).digest()


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode("ascii")), _CHECKSUM_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, index = divmod(number, 62)
        digits.append(_ALPHABET[index])
    return "".join(reversed(digits))
