"""Many execution environments of one function, cheaply: one process imports the handler and is forked for each of them."""

import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from devstack.bootstrapping import spawn
from devstack.declared import Function

IS_SAFE = sys.platform == "linux"  # elsewhere the system's own libraries do not survive a fork
PATIENCE_SECONDS = 60.0  # for the import of the handler, before the first fork


class ForkServer:
    """A process that has imported the handler. Its children end with it, so it outlives them: `retire` ends it after the last."""

    def __init__(self, function: Function, variables: dict[str, str], log: Path) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._child = spawn(function, variables, log, theirs, "many")
        ours.settimeout(PATIENCE_SECONDS)
        self._control = ours
        self._lock = threading.Lock()
        self._children: set[int] = set()
        self._is_retired = False

    @property
    def is_alive(self) -> bool:
        return self._child.returncode is None

    def fork(self, channel: socket.socket) -> "Forked":
        """An environment that answers on the other end of this socket; if the server is dead, it is too."""
        with self._lock:
            try:
                socket.send_fds(self._control, [b"fork"], [channel.fileno()])
                pid = int(self._control.recv(64) or b"0")
            except OSError:
                pid = 0
            if pid:
                self._children.add(pid)
        return Forked(self, pid) if pid else Forked(self, 0, code=self._child.wait(5))

    def returncode_of(self, pid: int) -> int | None:
        """How the child ended; None while it lives. It is asked for until then, and only until then."""
        with self._lock:
            try:
                self._control.send(str(pid).encode())
                answer = self._control.recv(64) or b"-9"
            except OSError:  # the server was killed, and took its children along
                answer = b"-9"
            if answer == b"lives":
                return None
            self._children.discard(pid)
        self._end_if_over()
        return int(answer)

    def retire(self) -> None:
        self._is_retired = True
        self._end_if_over()

    def kill(self) -> None:
        """End it, and with it every child."""
        self._child.kill()
        self._control.close()

    def _end_if_over(self) -> None:
        if self._is_retired and not self._children:
            self.kill()


class Forked:
    """One child of the server, as `Child` is one of ours."""

    def __init__(self, server: ForkServer, pid: int, code: int | None = None) -> None:
        self._server = server
        self.pid = pid
        self._code = code

    @property
    def returncode(self) -> int | None:
        if self._code is None:
            self._code = self._server.returncode_of(self.pid)
        return self._code

    def wait(self, patience: float) -> int:
        """Its exit code, for which one waits a moment."""
        deadline = time.monotonic() + patience
        while (code := self.returncode) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {self.pid} does not end")
            time.sleep(0.005)
        return code

    def kill(self) -> None:
        if self.returncode is None:  # nobody else waits for it, so its number is still its own
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            with suppress(TimeoutError):
                self.wait(5)
