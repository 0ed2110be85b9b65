"""The processes of the stack: each in a group of its own, on a leash, and ended with everything it started."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

# The kernel ends a leashed child when the *thread* that started it ends, so one thread that never does starts them all.
_launcher = ThreadPoolExecutor(max_workers=1, thread_name_prefix="launcher")


class ChildError(RuntimeError):
    """A program of ours did not come up; its log says why."""


class Child:
    """A running program; its standard input is the leash and is never written to."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        stdout: int | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self._name = command[-1] if len(command) < 5 else command[4]
        self._log = log
        with log.open("ab") as file:
            self.process: subprocess.Popen[bytes] = _launcher.submit(
                subprocess.Popen,
                list(command),
                stdin=subprocess.PIPE,
                stdout=file if stdout is None else stdout,
                stderr=file,
                cwd=cwd,
                env=env,
                pass_fds=pass_fds,
                start_new_session=True,
            ).result()

    @classmethod
    def module(cls, name: str, *arguments: str, log: Path, stdout: int | None = None) -> "Child":
        """Run a module of ours with this interpreter."""
        root = Path(__file__).parent.parent
        command = [sys.executable, "-m", "devstack.leash", str(os.getpid()), name, *arguments]
        return cls(command, log=log, cwd=root, stdout=stdout)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def returncode(self) -> int | None:
        return self.process.poll()

    def wait(self, patience: float) -> int:
        """Its exit code, for which one waits a moment."""
        return self.process.wait(patience)

    def first_line(self, patience: float = 30.0) -> str:
        """What it says first on its standard output, which must be a pipe."""
        stream = self.process.stdout
        if stream is None:
            raise ValueError("the standard output is not a pipe")
        ready, _, _ = select.select([stream], [], [], patience)
        line = stream.readline().decode().strip() if ready else ""
        if not line:
            raise ChildError(f"{self._name} did not start; its log is {self._log}")
        return line

    def kill(self) -> None:
        """End it and its own children now."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()
        self._close()

    def stop(self, patience: float = 3.0) -> None:
        """Ask it to end, and end it if it does not."""
        with suppress(ProcessLookupError):
            self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        self.kill()

    def _close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                with suppress(OSError):
                    stream.close()
