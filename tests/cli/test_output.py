"""What is printed: colours on a terminal alone, nothing that a server wrote is obeyed, pipes and Ctrl-C end cleanly."""

import json
import os
import pty
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.conftest import Terminal
from tests.cli.stack import Doors
from tests.unit.certificates import make_certificate
from tocsin_cli.command import Session
from tocsin_cli.commands import doctor
from tocsin_cli.main import main

ROOT = Path(__file__).parent.parent.parent
HOSTILE = "\x1b[31m\x1b]8;;http://evil\x07\u202eevil\x9b\r\n\x08"
STATUS = {
    "healthy": False,
    "problems": [{"what": f"Broken {HOSTILE}", "since": None, "do": "Mend it."}],
    "at": "2026-11-17T10:00:00Z",
    "backlog": [],
}


@pytest.fixture
def tiny() -> Iterator[str]:
    """A tiny stack on this machine, which always answers the same."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            row = {
                "id": "d-1",
                "at": "2026-11-17T10:00:00Z",
                "notification_id": "n",
                "type": "t",
                "mode": "live",
                "what": "accepted",
                "reason": "by x",
            }
            bodies = {
                "/v1/status": STATUS,
                "/v1/decisions": {"data": [row], "next_since": "2026-11-17T10:00:00Z", "more": False},
                "/v1/users": {
                    "data": [{"id": f"u-{n}", "created_at": "2026-11-17T10:00:00Z"} for n in range(200)],
                    "next_cursor": "more",
                },
            }
            bodies |= {"/_local": {}, "/console/demo.json": {"steps": [{"say": "A step", "method": "GET", "path": "/v1/status"}]}}
            body = json.dumps(bodies[self.path.partition("?")[0]]).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    found = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{found.server_port}"
    found.shutdown()
    thread.join()
    found.server_close()


def environment(home: Path, url: str, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    ours = {"PYTHONPATH": str(ROOT / "cli"), "TOCSIN_CONFIG": str(home / "config.toml"), "TOCSIN_URL": url, "TOCSIN_KEY": "k"}
    return kept | {"TERM": "xterm-256color"} | ours | more


COMMAND = [sys.executable, "-m", "tocsin_cli"]


def on_a_terminal(*arguments: str, env: dict[str, str], out: int | None = None) -> str:
    """What is written to a terminal of our own; where `out` leads elsewhere, what is written beside it."""
    leader, follower = pty.openpty()
    with subprocess.Popen([*COMMAND, *arguments], env=env, stdout=out or follower, stderr=follower, stdin=follower) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                part = os.read(leader, 65_536)
            except OSError:  # Linux's way to say that nobody writes any more
                break
            if not part:
                break
            shown += part
        process.wait(30)
    os.close(leader)
    return shown.decode()


def test_the_answer_stays_on_standard_output_while_a_bar_is_shown_beside_it(tiny: str, home: Path) -> None:
    with (home / "answer").open("wb") as file:
        shown = on_a_terminal("demo", env=environment(home, tiny), out=file.fileno())

    assert (home / "answer").read_text() == "A step\n"
    assert "calls" in shown
    assert "A step" not in shown


def test_colours_are_for_a_terminal_and_nothing_of_the_servers_is_obeyed(tiny: str, home: Path) -> None:
    shown = on_a_terminal("status", env=environment(home, tiny))

    assert "\x1b[1;31m1 thing is wrong." in shown
    assert "\x1b]8" not in shown
    assert not set(shown) & set("\x07\x08\x9b\u202e")
    assert "Broken [31m]8;;http://evilevil" in shown.replace("\x1b[1m", "").replace("\x1b[0m", "")


def test_no_color_means_no_escape_sequence_at_all(tiny: str, home: Path) -> None:
    assert "\x1b" not in on_a_terminal("status", env=environment(home, tiny, NO_COLOR="1"))


def test_a_pipe_gets_no_colours(tiny: str, home: Path) -> None:
    done = subprocess.run([*COMMAND, "status"], env=environment(home, tiny), capture_output=True, text=True, check=False)

    assert (done.returncode, "\x1b" in done.stdout + done.stderr) == (1, False)


def test_a_reader_that_stops_reading_ends_it_without_a_word(tiny: str, home: Path) -> None:
    """The list has no end."""
    command = f"{' '.join(COMMAND)} users list; echo $? >&2"
    done = subprocess.run(
        ["/bin/bash", "-c", f"({command}) | head -2"],
        env=environment(home, tiny),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (len(done.stdout.splitlines()), done.stderr) == (2, "141\n")


# Also where these tests run in the background, which lets no child hear of Ctrl-C.
HEEDS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from tocsin_cli.main import run; run()"


def test_ctrl_c_ends_tail_cleanly(tiny: str, home: Path) -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-c", HEEDS, "tail"]
    with subprocess.Popen(command, env=environment(home, tiny), text=True, **pipes) as process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()

    assert "Accepted by x" in first
    assert (process.returncode, out, err.strip()) == (0, "", "")


ROW = {"id": "1", "kind": HOSTILE, "title": HOSTILE, "event_count": 1, "unread": True, "last_event_at": HOSTILE}
LISTS: dict[str, tuple[tuple[str, ...], Any]] = {
    "users": (("users", "list"), {"data": [{"id": HOSTILE, "email": HOSTILE, "created_at": HOSTILE}]}),
    "search": (("search", "x"), {"q": "x", "data": [{"kind": HOSTILE, "id": HOSTILE, "matched": HOSTILE, "type": HOSTILE}]}),
    "inbox": (("inbox", "ada"), {"data": [ROW]}),
    "status": (("status",), STATUS),
    "user": (("users", "show", "x"), {"id": HOSTILE, "attributes": {HOSTILE: HOSTILE}}),
    "tenants": (("tenants", "show", "x"), {"id": HOSTILE, "name": HOSTILE, "status": HOSTILE, "settings": {HOSTILE: HOSTILE}}),
    "preview": (("templates", "preview", "x", "--stack"), {"subject": HOSTILE, "text": HOSTILE, "html": HOSTILE}),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_hostile_words_are_harmless_wherever_they_are_printed(bare: Terminal, doors: Doors, name: str, as_json: bool) -> None:
    arguments, answer = LISTS[name]
    doors.instead.append(httpx.Response(200, json=answer))

    ran = bare(*arguments, *(["--json"] if as_json else []))

    assert not set(ran.out + ran.err) & set("\x1b\x07\x08\x9b\r\u202e")
    if as_json:
        assert ran.json == answer, "it means what the server said"


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("users", "list"),
        ("keys", "list"),
        ("lanes", "list"),
        ("webhooks", "list"),
        ("dead-letters", "groups"),
        ("profiles", "list"),
    ],
)
def test_with_json_standard_output_is_one_document_and_nothing_else(tocsin: Terminal, arguments: tuple[str, ...]) -> None:
    assert isinstance(tocsin(*arguments, "--json").json, dict)
    assert isinstance(tocsin("--json", *arguments).json, dict), "the option may stand before the command too"


def test_a_certificate_that_ends_soon_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = make_certificate(home, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    try:
        session = Session(
            env={"TOCSIN_URL": f"https://localhost:{server.server_port}", "TOCSIN_CONFIG": str(home / "none"), "TOCSIN_KEY": "k"}
        )
        (check,) = doctor._tls(session)
    finally:
        thread.join(10)
        server.server_close()

    assert check.state == "warning"
    assert "the certificate ends in" in check.detail


@pytest.mark.parametrize(
    ("url", "state"), [("http://notify.example", "failed"), ("http://localhost:1", "ok"), ("https://localhost:1", "unknown")]
)
def test_an_address_without_encryption_fails_unless_it_is_this_machine(home: Path, url: str, state: str) -> None:
    (check,) = doctor._tls(Session(env={"TOCSIN_URL": url, "TOCSIN_CONFIG": str(home / "none"), "TOCSIN_KEY": "k"}))

    assert check.state == state


def test_main_takes_the_arguments_of_the_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["tocsin", "--version"])

    assert main() == 0
    assert capsys.readouterr().out.startswith("tocsin ")
