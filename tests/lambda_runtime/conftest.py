"""One stack for all of these: what sam built for this machine, in Lambda's own runtime. `make e2e-lambda` builds it first."""

import re
from collections.abc import Iterator

import pytest

from devstack.launch import RunningStack, started_stack
from tests.functions.cloud_formation import cloud_formation  # noqa: F401 - a fixture

_INIT = re.compile(r"INIT REPORT\(durationMs: ([\d.]+)\)")
_init_times = pytest.StashKey[dict[str, list[float]]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What looks back at all that was done comes last."""
    items.sort(key=lambda item: item.path.stem == "test_afterwards")


@pytest.fixture(scope="session")
def running_stack(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[RunningStack]:
    """The stack; the tests must tell their own data apart."""
    with started_stack(tmp_path_factory.mktemp("stack"), "--port", "0", "--runtime", "emulator") as stack:
        yield stack
        logs = {path.stem: path.read_text(errors="replace") for path in sorted((stack.folder / "logs").glob("*Function.log"))}
    request.config.stash[_init_times] = {name: [float(one) for one in _INIT.findall(log)] for name, log in logs.items()}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """How long each function's start took, for whoever wants to know: it says more of this machine than of AWS."""
    for name, times in config.stash.get(_init_times, {}).items():
        if times:
            terminalreporter.write_line(f"{name:20} started {len(times):2} times in {min(times):.0f} to {max(times):.0f} ms")
