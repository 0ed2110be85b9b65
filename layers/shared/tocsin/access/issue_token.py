"""Issue a token for a person's browser, signed with the installation's own secret."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import user_tokens
from tocsin.access.user_tokens import Person
from tocsin.foundation import secrets
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.settings import settings
from tocsin.people import users


def issue(conn: Connection[Any], tenant_id: UUID, external_id: str, lifetime: timedelta) -> tuple[str, datetime]:
    """The token, and when it ends. Raises UnknownUser and SecretUnavailable."""
    with tenant_transaction(conn, tenant_id):
        user = users.known(conn, tenant_id, external_id)
    return token_for(Person(tenant_id, user.id), lifetime)


def token_for(person: Person, lifetime: timedelta) -> tuple[str, datetime]:
    now = datetime.now(UTC)
    expires_at = (now + lifetime).replace(microsecond=0)
    secret = secrets.known(settings().user_token_secret_arn)
    return user_tokens.sign(person, secret, now=now, expires_at=expires_at), expires_at
