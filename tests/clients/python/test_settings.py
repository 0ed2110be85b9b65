"""Where calls go and with which key, and that neither is told to who should not know."""

import httpx
import pytest

from tocsin_client import AsyncTocsin, NotConfigured, Tocsin

LINE = httpx.MockTransport(lambda _: httpx.Response(204))  # without one, each client reads all certificates
CLIENTS = pytest.mark.parametrize("client", [Tocsin, AsyncTocsin])


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TOCSIN_URL", "TOCSIN_KEY"):
        monkeypatch.delenv(name, raising=False)


@CLIENTS
def test_the_environment_tells_what_is_not_given(client: type[Tocsin], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOCSIN_URL", " https://env.example/ ")
    monkeypatch.setenv("TOCSIN_KEY", "tcn_env\n")

    assert repr(client(transport=LINE)) == f"{client.__name__}('https://env.example')"
    assert "given.example" in repr(client("https://given.example", transport=LINE))


@CLIENTS
@pytest.mark.parametrize(
    ("url", "key", "said"),
    [
        (None, "k", "TOCSIN_URL"),
        ("", "k", "TOCSIN_URL"),
        ("https://t.example", None, "TOCSIN_KEY"),
        ("https://t.example", " ", "TOCSIN_KEY"),
        ("https://t.example", "top secret", "character"),
        ("https://t.example", "top\nsecret", "character"),
        ("https://t.example", "geheimnisß", "character"),
        ("t.example", "k", "such as https://"),
        ("ftp://t.example", "k", "such as https://"),
        ("https://", "k", "such as https://"),
        ("https://[", "k", "such as https://"),
        ("https://t.example?x=1", "k", "such as https://"),
        ("https://ann:hush@t.example", "k", "password"),
        ("http://t.example", "k", "not encrypted"),
        ("http://127.0.0.1.t.example", "k", "not encrypted"),
        ("http://localhost.t.example", "k", "not encrypted"),
        ("http://10.0.0.1", "k", "not encrypted"),
    ],
)
def test_what_cannot_be_used_is_told_without_telling_secrets(
    client: type[Tocsin], url: str | None, key: str | None, said: str
) -> None:
    with pytest.raises(NotConfigured, match=said) as raised:
        client(url, key)

    assert not [secret for secret in ("secret", "geheimnis", "hush") if secret in str(raised.value)]


@CLIENTS
@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://127.8.8.8", "http://localhost:8080", "http://[::1]:8080"])
def test_this_machine_may_be_spoken_to_in_clear(client: type[Tocsin], url: str) -> None:
    assert url in repr(client(url, "k", transport=LINE))


@CLIENTS
def test_who_says_so_may_speak_in_clear(client: type[Tocsin]) -> None:
    assert client("http://t.example", "k", allow_http=True, transport=LINE)


@CLIENTS
def test_nothing_that_is_printed_of_a_client_has_the_key(client: type[Tocsin]) -> None:
    made = client("https://t.example", "tcn_secret", transport=LINE)

    assert "tcn_secret" not in f"{made!r} {made} {vars(made)} {made._http.headers!r} {made.users!r}"
