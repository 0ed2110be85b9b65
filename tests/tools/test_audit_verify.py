"""The command that verifies the audit log: by HTTP and in the database, with an exit code and the first broken row."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import psycopg
import pytest

from tests.functions.doors import Api
from tests.world import OTHER_TENANT, TENANT, World
from tools import audit_verify


@pytest.fixture
def api(world: World) -> Api:
    api = Api(world.add_key("admin", "manage"))
    for number in range(3):
        assert api.put(f"/v1/notification-types/{number}", {}).status == 200
    return api


@pytest.fixture
def url(api: Api, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The service behind a socket, one row to a page."""

    class Gateway(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            key = self.headers["Authorization"].removeprefix("Bearer ")
            answer = api.get(path, query=f"limit=1&{query}".rstrip("&"), key=key)
            self.send_response(answer.status)
            self.end_headers()
            self.wfile.write(answer.text.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Gateway)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("TOCSIN_API_KEY", api.key)
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def _tamper(world: World) -> None:
    with psycopg.connect(world.dsn("postgres"), autocommit=True) as conn:
        conn.execute("SET session_replication_role = replica")
        conn.execute("UPDATE audit_logs SET actor = 'key:innocent' WHERE tenant_id = %s AND seq = 2", [TENANT])


def _run(*arguments: str) -> int:
    return audit_verify.main(list(arguments))


def test_a_log_that_holds_is_zero_and_tells_its_head(world: World, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--url", url) == 0
    head = capsys.readouterr().out.strip().rpartition(" ")[2]

    assert head.startswith("3:")
    assert _run("--url", url, "--known", head) == 0
    assert _run("--url", url, "--known", f"2:{'0' * 64}") == 1
    assert "broken at row 2: altered" in capsys.readouterr().out


def test_a_broken_row_is_named_and_is_one_by_either_way(world: World, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    _tamper(world)
    row = world.one("SELECT id FROM audit_logs WHERE seq = 2")

    assert (_run("--url", url), _run("--database", world.dsn("tocsin_retention"))) == (1, 1)

    told = f"broken at row 2 ({row}): altered. It is not what was written."
    assert capsys.readouterr().out.splitlines() == [f"audit log: {told}", f"tenant {TENANT}: {told}"]


def test_in_the_database_every_tenant_is_walked_or_the_one_that_is_named(
    world: World, api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    world.add_tenant()
    Api(world.add_key("manage", tenant=OTHER_TENANT)).put("/v1/notification-types/x", {})
    _tamper(world)

    assert _run("--database", world.dsn("tocsin_retention"), "--tenant", str(OTHER_TENANT)) == 0
    assert _run("--database", world.dsn("tocsin_retention")) == 1

    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        f"tenant {OTHER_TENANT}",
        *(f"tenant {tenant}" for tenant in sorted((TENANT, OTHER_TENANT))),
    ]


def test_a_log_that_cannot_be_asked_is_two(world: World, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOCSIN_API_KEY", world.add_key("read"))

    assert _run("--url", url) == 2
    assert _run("--url", "file:///etc/passwd") == 2
    assert _run("--database", "postgresql://127.0.0.1:1/nowhere?connect_timeout=1") == 2


def test_the_server_says_what_is_wrong(world: World, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--url", url, "--known", "nonsense") == 2
    assert "known" in capsys.readouterr().err
