"""Cold starts: the CPU time each function's import takes in a fresh process, against the SDK and one client of it."""

import os
import subprocess
import sys
from collections.abc import Callable

from bench.ground import ROOT, Ground
from bench.report import Result, compared
from bench.rounds import interleaved

ROUNDS = 7
BASE = "import boto3; boto3.client('sqs')"
TARGETS = {"intake": "<= 1.3", "inbox_api": "<= 1.3", "dispatch": "<= 1.6"}
# What the first real event adds to the import, for orientation.
READY = {
    "dispatch, ready to send": ("dispatch", "import app; app._ways()"),
    "intake, ready to nudge": ("intake", "import app; from tocsin.foundation import aws; aws.client('sqs')"),
}


def measure(ground: Ground) -> list[Result]:
    functions = sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))
    contestants = {name: _import_of(name, "import app") for name in functions}
    contestants |= {name: _import_of(folder, code) for name, (folder, code) in READY.items()}
    contestants["boto3"] = _import_of("intake", BASE)
    interleaved(contestants, rounds=1)  # the first import writes the .pyc files
    seen = interleaved(contestants, rounds=ROUNDS)
    against = "import boto3 + SQS client"
    return [
        compared(f"import: {name}", seen[name], "ms", against, seen["boto3"], TARGETS.get(name))
        for name in contestants
        if name != "boto3"
    ]


def _import_of(function: str, code: str) -> Callable[[], float]:
    script = f"import time; before = time.process_time(); {code}; print((time.process_time() - before) * 1000)"
    path = os.pathsep.join([str(ROOT / "functions" / function), str(ROOT / "layers" / "shared")])
    environment = {
        "PYTHONPATH": path,
        "PATH": os.environ.get("PATH", ""),
        "AWS_DEFAULT_REGION": "eu-central-1",
        "POWERTOOLS_SERVICE_NAME": function,
        "POWERTOOLS_METRICS_NAMESPACE": "Tocsin",
        "EMAIL_FROM": "bench@example.com",
        "EMAIL_CONFIGURATION_SET": "bench",
    }

    def measure() -> float:
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
        return float(done.stdout)

    return measure
