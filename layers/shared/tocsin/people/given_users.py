"""Users who come with what is sent to them: made, or merged into what is known of them, in the transaction that accepts it."""

from dataclasses import asdict, dataclass
from functools import reduce
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access.audit import Actor
from tocsin.foundation import merge_patch
from tocsin.people.user_fields import attributes_fit
from tocsin.people.users import FIELDS, Profile, record_change, record_many, wanted_twice
from tocsin.store import users
from tocsin.store.users import User

Patch = dict[str, Any]  # a JSON Merge Patch (RFC 7396): what is named is changed, null clears
Said = dict[str, list[Patch]]  # by id: what is said of each user, one after the other


class Vanished(Exception):
    """One of them was erased while this went on. Whoever accepts begins again."""


@dataclass(frozen=True, slots=True)
class GivenChange:
    """How a user was, and is. `old` None: they are new."""

    old: User | None
    new: User


def news(conn: Connection[Any], tenant_id: UUID, said: Said) -> Said:
    """Those of whom something is said that is not known: most often nobody, and then nothing is locked or written."""
    known = users.find_named(conn, tenant_id, list(said))
    return {
        name: patches for name, patches in said.items() if name not in known or _merged(known[name], patches) != _of(known[name])
    }


def overfull(changes: list[GivenChange]) -> dict[str, str]:
    """Whose attributes have become too many by what was merged into them."""
    return {one.new.external_id: "attributes" for one in changes if not attributes_fit(one.new.attributes)}


def taken(conn: Connection[Any], tenant_id: UUID, said: Said) -> dict[str, str]:
    """Who of these wants an email or username that another user has, or another one of these: by id, which of the two."""
    wishes = {name: {each: last_said(patches, each) for each in ("email", "username")} for name, patches in said.items()}
    among = wanted_twice({name: Profile(**wish) for name, wish in wishes.items()})
    return among | users.find_taken(conn, tenant_id, [{"external_id": name} | wish for name, wish in wishes.items()])


def last_said(patches: list[Patch], field: str) -> Any:
    """What the last patch that names the field says of it."""
    return next((patch[field] for patch in reversed(patches) if field in patch), None)


def merge(conn: Connection[Any], tenant_id: UUID, said: Said) -> list[GivenChange]:
    """Merge what is said into each user, and make those whom nobody knows. Raises Vanished."""
    if not said:
        return []
    made, before = users.make_and_lock(conn, tenant_id, sorted(said))
    if before.keys() != said.keys():
        raise Vanished
    rows = [{"external_id": name} | asdict(_merged(before[name], patches)) for name, patches in said.items()]
    after = users.update_all(conn, tenant_id, rows)
    return [GivenChange(None if before[name].id in made else before[name], after[name]) for name in said]


def record(conn: Connection[Any], actor: Actor, changes: list[GivenChange]) -> None:
    """The audit of it: of the one user, or of the many by their ids. The last of its transaction."""
    if len(changes) == 1:
        record_change(conn, actor, changes[0].old, changes[0].new)
    elif changes:
        record_many(conn, actor, {change.new.id: change.old is None for change in changes})


def _of(user: User) -> Profile:
    return Profile(**{name: getattr(user, name) for name in FIELDS})


def _merged(user: User, patches: list[Patch]) -> Profile:
    told = {name: value for name, value in asdict(_of(user)).items() if value is not None}
    return Profile(**reduce(merge_patch.merged, patches, told))
