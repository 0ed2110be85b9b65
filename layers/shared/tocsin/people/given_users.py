"""Users who come with what is sent to them: made, or merged into what is known of them, in the transaction that accepts it."""

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation import merge_patch
from tocsin.people.user_fields import attributes_fit
from tocsin.people.users import FIELDS, Profile, record_change, wanted_twice
from tocsin.store import users
from tocsin.store.users import User

Patch = dict[str, Any]  # a JSON Merge Patch (RFC 7396): what is named is changed, null clears


@dataclass(frozen=True, slots=True)
class GivenChange:
    """How a user was, and is. `old` None: they are new."""

    old: User | None
    new: User


def news(conn: Connection[Any], tenant_id: UUID, given: dict[str, Patch]) -> dict[str, Patch]:
    """Those of whom something is said that is not known: most often nobody, and then nothing is locked or written."""
    known = users.find_named(conn, tenant_id, list(given))
    return {name: said for name, said in given.items() if name not in known or _merged(known[name], said) != _of(known[name])}


def overfull(changes: list[GivenChange]) -> dict[str, str]:
    """Whose attributes have become too many by what was merged into them."""
    return {one.new.external_id: "attributes" for one in changes if not attributes_fit(one.new.attributes)}


def taken(conn: Connection[Any], tenant_id: UUID, given: dict[str, Patch]) -> dict[str, str]:
    """Who of these wants an email or username that another user has, or another one of these: by id, which of the two."""
    wishes: dict[str, dict[str, Any]] = {
        name: {each: said.get(each) for each in ("email", "username")} for name, said in given.items()
    }
    among = wanted_twice({name: Profile(**wish) for name, wish in wishes.items()})
    return among | users.find_taken(conn, tenant_id, [{"external_id": name} | wish for name, wish in wishes.items()])


def merge(conn: Connection[Any], tenant_id: UUID, given: dict[str, Patch]) -> list[GivenChange]:
    """Merge each patch into its user, and make those whom nobody knows."""
    if not given:
        return []
    made, before = users.make_and_lock(conn, tenant_id, sorted(given))
    rows = [{"external_id": name} | asdict(_merged(before[name], said)) for name, said in given.items()]
    after = users.update_all(conn, tenant_id, rows)
    return [GivenChange(None if before[name].id in made else before[name], after[name]) for name in given]


def record(conn: Connection[Any], actor: Actor, changes: list[GivenChange]) -> None:
    """One audit row: of the one user, or of the many by their ids. The last statement of its transaction."""
    if len(changes) == 1:
        record_change(conn, actor, changes[0].old, changes[0].new)
    elif changes:
        created = [str(change.new.id) for change in changes if change.old is None]
        updated = [str(change.new.id) for change in changes if change.old is not None]
        audit.record(conn, actor, "upsert", "user", "batch", {"new": {"created": created, "updated": updated}})


def _of(user: User) -> Profile:
    return Profile(**{name: getattr(user, name) for name in FIELDS})


def _merged(user: User, patch: Patch) -> Profile:
    told = {name: value for name, value in asdict(_of(user)).items() if value is not None}
    return Profile(**merge_patch.merged(told, patch))


def combined(first: Patch, second: Patch) -> Patch:
    """One patch that does what the two do, one after the other."""
    both = {name for name in first.keys() & second.keys() if isinstance(first[name], dict) and isinstance(second[name], dict)}
    return first | {name: combined(first[name], said) if name in both else said for name, said in second.items()}
