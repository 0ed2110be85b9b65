"""Whom to talk to, as whom, and with which key: options, the environment, a profile, or the local stack of this folder."""

import getpass
import ipaddress
import json
import os
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tocsin_cli.exits import Exit
from tocsin_cli.failures import Failed, usage
from tocsin_cli.safe_text import safe

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LOCAL = Path(".local") / "dev.json"
MAX_PERSON = 100
_COMMAND_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Profile:
    """One stack. The key stands here, or comes from a command each time."""

    name: str
    url: str
    key: str = ""
    key_command: str = ""
    person: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """Where calls go. `key` is asked when the first call is made; `admin_key` is what the local stack has besides."""

    url: str
    key: Callable[[], str]
    person: str
    named: str
    admin_key: str = ""
    is_local: bool = False


@dataclass(slots=True)
class Config:
    """The file with the profiles."""

    path: Path
    current: str = ""
    profiles: dict[str, Profile] = field(default_factory=dict)
    is_open_to_others: bool = False

    def named(self, name: str) -> Profile:
        if name not in self.profiles:
            known = ", ".join(self.profiles) or "none yet"
            raise usage(f"There is no profile `{name}` in {self.path}. There are: {known}.", "`tocsin profiles add` makes one.")
        return self.profiles[name]

    def save(self) -> None:
        """Whole or not at all, and for its owner's eyes only."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".config-")  # mkstemp makes it 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(_written(self))
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def path_of(env: Mapping[str, str]) -> Path:
    if env.get("TOCSIN_CONFIG"):
        return Path(env["TOCSIN_CONFIG"]).expanduser()
    base = env.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    return Path(base) / "tocsin" / "config.toml"


def load(path: Path) -> Config:
    config = Config(path)
    try:
        text = path.read_text(encoding="utf-8")
        config.is_open_to_others = os.name == "posix" and bool(path.stat().st_mode & 0o077)
    except FileNotFoundError:
        return config
    except (OSError, UnicodeDecodeError) as error:
        raise usage(f"{path} cannot be read: {error}") from None
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise usage(f"{path} is not valid TOML: {error}") from None
    config.current = str(found.get("current", ""))
    for name, values in found.get("profiles", {}).items():
        config.profiles[name] = _profile(path, name, values)
    return config


def _profile(path: Path, name: str, values: Any) -> Profile:
    known = {"url", "key", "key_command", "person"}
    if not isinstance(values, dict) or not all(isinstance(one, str) for one in values.values()):
        raise usage(f"{path}: the profile `{name}` must be a table of strings")
    if strange := sorted(set(values) - known):
        raise usage(f"{path}: the profile `{name}` has `{strange[0]}`; known are {', '.join(sorted(known))}")
    if "url" not in values:
        raise usage(f"{path}: the profile `{name}` has no `url`")
    return Profile(name, base_url(values["url"]), *(values.get(key, "") for key in ("key", "key_command", "person")))


def base_url(text: str) -> str:
    """The address of a stack, without a slash at its end."""
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise usage(f"`{safe(text)}` is no address of a stack: it must be such as https://notify.example.com")
    if parts.username or parts.password:
        raise usage("An address must not hold a password.")
    return text.strip().rstrip("/")


def travels_in_clear(url: str) -> bool:
    parts = urlsplit(url)
    host = parts.hostname or ""
    return parts.scheme == "http" and not (host == "localhost" or _is_loopback(host))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def resolve(
    config: Config, *, profile: str, url: str, env: Mapping[str, str], folder: Path, say: Callable[[str], object]
) -> Target:
    """The first that is there: --profile, --url or TOCSIN_URL, TOCSIN_PROFILE, the current profile, the local stack.

    A key goes to the stack it belongs to: one of a profile is never sent to an address that is not that profile's, unless
    --profile and --url say so together."""
    if config.is_open_to_others:
        say(f"{config.path} can be read by others: chmod 600 {config.path}")
    if profile:
        chosen = config.named(profile)
        return _of_profile(chosen, env, url=base_url(url) if url else chosen.url, key_of_env=False)
    if url or env.get("TOCSIN_URL"):
        return _of_address(config, base_url(url or env["TOCSIN_URL"]), env, folder)
    name = env.get("TOCSIN_PROFILE") or config.current
    if name:
        chosen = config.named(name)
        return _of_profile(chosen, env, url=chosen.url, key_of_env=True)
    if local := _local(folder):
        say(f"Using the local stack of this folder: {local['base_url']}")
        return _of_local(local, env)
    raise Failed(
        "No stack is configured.",
        Exit.FORBIDDEN,
        hint="Add one with `tocsin profiles add NAME --url https://…`, or set TOCSIN_URL and TOCSIN_KEY, "
        "or come to a folder where `make dev` runs.",
    )


def _of_profile(chosen: Profile, env: Mapping[str, str], *, url: str, key_of_env: bool) -> Target:
    from_env = env.get("TOCSIN_KEY", "") if key_of_env else ""
    named = f"profile {chosen.name}"
    return Target(url, lambda: from_env or key_of(chosen), person_of(env, chosen.person), named)


def _of_address(config: Config, url: str, env: Mapping[str, str], folder: Path) -> Target:
    local = _local(folder)
    if local and local["base_url"].rstrip("/") == url and env.get("TOCSIN_KEY", "").strip() in ("", local["api_key"]):
        return _of_local(local, env)
    known = next((one for one in config.profiles.values() if one.url == url), None)

    def key() -> str:
        if env.get("TOCSIN_KEY"):
            return env["TOCSIN_KEY"].strip()
        if known:
            return key_of(known)
        raise Failed(f"There is no key for {url}.", Exit.FORBIDDEN, hint="Set TOCSIN_KEY, or add a profile for this address.")

    return Target(url, key, person_of(env, known.person if known else ""), "the address given")


def _of_local(local: dict[str, str], env: Mapping[str, str]) -> Target:
    key = env.get("TOCSIN_KEY", "").strip() or local["api_key"]
    admin_key = local.get("admin_key", "") if key == local["api_key"] else ""
    url, person = local["base_url"].rstrip("/"), person_of(env, "")
    return Target(url, lambda: key, person, "the local stack", admin_key=admin_key, is_local=True)


def _local(folder: Path) -> dict[str, str] | None:
    """What `make dev` wrote into this folder, if it runs here."""
    with suppress(OSError, ValueError):
        found = json.loads((folder / LOCAL).read_text(encoding="utf-8"))
        if isinstance(found, dict) and all(isinstance(found.get(name), str) for name in ("base_url", "api_key")):
            return found
    return None


def key_of(profile: Profile) -> str:
    if profile.key:
        return profile.key
    if not profile.key_command:
        hint = f"`tocsin profiles add {profile.name}` asks for one."
        raise Failed(f"The profile `{profile.name}` has no key.", Exit.FORBIDDEN, hint=hint)
    try:
        done = subprocess.run(  # noqa: S603 - the owner's own command from the owner's own file, with pipes if they like
            ["/bin/sh", "-c", profile.key_command], capture_output=True, text=True, timeout=_COMMAND_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = "it took too long" if isinstance(error, subprocess.TimeoutExpired) else str(error)
        raise Failed(f"The key_command of `{profile.name}` failed: {reason}", Exit.FORBIDDEN) from None
    key = done.stdout.strip()
    if done.returncode or not key:
        said = done.stderr.strip().splitlines()
        why = said[-1] if said else f"exit {done.returncode}" if done.returncode else "it printed nothing"
        raise Failed(f"The key_command of `{profile.name}` failed: {why}", Exit.FORBIDDEN)
    if not key.isascii() or not key.isprintable() or " " in key:
        raise Failed(f"The key_command of `{profile.name}` printed something that is no key.", Exit.FORBIDDEN)
    return key


def person_of(env: Mapping[str, str], of_profile: str) -> str:
    """Who is at the keyboard, for the audit log: a word of theirs, on one line."""
    said = env.get("TOCSIN_PERSON") or of_profile
    if not said:
        with suppress(Exception):  # neither a login name nor an entry for this user, as in some containers
            said = getpass.getuser()
    return " ".join(safe(said).split())[:MAX_PERSON]


def _written(config: Config) -> str:
    lines = ["# Profiles of the command `tocsin`. It holds keys: keep it to yourself (mode 0600)."]
    if config.current:
        lines.append(f"current = {toml_text(config.current)}")
    for profile in config.profiles.values():
        lines += ["", f"[profiles.{toml_text(profile.name)}]"]
        values = {name: getattr(profile, name) for name in ("url", "key", "key_command", "person")}
        lines += [f"{name} = {toml_text(value)}" for name, value in values.items() if value]
    return "\n".join(lines) + "\n"


def toml_text(text: str) -> str:
    """A TOML basic string; JSON's escapes are among TOML's."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
