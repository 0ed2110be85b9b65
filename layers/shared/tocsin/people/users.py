"""Users: whom the producer's own ids mean, and how they are reached."""

from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from psycopg import Connection, errors

from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import users
from tocsin.store.users import User


@dataclass(frozen=True, slots=True)
class Profile:
    """The whole of what is known of a user: what is not named is not known."""

    email: str | None = None
    phone: str | None = None
    username: str | None = None
    locale: str | None = None
    timezone: str | None = None
    attributes: dict[str, Any] = field(default_factory=dict)


class UnknownUser(Exception):
    """No user of this tenant has this id. Whoever asked makes the user known first."""


class AlreadyTaken(Exception):
    """Another user of this tenant has this email or username. Whoever asked chooses another, or asks who that is."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


def make_known(conn: Connection[Any], tenant_id: UUID, external_id: str, profile: Profile) -> tuple[User, bool]:
    """Write the whole user. Returns the user, and whether it is new."""
    try:
        with tenant_transaction(conn, tenant_id):
            return users.upsert(conn, user_id=uuid7(), tenant_id=tenant_id, external_id=external_id, **asdict(profile))
    except errors.UniqueViolation as error:
        raise AlreadyTaken("email" if "email" in (error.diag.constraint_name or "") else "username") from None


def known(conn: Connection[Any], tenant_id: UUID, external_id: str) -> User:
    """The user with this id, for use cases that speak of one; in the caller's transaction."""
    user = users.find(conn, tenant_id, external_id)
    if user is None:
        raise UnknownUser(external_id)
    return user
