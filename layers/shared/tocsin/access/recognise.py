"""Recognise a person by the token of their browser, without asking the database."""

from datetime import UTC, datetime

from tocsin.access import user_tokens
from tocsin.access.user_tokens import Person
from tocsin.foundation import secrets
from tocsin.foundation.settings import settings


def recognise(token: str) -> Person | None:
    """Whose token this is, or None for every reason alike. Raises SecretUnavailable."""
    return user_tokens.verify(token, secrets.accepted(settings().user_token_secret_arn), now=datetime.now(UTC))
