"""Ties a child process to the stack that started it, so that nothing is left behind even after `kill -9`."""

import ctypes
import os
import runpy
import signal
import sys
import threading

PR_SET_PDEATHSIG = 1


def hold(parent: int) -> None:
    """End this process when `parent` does. Standard input must be a pipe that only the parent holds open."""
    lifeline = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_end_with, args=(lifeline,), name="leash", daemon=True).start()
    end_with_parent(parent)


def end_with_parent(parent: int) -> None:
    """The kernel's own way (of Linux), which also reaches a process that is stuck and would never see the pipe close."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _end_with(lifeline: int) -> None:
    while os.read(lifeline, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    hold(int(sys.argv[1]))
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
