"""Every shell session in the documentation works as pasted."""

import json
import re
import subprocess
import textwrap
from pathlib import Path

import pytest

from devstack.launch import ROOT, RunningStack
from tests.e2e.client import Client, wait_for

PREAMBLE = "export TOCSIN_URL=http://127.0.0.1:8080\n" + next(
    line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("export TOCSIN_KEY=")
)


def sessions(page: str) -> list[str]:
    """The shell blocks of a page that talk to the stack."""
    blocks = map(textwrap.dedent, re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text(), re.S))
    return [block for block in blocks if "curl" in block or "boto3" in block]


def run(session: str, stack: RunningStack, folder: Path) -> str:
    """Run a session as a reader would, in a folder that looks like the repository to it."""
    (folder / ".local").mkdir(exist_ok=True)
    (folder / ".local" / "dev.json").write_text(json.dumps(stack.dev))
    if not (folder / ".venv").exists():
        (folder / ".venv").symlink_to(ROOT / ".venv")
    script = session.replace("http://127.0.0.1:8080", stack.dev["base_url"])
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, f"{done.stderr}\n{script}"
    assert '"type":"/errors#unauthorized"' not in done.stdout
    return done.stdout


def test_the_readme_conversations_work_as_pasted(running_stack: RunningStack, tmp_path: Path) -> None:
    conversation, people = sessions("README.md")
    client = Client.of(running_stack)

    said = run(conversation, running_stack, tmp_path)

    assert {'"type": "order.shipped"', '"timeline": ['} <= {line.strip().rstrip(",") for line in said.splitlines()}
    (mail,) = wait_for(lambda: client.mails_to("alice@example.com"), bool)
    assert mail["subject"] == "Your order has shipped"

    said = run(f"{PREAMBLE}\n{people}", running_stack, tmp_path)

    assert '"status":"accepted"' in said
    (row,) = wait_for(lambda: client.call("GET", "/v1/inbox?user_id=alice&thread=order:A-17").body["data"], bool)
    assert (row["title"], row["reason"]) == ("Bob commented on A-17", "mention")


# page: what its sessions are refused on purpose, and nothing else
REFUSED = {
    "docs/kv.md": {"412"},
    "docs/triggers.md": set(),
    "docs/webhooks.md": set(),
    "docs/synchronous.md": set(),
    "docs/metrics.md": set(),
    "docs/users.md": set(),
    "docs/tenants.md": set(),
    "docs/migrating.md": set(),
}


@pytest.mark.parametrize(
    "page",
    [
        "docs/sending.md",
        "docs/synchronous.md",
        "docs/events.md",
        "docs/inbox.md",
        "docs/preferences.md",
        "docs/limits.md",
        "docs/email.md",
        "docs/templates.md",
        "docs/providers.md",
        "docs/feedback.md",
        "docs/local-stack.md",
        "docs/keys.md",
        "docs/audit.md",
        "docs/operations.md",
        "docs/metrics.md",
        "docs/kv.md",
        "docs/triggers.md",
        "docs/webhooks.md",
        "docs/users.md",
        "docs/tenants.md",
        "docs/migrating.md",
        "docs/dead-letters.md",
    ],
)
def test_the_sessions_of_a_page_work_as_pasted(page: str, running_stack: RunningStack, tmp_path: Path) -> None:
    found = sessions(page)

    said = [run(f"{PREAMBLE}\n{session}", running_stack, tmp_path) for session in found]

    assert found
    assert not any(f'"status":{digit}' in one for one in said for digit in ("404", "409", "5"))
    if page in REFUSED:
        assert {one for text in said for one in re.findall(r'"status":(4\d\d)', text)} == REFUSED[page]


def test_the_lane_that_the_page_of_operations_opens_sends_what_waited_for_it(running_stack: RunningStack, tmp_path: Path) -> None:
    (session,) = [one for one in sessions("docs/operations.md") if "/v1/lanes/ses:email/open" in one]
    client = Client.of(running_stack)
    before = len(client.mails_to("gil@example.com"))

    said = run(f"{PREAMBLE}\n{session}", running_stack, tmp_path)

    assert "POST /v1/lanes/ses:email/open" in said, "the status says what to do"
    assert '"state":"open"' in said
    wait_for(lambda: client.mails_to("gil@example.com"), lambda mails: len(mails) == before + 1)


def test_a_value_that_changes_is_told_as_the_page_of_triggers_says(running_stack: RunningStack, tmp_path: Path) -> None:
    (session,) = [one for one in sessions("docs/triggers.md") if "shelf.changed" in one]
    client = Client.of(running_stack)

    run(f"{PREAMBLE}\n{session}", running_stack, tmp_path)

    wait_for(lambda: [one["subject"] for one in client.mails_to("ada@example.com")], lambda subjects: "A-17: 2 left" in subjects)


def test_the_receiver_of_the_webhooks_page_hears_what_it_can_verify(running_stack: RunningStack, tmp_path: Path) -> None:
    (session,) = sessions("docs/webhooks.md")

    run(f"{PREAMBLE}\n{session.replace('hooked-1', 'hooked-2')}", running_stack, tmp_path)

    heard = (tmp_path / "heard.txt").read_text().split()
    assert sorted(heard) == ["notification.published", "webhook.test"], "each once, and nothing that did not verify"
