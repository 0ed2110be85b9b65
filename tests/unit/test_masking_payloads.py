"""Masking: secrets of a recorded payload are hidden by their names, in links, and wherever they are said again."""

import json
import time
from typing import Any

import pytest

from tocsin.content.masking import MASK, is_secret, masked


@pytest.mark.parametrize(
    "name",
    [
        *(
            "password",
            "Password",
            "newPassword",
            "user_password",
            "passwd",
            "passphrase",
            "Passwort",
            "password1",
            "userpassword",
        ),
        *("secret", "client-secret", "clientSecret", "token", "reset_token", "resetToken", "accesstoken", "ID_TOKEN", "jwt"),
        *("otp", "otp_code", "code", "codes", "backup_codes", "verificationCode", "code2", "2fa", "pin", "PIN", "pin_number"),
        *("api_key", "apiKey", "APIKey", "api-key", "API key", "apikey", "X-Api-Key", "private_key", "aws_secret_access_key"),
        *(
            "authorization",
            "Authorization",
            "cookie",
            "Set-Cookie",
            "credentials",
            "session_id",
            "signature",
            "cvv",
            "card_number",
        ),
    ],
)
def test_a_name_that_looks_like_a_secrets_is_one(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "order", "name", "title", "message", "url", "key", "id", "pinned", "shopping", "opinion", "encoded", "barcode"),
        *(
            "country_code",
            "currencyCode",
            "zip-code",
            "status_code",
            "error_code",
            "decoder",
            "secretary",
            "tokenizer",
            "spinning",
        ),
        *("token_expires_at", "otp_valid_minutes", "password_changed", "code_length", "password_policy", "token_type"),
    ],
)
def test_a_name_that_only_reminds_of_one_is_none(name: str) -> None:
    assert not is_secret(name)


def test_a_secret_is_hidden_and_everything_else_stays_in_its_shape() -> None:
    payload = {"order": "A-17", "lines": [{"sku": "x", "count": 2}], "password": "hunter2!", "otp": 482913, "gift": None}

    assert masked(payload) == payload | {"password": MASK, "otp": MASK}
    assert payload["password"] == "hunter2!"  # the payload itself is as it was


def test_what_stands_under_a_secrets_name_is_hidden_at_any_depth_and_keeps_its_shape() -> None:
    payload = {
        "credentials": {"user": "root", "keys": ["a", "b"], "is_admin": True, "note": None},
        "account": {"login": {"pin": 1234}},
        "backup_codes": ["1111-2222", "3333-4444"],
    }

    assert masked(payload) == {
        "credentials": {"user": MASK, "keys": [MASK, MASK], "is_admin": True, "note": None},
        "account": {"login": {"pin": MASK}},
        "backup_codes": [MASK, MASK],
    }


def test_true_false_null_and_nothing_are_no_secrets() -> None:
    payload = {"password": None, "token": "", "otp": True, "secret": False}

    assert masked(payload) == payload


def test_a_pair_of_name_and_value_is_read_as_one() -> None:
    headers = [{"name": "Authorization", "value": "hush-hush"}, {"key": "otp", "value": 42}, {"name": "Accept", "value": "*/*"}]

    assert [one["value"] for one in masked({"headers": headers})["headers"]] == [MASK, MASK, "*/*"]


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("https://shop.example/o?id=7&token=abc#top", f"https://shop.example/o?id=7&token={MASK}#top"),
        ("https://shop.example/o?reset%5Ftoken=abc&id=7", f"https://shop.example/o?reset%5Ftoken={MASK}&id=7"),
        ("https://shop.example/#access_token=abc&state=x", f"https://shop.example/#access_token={MASK}&state=x"),
        ("https://jo:hunter2@shop.example/o", f"https://{MASK}@shop.example/o"),
        ("https://shop.example/v1/verify/7f3a9c21", f"https://shop.example/v1/verify/{MASK}"),
        ("https://shop.example/password-reset/7f3a9c21/", f"https://shop.example/password-reset/{MASK}/"),
        ("shop://open?pin=1234", f"shop://open?pin={MASK}"),
        ("https://shop.example/orders/7f3a9c21?page=2", "https://shop.example/orders/7f3a9c21?page=2"),
        ("https://shop.example/login", "https://shop.example/login"),
        ("https://shop.example/?country_code=de", "https://shop.example/?country_code=de"),
    ],
)
def test_in_a_link_what_lets_one_in_is_hidden_wherever_it_stands(link: str, shown: str) -> None:
    assert masked({"where": link, "message": f"Open {link} today."}) == {"where": shown, "message": f"Open {shown} today."}


@pytest.mark.parametrize("name", ["reset_link", "passwordResetUrl", "magic_link", "verification_url", "token_url", "inviteURL"])
def test_of_a_link_whose_name_says_that_it_lets_one_in_only_the_place_is_shown(name: str) -> None:
    assert masked({name: "https://shop.example/l/7f3a?x=1"}) == {name: f"https://shop.example/{MASK}"}
    assert masked({name: "/l/7f3a"}) == {name: MASK}


@pytest.mark.parametrize(
    "words", ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "Bearer 0123456789abcdef", "Basic dXNlcjpwYXNzd29yZA=="]
)
def test_what_looks_like_a_signed_token_or_a_header_is_hidden_under_any_name(words: str) -> None:
    shown = masked({"note": f"curl -H '{words} "})["note"]

    assert MASK in shown
    assert words.rpartition(" ")[2] not in shown


def test_a_secret_is_hidden_wherever_else_it_is_said() -> None:
    payload = {
        "otp": 482913,
        "message": "Your code is 482913.",
        "again": 482913,
        "longer": "4829130",
        "url": "https://x.example/482913",
    }

    assert masked(payload) == {
        "otp": MASK,
        "message": f"Your code is {MASK}.",
        "again": MASK,
        "longer": "4829130",
        "url": f"https://x.example/{MASK}",
    }


def test_a_secret_of_a_link_is_hidden_in_the_words_too() -> None:
    payload = {"link": "https://x.example/?token=a%2Fb%3D12", "text": "Or type a/b=12 yourself."}

    assert masked(payload)["text"] == f"Or type {MASK} yourself."


def test_a_very_short_secret_is_not_looked_for_elsewhere() -> None:
    assert masked({"pin": 12, "message": "12 parcels"}) == {"pin": MASK, "message": "12 parcels"}


@pytest.mark.parametrize(
    "hostile",
    [
        {"text": "a." * 120_000},
        {"text": "eyJ-" * 60_000},
        {"text": "a://" * 60_000},
        {"text": "https://x.example/?" + "token=&" * 35_000},
        {"text": "https://x.example" + "/reset" * 40_000},
        {"text": "https://" + "a" * 240_000},
        {"tokens": [f"secret-{n:06}" for n in range(8_000)], "text": "secret- " * 15_000},
        {"t" * 240_000: 1},
        {"A" * 240_000: 1},
    ],
    ids=lambda payload: json.dumps(payload)[:30],
)
def test_the_largest_payload_takes_no_time_to_speak_of(hostile: dict[str, Any]) -> None:
    start = time.process_time()

    masked(hostile)

    assert time.process_time() - start < 1.0
