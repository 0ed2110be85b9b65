"""Keys by their use case: whoever calls it, a key is issued with its audit row and rotated once."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.world import TENANT, World
from tocsin.access import issue_key
from tocsin.access.audit import Actor
from tocsin.access.issue_key import NotRotatable, Rights, Rotated
from tocsin.access.key_format import SCOPES

OPERATOR = Actor(TENANT, "console:alice")
DAY = timedelta(days=1)
RIGHTS = Rights("shop server", "shop", ["send", "read"])


def _audited(world: World) -> list[tuple[str, str]]:
    return [(row["actor"], row["action"]) for row in world.rows("SELECT actor, action FROM audit_logs ORDER BY seq")]


def test_a_key_is_issued_by_whoever_acts_without_a_request(world: World) -> None:
    issued = issue_key.issue(world.app, OPERATOR, RIGHTS)

    assert issued.plain.startswith(issued.key.key_prefix)
    assert issued.key.scopes == ["read", "send"]
    assert _audited(world) == [("console:alice", "create")]


def test_the_scopes_that_the_schema_knows_are_those_of_the_code(world: World) -> None:
    rule = world.one(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'api_keys'::regclass AND conname LIKE '%%scopes%%'"
    )

    assert tuple(re.findall(r"'(\w+)'", rule)) == SCOPES


def test_of_two_who_rotate_a_key_at_once_one_is_refused_and_leaves_no_key_behind(world: World) -> None:
    old = issue_key.issue(world.app, OPERATOR, RIGHTS).key
    first, second = world.connect("tocsin_app"), world.connect("tocsin_app")

    def rotate(conn: object) -> object:
        try:
            return issue_key.rotate(conn, OPERATOR, old.id, overlap=DAY)  # type: ignore[arg-type]
        except NotRotatable as error:
            return error

    with ThreadPoolExecutor(2) as threads:
        ends = list(threads.map(rotate, [first, second]))

    (rotated,) = [end for end in ends if isinstance(end, Rotated)]
    (refused,) = [end for end in ends if isinstance(end, NotRotatable)]
    assert refused.key.replaced_by == rotated.new.key.id
    assert world.count("api_keys") == 2
    assert [action for _, action in _audited(world)] == ["create", "create", "rotate"]


def test_a_revoked_key_is_not_rotated(world: World) -> None:
    key = issue_key.issue(world.app, OPERATOR, RIGHTS).key
    issue_key.revoke(world.app, OPERATOR, key.id)

    with pytest.raises(NotRotatable) as refused:
        issue_key.rotate(world.app, OPERATOR, key.id, overlap=DAY)

    assert not refused.value.key.is_active
    assert world.count("api_keys") == 1


def test_a_key_that_nobody_has_is_neither_rotated_nor_revoked(world: World) -> None:
    assert issue_key.rotate(world.app, OPERATOR, uuid4(), overlap=DAY) is None
    assert issue_key.revoke(world.app, OPERATOR, uuid4()) is None
    assert _audited(world) == []
