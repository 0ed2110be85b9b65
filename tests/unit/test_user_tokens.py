"""User tokens: what was signed is read back until it runs out, and nothing else is."""

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tocsin.access import key_format
from tocsin.access.user_tokens import Person, looks_like, sign, verify

SECRET = b"a secret of the installation"
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ALICE = Person(UUID("00000000-0000-7000-8000-000000000001"), UUID("00000000-0000-7000-8000-00000000000a"))
HOUR = timedelta(hours=1)
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=.~ \n"
HEADER = {"alg": "HS256", "typ": "JWT"}
CLAIMS = {
    "aud": "tocsin-inbox",
    "tenant": str(ALICE.tenant_id),
    "sub": str(ALICE.user_id),
    "iat": int(NOW.timestamp()),
    "exp": int((NOW + HOUR).timestamp()),
}


def _token() -> str:
    return sign(ALICE, SECRET, now=NOW, expires_at=NOW + HOUR)


def _part(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _signed(header: Any = HEADER, claims: Any = CLAIMS, secret: bytes = SECRET, digest: Any = hashlib.sha256) -> str:
    """A JWT made by hand, as RFC 7515 says."""
    content = f"{_part(header)}.{_part(claims)}"
    return f"{content}.{_part(hmac.new(secret, content.encode(), digest).digest())}"


@given(tenant=st.uuids(), user=st.uuids(), seconds=st.integers(1, 86_400))
def test_what_was_signed_is_read_back(tenant: UUID, user: UUID, seconds: int) -> None:
    person = Person(tenant, user)

    token = sign(person, SECRET, now=NOW, expires_at=NOW + timedelta(seconds=seconds))

    assert verify(token, [SECRET], now=NOW) == person


def test_a_token_is_a_plain_jwt() -> None:
    assert _token() == _signed()


def test_a_token_holds_until_its_second_and_not_longer() -> None:
    end = NOW + HOUR

    assert verify(_token(), [SECRET], now=end - timedelta(milliseconds=1)) == ALICE
    assert verify(_token(), [SECRET], now=end) is None
    assert verify(_token(), [SECRET], now=end + timedelta(days=1)) is None


def test_no_single_change_of_a_token_is_taken() -> None:
    token = _token()

    for place, character in enumerate(token):
        for other in ALPHABET:
            changed = token[:place] + other + token[place + 1 :]
            assert other == character or verify(changed, [SECRET], now=NOW) is None, (place, other)


def test_nothing_may_be_added_or_cut_off() -> None:
    token = _token()

    for place in range(len(token) + 1):
        assert verify(token[:place] + token[place + 1 :], [SECRET], now=NOW) is None or place == len(token)
        for other in "A=._ ":
            assert verify(token[:place] + other + token[place:], [SECRET], now=NOW) is None, (place, other)


@pytest.mark.parametrize("secret", [b"another", b"", SECRET + b"x", SECRET[:-1], SECRET.upper()])
def test_no_other_secret_makes_or_reads_it(secret: bytes) -> None:
    assert verify(_token(), [secret], now=NOW) is None
    assert verify(sign(ALICE, secret, now=NOW, expires_at=NOW + HOUR), [SECRET], now=NOW) is None


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "nOnE", "", "HS384", "HS512", "RS256", "ES256", "hs256", None])
def test_no_other_algorithm_is_taken_signed_or_not(alg: str | None) -> None:
    header = HEADER | {"alg": alg}
    content = f"{_part(header)}.{_part(CLAIMS)}"

    assert verify(f"{content}.", [SECRET], now=NOW) is None
    assert verify(f"{content}.{_part(SECRET)}", [SECRET], now=NOW) is None
    for digest in (hashlib.sha256, hashlib.sha384, hashlib.sha512):
        assert verify(_signed(header, digest=digest), [SECRET], now=NOW) is None


@pytest.mark.parametrize("digest", [hashlib.sha384, hashlib.sha512, hashlib.sha1, hashlib.md5])
def test_no_other_hash_is_taken_under_our_header(digest: Any) -> None:
    assert verify(_signed(digest=digest), [SECRET], now=NOW) is None


@pytest.mark.parametrize(
    "header",
    [
        {"alg": "HS256"},
        {"typ": "JWT"},
        HEADER | {"kid": "../../etc/passwd"},
        HEADER | {"crit": ["exp"]},
        HEADER | {"jku": "https://evil.example/keys"},
        HEADER | {"jwk": {"kty": "oct", "k": "AAAA"}},
        [],
        "HS256",
        None,
        b"not json",
    ],
    ids=str,
)
def test_no_other_header_is_taken(header: Any) -> None:
    assert verify(_signed(header), [SECRET], now=NOW) is None


@pytest.mark.parametrize(
    "claims",
    [
        CLAIMS | {"aud": "tocsin-admin"},
        CLAIMS | {"aud": ["tocsin-inbox"]},
        CLAIMS | {"exp": "9999999999"},
        CLAIMS | {"exp": None},
        CLAIMS | {"exp": True},
        CLAIMS | {"exp": []},
        CLAIMS | {"tenant": "x"},
        CLAIMS | {"tenant": 7},
        CLAIMS | {"tenant": None},
        CLAIMS | {"sub": "alice"},
        CLAIMS | {"sub": {}},
        {},
        [],
        None,
        7,
        b"not json",
        b"\xff\xfe",
        *({name: value for name, value in CLAIMS.items() if name != left_out} for left_out in ("aud", "tenant", "sub", "exp")),
    ],
    ids=str,
)
def test_no_other_claims_are_taken_even_well_signed(claims: Any) -> None:
    assert verify(_signed(claims=claims), [SECRET], now=NOW) is None


@given(text=st.text(max_size=300) | st.from_regex(r"[\w-]{0,90}\.[\w-]{0,90}\.[\w-]{0,90}", fullmatch=True))
@example(text="")
@example(text="..")
@example(text="...")
@example(text="a.b.c")
@example(text="\ud800.\ud800.\ud800")
@example(text="é.é.é")
@example(text="=.=.=")
def test_whatever_else_is_presented_is_not_ours_and_no_error(text: str) -> None:
    assert verify(text, [SECRET], now=NOW) is None


def test_what_is_far_too_long_is_not_even_looked_at() -> None:
    padded = _signed(claims=CLAIMS | {"more": "x" * 3_000})

    assert verify(padded, [SECRET], now=NOW) is None


def test_tokens_and_keys_cannot_be_taken_for_each_other() -> None:
    key = key_format.mint(UUID(int=7), "live").plain

    assert (looks_like(_token()), looks_like(key), looks_like("")) == (True, False, False)
    assert not key_format.is_well_formed(_token())
    assert verify(key, [SECRET], now=NOW) is None
