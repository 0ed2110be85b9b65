"""Gives moto's KMS keys and secrets the same identity, and keys the same material, each time the stack starts."""

import hashlib
import hmac
import secrets
from pathlib import Path
from typing import Any
from uuid import UUID

from moto.kms.models import Key
from moto.secretsmanager.utils import SecretsManagerSecretIdentifier


class Seed:
    """A random number in a file, from which everything else follows. Deleting it makes old ciphertext unreadable."""

    def __init__(self, file: Path) -> None:
        if not file.exists():
            file.touch(mode=0o600)
            file.write_bytes(secrets.token_bytes(32))
        self._seed = file.read_bytes()

    def install(self) -> None:
        made = Key.__init__
        seed = self

        def make(key: Key, *args: Any, **kwargs: Any) -> None:
            made(key, *args, **kwargs)
            if key.description:
                key.id = str(UUID(bytes=seed._derived("id", key.description)[:16], version=4))
                key.arn = f"{key.arn.rpartition('/')[0]}/{key.id}"
                key.key_material = seed._derived("material", key.description)

        def name(secret: SecretsManagerSecretIdentifier, *_: Any, **__: Any) -> str:
            suffix = seed._derived("secret", secret.name).hex()[:6]
            return f"arn:aws:secretsmanager:{secret.region}:{secret.account_id}:secret:{secret.name}-{suffix}"

        Key.__init__ = make  # type: ignore[assignment,method-assign]
        SecretsManagerSecretIdentifier.generate = name  # type: ignore[assignment,method-assign]

    def _derived(self, purpose: str, name: str) -> bytes:
        return hmac.digest(self._seed, f"{purpose}:{name}".encode(), hashlib.sha256)
