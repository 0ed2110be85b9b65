"""What a database needs that was restored from a dump: its events are told once, whatever numbers they came with."""

import pytest

from tests.events import (
    SCOPE,
    fan_out_all,
    fan_out_once,
    happen,
    outcomes,
    populate,
    route,
    tell_page,
    wait_until_readable,
)
from tests.world import World
from tocsin.audience import fan_out
from tocsin.upkeep.after_restore import Restored, bring_in_order


@pytest.mark.parametrize("numbers", ["far ahead", "far behind"])
def test_after_a_restore_each_event_is_told_once_whatever_its_number(
    numbers: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "PAGE", 4)
    monkeypatch.setattr(fan_out, "MOST_IN_BATCH", 4)
    populate(world, 10, watching=SCOPE)
    world.add_user("alice")
    route(world)
    happen(world, title="told", mentions=["alice"], thread=None)
    happen(world, title="half told", scope=SCOPE, thread=None)
    wait_until_readable(world)
    fan_out_once(world)
    assert tell_page(world)
    happen(world, title="waiting", mentions=["alice"], thread=None)
    other_server = "'99999999999'" if numbers == "far ahead" else "'5'"
    world.admin.execute(f"UPDATE domain_events SET txid = {other_server}")
    world.admin.execute(f"UPDATE domain_events_processed SET last_txid = {other_server}")

    restored = bring_in_order(world.admin)
    happen(world, title="new", mentions=["alice"], thread=None)
    fan_out_all(world)

    assert restored == Restored(told_events=2, waiting_events=1)
    assert outcomes(world) == [("notified", 1), ("notified", 10), ("notified", 1), ("notified", 1)]
    titles = [row["title"] for row in world.rows("SELECT title FROM notifications ORDER BY title")]
    assert titles == ["half told"] * 10 + ["new", "told", "waiting"]
