"""Standard Webhooks 1.0.0: the known answer, and a package that is not ours."""

import base64
import time
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from tocsin.webhooks.sign import message_id_of, signature, signed_headers, spell_secret
from tocsin.webhooks.signing_secrets import new_secret

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_the_known_answer() -> None:
    made = signature("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}', SECRET)

    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@given(st.binary(min_size=24, max_size=64), st.text(max_size=200).map(str.encode), st.uuids())
def test_whatever_is_signed_verifies(key: bytes, body: bytes, message: UUID) -> None:
    secret = spell_secret(key)

    headers = signed_headers(message_id_of(message), int(time.time()), body, [secret])

    Verifier(secret).verify(body, headers, json_parse=False)


def test_both_secrets_sign_and_a_third_does_not() -> None:
    old, new, other = (spell_secret(bytes([n]) * 32) for n in range(3))

    headers = signed_headers("msg_1", int(time.time()), b"{}", [new, old])

    for secret in (old, new):
        Verifier(secret).verify(b"{}", headers)
    with pytest.raises(WebhookVerificationError):
        Verifier(other).verify(b"{}", headers)


def test_a_secret_is_256_bits_that_nobody_has_seen() -> None:
    secrets = {new_secret() for _ in range(100)}

    assert len(secrets) == 100
    assert {len(base64.b64decode(secret.removeprefix("whsec_"))) for secret in secrets} == {32}


def test_a_message_id_has_nothing_that_a_signature_is_split_at() -> None:
    assert message_id_of(UUID("0190a5c0-0000-7000-8000-000000000001")) == "msg_0190a5c0000070008000000000000001"
