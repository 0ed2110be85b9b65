"""Every program in the pages of the Python client works as pasted, with a whole stack behind it."""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from devstack.launch import ROOT, RunningStack
from tests.e2e.client import Client, wait_for
from tocsin.webhooks.sign import signed_headers, spell_secret
from tocsin_client import Tocsin

SECRET = spell_secret(b"x" * 24)


def programs(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)


@pytest.fixture
def pasted(running_stack: RunningStack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Run the programs of a page one after the other, as in one file. What they made is returned."""
    monkeypatch.setenv("TOCSIN_URL", running_stack.dev["base_url"])
    monkeypatch.setenv("TOCSIN_KEY", running_stack.dev["api_key"])
    monkeypatch.setenv("TOCSIN_WEBHOOK_SECRETS", SECRET)

    made: dict[str, Any] = {"__name__": "pasted"}

    def run(page: str) -> dict[str, Any]:
        for number, program in enumerate(programs(page), 1):
            exec(compile(program, f"{page}, program {number}", "exec"), made)  # noqa: S102 - our own page
        return made

    yield run
    for client in (one for one in made.values() if isinstance(one, Tocsin)):
        client.close()


def test_the_first_mail_of_the_readme_arrives(
    pasted: Any, running_stack: RunningStack, capsys: pytest.CaptureFixture[str]
) -> None:
    made = pasted("clients/python/README.md")

    (route,) = made["receipt"].routes
    assert route.why.startswith("published: accepted by ses")  # and perhaps, already, that it was delivered
    assert "email to user:ines: published: accepted by ses" in capsys.readouterr().out
    client = Client.of(running_stack)
    assert "Your order has shipped" in [mail["subject"] for mail in client.mails_to("ines@example.com")]
    wait_for(lambda: [mail["subject"] for mail in client.mails_to("joel@example.com")], lambda found: "Welcome" in found)


def test_the_programs_of_the_page_work_as_pasted(pasted: Any, capsys: pytest.CaptureFixture[str]) -> None:
    made = pasted("docs/clients.md")

    told = capsys.readouterr().out
    for said in (
        "Some users are not known",
        "nobody will be told",
        "sms to user:paula: skipped: no_address",
        "unknown-users",
        "paula paula@example.com",
    ):
        assert said in told
    body = json.dumps({"type": "notification.published", "data": {"notification_id": "n-1"}}).encode()
    signed = signed_headers("msg_1", int(time.time()), body, [SECRET])
    assert (made["receive"](body, signed), made["receive"](body + b" ", signed)) == (204, 401)
