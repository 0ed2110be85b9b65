"""When everything else was done: who has run, and what their logs say."""

import pytest

from devstack.launch import RunningStack
from tests.lambda_runtime.functions import FUNCTIONS, did_not_start, missing_settings


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_function_has_run_and_had_all_that_it_read(running_stack: RunningStack, name: str) -> None:
    log = running_stack.log(name)

    assert "START RequestId:" in log
    assert missing_settings(log) == set()
    assert not did_not_start(log)
