"""What the database makes due is said on the connection that caused it."""

from tests.world import TENANT, World
from tocsin.foundation import notices
from tocsin.foundation.due import Due
from tocsin.foundation.ids import uuid7

INSERT = """
    INSERT INTO outbox (id, tenant_id, source_kind, queue, due_at, max_attempts, retry_backoff, retry_base_ms)
    VALUES (%s, %s, %s, %s, tocsin_now(), 5, 'exponential', 1000)
"""


def test_hears_of_work_that_the_database_made_due_once(world: World) -> None:
    first, second = uuid7(), uuid7()
    with world.worker.pipeline():
        world.worker.execute(INSERT, [first, TENANT, "webhook", "webhook"])
        world.worker.execute(INSERT, [second, TENANT, "trigger", "trigger"])
    assert notices.heard(world.worker) == [Due(first, "webhook", TENANT), Due(second, "trigger", TENANT)]
    assert notices.heard(world.worker) == []


def test_says_nothing_of_work_whose_writer_nudges_itself(world: World) -> None:
    world.worker.execute(INSERT, [uuid7(), TENANT, "plan", "plan"])
    assert notices.heard(world.worker) == []


def test_keeps_no_more_than_starts_workers(world: World) -> None:
    world.worker.execute(
        """
        INSERT INTO outbox (id, tenant_id, source_kind, queue, due_at, max_attempts, retry_backoff, retry_base_ms)
        SELECT tocsin_uuid7(), %s, 'webhook', 'webhook', tocsin_now(), 5, 'exponential', 1000
        FROM generate_series(1, 1500)
        """,
        [TENANT],
    )
    assert len(notices.heard(world.worker)) == notices.MOST_KEPT
