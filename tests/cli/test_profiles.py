"""Whom the command talks to, as whom, and with which key."""

import json
import stat
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest

from tests.cli.conftest import Ran, Terminal
from tests.cli.stack import Doors

OK = {"healthy": True, "problems": [], "at": "2026-11-17T10:00:00Z", "backlog": []}


@pytest.fixture
def plain(bare: Terminal) -> Terminal:
    """Nothing but where the file of profiles would be."""
    bare.env = {"TOCSIN_CONFIG": bare.env["TOCSIN_CONFIG"], "TOCSIN_PERSON": "Jane"}
    return bare


def asked(doors: Doors, ran: Ran) -> tuple[str, str]:
    """Which address was asked, and with which key."""
    assert ran.code == 0, ran.err
    call = doors.calls[-1]
    return str(call.url).removesuffix("/v1/status"), call.headers["authorization"].removeprefix("Bearer ")


def status(terminal: Terminal, doors: Doors, *arguments: str, **env: str) -> tuple[str, str]:
    doors.instead.append(httpx.Response(200, json=OK))
    return asked(doors, terminal("status", *arguments, **env))


def test_without_anything_it_says_how_to_begin(plain: Terminal) -> None:
    ran = plain("status")

    assert ran.code == 3
    assert "profiles add" in ran.err


def test_a_profile_is_added_used_and_removed(plain: Terminal, doors: Doors, home: Path) -> None:
    first = plain(
        "profiles", "add", "prod", "--url", "https://prod.example/", "--key-stdin", "--person", "Ada L", typed="tcn_live_a\n"
    )
    plain("profiles", "add", "test", "--url", "https://test.example", "--key-stdin", typed="tcn_live_b\n")

    assert first.code == 0
    assert status(plain, doors) == ("https://prod.example", "tcn_live_a")
    assert status(plain, doors, "--profile", "test") == ("https://test.example", "tcn_live_b")
    assert status(plain, doors, TOCSIN_PROFILE="test") == ("https://test.example", "tcn_live_b")
    plain("profiles", "use", "test")
    assert status(plain, doors) == ("https://test.example", "tcn_live_b")
    assert plain("profiles", "remove", "test", typed="n\n").code == 1
    assert plain("profiles", "remove", "test", "--yes").code == 0
    assert [one["name"] for one in plain("profiles", "list", "--json").json["data"]] == ["prod"]


def test_the_file_is_its_owners_alone_and_no_key_is_ever_shown(plain: Terminal, home: Path) -> None:
    ran = plain("profiles", "add", "prod", "--url", "https://prod.example", "--key-stdin", typed="tcn_live_secret\n")
    listed = plain("profiles", "list"), plain("profiles", "list", "--json")

    assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600
    assert "tcn_live_secret" in (home / "config.toml").read_text()
    assert not any("tcn_live_secret" in one.out + one.err for one in (ran, *listed))


def test_a_file_that_others_can_read_is_told(plain: Terminal, doors: Doors, home: Path) -> None:
    (home / "config.toml").write_text('current = "p"\n[profiles.p]\nurl = "https://p.example"\nkey = "k"\n')
    (home / "config.toml").chmod(0o644)
    doors.instead.append(httpx.Response(200, json=OK))

    assert "chmod 600" in plain("status").err


def test_a_key_comes_from_a_command(plain: Terminal, doors: Doors, home: Path) -> None:
    (home / "key.txt").write_text("tcn_live_fetched\n")
    plain("profiles", "add", "prod", "--url", "https://prod.example", "--key-command", f"cat '{home}/key.txt' | tail -1")

    assert status(plain, doors) == ("https://prod.example", "tcn_live_fetched")


@pytest.mark.parametrize("command", ["exit 1", "echo no such secret >&2; exit 254", "true", "echo two words"])
def test_a_command_that_gives_no_key_is_3_and_says_why(plain: Terminal, doors: Doors, command: str) -> None:
    plain("profiles", "add", "prod", "--url", "https://prod.example", "--key-command", command)

    ran = plain("status")

    assert (ran.code, doors.calls) == (3, [])
    assert "key_command" in ran.err
    assert ("no such secret" in ran.err) == ("no such secret" in command)


def test_an_option_comes_before_the_environment_and_that_before_the_file(plain: Terminal, doors: Doors) -> None:
    plain("profiles", "add", "prod", "--url", "https://prod.example", "--key-stdin", typed="of-profile\n")
    env = {"TOCSIN_URL": "https://env.example", "TOCSIN_KEY": "of-env"}

    assert status(plain, doors, **env) == ("https://env.example", "of-env")
    assert status(plain, doors, "--url", "https://option.example", **env) == ("https://option.example", "of-env")
    assert status(plain, doors, "--profile", "prod", **env) == ("https://prod.example", "of-profile")
    assert status(plain, doors, TOCSIN_KEY="of-env") == ("https://prod.example", "of-env")


def test_a_profiles_key_never_goes_to_an_address_that_is_not_the_profiles(plain: Terminal, doors: Doors) -> None:
    plain("profiles", "add", "prod", "--url", "https://prod.example", "--key-stdin", typed="of-profile\n")

    ran = plain("status", "--url", "https://elsewhere.example")

    assert (ran.code, doors.calls) == (3, [])
    assert status(plain, doors, "--url", "https://prod.example") == ("https://prod.example", "of-profile")
    assert status(plain, doors, "--profile", "prod", "--url", "https://tunnel.example") == (
        "https://tunnel.example",
        "of-profile",
    )


def test_in_a_folder_where_the_local_stack_runs_it_is_used_and_told(plain: Terminal, doors: Doors, home: Path) -> None:
    dev = {"base_url": "http://127.0.0.1:8080", "api_key": "developer", "admin_key": "administrator"}
    (home / ".local").mkdir()
    (home / ".local" / "dev.json").write_text(json.dumps(dev))

    assert status(plain, doors) == ("http://127.0.0.1:8080", "developer")
    doors.instead.extend([httpx.Response(200, json=OK), httpx.Response(200, json={"data": []})])
    assert "Using the local stack of this folder: http://127.0.0.1:8080" in plain("status").err
    plain("keys", "list")
    assert doors.calls[-1].headers["authorization"] == "Bearer administrator", "keys are an administrator's"
    env = {"TOCSIN_URL": dev["base_url"], "TOCSIN_KEY": "developer"}  # as the README exports them
    assert status(plain, doors, **env) == ("http://127.0.0.1:8080", "developer")
    plain("profiles", "add", "prod", "--url", "https://prod.example", "--key-stdin", typed="k\n")
    assert status(plain, doors) == ("https://prod.example", "k"), "what is configured comes first"


@pytest.mark.parametrize(
    ("env", "profile", "expected"),
    [
        ({"TOCSIN_PERSON": "Jané Doe"}, "Ada", "Jané Doe"),
        ({"TOCSIN_PERSON": ""}, "Ada", "Ada"),
        ({"TOCSIN_PERSON": "a\n\x1b[1mb" + "x" * 200}, "", ("a [1mb" + "x" * 200)[:100]),
    ],
)
def test_the_person_is_named_in_every_call(
    plain: Terminal, doors: Doors, env: dict[str, str], profile: str, expected: str
) -> None:
    plain("profiles", "add", "p", "--url", "https://p.example", "--key-stdin", "--person", profile, typed="k\n")
    plain.env.pop("TOCSIN_PERSON")

    status(plain, doors, **env)

    sent = doors.calls[-1].headers["tocsin-person"]
    assert sent.isascii()
    assert unquote(sent) == expected


def test_without_a_name_the_login_name_is_the_persons(plain: Terminal, doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "jdoe")

    status(plain, doors, TOCSIN_URL="https://a.example", TOCSIN_KEY="k", TOCSIN_PERSON="")

    assert doors.calls[-1].headers["tocsin-person"] == "jdoe"


@pytest.mark.parametrize(
    "text",
    [
        "not toml",
        "[profiles.a]\nkey = 'k'\n",
        "[profiles.a]\nurl = 3\n",
        "[profiles.a]\nurl = 'https://a'\ntoken = 'x'\n",
        "[profiles.a]\nurl = 'ftp://a'\n",
        "[profiles.a]\nurl = 'https://u:p@a'\n",
        "current = 'b'\n[profiles.a]\nurl = 'https://a'\n",
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_2_and_says_why(plain: Terminal, home: Path, text: str) -> None:
    (home / "config.toml").write_text(text)

    ran = plain("status")

    assert ran.code == 2
    assert "Error" in ran.err


def test_a_key_on_an_address_without_encryption_is_told(bare: Terminal, doors: Doors) -> None:
    doors.instead.extend([httpx.Response(200, json=OK)] * 2)

    assert "not encrypted" in bare("status", "--url", "http://notify.example").err
    assert "not encrypted" not in bare("status", "--url", "http://127.0.0.1:1").err
    assert "not encrypted" in bare("status", "--url", "http://127.0.0.1.notify.example").err


def test_any_name_and_text_is_written_so_that_it_is_read_again(plain: Terminal) -> None:
    plain(
        "profiles",
        "add",
        "a.b-c",
        "--url",
        "https://a.example",
        "--key-command",
        "printf '\"\\x41\\\\ é'",
        "--person",
        'Jo "X" Ü',
    )

    (found,) = plain("profiles", "list", "--json").json["data"]

    assert (found["name"], found["key_command"], found["person"]) == ("a.b-c", "printf '\"\\x41\\\\ é'", 'Jo "X" Ü')
