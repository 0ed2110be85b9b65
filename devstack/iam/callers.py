"""Who calls: each function has an access key id of its own, and a file says what goes with it. Whoever is not in it is free."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devstack.iam import policies
from devstack.iam.policies import Policy
from devstack.intrinsics import ACCOUNT

PREFIX = "LKIA"  # of the key ids of functions; AWS has AKIA and ASIA
SERVICE = ".amazonaws.com"  # how the key ids of services end that act by themselves
ROOT = f"arn:aws:iam::{ACCOUNT}:root"


class UnknownCaller(Exception):
    """A key id of a function that the stack has not told of; whoever runs the stack looks at rights.json."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A function in its role, or a service of AWS for one of its resources."""

    arn: str
    principals: tuple[str, ...]
    policy: Policy
    account: tuple[str, ...] = ()  # under which names a resource's policy speaks of its whole account
    source_arn: str | None = None


def key_id(function: str) -> str:
    return f"{PREFIX}{function}"


def key_id_in(authorization: str) -> str:
    """Of `AWS4-HMAC-SHA256 Credential=<key id>/<day>/<region>/<service>/aws4_request, …`."""
    return authorization.partition("Credential=")[2].partition("/")[0]


def service_in(authorization: str) -> str:
    return "/".join(authorization.partition("Credential=")[2].split("/")[3:4])


def service(name: str, source_arn: str) -> Caller:
    """A service has no policy of its own: what it reaches decides."""
    return Caller(name, (name,), Policy(()), source_arn=source_arn)


class Callers:
    """The functions by their key ids, read again when the file has changed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._state: tuple[int, int] | None = None
        self._known: dict[str, Caller] = {}
        self.keys: dict[str, str] = {}  # which KMS key encrypts a secret, a bucket or a topic, all by ARN
        self.bucket_keys: frozenset[str] = frozenset()  # buckets whose objects share data keys
        self.aliases: dict[str, str] = {}
        self.policies: dict[str, Policy] = {}  # of keys and buckets, by ARN

    def find(self, key: str, token: str = "") -> Caller | None:
        """None for whoever is free: the stack itself, and developers."""
        if key.endswith(SERVICE):
            self._refresh()
            return service(key, token)
        if not key.startswith(PREFIX):
            return None
        self._refresh()
        if key not in self._known:
            raise UnknownCaller(key)
        return self._known[key]

    def _refresh(self) -> None:
        try:
            found = self._file.stat()
        except FileNotFoundError:
            return
        if (found.st_mtime_ns, found.st_ino) != self._state:
            told = json.loads(self._file.read_text())
            self._known = {key: _caller(each) for key, each in told["functions"].items()}
            self.keys, self.aliases, self.bucket_keys = told["keys"], told["aliases"], frozenset(told["bucket_keys"])
            self.policies = {arn: policies.read(each) for arn, each in told["policies"].items()}
            self._state = (found.st_mtime_ns, found.st_ino)


def _caller(told: Mapping[str, Any]) -> Caller:
    role = f"arn:aws:iam::{ACCOUNT}:role/{told['role']}"
    session = f"arn:aws:sts::{ACCOUNT}:assumed-role/{told['role']}/{told['function']}"
    return Caller(session, (role, session), policies.read({"Statement": told["statements"]}), account=(ROOT, ACCOUNT))


def write(file: Path, told: Mapping[str, Any]) -> None:
    """Whole or not at all: the servers read it at any moment."""
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(told, indent=1))
    unfinished.replace(file)
