"""A dump that is restored elsewhere: nothing is told while it is read in, and everything from then on."""

import subprocess
from collections.abc import Callable

from devstack.postgres import Postgres
from devstack.postgres_cluster import program
from tests.integration.endings import accepted_by_the_provider, refused_by_the_provider
from tests.listening import await_letters, fired, listen, told
from tests.world import World

COUNTED = ("webhooks", "webhook_deliveries", "triggers", "outbox", "routes", "dead_letters")


def test_a_restored_database_was_told_nothing_and_tells_again(
    world: World, server: Postgres, make_database: Callable[[], str]
) -> None:
    listen(world)
    await_letters(world)
    refused_by_the_provider(world)
    before = {table: world.count(table) for table in COUNTED}
    assert (before["webhook_deliveries"], len(fired(world))) == (1, 1)
    restored = make_database()

    dump = [program("pg_dump"), "--clean", "--if-exists", server.dsn(world.admin.info.dbname)]
    words = subprocess.run(dump, check=True, capture_output=True).stdout
    subprocess.run(
        [program("psql"), "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", server.dsn(restored)],
        input=words,
        check=True,
        capture_output=True,
    )

    elsewhere = World(lambda role: server.dsn(restored, role), world.work_queue)
    try:
        assert {table: elsewhere.count(table) for table in COUNTED} == before
        elsewhere.admin.execute("DELETE FROM users")
        accepted_by_the_provider(elsewhere)
        assert sorted(row["event_type"] for row in told(elsewhere)) == ["notification.dead_lettered", "notification.published"]
    finally:
        elsewhere.close()
