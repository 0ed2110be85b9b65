"""The functions as they are deployed: what sam built, in Lambda's own runtime, with a database that is reached as RDS is."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from devstack import database
from devstack.certificates import Authority
from devstack.children import Child
from devstack.declared import Function, Layer
from devstack.emulator import EmulatedEnvironment, Runtime
from devstack.postgres import Postgres
from devstack.runtime import Pool
from devstack.state import RefusalError, State

HOST = "localhost"  # a name, because a certificate of RDS has names
BUNDLE = Path("python", "tocsin", "foundation", "rds-certificates.pem")


class Emulation:
    """What differs from a stack that takes the sources as they are. Each run has a certificate authority of its own."""

    def __init__(self, root: Path, state: State) -> None:
        made = root / ".local" / "lambda"  # by tools/lambda_build.py
        self.template_path = made / ".aws-sam" / "build" / "template.yaml"
        if not self.template_path.exists():
            raise RefusalError("Nothing was built for this machine.\nBuild it:                 make e2e-lambda")
        self._runtime = Runtime.find(made / ".venv" / "bin" / "python")
        self._folder = state.folder / "emulation"
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        self._log = state.logs / "tls_relay.log"
        self._authority = Authority.make("Tocsin, this run alone")
        self._relay: Child | None = None
        self.parameters = {"DatabaseSslMode": "verify-full"}

    def reach_database(self, postgres: Postgres) -> tuple[str, int]:
        """Passwords and TLS, as on RDS; returns the host and the port that the functions are told."""
        database.ask_for_passwords(postgres)
        certificate = self._folder / "server.pem"
        self._authority.certify(HOST, certificate)
        arguments = ("--certificate", str(certificate), "--to", str(postgres.port))
        self._relay = Child.module("devstack.tls_relay", *arguments, log=self._log, stdout=subprocess.PIPE)
        return HOST, int(self._relay.first_line())

    def make_pool(self, function: Function, variables: Mapping[str, str], log: Path) -> Pool:
        trusting = replace(function, layers=tuple(self._trusting(layer) for layer in function.layers))
        return Pool(trusting, variables, log, make_environment=partial(EmulatedEnvironment, runtime=self._runtime))

    def close(self) -> None:
        if self._relay:
            self._relay.stop()

    def _trusting(self, layer: Layer) -> Layer:
        """A copy of the layer whose bundle of certificates has our authority too; a layer without a bundle as it is."""
        if not (layer.content / BUNDLE).exists():
            return layer
        copy = self._folder / layer.name
        if not copy.exists():
            shutil.copytree(layer.content, copy)
            with (copy / BUNDLE).open("ab") as bundle:
                bundle.write(b"\n" + self._authority.pem)
        return replace(layer, content=copy)
