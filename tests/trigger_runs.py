"""Triggers as a test registers and fires them, through the real use cases, and the servers that handle them."""

from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from devstack.post_office.letters import Reply
from tests.links import TOKEN_SECRET
from tests.providers import make_data_key
from tests.unit.web_servers import Scripted, answering
from tests.world import TENANT, World
from tocsin.access import depth_tokens
from tocsin.access.audit import Actor
from tocsin.access.authenticate import Principal, authenticate
from tocsin.foundation import settings
from tocsin.foundation.ids import uuid7
from tocsin.store.flow.write_kv import KvCondition
from tocsin.store.triggers import Trigger
from tocsin.triggers import kv, register
from tocsin.webhooks import signing_secrets

ACTOR = Actor(TENANT, "key:test")
TELL_ALICE = {
    "type": "stock.changed",
    "audience": {"kind": "users", "user_ids": ["alice"]},
    "channels": ["email"],
    "payload": {"title": "{{ event.key }}", "message": "{{ event.op }}: {{ event.value.left }} left"},
}


class Triggers:
    """The triggers of a world, which may sign, seal and call servers on loopback."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world = world
        self.signs: dict[UUID, str] = {}  # by the handler's id
        make_data_key(monkeypatch)
        monkeypatch.setenv("ALLOW_PRIVATE_DESTINATIONS", "true")
        settings.settings.cache_clear()
        signing_secrets.forget()

    def key(self, *scopes: str, tenant: UUID = TENANT, **fields: Any) -> Principal:
        found = authenticate(
            self.world.app, self.world.add_key(*(scopes or ("send", "manage", "data", "operate")), tenant=tenant, **fields)
        )
        assert found is not None
        return found

    def register(self, kind: str, handler: dict[str, Any], *, key: Principal | None = None, **said: Any) -> Trigger:
        """On any change of any collection, or on any dead letter, unless more is said."""
        key = key or self.key()
        names = register.DETAILS[kind]
        details = ({"collection_glob": "*", "ops": []} if kind == "kv" else {}) | {n: said.pop(n) for n in names if n in said}
        config = {name: part for name, part in handler.items() if name not in ("kind", "id")}
        retry = {f"retry_{name}": value for name, value in said.pop("retry", {}).items()}
        new = register.NewTrigger(kind, details, handler.get("id"), handler.get("kind", ""), config, retry=retry, **said)
        made = register.register(self.world.app, Actor(key.tenant_id, f"key:{key.key_id}"), key, new)
        if made.secret:
            self.signs[made.trigger.handler_id] = made.secret
        return made.trigger

    def put(self, key: str = "A-17", value: Any = None, *, collection: str = "stock", depth: int = 0, mode: str = "live") -> None:
        value = {"left": 3} if value is None else value
        kv.put(self.world.app, ACTOR, collection, key, value, condition=KvCondition(), write_id=uuid7(), depth=depth, mode=mode)

    def delete(self, key: str, *, collection: str = "stock") -> None:
        kv.delete(self.world.app, ACTOR, collection, key, condition=KvCondition(), depth=0, mode="live")

    def run(self, times: int = 1) -> None:
        for _ in range(times):
            self.world.dispatch()

    def later(self, **more: float) -> None:
        self.world.pass_time(timedelta(**more))

    def depth_in(self, token: str) -> int | None:
        return depth_tokens.verify(token, TENANT, [TOKEN_SECRET.encode()])

    def waiting(self) -> list[dict[str, Any]]:
        return self.world.rows("SELECT * FROM outbox WHERE source_kind = 'trigger' ORDER BY id")


def telling_alice(**said: Any) -> dict[str, Any]:
    return {"kind": "intent", "intent": TELL_ALICE | said}


def calling(url: str, **said: Any) -> dict[str, Any]:
    return {"kind": "webhook", "url": url} | said


def server(status: int = 200, body: bytes = b"") -> AbstractContextManager[Scripted]:
    return answering(Reply(status, body, "text/plain"))
