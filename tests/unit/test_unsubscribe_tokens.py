"""Unsubscribe tokens: what was signed is read back, and nothing else is."""

import base64
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tocsin.feedback.unsubscribe_tokens import (
    PreferencesSubject,
    Subject,
    ThreadSubject,
    address_hash,
    sign,
    sign_preferences,
    sign_thread,
    verify,
    verify_preferences,
)

SECRET = b"a secret of the installation"
TENANT = UUID("00000000-0000-7000-8000-000000000001")
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=100)


def _subject(kind: str = "news", email: str = "alice@example.com") -> Subject:
    return Subject(TENANT, address_hash(TENANT, "email", email), kind)


@given(tenant=st.uuids(), hashed=st.binary(min_size=32, max_size=32), kind=NAMES)
@example(tenant=TENANT, hashed=b"\x00" * 32, kind="x" * 100)
@example(tenant=TENANT, hashed=b"\xff" * 32, kind="通" * 100)
@example(tenant=TENANT, hashed=b"\xff" * 32, kind="\U0001f600" * 100)
def test_what_was_signed_is_read_back(tenant: UUID, hashed: bytes, kind: str) -> None:
    subject = Subject(tenant, hashed, kind)

    assert verify(sign(subject, SECRET), [SECRET]) == subject


def test_a_token_fits_into_an_address_as_it_is() -> None:
    token = sign(_subject("größe / 通知"), SECRET)

    assert token.isascii()
    assert token.replace("-", "").replace("_", "").isalnum()


def test_a_token_does_not_tell_the_address() -> None:
    token = sign(_subject(), SECRET)

    assert "alice" not in token
    assert address_hash(TENANT, "email", "alice@example.com") != address_hash(TENANT, "sms", "alice@example.com")
    assert address_hash(TENANT, "email", "a@example.com") != address_hash(UUID(int=2), "email", "a@example.com")


def test_an_address_has_one_hash_however_it_is_written() -> None:
    assert address_hash(TENANT, "email", "Alice@Example.com") == address_hash(TENANT, "email", "alice@example.com")


def test_no_other_secret_makes_or_reads_it() -> None:
    assert verify(sign(_subject(), b"another"), [SECRET]) is None
    assert verify(sign(_subject(), SECRET), [b"another"]) is None
    assert verify(sign(_subject(), SECRET), [b""]) is None


def test_no_single_change_of_a_token_makes_it_speak_for_anyone_else() -> None:
    token = sign(_subject(), SECRET)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    for place, character in enumerate(token):
        for other in alphabet:
            changed = token[:place] + other + token[place + 1 :]
            # the last character has bits that stand for nothing: changing those changes nothing
            assert verify(changed, [SECRET]) in ((None, _subject()) if place == len(token) - 1 else (None,)) or other == character


@given(text=st.text(max_size=500) | st.from_regex(r"[A-Za-z0-9_-]{0,500}", fullmatch=True))
@example(text="")
@example(text="A" * 87)
@example(text="\ud800")
@example(text="=" * 50)
def test_whatever_else_is_presented_is_not_ours_and_no_error(text: str) -> None:
    assert verify(text, [SECRET]) is None


@pytest.mark.parametrize("cut", [1, 2, 4, 16, 60])
def test_a_token_that_was_cut_is_not_ours(cut: int) -> None:
    token = sign(_subject(), SECRET)

    assert verify(token[:-cut], [SECRET]) is None
    assert verify(token[cut:], [SECRET]) is None


@given(tenant=st.uuids(), user=st.uuids(), kind=NAMES, thread=NAMES)
def test_a_thread_that_was_signed_is_read_back(tenant: UUID, user: UUID, kind: str, thread: str) -> None:
    subject = ThreadSubject(tenant, user, kind, thread)

    assert verify(sign_thread(subject, SECRET), [SECRET]) == subject
    assert verify(sign_thread(subject, b"another"), [SECRET]) is None


def test_a_token_for_a_type_never_speaks_of_a_thread_nor_the_other_way_round() -> None:
    content = base64.urlsafe_b64decode(sign(_subject("x" * 20), SECRET) + "==")[:-16]

    forged = ThreadSubject(UUID(bytes=content[:16]), UUID(bytes=content[16:32]), "x", "y")

    assert isinstance(verify(sign(_subject(), SECRET), [SECRET]), Subject)
    assert isinstance(verify(sign_thread(forged, SECRET), [SECRET]), ThreadSubject)


@given(tenant=st.uuids(), user=st.uuids(), hashed=st.binary(min_size=32, max_size=32), kind=NAMES)
@example(tenant=TENANT, user=UUID(int=1), hashed=b"\xff" * 32, kind="\U0001f600" * 100)
def test_whose_mail_it_was_is_read_back_too(tenant: UUID, user: UUID, hashed: bytes, kind: str) -> None:
    subject = Subject(tenant, hashed, kind, user)

    assert verify(sign(subject, SECRET), [b"newer", SECRET]) == subject
    assert verify(sign(subject, b"another"), [SECRET]) is None


def test_tokens_from_before_they_knew_the_user_still_verify() -> None:
    made_by_the_first_release = "AAAAAAAAcACAAAAAAAAAAW-VRJ022eKYN5g4pzK_L68aLHu6-VSKdcZUDMci9ToKbmV3c3eVjcKnjv5FHDWn1TGI5a0"

    assert verify(made_by_the_first_release, [b"newer", SECRET]) == _subject()
    assert sign(_subject(), SECRET) == made_by_the_first_release


@given(tenant=st.uuids(), user=st.uuids())
def test_whose_preferences_were_signed_is_read_back(tenant: UUID, user: UUID) -> None:
    subject = PreferencesSubject(tenant, user)

    assert verify_preferences(sign_preferences(subject, SECRET), [b"newer", SECRET]) == subject
    assert verify_preferences(sign_preferences(subject, b"another"), [SECRET]) is None


def test_no_kind_of_token_passes_as_another() -> None:
    user = UUID(int=7)
    out = [
        sign(_subject(), SECRET),
        sign(Subject(TENANT, b"x" * 32, "news", user), SECRET),
        sign_thread(ThreadSubject(TENANT, user, "issue", "1"), SECRET),
    ]

    assert [verify_preferences(token, [SECRET]) for token in out] == [None, None, None]
    assert verify(sign_preferences(PreferencesSubject(TENANT, user), SECRET), [SECRET]) is None
    # the same bytes, signed for the other purpose: a type whose name begins with the bytes of a user
    as_type = Subject(TENANT, b"x" * 32, "a user of 16 byt" + "news")
    content = base64.urlsafe_b64decode(sign(as_type, SECRET) + "==")[:-16]
    as_user = Subject(TENANT, b"x" * 32, "news", UUID(bytes=content[48:64]))
    assert base64.urlsafe_b64decode(sign(as_user, SECRET) + "==")[:-16] == content
    assert verify(sign(as_type, SECRET), [SECRET]) == as_type
    assert verify(sign(as_user, SECRET), [SECRET]) == as_user


@given(text=st.text(max_size=100) | st.from_regex(r"[A-Za-z0-9_-]{0,100}", fullmatch=True))
@example(text="A" * 5_000)
@example(text="\ud800")
def test_whatever_else_is_presented_opens_nobodys_preferences(text: str) -> None:
    assert verify_preferences(text, [SECRET]) is None
