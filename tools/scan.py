"""`make scan`: checkov looks at the template as CloudFormation would make it, from an environment of its own (.checkov.yaml).

Its packages want other versions than ours, so they are kept apart: requirements/scan/checkov.txt, installed into .local/scan.
"""

import hashlib
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

from tests.template import idle_cost, reading

FOLDER = Path(".local/scan")
LOCKED = Path("requirements/scan/checkov.txt")
# What is looked at: a scanner does not decide conditions, and takes what one might become for what is.
CHOICES = {"as-it-comes": {}, "private-endpoints": {"PrivateEndpoints": "true", "ArchiveRecords": "true"}, "production": None}


def install() -> Path:
    """The scanner's own Python, brought up to what is locked; done in a moment where there is nothing to do."""
    python, stamp = FOLDER / "venv/bin/python", FOLDER / "installed"
    wanted = hashlib.sha256(LOCKED.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print("Installing checkov into .local/scan: 290 MB once unpacked.", flush=True)
    venv.create(FOLDER / "venv", with_pip=True, clear=True)
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    subprocess.run([python, "-m", "pip", "install", *quiet, "--require-hashes", "--no-deps", "-r", LOCKED], check=True)
    stamp.write_text(wanted)
    return python


def written(folder: Path) -> list[Path]:
    """The template for each choice, settled and plain, the network in it, in a file each."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, chosen in CHOICES.items():
        template = reading.standing(**(idle_cost.production() if chosen is None else chosen))
        path = folder / f"{name}.json"
        path.write_text(json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": template["Resources"]}, indent=1))
        files.append(path)
    return files


def scan(python: Path, files: list[Path]) -> int:
    """What checkov found, in its own words; 0 if nothing."""
    command = [python.with_name("checkov"), "--config-file", ".checkov.yaml", "--file", *files]
    return subprocess.run([str(part) for part in command], env=os.environ | {"LOG_LEVEL": "ERROR"}, check=False).returncode


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    sys.exit(scan(install(), written(FOLDER / "templates")))
