"""The local stack runs with what `make dev` installs: the tests' own packages would hide one that is missing from the list."""

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from devstack.launch import ROOT, started_stack
from tests.e2e.client import Client, wait_for


def environment_of(group: str, folder: Path) -> Path:
    """An environment with the packages of one group, borrowed from the one that runs the tests; returns its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = next(folder.glob("lib/python3*/site-packages"))
    for name in re.findall(r"^([\w.-]+)==(?!.*== 'win32')", (ROOT / "requirements" / f"{group}.txt").read_text(), re.MULTILINE):
        package = metadata.distribution(name)
        for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            (packages / top).symlink_to(Path(str(package.locate_file(top))).resolve())
    return folder / "bin" / "python"


def test_every_way_in_and_out_works_with_the_packages_of_the_group_alone(tmp_path: Path) -> None:
    python = environment_of("run", tmp_path / "venv")
    assert subprocess.run([python, "-c", "import pytest"], capture_output=True, check=False).returncode, "there is more than that"
    intent = {"type": "hello", "channels": ["email", "sms", "in_app"], "payload": {"title": "Hello", "message": "It works."}}

    with started_stack(tmp_path / "stack", python=python) as stack:
        client = Client.of(stack)
        client.call("PUT", "/v1/users/alice", {"email": "alice@example.com", "phone": "+14155550100"})
        by_http = client.send(**intent, audience={"kind": "users", "user_ids": ["alice"]})
        by_bus = intent | {"channels": ["email"], "audience": {"kind": "address", "email": "bob@example.com"}}
        events = client.aws("events")
        bus = next(bus["Name"] for bus in events.list_event_buses()["EventBuses"] if bus["Name"] != "default")
        entry = {"EventBusName": bus, "Source": "shop", "DetailType": "tocsin.intent", "Detail": json.dumps(by_bus)}
        events.put_events(Entries=[entry])
        # KMS seals a provider's key.
        given = {"provider_name": "sendgrid", "channel": "email", "api_key": "SG.x", "config": {"from_email": "hi@example.com"}}
        sealed = Client(stack, stack.dev["admin_key"]).call("POST", "/v1/providers", given | {"priority": 20})

        finished = client.finished(by_http)
        (mail,) = wait_for(lambda: client.mails_to("bob@example.com"), bool)

    assert {route["status"] for route in finished["routes"]} == {"published"}
    assert mail["subject"] == "Hello"
    assert sealed.status == 201, sealed
