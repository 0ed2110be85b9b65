"""Users: whom the producer's own ids mean, and how they are reached."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from psycopg import Connection, errors

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation import merge_patch
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import users
from tocsin.store.users import UnknownUser, User

_PERSONAL = ("email", "phone", "username", "avatar_url", "attributes")
_PLAIN = ("locale", "timezone")
_MOST_AUDITED = 400  # ids in one audit row, which has room for them

FIELDS = ("email", "phone", "username", "locale", "timezone", "avatar_url", "attributes")


@dataclass(frozen=True, slots=True)
class Profile:
    """The whole of what is known of a user: what is not named is not known."""

    email: str | None = None
    phone: str | None = None
    username: str | None = None
    locale: str | None = None
    timezone: str | None = None
    avatar_url: str | None = None
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Written:
    """The user as written, whether they are new, and which of their fields had a value and have none now."""

    user: User
    is_new: bool
    cleared: list[str]


class AlreadyTaken(Exception):
    """Another user of this tenant has this email or username. Whoever asked chooses another, or asks who that is."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


def make_known(conn: Connection[Any], actor: Actor, external_id: str, profile: Profile) -> Written:
    """Write the whole user: what is not named is cleared."""
    with _told_what_is_taken(), tenant_transaction(conn, actor.tenant_id):
        old = users.lock(conn, actor.tenant_id, external_id)
        user, is_new = users.upsert(conn, user_id=uuid7(), tenant_id=actor.tenant_id, external_id=external_id, **asdict(profile))
        record_change(conn, actor, old, user)
    cleared = [name for name in FIELDS if old and getattr(old, name) and not getattr(user, name)]
    return Written(user, is_new, cleared)


def change(
    conn: Connection[Any], actor: Actor, external_id: str, patch: dict[str, Any], read: Callable[[dict[str, Any]], Profile]
) -> User:
    """Merge the patch into what is known (RFC 7396) and write what `read` makes of it. Raises UnknownUser."""
    with _told_what_is_taken(), tenant_transaction(conn, actor.tenant_id):
        old = users.lock(conn, actor.tenant_id, external_id)
        if old is None:
            raise UnknownUser(external_id)
        known_of = {name: getattr(old, name) for name in FIELDS}
        profile = read(merge_patch.merged({name: value for name, value in known_of.items() if value is not None}, patch))
        user, _ = users.upsert(conn, user_id=old.id, tenant_id=actor.tenant_id, external_id=external_id, **asdict(profile))
        record_change(conn, actor, old, user)
    return user


def make_all_known(conn: Connection[Any], actor: Actor, people: dict[str, Profile]) -> dict[str, bool | AlreadyTaken]:
    """Write these whole users. By id: whether they are new, or what of theirs another one has.

    In one statement and transaction, unless something is taken: then by halves, until those are found that it cannot be given."""
    taken = wanted_twice(people)
    free = {name: profile for name, profile in people.items() if name not in taken}
    return {name: AlreadyTaken(field) for name, field in taken.items()} | _make_all_known(conn, actor, free)


def _make_all_known(conn: Connection[Any], actor: Actor, people: dict[str, Profile]) -> dict[str, bool | AlreadyTaken]:
    if not people:
        return {}
    try:
        with _told_what_is_taken(), tenant_transaction(conn, actor.tenant_id):
            rows = [{"external_id": name} | asdict(profile) for name, profile in people.items()]
            written = users.upsert_all(conn, actor.tenant_id, rows)
            record_many(conn, actor, dict(written.values()))
        return {name: is_new for name, (_, is_new) in written.items()}
    except AlreadyTaken as taken:
        names = list(people)
        if len(names) == 1:
            return {names[0]: taken}
        halves = names[: len(names) // 2], names[len(names) // 2 :]
        first, second = ({name: people[name] for name in half} for half in halves)
        return _make_all_known(conn, actor, first) | _make_all_known(conn, actor, second)


def wanted_twice(people: dict[str, Profile]) -> dict[str, str]:
    """Who of these wants an email or username that one before them wants too."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for name, profile in people.items():
        wishes = [("email", (profile.email or "").lower()), ("username", profile.username or "")]
        for wish in wishes:
            if wish[1] and wish in seen:
                found[name] = wish[0]
        seen |= set(wishes)
    return found


@contextmanager
def _told_what_is_taken() -> Iterator[None]:
    try:
        yield
    except errors.UniqueViolation as error:
        raise AlreadyTaken("email" if "email" in (error.diag.constraint_name or "") else "username") from None


def record_change(conn: Connection[Any], actor: Actor, old: User | None, new: User) -> None:
    """The audit row of a user who is new, or not as before: with the names of all fields, and no value that tells who it is. They
    are named by our own id, which means nobody once they are erased."""
    changes = audit.difference(_audited(old) if old else None, _audited(new), masked=_PERSONAL)
    if changes["new"]:
        audit.record(conn, actor, "update" if old else "create", "user", str(new.id), changes)


def record_many(conn: Connection[Any], actor: Actor, are_new: dict[UUID, bool]) -> None:
    """The same of many at once, by their ids alone: in as many rows as hold them all, for what is too long is cut."""
    ids = list(are_new)
    for start in range(0, len(ids), _MOST_AUDITED):
        some = ids[start : start + _MOST_AUDITED]
        created = [str(user_id) for user_id in some if are_new[user_id]]
        updated = [str(user_id) for user_id in some if not are_new[user_id]]
        audit.record(conn, actor, "upsert", "user", "batch", {"new": {"created": created, "updated": updated}})


def _audited(user: User) -> dict[str, Any]:
    return {name: getattr(user, name) for name in (*_PERSONAL, *_PLAIN)}


def known(conn: Connection[Any], tenant_id: UUID, external_id: str) -> User:
    """The user with this id, for use cases that speak of one; in the caller's transaction."""
    user = users.find(conn, tenant_id, external_id)
    if user is None:
        raise UnknownUser(external_id)
    return user
