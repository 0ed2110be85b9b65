"""The archive: what is forgotten was written there before, and what could not be written is not forgotten."""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from moto.s3.exceptions import S3AccessDeniedError

from tests.integration.forgetting import DAY, apply, make_dead_letter
from tests.work_queue import REGION
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation import aws
from tocsin.foundation.settings import Settings
from tocsin.store import records
from tocsin.upkeep import archive
from tocsin.upkeep.retention_rules import Rule, rules_of

BUCKET = "tocsin-archive"


@pytest.fixture
def rules(world: World) -> Iterator[list[Rule]]:
    aws.client.cache_clear()
    aws.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    yield rules_of(Settings(archive_bucket=BUCKET))
    aws.client.cache_clear()


def objects() -> dict[str, bytes]:
    listed = aws.client("s3").list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return {each["Key"]: aws.client("s3").get_object(Bucket=BUCKET, Key=each["Key"])["Body"].read() for each in listed}


def lines(body: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(body).splitlines()]


def ended(world: World, count: int = 1, **more: Any) -> None:
    for _ in range(count):
        world.accept(**more)
    world.dispatch()


def test_a_record_is_archived_with_all_that_belongs_to_it_and_then_forgotten(world: World, rules: list[Rule]) -> None:
    world.add_user()
    make_dead_letter(world)
    asked = world.one("SELECT notification_id FROM records")
    world.pass_time(DAY * 60)
    world.admin.execute("UPDATE dead_letters SET created_at = tocsin_now()")  # not yet old enough by its own rule
    world.pass_time(DAY * 31)

    report = apply(world, rules=rules)

    assert (report.is_complete, report.forgotten["records"], world.count("records")) == (True, 1, 0)
    ((key, body),) = objects().items()
    today = datetime.now(UTC).date().isoformat()
    assert key.startswith(f"tenant={TENANT}/date={today}/")
    assert key.endswith(".ndjson.gz")
    found = lines(body)
    assert Counter(line["table"] for line in found) == {"records": 1, "routes": 1, "attempts": 1, "dead_letters": 1}
    assert {line["row"]["notification_id"] for line in found} == {str(asked)}
    assert next(line["row"]["payload_json"]["title"] for line in found if line["table"] == "records") == "Shipped"
    (row,) = world.rows("SELECT * FROM archives")
    assert (row["object_key"], row["records"], row["bytes"]) == (key, 1, len(body))
    assert row["sha256"] == hashlib.sha256(body).digest()


def test_each_tenant_and_day_has_objects_of_its_own(world: World, rules: list[Rule]) -> None:
    world.add_tenant()
    world.add_user()
    world.add_user(tenant=OTHER_TENANT)
    ended(world, 2)
    ended(world, tenant=OTHER_TENANT)
    world.pass_time(DAY)
    ended(world)
    world.pass_time(DAY * 91)

    report = apply(world, rules=rules)

    assert report.forgotten["records"] == 4
    places = Counter(key.rpartition("/")[0].partition("/")[0] for key in objects())
    assert places == {f"tenant={TENANT}": 2, f"tenant={OTHER_TENANT}": 1}
    for key, body in objects().items():
        assert {f"tenant={line['row']['tenant_id']}" for line in lines(body)} == {key.partition("/")[0]}


@pytest.mark.parametrize("fault", ["no bucket", "denied"])
def test_what_the_bucket_does_not_take_is_not_forgotten_and_somebody_is_told(
    world: World, rules: list[Rule], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user()
    ended(world, 3)
    world.accept(channels=["in_app"])
    world.dispatch()
    world.pass_time(DAY * 200)
    if fault == "no bucket":
        rules = rules_of(Settings(archive_bucket="elsewhere"))
    else:
        monkeypatch.setattr("moto.s3.models.S3Backend.put_object", _deny)

    report = apply(world, rules=rules)

    assert (report.is_complete, report.held_up) == (False, {"records": "archive_failed"})
    assert (report.forgotten["records"], world.count("records"), world.count("archives")) == (0, 4, 0)
    assert report.forgotten["notifications"] == 1
    (event,) = world.system_events()
    assert (event["event_type"], event["severity"], event["is_resolved"]) == ("archive_failed", "high", False)


def _deny(*_: Any, **__: Any) -> None:
    raise S3AccessDeniedError


def test_when_the_bucket_takes_again_nothing_is_missing_and_the_trouble_is_over(world: World, rules: list[Rule]) -> None:
    world.add_user()
    ended(world, 2)
    world.pass_time(DAY * 91)
    apply(world, rules=rules_of(Settings(archive_bucket="elsewhere")))

    report = apply(world, rules=rules)

    assert (report.is_complete, report.forgotten["records"]) == (True, 2)
    assert [event["is_resolved"] for event in world.system_events()] == [True]


def test_one_that_dies_between_writing_and_forgetting_leaves_a_duplicate_and_loses_nothing(
    world: World, rules: list[Rule], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user()
    ended(world, 2)
    world.pass_time(DAY * 91)
    with monkeypatch.context() as patch:
        patch.setattr(records, "delete_unchanged", _die)
        with pytest.raises(KeyboardInterrupt):
            apply(world, rules=rules)
    assert (world.count("records"), world.count("archives"), len(objects())) == (2, 0, 1)

    apply(world, rules=rules)

    archived = Counter(
        line["row"]["notification_id"] for body in objects().values() for line in lines(body) if line["table"] == "records"
    )
    assert (world.count("records"), set(archived.values())) == (0, {2})


def _die(*_: Any) -> int:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE routes SET feedback = 'delivered', updated_at = tocsin_now()",
        "UPDATE records SET cancelled_at = tocsin_now(), updated_at = tocsin_now()",
        """INSERT INTO outbox (id, tenant_id, source_kind, notification_id, due_at, max_attempts, retry_backoff, retry_base_ms)
           SELECT notification_id, tenant_id, 'plan', notification_id, tocsin_now(), 5, 'constant', 5000 FROM records""",
        "DELETE FROM records",
    ],
    ids=["feedback", "cancelled", "planned again", "erased"],
)
def test_one_that_changes_while_it_is_archived_is_not_forgotten(
    world: World, rules: list[Rule], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user()
    ended(world)
    world.pass_time(DAY * 91)
    put = archive._put

    def put_and_change(*given: Any) -> None:
        put(*given)
        world.admin.execute(change)  # type: ignore[call-overload]

    with monkeypatch.context() as patch:
        patch.setattr(archive, "_put", put_and_change)
        (expired,) = records.find_expired(world.retention, age=DAY * 90, least=DAY, limit=10)
        forgotten = archive.forget_records(world.retention, age=DAY * 90, least=DAY, limit=10, bucket=BUCKET)

    assert forgotten == 0
    assert world.count("records") == (0 if change.startswith("DELETE") else 1)
    assert expired.tenant_id == TENANT


def test_nothing_is_sent_to_the_bucket_within_a_transaction(
    world: World, rules: list[Rule], monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user()
    ended(world)
    world.pass_time(DAY * 91)
    states: list[str] = []
    put = archive._put

    def watched(*given: Any) -> None:
        states.append(world.retention.info.transaction_status.name)
        put(*given)

    monkeypatch.setattr(archive, "_put", watched)
    apply(world, rules=rules)

    assert states == ["IDLE"]


def test_without_a_bucket_nothing_is_archived(world: World) -> None:
    world.add_user()
    ended(world)
    world.pass_time(DAY * 91)

    assert (apply(world).forgotten["records"], world.count("archives")) == (1, 0)
