"""An index that gives nothing is said to, with the reason and without passwords."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.package_index import Index, serving
from tools import reachable
from tools.pip_settings import PipSettings


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in reachable._PROXIES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def index() -> Iterator[Index]:
    with serving() as index:
        yield index


def settings(url: str, **options: str) -> PipSettings:
    return PipSettings({"index-url": url, **options})


@pytest.fixture
def closed() -> str:
    """An address where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


def test_an_index_that_answers_has_no_fault_and_is_asked_with_its_password(index: Index) -> None:
    index.pages["/simple/pip/"] = b""

    assert reachable.fault(settings(index.url.replace("//", "//me:h%40sh@"))) is None
    assert index.asked == [("/simple/pip/", "Basic bWU6aEBzaA==")]


@pytest.mark.parametrize("status", [401, 403, 404, 503])
def test_an_index_that_refuses_is_quoted(status: int, index: Index) -> None:
    index.status = status

    said = reachable.fault(settings(index.url)) or ""

    assert f"The package index answers {status} (" in said
    assert said.endswith(f": {index.url}")


def test_nobody_at_its_address_is_said_without_the_password(closed: str) -> None:
    said = reachable.fault(settings(f"http://me:hush@{closed}/simple"))

    assert said == f"The package index cannot be reached (nobody listens there): http://{closed}/simple"


def test_an_index_that_says_nothing_is_given_up(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachable, "PATIENCE", 0.2)
    index.silent = True

    assert "cannot be reached (no answer in 0.2 seconds)" in (reachable.fault(settings(index.url)) or "")


def test_a_proxy_that_is_not_there_is_the_reason_and_named_without_its_password(index: Index, closed: str) -> None:
    wrong = settings(index.url, proxy=f"http://me:hush@{closed}")

    assert "cannot be reached (nobody listens there)" in (reachable.fault(wrong) or "")
    assert f"(now http://{closed})" in reachable.advice(wrong)
    assert index.asked == []


def test_certificates_that_cannot_be_read_are_a_reason_too(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("none")

    assert "cannot be reached (" in (reachable.fault(settings("https://127.0.0.1:1/simple", cert=str(tmp_path / "ca.pem"))) or "")


@pytest.mark.parametrize("options", [{"no-index": "1"}, {"index-url": "file:///srv/packages/simple"}])
def test_where_there_is_no_index_to_ask_nobody_is_asked(options: dict[str, str]) -> None:
    assert reachable.fault(PipSettings(options)) is None


def test_the_advice_names_what_to_set() -> None:
    said = reachable.advice(PipSettings({}))

    assert all(name in said for name in ("PIP_INDEX_URL", "HTTPS_PROXY", "PIP_CERT"))
