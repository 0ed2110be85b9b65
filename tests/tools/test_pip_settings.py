"""Whatever pip was told about its index, uv is told too."""

from pathlib import Path

import pytest

from tools import pip_settings
from tools.pip_settings import DEFAULT_INDEX, PipSettings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables of a machine that has this home and nothing for everybody."""
    monkeypatch.setattr(pip_settings, "MACHINE", tmp_path / "none")
    (tmp_path / ".config" / "pip").mkdir(parents=True)
    return {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path / "none")}


def own(home: dict[str, str], text: str) -> None:
    Path(home["HOME"], ".config", "pip", "pip.conf").write_text(text)


def test_the_index_of_pip_conf_is_used_and_a_variable_is_stronger(home: dict[str, str]) -> None:
    own(home, "[global]\nindex-url = https://one.example/simple\n[install]\ntrusted-host = one.example\n")

    assert PipSettings.of_this_machine(home).for_uv()["UV_DEFAULT_INDEX"] == "https://one.example/simple"
    other = PipSettings.of_this_machine({**home, "PIP_INDEX_URL": "https://two.example/simple"}).for_uv()
    assert (other["UV_DEFAULT_INDEX"], other["UV_INSECURE_HOST"]) == ("https://two.example/simple", "one.example")


def test_a_chosen_file_takes_the_place_of_one_s_own_and_none_can_be_chosen(home: dict[str, str], tmp_path: Path) -> None:
    own(home, "[global]\nindex-url = https://one.example/simple\n")
    (tmp_path / "chosen.conf").write_text("[global]\ntimeout = 7\n")

    chosen = PipSettings.of_this_machine({**home, "PIP_CONFIG_FILE": str(tmp_path / "chosen.conf")})
    none = PipSettings.of_this_machine({**home, "PIP_CONFIG_FILE": "/dev/null"})

    assert (chosen.index, chosen.for_uv()["UV_HTTP_TIMEOUT"]) == (DEFAULT_INDEX, "7")
    assert none.options == {}


def test_what_uv_calls_otherwise_is_given_by_uv_s_names(home: dict[str, str]) -> None:
    own(home, "[global]\nextra-index-url =\n    https://a.example/simple\n    https://b.example/simple\nfind-links = /one /two\n")
    said = {"PIP_CERT": "/ca.pem", "PIP_CLIENT_CERT": "/me.pem", "PIP_PROXY": "http://proxy.example", "PIP_DEFAULT_TIMEOUT": "9"}

    assert PipSettings.of_this_machine(home | said).for_uv() == {
        "UV_INDEX": "https://a.example/simple https://b.example/simple",
        "UV_FIND_LINKS": "/one,/two",
        "SSL_CERT_FILE": "/ca.pem",
        "SSL_CLIENT_CERT": "/me.pem",
        "ALL_PROXY": "http://proxy.example",
        "UV_HTTP_TIMEOUT": "9",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_certificates_that_pip_finds_by_other_variables_count(name: str, home: dict[str, str]) -> None:
    assert PipSettings.of_this_machine({**home, name: "/ca.pem"}).for_uv()["SSL_CERT_FILE"] == "/ca.pem"


@pytest.mark.parametrize(("name", "is_unknown"), [("NO_BINARY", True), ("KEYRING_PROVIDER", True), ("NO_CACHE_DIR", False)])
def test_a_setting_that_uv_has_no_word_for_is_named(name: str, is_unknown: bool, home: dict[str, str]) -> None:
    unknown = PipSettings.of_this_machine({**home, f"PIP_{name}": "1"}).unknown_to_uv

    assert unknown == (name.lower().replace("_", "-") if is_unknown else None)


def test_no_password_of_an_address_is_shown(home: dict[str, str]) -> None:
    said = {"PIP_INDEX_URL": "https://me:hush@one.example/simple", "PIP_EXTRA_INDEX_URL": "https://token@two.example/simple"}

    shown = PipSettings.of_this_machine(home | said).shown_index

    assert shown == "https://one.example/simple and https://two.example/simple"


def test_a_file_that_cannot_be_read_is_pip_s_to_complain_of(home: dict[str, str]) -> None:
    own(home, "no section\n")

    assert PipSettings.of_this_machine(home).options == {}
