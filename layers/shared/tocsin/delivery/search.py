"""Search: whatever a person has in hand, an id, a key, an address or a name, and what of the tenant's it may mean.

Each reading of the text is one look into an index; the surest comes first."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.people import addresses
from tocsin.store import dead_letters, domain_events, records, routes, users
from tocsin.store.users import User

MOST = 50
_OF_A_KIND = 20  # by each reading; the rest is in the lists
_OF_A_PERSON = 10
_ANY = dict.fromkeys(("type", "producer", "status", "channel", "recipient", "since", "until"))


@dataclass(frozen=True, slots=True)
class Found:
    """Something that the text means: what it is, by which reading, and all that is known of it."""

    kind: str
    matched: str
    id: UUID | str
    row: Any
    more: dict[str, Any] = field(default_factory=dict)


def search(conn: Connection[Any], tenant_id: UUID, text: str, *, sees_people: bool, sees_letters: bool) -> list[Found]:
    """At most fifty, the surest first, each once. Without `sees_people` no user is found, nor what was sent to whoever has an
    address; what was sent to the bare address is, and so is what was sent to a user by the id that was given."""
    with tenant_transaction(conn, tenant_id):
        known = users.find_exactly(conn, tenant_id, _as_written(text), limit=_OF_A_KIND) if sees_people else []
        found = [
            *_by_id(conn, tenant_id, text, sees_letters=sees_letters),
            *_by_key(conn, tenant_id, text),
            *_by_message(conn, tenant_id, text),
            *(Found("user", _matched(user, text), user.external_id, user) for user in known),
            *_to_address(conn, tenant_id, text),
            *_to_people(conn, tenant_id, text, known),
            *(_by_beginning(conn, tenant_id, text) if sees_people else ()),
        ]
    first: dict[tuple[str, UUID | str], Found] = {}
    for one in found:
        first.setdefault((one.kind, one.id), one)
    return list(first.values())[:MOST]


def _by_id(conn: Connection[Any], tenant_id: UUID, text: str, *, sees_letters: bool) -> Iterator[Found]:
    named = as_uuid(text)
    if named is None:
        return
    yield from _notifications(conn, tenant_id, [named], "notification_id")
    if event := domain_events.find(conn, tenant_id, named):
        yield Found("event", "event_id", named, event)
    if sees_letters:
        yield from (Found("dead_letter", "dead_letter_id", named, row) for row in dead_letters.find(conn, tenant_id, [named]))


def _by_key(conn: Connection[Any], tenant_id: UUID, text: str) -> Iterator[Found]:
    ids = records.find_by_key(conn, tenant_id, text, limit=_OF_A_KIND)
    return _notifications(conn, tenant_id, ids, "idempotency_key")


def _by_message(conn: Connection[Any], tenant_id: UUID, text: str) -> Iterator[Found]:
    sent = routes.find_by_message_id(conn, tenant_id, message_ids(text), limit=_OF_A_KIND)
    more = {
        one.notification_id: {"route_id": one.route_id, "channel": one.channel, "recipient": one.recipient_ref}
        for one in reversed(sent)
    }
    for one in _notifications(conn, tenant_id, list(more), "provider_message_id"):
        assert isinstance(one.id, UUID)  # noqa: S101 - for the type checker
        yield Found(one.kind, one.matched, one.id, one.row, more[one.id])


def _to_address(conn: Connection[Any], tenant_id: UUID, text: str) -> Iterator[Found]:
    ids: list[UUID] = []
    if email := _read(addresses.email, text):
        ids += records.find_newest_to_email(conn, tenant_id, email, limit=_OF_A_KIND)
    if phone := _read(addresses.phone, text):
        ids += records.find_newest_to_phone(conn, tenant_id, phone, limit=_OF_A_KIND)
    return _notifications(conn, tenant_id, ids, "address")


def _to_people(conn: Connection[Any], tenant_id: UUID, text: str, known: list[User]) -> Iterator[Found]:
    """The newest to each who was found, and to whoever had this id: they may be gone, or never have been there."""
    for external_id in dict.fromkeys([*(user.external_id for user in known), text]):
        wanted = _ANY | {"recipient": f"user:{external_id}"}
        for row in records.list_page(conn, tenant_id, filters=wanted, limit=_OF_A_PERSON, after=None):
            yield Found("notification", "recipient", row["notification_id"], row, {"recipient": f"user:{external_id}"})


def _by_beginning(conn: Connection[Any], tenant_id: UUID, text: str) -> Iterator[Found]:
    for user in users.search(conn, tenant_id, text, limit=_OF_A_KIND, before=None):
        yield Found("user", _matched(user, text), user.external_id, user)


def _notifications(conn: Connection[Any], tenant_id: UUID, ids: list[UUID], matched: str) -> Iterator[Found]:
    rows = records.list_some(conn, tenant_id, ids) if ids else []
    return (Found("notification", matched, row["notification_id"], row) for row in rows)


def message_ids(text: str) -> list[str]:
    """As a provider may have written it: the Message-ID of a mail has brackets, and for SES its server after an @."""
    bare = text.removeprefix("<").removesuffix(">")
    return list(dict.fromkeys(one for one in (text, bare, bare.partition("@")[0]) if one))


def _as_written(text: str) -> str:
    """An email as we keep it; anything else as it is."""
    return _read(addresses.email, text) or text


def _read(reading: Any, text: str) -> str | None:
    try:
        return str(reading(text))
    except ValueError:
        return None


def _matched(user: User, text: str) -> str:
    """By what of theirs: the whole of it before its beginning."""
    of = {"user_id": user.external_id, "username": user.username or "", "phone": user.phone or ""}
    email = (user.email or "").lower()
    whole = [name for name, value in of.items() if value == text] + (["email"] if email == _as_written(text).lower() else [])
    begun = [name for name, value in of.items() if value.startswith(text)]
    return (whole or begun or ["email"])[0]
