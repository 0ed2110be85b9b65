"""Many workers at once."""

from tests.crash import crowds
from tests.world import World


def test_a_worker_never_waits_for_rows_that_another_is_claiming(world: World) -> None:
    crowds.a_worker_never_waits_for_rows_that_another_is_claiming(world)


def test_eight_workers_send_400_routes_once_each(world: World) -> None:
    crowds.eight_workers_share_400_routes(world)


def test_eight_workers_told_of_everything_send_400_routes_once_each(world: World) -> None:
    crowds.eight_workers_are_each_told_of_all_400_routes(world)
