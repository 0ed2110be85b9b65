"""Whom a notification is for, as Python says it and as the API takes it. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from tocsin_client.people import User


@dataclass(frozen=True, slots=True)
class Address:
    """Somebody without a user record: an email, a phone number, or both."""

    email: str | None = None
    phone: str | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """What it is about. As an audience: those who are subscribed to it."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Those who watch a scope."""

    scope: str


@dataclass(frozen=True, slots=True)
class Everyone:
    """All users of the tenant."""


Person: TypeAlias = str | User | Mapping[str, Any]
To: TypeAlias = Person | Iterable[Person] | Address | Thread | Scope | Everyone


def audience_of(to: To) -> dict[str, Any]:
    match to:
        case Address():
            named = {"email": to.email, "phone": to.phone}
            return {"kind": "address"} | {name: value for name, value in named.items() if value is not None}
        case Thread():
            return {"kind": "thread", "thread": thread_of(to)}
        case Scope():
            return {"kind": "scope", "scope": to.scope}
        case Everyone():
            return {"kind": "tenant"}
        case str() | User():
            return {"kind": "users", "user_ids": [_person(to)]}
        case Mapping() if "kind" in to and "id" not in to:
            return dict(to)  # an audience as the API has it
        case Mapping():
            return {"kind": "users", "user_ids": [_person(to)]}
        case _ if isinstance(to, Iterable):
            return {"kind": "users", "user_ids": [_person(one) for one in to]}
    raise TypeError(f"`to` cannot be {_kind(to)}: name users by their ids, or give an Address, Thread, Scope or Everyone()")


def thread_of(thread: Thread) -> dict[str, str]:
    return {"kind": thread.kind, "id": thread.id}


def _person(one: Any) -> str | dict[str, Any]:
    """An id, or a user with their id: what is named is written before it is sent; in a dict None clears."""
    if isinstance(one, str):
        return one
    if isinstance(one, User):
        return {"id": one.id} | one.named()
    if isinstance(one, Mapping) and "id" in one:
        return dict(one)
    what = "a dict without an `id`" if isinstance(one, Mapping) else _kind(one)
    raise TypeError(f"A user is named by an id, a User or a dict with an `id`, not by {what}")


def _kind(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
