"""People at the door: tokens for their browsers, made and recognised with the installation's own secret."""

from datetime import UTC, datetime, timedelta
from functools import cache

from tocsin.access import user_tokens
from tocsin.access.user_tokens import Person
from tocsin.foundation import aws
from tocsin.foundation.settings import settings


class SecretUnavailable(Exception):
    """The key that signs tokens cannot be read just now. The door answers 503."""


def token_for(person: Person, lifetime: timedelta) -> tuple[str, datetime]:
    now = datetime.now(UTC)
    expires_at = (now + lifetime).replace(microsecond=0)
    return user_tokens.sign(person, _secret(), now=now, expires_at=expires_at), expires_at


def recognise(token: str) -> Person | None:
    return user_tokens.verify(token, _secret(), now=datetime.now(UTC))


@cache
def _secret() -> bytes:
    try:
        return aws.read_secret(settings().user_token_secret_arn).encode()
    except Exception as error:
        raise SecretUnavailable(type(error).__name__) from error


def forget() -> None:
    """Read the secret anew (tests)."""
    _secret.cache_clear()
