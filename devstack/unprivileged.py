"""Where, and as whom, a server that refuses to run as root can run."""

import os
import pwd
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

# Only root ever uses it: a folder that everyone can enter and only root can write, for what must not lie in root's own.
SHELTER = Path("/var/tmp/tocsin-devstack")  # noqa: S108 (refused unless root owns it)


@dataclass(frozen=True, slots=True)
class Account:
    """A user to run as when we are root; when we are not, everything is simply ours."""

    uid: int
    gid: int

    def popen(self) -> dict[str, Any]:
        """The arguments that make `subprocess` start a program as this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if is_root() else {}

    def own(self, folder: Path) -> None:
        """Give this user the folder and all that is in it."""
        for path in (folder, *folder.rglob("*")) if is_root() else ():
            os.lchown(path, self.uid, self.gid)


# A number that no system user has, so that the server's files and processes belong to nobody else.
SERVER = Account(54329, 54329)


def named_account() -> Account:
    """A user that exists by name, for programs that insist on one (initdb does)."""
    try:
        user = pwd.getpwnam("nobody")
    except KeyError:
        user = next(user for user in pwd.getpwall() if user.pw_uid != 0)
    return Account(user.pw_uid, user.pw_gid)


def is_root() -> bool:
    return os.geteuid() == 0


def reachable(path: Path) -> bool:
    """Whether another user can walk down to this path; always, if we are not root and no other user is needed."""
    return not is_root() or all(folder.stat().st_mode & stat.S_IXOTH for folder in path.resolve().parents)


def reachable_folder(path: Path) -> Path:
    """Where the folder called `path` really lies: there, or else in the shelter, where a link at `path` leads.

    Root's own folders are closed to others, and opening them to everyone for the sake of a database would be rude.
    """
    if path.is_symlink():
        if path.readlink().parent.is_dir():
            return path.readlink()
        path.unlink()
    if path.exists() or reachable(path):
        return path
    home = _shelter() / uuid4().hex
    path.symlink_to(home / "content")
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    (home / "link").symlink_to(path)
    return home / "content"


def remove_folder(path: Path) -> None:
    """Delete what `reachable_folder` gave, wherever it really lies."""
    if path.is_symlink():
        shutil.rmtree(path.readlink().parent, ignore_errors=True)
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def scratch_folder(near: Path) -> Path:
    """A new folder that can be reached, beside `near` if possible."""
    name = f"{near.name}.{uuid4().hex}"
    folder = near.with_name(name) if reachable(near) else _shelter() / name
    folder.mkdir(mode=0o700)
    return folder


def reachable_copy(folders: list[Path], name: str) -> Path:
    """The folder that holds these read-only folders, which lie side by side, where everyone can read them."""
    if all(reachable(folder / "any") for folder in folders):
        return folders[0].parent
    copy = _shelter() / name
    if not copy.exists():
        unfinished = copy.with_name(f"{name}.{uuid4().hex}")
        for folder in folders:
            shutil.copytree(folder, unfinished / folder.name, symlinks=True)
        for path in (unfinished, *unfinished.rglob("*")):
            path.chmod(path.stat().st_mode | stat.S_IROTH | (path.stat().st_mode & stat.S_IXUSR) >> 6)
        settle(unfinished, copy)
    return copy


def settle(unfinished: Path, folder: Path) -> None:
    """Put a finished folder in its place at once, unless another process was faster."""
    try:
        unfinished.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
        shutil.rmtree(unfinished)


def _shelter() -> Path:
    SHELTER.mkdir(mode=0o755, exist_ok=True)
    found = SHELTER.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != 0:
        raise PermissionError(f"{SHELTER} must be a folder that root owns; remove it and start again")
    SHELTER.chmod(0o755)
    for home in _abandoned_homes():
        shutil.rmtree(home, ignore_errors=True)
    return SHELTER


def _abandoned_homes() -> Iterator[Path]:
    """Sheltered folders that nothing leads to any more, because the folder with the link was deleted."""
    for link in SHELTER.glob("*/link"):
        path = link.readlink()
        if not path.is_symlink() or path.readlink().parent != link.parent:
            yield link.parent
