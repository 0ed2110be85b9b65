"""The server's half of the token exchange, as docs/inbox-component.md has it in Python and Node, against the running stack."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from devstack.launch import ROOT, RunningStack
from tests.clients.js.packages import node
from tests.e2e.client import Client

PAGE = (ROOT / "docs" / "inbox-component.md").read_text(encoding="utf-8")
SIGNED_IN = """
from app import app
import json
browser = app.test_client()
answers = [browser.post("/my-server/tocsin-token")]
for user in ("tova", "tova", "nobody-we-know"):
    with browser.session_transaction() as session:
        session["user_id"] = user
    answers.append(browser.post("/my-server/tocsin-token"))
print(json.dumps([[one.status_code, one.json, one.headers.get("Cache-Control")] for one in answers]))
"""
SERVED = """
import { createServer } from "node:http";
import { tocsinToken } from "./tocsin-tokens.mjs";
const server = createServer(tocsinToken((request) => request.headers["x-signed-in"]));
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const answers = [];
for (const user of ["", "tova", "tova", "nobody-we-know"]) {
  const headers = user ? { "x-signed-in": user } : {};
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/my-server/tocsin-token`, { method: "POST", headers });
  answers.push([answer.status, await answer.json(), answer.headers.get("Cache-Control")]);
}
server.close();
console.log(JSON.stringify(answers));
"""


def example(name: str) -> str:
    """The block whose first line names this file."""
    (block,) = re.findall(rf"```(?:python|js)\n((?:#|//) {re.escape(name)}\b.*?)```", PAGE, re.DOTALL)
    return str(block)


def run(command: list[str], folder: Path, stack: RunningStack) -> list[Any]:
    given = {"TOCSIN_URL": stack.dev["base_url"], "TOCSIN_KEY": stack.dev["api_key"], "SESSION_SECRET": "only here"}
    done = subprocess.run(command, cwd=folder, env=os.environ | given, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert given["TOCSIN_KEY"] not in done.stdout, "the key stays on the server"
    answers: list[Any] = json.loads(done.stdout)
    return answers


def check(answers: list[Any], stack: RunningStack) -> None:
    """Nobody is signed in; somebody is; they ask again; somebody is whom Tocsin does not know."""
    assert [status for status, _, _ in answers] == [401, 200, 200, 404]
    (_, first, kept), (_, again, _) = answers[1:3]
    assert (set(first), kept) == ({"token", "expires_at"}, "no-store")
    assert again == first, "handed out for a minute"
    assert Client(stack, first["token"]).call("GET", "/v1/inbox").status == 200
    assert Client(stack, first["token"]).call("GET", "/v1/users/tova").status == 401, "for the inbox and nothing else"


def test_the_python_server_gives_a_browser_its_token_and_never_the_key(running_stack: RunningStack, tmp_path: Path) -> None:
    Client.of(running_stack).call("PUT", "/v1/users/tova", {})
    for name in ("tocsin_tokens.py", "app.py"):
        (tmp_path / name).write_text(example(name))

    check(run([sys.executable, "-c", SIGNED_IN], tmp_path, running_stack), running_stack)


def test_the_node_server_gives_a_browser_its_token_and_never_the_key(running_stack: RunningStack, tmp_path: Path) -> None:
    Client.of(running_stack).call("PUT", "/v1/users/tova", {})
    (tmp_path / "tocsin-tokens.mjs").write_text(example("tocsin-tokens.mjs"))
    (tmp_path / "serve.mjs").write_text(SERVED)

    check(run([node(), "serve.mjs"], tmp_path, running_stack), running_stack)
