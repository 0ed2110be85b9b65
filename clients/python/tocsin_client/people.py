"""Users, the tokens of their browsers, and the receipts of their erasure. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from tocsin_client.request import Answer
from tocsin_client.wire import read_moment, read_moment_or_none


class UserFields(TypedDict, total=False):
    """What a user can have, beside the id."""

    email: str | None
    phone: str | None
    username: str | None
    locale: str | None
    timezone: str | None
    avatar_url: str | None
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class User:
    """A user, by your own id. As the recipient of a send it names what it has, and clears nothing."""

    id: str
    email: str | None = None
    phone: str | None = None
    username: str | None = None
    locale: str | None = None
    timezone: str | None = None
    avatar_url: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = field(default=None, compare=False)
    updated_at: datetime | None = field(default=None, compare=False)

    def named(self) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in UserFields.__annotations__}
        return {name: value for name, value in found.items() if value is not None and value != {}}


@dataclass(frozen=True, slots=True)
class UserToken:
    """What a browser shows instead of a key. Its `repr` does not show it."""

    token: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was erased, by table; after a dry run, what would be. It cannot be shown again by the user's id: keep the `id`."""

    id: str | None
    status: str
    erased: Mapping[str, Any]
    is_dry_run: bool
    finished_at: datetime | None = None

    @property
    def is_finished(self) -> bool:
        return self.status == "finished"


def read_user(answer: Answer) -> User:
    return user_of(answer.json)


def user_of(row: dict[str, Any]) -> User:
    named = {name: row.get(name) for name in UserFields.__annotations__ if name != "attributes"}
    return User(
        id=row["id"],
        **named,
        attributes=row.get("attributes") or {},
        created_at=read_moment_or_none(row.get("created_at")),
        updated_at=read_moment_or_none(row.get("updated_at")),
    )


def read_token(answer: Answer) -> UserToken:
    return UserToken(answer.json["token"], read_moment(answer.json["expires_at"]))


def read_erasure(answer: Answer) -> Erasure:
    body = answer.json
    if body.get("dry_run"):
        return Erasure(None, "dry_run", body["would_erase"], is_dry_run=True)
    return Erasure(
        body["id"], body["status"], body["erased"], is_dry_run=False, finished_at=read_moment_or_none(body["finished_at"])
    )
