"""A Postgres server of our own in a folder: nothing to install, no container, no root."""

import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from devstack import postgres_cluster as clusters
from devstack import unprivileged
from devstack.postgres_cluster import PATIENCE_SECONDS, PostgresError

__all__ = ["Postgres", "PostgresError"]

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# Survives a killed process, not a power cut.
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
STATUS_LINE = 7  # of postmaster.pid, counted from 0


class Postgres:
    """One server and its data folder; `start` and `stop` may follow each other any number of times."""

    def __init__(
        self,
        data_dir: Path,
        *,
        port: int | None = None,
        durable: bool = True,
        settings: dict[str, str] | None = None,
        guests: str | None = None,
    ) -> None:
        """`guests` is a network that is let in by password, beside this machine; `settings` must let the server hear it."""
        self.data_dir = data_dir.absolute()
        self._guests = guests
        self._settings = SETTINGS | ({} if durable else NOT_DURABLE) | (settings or {})
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def cached(
        cls,
        data_dir: Path,
        cache: Path,
        *,
        port: int | None = None,
        durable: bool = False,
        settings: dict[str, str] | None = None,
    ) -> Self:
        """The same, but a new data folder is copied from one kept in `cache`, which is quicker than making it."""
        server = cls(data_dir, port=port, durable=durable, settings=settings)
        cluster = server._cluster()
        if not clusters.exists(cluster):
            clusters.copy(clusters.template(cache.absolute()), cluster)
        return server

    @property
    def port(self) -> int:
        if self._port is None:
            raise PostgresError("the port is not known before start()")
        return self._port

    @property
    def pid(self) -> int | None:
        """The postmaster's process id while it runs, for whoever wants to kill it."""
        return self._process.pid if self._process and self._process.poll() is None else None

    @property
    def log(self) -> Path:
        return self.data_dir / "postgres.log"

    def dsn(self, dbname: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{dbname}"

    def start(self) -> None:
        """Start the server and return when it takes connections; a server that still runs in the folder is stopped."""
        if self.pid:
            return
        cluster = self._cluster()
        if not clusters.exists(cluster):
            clusters.initialise(cluster)
        clusters.evict(cluster)
        if self._port is not None:
            self._launch(cluster, self._port)
            return
        try:
            self._launch(cluster, _free_port())
        except PostgresError:  # somebody may have taken the free port before the server did
            self._launch(cluster, _free_port())

    def stop(self) -> None:
        """Stop the server: running transactions are rolled back, everything committed is on disk."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End the server as a crash would; the next start recovers."""
        self._end(signal.SIGKILL)

    def remove(self) -> None:
        """Stop the server and delete its data."""
        self.stop()
        unprivileged.remove_folder(self.data_dir / "cluster")
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _cluster(self) -> Path:
        self.data_dir.mkdir(parents=True, exist_ok=True)
        return unprivileged.reachable_folder(self.data_dir / "cluster")

    def _launch(self, cluster: Path, port: int) -> None:
        given = self._settings | {"port": str(port)}
        if self._guests:
            given["hba_file"] = str(clusters.admit(cluster, self._guests))
        settings = [f"--{name}={value}" for name, value in given.items()]
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C in the terminal must reach us first, so that we stop things in order.
            self._process = subprocess.Popen(
                [clusters.program("postgres"), "-D", str(cluster), *settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
                **unprivileged.SERVER.popen(),
            )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._is_ready(cluster):
            if self._process.poll() is not None:
                self._process = None
                raise PostgresError(f"Postgres did not start:\n{self._last_words()}")
            if time.monotonic() > deadline:
                self._end(signal.SIGQUIT)
                raise PostgresError(f"Postgres was not ready after {PATIENCE_SECONDS} s:\n{self._last_words()}")
            time.sleep(0.01)
        self._port = port

    def _is_ready(self, cluster: Path) -> bool:
        """Whether the server says in its lock file that it takes connections, as pg_ctl asks it."""
        lock = cluster / "postmaster.pid"
        lines = lock.read_text().splitlines() if lock.exists() else []
        return len(lines) > STATUS_LINE and lines[0] == str(self.pid) and lines[STATUS_LINE].strip() == "ready"

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGQUIT)
            process.wait(PATIENCE_SECONDS)

    def _last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-8:])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
