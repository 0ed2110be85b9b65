"""The secrets that sign: made here, stored as ciphertexts, opened where something is signed, and kept in memory for a while."""

import os
import time
from datetime import timedelta
from uuid import UUID

from tocsin.foundation import encryption
from tocsin.foundation.settings import settings
from tocsin.webhooks import sign

KEY_BYTES = 32
OVERLAP = timedelta(days=1)  # for which a secret that was replaced signs too
KEPT_SECONDS = 300.0
MOST_KEPT = 1_000

_kept: dict[tuple[UUID, str, bytes], tuple[float, str]] = {}


class CannotUnseal(Exception):
    """KMS cannot be asked just now, or refuses; says why in one word. Nothing is signed with anything else: the work waits."""


def purpose_of(kind: str, owner_id: UUID) -> str:
    """What a secret is for: `webhook` or `handler`, and whose."""
    return f"{kind}:{owner_id}:secret"


def new_secret() -> str:
    return sign.spell_secret(os.urandom(KEY_BYTES))


def seal(secret: str, *, tenant_id: UUID, purpose: str) -> bytes:
    """Raises CannotSeal while KMS cannot be asked."""
    return encryption.seal(secret, tenant_id=tenant_id, purpose=purpose, key_arn=settings().data_key_arn)


def unsealed(ciphertext: bytes, *, tenant_id: UUID, purpose: str) -> str:
    """The secret, from memory if it was opened lately. Several threads may ask at once."""
    key = (tenant_id, purpose, ciphertext)
    expires_at, secret = _kept.get(key, (0.0, ""))
    if time.monotonic() < expires_at:
        return secret
    try:
        secret = encryption.unseal(ciphertext, tenant_id=tenant_id, purpose=purpose)
    except Exception as error:  # its class is enough: whatever it is, there is no secret
        raise CannotUnseal(type(error).__name__) from None
    if len(_kept) >= MOST_KEPT:
        _kept.clear()
    _kept[key] = (time.monotonic() + KEPT_SECONDS, secret)
    return secret


def forget() -> None:
    """Ask KMS anew for every secret (tests)."""
    _kept.clear()
