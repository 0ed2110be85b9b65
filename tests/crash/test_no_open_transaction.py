"""No transaction is open while a provider is called: seen from inside the provider."""

from pathlib import Path

import psycopg

from devstack.post_office import PostOffice
from tests.crash import invariants
from tests.crash.site import Site
from tests.crash.traffic import INTENT, MESSAGES

SESSIONS = """
SELECT state, xact_start, backend_xmin FROM pg_stat_activity
WHERE datname = current_database() AND usename = 'tocsin_worker'
"""


def test_the_workers_session_is_idle_during_every_call_to_a_provider(site: Site, tmp_path: Path) -> None:
    seen: list[tuple[object, ...]] = []

    def look(channel: str) -> None:
        with psycopg.connect(site.world.dsn("postgres"), autocommit=True) as conn:
            seen.extend(conn.execute(SESSIONS).fetchall())

    site.world.accept(**INTENT)
    with PostOffice(tmp_path / "watched.sqlite3", on_request=look) as site.office:
        ending = site.invoke("dispatch", site.nudge())

        assert not ending.error, ending.error
        assert seen == [("idle", None, None)] * MESSAGES
        invariants.check(site.world, site.office.ledger())
