"""Depth tokens: nobody can make one, change one, or use another tenant's."""

import pytest

from tocsin.access import depth_tokens
from tocsin.foundation.ids import uuid7

SECRET = b"a secret of the installation"
TENANT = uuid7()


@pytest.mark.parametrize("depth", [0, 1, 8, 99])
def test_says_the_depth_it_was_made_with(depth: int) -> None:
    assert depth_tokens.verify(depth_tokens.sign(depth, TENANT, SECRET), TENANT, [SECRET]) == depth


def test_belongs_to_one_tenant_and_one_installation() -> None:
    token = depth_tokens.sign(3, TENANT, SECRET)
    assert depth_tokens.verify(token, uuid7(), [SECRET]) is None
    assert depth_tokens.verify(token, TENANT, [b"another"]) is None


def test_cannot_be_changed() -> None:
    token = depth_tokens.sign(3, TENANT, SECRET)
    changed = [token[:n] + ("B" if token[n] != "B" else "C") + token[n + 1 :] for n in range(len(token))]
    assert [depth_tokens.verify(one, TENANT, [SECRET]) for one in changed] == [None] * len(token)


@pytest.mark.parametrize("nonsense", ["", "3", "3.", ".", "-1.x", "03.aaaaaaaaaaaaaaaaaaaaaa", "9" * 9000, "3.é", "1.a.b"])
def test_refuses_what_is_none(nonsense: str) -> None:
    assert depth_tokens.verify(nonsense, TENANT, [SECRET]) is None
