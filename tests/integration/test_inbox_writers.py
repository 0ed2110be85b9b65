"""The two statements that write an inbox row, planning and the fan-out, fold alike and in one order."""

import inspect
import re

from tocsin.store.flow import fan_out, plan

_FOLD = re.compile(r"ON CONFLICT \(tenant_id, user_id, thread_kind, thread_id\).*?DO UPDATE(.*?)\n        \), ", re.DOTALL)
_ORDER = re.compile(r"FROM arrival[^\n]*\n\s+ORDER BY ([a-z_, ]+?)  --")


def _statements() -> list[str]:
    return [inspect.getsource(one) for one in (plan.plan, fan_out.fan_out)]


def test_planning_and_the_fan_out_fold_into_a_row_in_the_same_way() -> None:
    planned, told = (_FOLD.findall(one) for one in _statements())

    assert len(planned) == len(told) == 1
    assert planned[0].split() == told[0].split()


def test_planning_and_the_fan_out_write_rows_in_the_same_order() -> None:
    assert [_ORDER.findall(one) for one in _statements()] == [["tenant_id, user_id, fold"]] * 2
