"""Lambda at home: what a function sees, and what becomes of it when it hangs, dies or is edited."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import psutil
import pytest

from devstack.declared import Function, Layer
from devstack.fork_server import IS_SAFE
from devstack.runtime import CROWDS, MOST_CONCURRENCY, THROTTLED, Pool
from devstack.stack import Stack
from devstack.state import State

ROOT = Path(__file__).parents[2]
MakePool = Callable[..., Pool]
FORKED = [pytest.param("forked", marks=pytest.mark.skipif(not IS_SAFE, reason="no safe fork here"))]


@pytest.fixture(params=["spawned", *FORKED])
def make_pool(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakePool]:
    """A function whose environments are started each by itself, or forked: to the function it is all the same."""
    made: list[Pool] = []
    if request.param == "forked":
        monkeypatch.setitem(CROWDS, "Door", 20)

    def make(code: str, **settings: Any) -> Pool:
        folder = tmp_path / "door"
        folder.mkdir(exist_ok=True)
        (folder / "app.py").write_text(dedent(code))
        function = Function(
            name="Door",
            arn="arn:aws:lambda:us-east-1:123456789012:function:door",
            folder=folder,
            handler="app.handler",
            timeout=settings.get("timeout", 20),
            memory=512,
            variables=settings.get("variables", {}),
            layers=settings.get("layers", ()),
            reserved_concurrency=settings.get("reserved_concurrency"),
        )
        made.append(Pool(function, settings.get("aws", {}), tmp_path / "logs" / "Door.log"))
        return made[-1]

    yield make
    for pool in made:
        pool.close()


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_function_is_given_its_event_and_a_context_like_lambdas(make_pool: MakePool) -> None:
    pool = make_pool(
        """
        def handler(event, context):
            left = context.get_remaining_time_in_millis()
            names = [context.function_name, context.function_version, context.memory_limit_in_mb]
            return {"event": event, "names": names, "arn": context.invoked_function_arn,
                    "id": context.aws_request_id, "in_time": 15_000 < left <= 20_000}
        """
    )

    first, second = pool.invoke({"n": 1}).result, pool.invoke({"n": 2}).result

    assert (first["event"], second["event"]) == ({"n": 1}, {"n": 2})
    assert first["names"] == ["door", "$LATEST", "512"]
    assert first["arn"].endswith(":function:door")
    assert first["in_time"]
    assert first["id"] != second["id"]


def test_a_function_sees_its_own_variables_and_nothing_of_ours(make_pool: MakePool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_DEVELOPER", "x")
    pool = make_pool(
        """
        import os, sys
        def handler(event, context):
            return {"variables": dict(os.environ), "path": sys.path}
        """,
        variables={"TABLE": "t"},
        aws={"AWS_ENDPOINT_URL": "http://aws"},
    )

    seen = pool.invoke({}).result

    assert (seen["variables"]["TABLE"], seen["variables"]["AWS_ENDPOINT_URL"]) == ("t", "http://aws")
    assert (seen["variables"]["AWS_ACCESS_KEY_ID"], seen["variables"]["AWS_REGION"]) == ("LKIADoor", "us-east-1")
    assert "SECRET_OF_THE_DEVELOPER" not in seen["variables"]
    assert "PYTHONDONTWRITEBYTECODE" not in seen["variables"]
    assert str(ROOT) not in seen["path"]
    assert str(ROOT / "devstack") not in seen["path"]


def test_layers_are_importable_and_opt_leads_to_their_files(make_pool: MakePool, tmp_path: Path) -> None:
    house, rules = tmp_path / "house", tmp_path / "rules"
    house.mkdir()
    rules.mkdir()
    (house / "house.py").write_text("NAME = 'house'")
    (rules / "1.sql").write_text("SELECT 1")
    pool = make_pool(
        """
        import os, house, pathlib
        def handler(event, context):
            return [house.NAME, (pathlib.Path(os.environ["RULES"]) / "1.sql").read_text(), os.environ["OTHER"]]
        """,
        layers=(Layer("House", house, is_built=True), Layer("Rules", rules, is_built=False)),
        variables={"RULES": "/opt", "OTHER": "/option"},
    )

    assert pool.invoke({}).result == ["house", "SELECT 1", "/option"]


def test_an_environment_is_kept_warm_between_invocations(make_pool: MakePool) -> None:
    pool = make_pool("import os\ndef handler(event, context):\n    return os.getpid()")

    assert pool.invoke({}).result == pool.invoke({}).result


def test_prints_go_to_the_log_and_do_not_disturb_the_answer(make_pool: MakePool, tmp_path: Path) -> None:
    pool = make_pool("def handler(event, context):\n    print('{\"result\": 1}')\n    return 'fine'")

    assert pool.invoke({}).result == "fine"
    assert '{"result": 1}' in (tmp_path / "logs" / "Door.log").read_text()


def test_an_exception_comes_back_in_lambdas_words_and_the_environment_lives_on(make_pool: MakePool) -> None:
    pool = make_pool(
        """
        import os
        def handler(event, context):
            if event == "fail":
                raise ValueError("no such thing")
            return os.getpid()
        """
    )
    before = pool.invoke("").result

    error = pool.invoke("fail").error

    assert error is not None
    assert (error["errorType"], error["errorMessage"]) == ("ValueError", "no such thing")
    assert pool.invoke("").result == before


def test_a_function_that_takes_too_long_is_ended_and_replaced(make_pool: MakePool) -> None:
    pool = make_pool(
        """
        import os, time
        def handler(event, context):
            if event == "hang":
                time.sleep(60)
            return os.getpid()
        """,
        timeout=1,
    )
    before = pool.invoke("").result

    error = pool.invoke("hang").error

    assert error is not None
    assert "Task timed out after 1.00 seconds" in error["errorMessage"]
    assert not psutil.pid_exists(before)
    assert pool.invoke("").result != before


@pytest.mark.parametrize(
    ("death", "how"),
    [
        ("os._exit(3)", "exit status 3"),
        ("os.kill(os.getpid(), 9)", "signal: SIGKILL"),
        ("sys.exit(1)", "exit status 1"),
    ],
)
def test_a_function_that_dies_is_reported_and_replaced(make_pool: MakePool, death: str, how: str) -> None:
    pool = make_pool(f"import os, sys\ndef handler(event, context):\n    return {death} if event else os.getpid()")

    error = pool.invoke("die").error

    assert error is not None
    assert f"Runtime exited with error: {how}" in error["errorMessage"]
    assert isinstance(pool.invoke("").result, int)


def test_an_environment_that_was_killed_while_idle_is_not_used_again(make_pool: MakePool) -> None:
    pool = make_pool("import os\ndef handler(event, context):\n    return os.getpid()")
    first = pool.invoke({}).result
    process = psutil.Process(first)
    process.kill()
    if "Door" in CROWDS:
        wait_until(lambda: is_gone(first))  # whoever forked it has not asked for its end yet
    else:
        process.wait(10)  # until its last thread is gone; before that nobody can tell that it is dead

    again = pool.invoke({})

    assert again.error is None
    assert again.result != first


@pytest.mark.parametrize(
    ("code", "error_type"),
    [
        ("import nowhere", "Runtime.ImportModuleError"),
        ("other = 1", "Runtime.HandlerNotFound"),
        ("def handler(e, c): return {1, 2}", "Runtime.MarshalError"),
        ("def handler(e, c): return 'x' * 7_000_000", "Function.ResponseSizeTooLarge"),
    ],
)
def test_a_function_that_cannot_run_says_why(make_pool: MakePool, code: str, error_type: str) -> None:
    error = make_pool(code).invoke({}).error

    assert error is not None
    assert error["errorType"] == error_type


def test_invocations_run_side_by_side_up_to_the_reserved_concurrency(make_pool: MakePool, tmp_path: Path) -> None:
    pool = make_pool(
        f"""
        import os, pathlib, time
        here = pathlib.Path({str(tmp_path)!r})
        def handler(event, context):
            mine = here / f"running-{{os.getpid()}}"
            mine.touch()
            deadline = time.monotonic() + 10
            while len(list(here.glob("running-*"))) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            together = len(list(here.glob("running-*")))
            time.sleep(0.1)
            mine.unlink()
            return together
        """,
        reserved_concurrency=2,
    )
    results: list[int] = []
    threads = [threading.Thread(target=lambda: results.append(pool.invoke({}).result)) for _ in range(2)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [2, 2]


@pytest.mark.parametrize(("reserved", "limit"), [(None, 4), (0, 0), (1, 1), (8, 8), (40, 40)])
def test_a_function_has_as_many_environments_as_it_reserves_and_a_laptop_bears(
    make_pool: MakePool, reserved: int | None, limit: int
) -> None:
    most = CROWDS.get("Door", MOST_CONCURRENCY)

    assert make_pool("def handler(event, context): pass", reserved_concurrency=reserved).limit == min(limit, most)


def test_a_busy_function_makes_others_wait_and_then_throttles(make_pool: MakePool, tmp_path: Path) -> None:
    pool = make_pool(
        f"""
        import pathlib, time
        def handler(event, context):
            pathlib.Path({str(tmp_path)!r}, "started").touch()
            time.sleep(1)
        """,
        reserved_concurrency=1,
    )
    busy = threading.Thread(target=pool.invoke, args=({},))
    busy.start()
    wait_until((tmp_path / "started").exists)

    error = pool.invoke({}, patience=0.05).error

    busy.join()
    assert error is not None
    assert error["errorType"] == "TooManyRequestsException"


def test_a_request_that_could_only_be_answered_too_late_is_not_begun(make_pool: MakePool, tmp_path: Path) -> None:
    pool = make_pool(
        f"""
        import pathlib, time
        def handler(event, context):
            pathlib.Path({str(tmp_path)!r}, "started").touch()
            time.sleep(1)
        """,
        reserved_concurrency=1,
        timeout=30,
    )
    stack = Stack(ROOT, State(tmp_path / "state"), parameters={}, say=print)
    stack._pools["Door"] = pool
    busy = threading.Thread(target=pool.invoke, args=({},))
    busy.start()
    wait_until((tmp_path / "started").exists)

    error = stack._answer("Door", {}).error

    assert busy.is_alive()
    busy.join()
    assert error is not None
    assert error["errorType"] == "TooManyRequestsException"


def test_an_edit_is_seen_by_the_next_invocation(make_pool: MakePool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devstack.runtime.LOOK_SECONDS", 0)
    pool = make_pool("def handler(event, context):\n    return 'old'")
    assert pool.invoke({}).result == "old"

    (pool.function.folder / "app.py").write_text("def handler(event, context):\n    return 'brand new'")

    assert pool.invoke({}).result == "brand new"


def test_closing_the_pool_ends_a_busy_function_and_its_children(make_pool: MakePool, tmp_path: Path) -> None:
    pool = make_pool(
        f"""
        import pathlib, subprocess, time
        def handler(event, context):
            child = subprocess.Popen(["sleep", "60"])
            file = pathlib.Path({str(tmp_path)!r}, "child")
            file.with_suffix(".part").write_text(str(child.pid))
            file.with_suffix(".part").rename(file)
            time.sleep(60)
        """
    )
    outcomes: list[Any] = []
    busy = threading.Thread(target=lambda: outcomes.append(pool.invoke({})))
    busy.start()
    wait_until((tmp_path / "child").exists)
    child = int((tmp_path / "child").read_text())

    pool.close()

    busy.join(10)
    assert outcomes[0].error is not None
    wait_until(lambda: is_gone(child))


def test_environments_die_with_the_stack_even_when_it_is_killed(make_pool: MakePool, tmp_path: Path) -> None:
    folder = make_pool("def handler(event, context):\n    while True: pass").function.folder
    script = f"""
import pathlib, sys, threading, time
from devstack.declared import Function
from devstack.runtime import CROWDS, Pool
CROWDS.update({{name: 20 for name in {sorted(CROWDS)!r}}})
folder = pathlib.Path({str(folder)!r})
pool = Pool(Function("Door", "arn:x:door", folder, "app.handler", 60, 128, {{}}, (), None), {{}}, folder / "log")
threading.Thread(target=pool.invoke, args=({{}},), daemon=True).start()
while not pool._busy:
    time.sleep(0.01)
print(next(iter(pool._busy)).pid, flush=True)
time.sleep(60)
"""
    stack = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE)
    assert stack.stdout is not None
    environment = int(stack.stdout.readline())
    assert psutil.pid_exists(environment)

    stack.kill()

    stack.wait()
    stack.stdout.close()
    wait_until(lambda: is_gone(environment))


@pytest.mark.parametrize("make_pool", FORKED, indirect=True)
def test_many_forked_environments_run_at_once_and_import_the_handler_once(
    make_pool: MakePool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CROWDS, "Door", 100)
    pool = make_pool(
        f"""
        import os, pathlib, random, time
        here = pathlib.Path({str(tmp_path)!r})
        (here / f"imported-{{os.getpid()}}").touch()
        def handler(event, context):
            (here / f"running-{{os.getpid()}}").touch()
            deadline = time.monotonic() + 30
            while len(list(here.glob("running-*"))) < 60 and time.monotonic() < deadline:
                time.sleep(0.05)
            return [os.getpid(), os.environ["AWS_LAMBDA_LOG_STREAM_NAME"], random.random()]
        """,
        reserved_concurrency=100,
        timeout=40,
    )
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(pool.invoke({}).result)) for _ in range(60)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(list(tmp_path.glob("imported-*"))) == 1
    assert [len({result[part] for result in results}) for part in range(3)] == [60, 60, 60]


@pytest.mark.parametrize("make_pool", FORKED, indirect=True)
def test_an_edit_does_not_end_what_forked_environments_of_the_old_code_are_doing(
    make_pool: MakePool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CROWDS, "Door", 20)
    monkeypatch.setattr("devstack.runtime.LOOK_SECONDS", 0)
    code = """
    import pathlib, time
    def handler(event, context):
        here = pathlib.Path(event)
        (here / "started").touch()
        while not (here / "go on").exists():
            time.sleep(0.01)
        return "old"
    """
    pool = make_pool(code)
    outcomes: list[Any] = []
    busy = threading.Thread(target=lambda: outcomes.append(pool.invoke(str(tmp_path))))
    busy.start()
    wait_until((tmp_path / "started").exists)

    (pool.function.folder / "app.py").write_text(dedent(code).replace('"old"', '"brand new"').replace("not", "False and not"))
    new = pool.invoke(str(tmp_path)).result
    (tmp_path / "go on").touch()

    busy.join(10)
    assert (new, outcomes[0].result) == ("brand new", "old")
    assert pool.invoke(str(tmp_path)).result == "brand new"


def test_a_function_that_reserves_no_environment_is_throttled_at_once(make_pool: MakePool) -> None:
    pool = make_pool("def handler(event, context):\n    return 1", reserved_concurrency=0)

    assert pool.invoke({}).error == THROTTLED
    assert pool.invoke({}, patience=60).error == THROTTLED
