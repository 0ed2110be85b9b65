"""Becomes another program, which ends with the stack: `python leashed_program.py <parent> <program> <argument>…`.

It runs as a file: the program's environment is not ours, and nothing of it may be read here."""

import os
import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    runpy.run_path(str(Path(__file__).with_name("leash.py")))["end_with_parent"](int(sys.argv[1]))  # an exec keeps it
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - a program of ours, by its path
