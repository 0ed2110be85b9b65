"""The developer's API keys: made once, the same after every restart, and made again if the database forgot them."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import psycopg

from devstack.state import State

NAME = "local developer"


class AccessKeys:
    """Uses the layer's own code, so that a key made here is a key like any other."""

    def __init__(self, layer: Path, dsn: str, tenant_id: str, state: State) -> None:
        if str(layer) not in sys.path:
            sys.path.insert(0, str(layer))
        self._keys = importlib.import_module("tocsin.access.key_format")
        self._store = importlib.import_module("tocsin.store.api_keys")
        self._bootstrap = importlib.import_module("tocsin.upkeep.bootstrap")
        self._dsn = dsn
        self._tenant_id = tenant_id
        self._state = state

    def developer(self) -> str:
        """A key with every scope but admin."""
        scopes = [scope for scope in self._keys.SCOPES if scope != "admin"]
        return self._kept("api-key", scopes)

    def console(self) -> str:
        """A key with every scope, for the console on this machine."""
        return self._kept("console-key", list(self._keys.SCOPES))

    def administrator(self, first_admin_key: str | None) -> str:
        """The key that the migration put in its secret, if it still opens the door; else one of our own."""
        with psycopg.connect(self._dsn, autocommit=True) as conn:
            plain = _plain(first_admin_key)
            if plain and self._is_usable(conn, plain):
                return plain
        return self._kept("admin-key", list(self._keys.SCOPES))

    def _kept(self, name: str, scopes: list[str]) -> str:
        kept = self._state.secret(name, None)
        with psycopg.connect(self._dsn, autocommit=True) as conn:
            if kept and self._is_usable(conn, kept):
                return kept
            made: str = self._bootstrap.make_key(
                conn, tenant_id=self._tenant_id, name=NAME, producer="local", scopes=scopes, mode="live"
            )
        self._state.keep_secret(name, made)
        return made

    def _is_usable(self, conn: psycopg.Connection[Any], plain: str) -> bool:
        if not self._keys.is_well_formed(plain):
            return False
        found = self._store.find_by_hash(conn, self._keys.digest(plain)).fetchone()
        return found is not None and bool(found.is_usable)


def _plain(secret: str | None) -> str | None:
    """The key in a secret that is either the key itself or a JSON object with it."""
    if not secret or not secret.startswith("{"):
        return secret
    content: dict[str, str] = json.loads(secret)
    return next((value for value in content.values() if value.startswith("tcn_")), None)
