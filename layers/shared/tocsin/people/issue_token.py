"""Issue a token for a person's browser, signed with the installation's own secret."""

from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import Connection

from tocsin.access import audit, user_tokens
from tocsin.access.audit import Actor
from tocsin.access.user_tokens import Person
from tocsin.foundation import secrets
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.settings import settings
from tocsin.store import users
from tocsin.store.users import UnknownUser


def issue(conn: Connection[Any], actor: Actor, external_id: str, lifetime: timedelta) -> tuple[str, datetime]:
    """The token, and when it ends. Raises UnknownUser and SecretUnavailable: the secret is read before a transaction is open."""
    secret = secrets.known(settings().user_token_secret_arn)
    with tenant_transaction(conn, actor.tenant_id):
        user = users.find(conn, actor.tenant_id, external_id)
        if user is None:
            raise UnknownUser(external_id)
        token, expires_at = _signed(Person(actor.tenant_id, user.id), lifetime, secret)
        changes = {"new": {"expires_at": expires_at.isoformat().replace("+00:00", "Z")}}
        audit.record(conn, actor, "create", "user_token", str(user.id), changes)
    return token, expires_at


def token_for(person: Person, lifetime: timedelta) -> tuple[str, datetime]:
    return _signed(person, lifetime, secrets.known(settings().user_token_secret_arn))


def _signed(person: Person, lifetime: timedelta, secret: bytes) -> tuple[str, datetime]:
    now = datetime.now(UTC)
    expires_at = (now + lifetime).replace(microsecond=0)
    return user_tokens.sign(person, secret, now=now, expires_at=expires_at), expires_at
