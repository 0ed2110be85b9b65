"""What make installs: what is listed, visibly, once, whole, and by one make at a time."""

import ast
import fcntl
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.checkout import ROOT, Checkout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return Checkout.at(tmp_path_factory.mktemp("install") / "a folder with spaces")


def test_a_fresh_checkout_gets_what_is_listed_and_says_so_line_by_line(tmp_path: Path) -> None:
    checkout = Checkout.at(tmp_path / "fresh")
    checkout.lock("run", checkout.wheel("alpha"), checkout.wheel("beta", "2.0"))

    said = checkout.make("install-run").splitlines()

    assert "Installing the local stack into .venv: 2 packages to fetch" in said[0]
    assert [line.split()[:5] for line in said[2:4]] == [["1", "of", "2", "alpha", "1.0"], ["2", "of", "2", "beta", "2.0"]]
    assert said[-1].startswith("Installed 2 packages")
    assert checkout.installed("alpha") and checkout.installed("beta")


def test_where_all_is_there_make_says_and_does_nothing(checkout: Checkout) -> None:
    checkout.lock("run", checkout.wheel("alpha"))
    checkout.make("install-run")
    before = checkout.stamp("run").stat().st_mtime_ns

    assert checkout.make("install-run") == ""
    assert checkout.stamp("run").stat().st_mtime_ns == before


def test_a_group_on_top_leaves_the_first_as_it_is(checkout: Checkout) -> None:
    alpha, beta = checkout.wheel("alpha"), checkout.wheel("beta")
    checkout.lock("run", alpha)
    checkout.make("install-run")
    checkout.lock("test", alpha, beta)

    said = checkout.make("install-test")

    assert "1 of 1  beta" in said and "alpha" not in said
    assert checkout.make("install-run") == ""


def test_another_checkout_gets_the_versions_that_it_lists(checkout: Checkout) -> None:
    old, new = checkout.wheel("gamma", "1.0"), checkout.wheel("gamma", "2.0")
    checkout.lock("run", old)
    checkout.make("install-run")

    # One branch installs the tests, with another gamma; then the first branch is checked out again.
    checkout.lock("run", new)
    checkout.lock("test", new)
    checkout.make("install-test")
    checkout.lock("run", old)
    checkout.make("install-run")

    (module,) = checkout.installed("gamma")
    assert module.read_text() == "version = '1.0'\n"


def test_a_failure_leaves_no_stamp_says_why_and_breaks_nothing(checkout: Checkout) -> None:
    alpha = checkout.wheel("alpha")
    checkout.lock("run", alpha)
    checkout.make("install-run")
    checkout.lock("bench", alpha)
    with (checkout.folder / "requirements" / "bench.txt").open("a") as bench:
        bench.write(f"unknown==1.0 --hash=sha256:{'0' * 64}\n")

    said = checkout.make("install-bench", expect=2)

    assert "No matching distribution found for unknown==1.0" in said
    assert not checkout.stamp("bench").exists()
    assert checkout.make("install-run") == ""


def test_an_installation_that_was_killed_is_made_afresh(tmp_path: Path) -> None:
    checkout = Checkout.at(tmp_path / "killed")
    checkout.lock("run", checkout.wheel("heavy", files=3000))
    killed = checkout.start("install-run")
    wait_until(lambda: checkout.installed("heavy") and (checkout.venv / "half-made").exists())
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert not checkout.stamp("run").exists(), "it was done before it could be killed"

    said = checkout.make("install-run")

    assert "Making .venv afresh, because an earlier installation was interrupted." in said
    assert len(checkout.installed("heavy")) == 3000
    assert checkout.make("install-run") == ""


@pytest.mark.parametrize(
    ("what", "reason"),
    [("bin/python", "its Python is gone"), ("lib/python3*/site-packages/pip/__init__.py", "it has no pip")],
)
def test_an_environment_that_lost_a_part_is_made_afresh(what: str, reason: str, checkout: Checkout) -> None:
    checkout.lock("run", checkout.wheel("alpha"))
    checkout.make("install-run")
    for part in checkout.venv.glob(what):
        part.unlink() if part.name == "python" else shutil.rmtree(part.parent)

    said = checkout.make("install-run")

    assert f"Making .venv afresh, because {reason}." in said
    assert checkout.installed("alpha")


def test_an_environment_that_was_moved_is_made_afresh(checkout: Checkout, tmp_path: Path) -> None:
    checkout.lock("run", checkout.wheel("alpha"))
    checkout.make("install-run")
    shutil.copytree(checkout.folder, tmp_path / "there", symlinks=True)
    there = Checkout(tmp_path / "there")

    said = there.make("install-run")

    assert "Making .venv afresh, because this folder was moved" in said
    assert str(there.folder) in (there.venv / "bin" / "pip").read_text()
    assert there.installed("alpha")


def test_a_second_make_waits_for_the_first(checkout: Checkout) -> None:
    checkout.lock("build", checkout.wheel("delta"))
    first = os.open(checkout.folder, os.O_RDONLY)
    fcntl.flock(first, fcntl.LOCK_EX)

    second = checkout.start("install-build")
    assert second.stdout
    said = second.stdout.readline()
    was_installed = checkout.stamp("build").exists()
    os.close(first)
    rest = second.communicate(timeout=120)[0]

    assert said == "Another make is installing in this folder; waiting for it …\n"
    assert not was_installed
    assert second.returncode == 0, rest
    assert checkout.stamp("build").exists()


def test_a_python_that_was_asked_for_and_is_not_there_is_named(checkout: Checkout) -> None:
    said = checkout.make("install-run", "PYTHON=no-such-python", expect=2)

    assert "no-such-python" in said


def test_a_machine_without_a_new_enough_python_is_told(checkout: Checkout) -> None:
    said = checkout.make("install-run", "PYTHON=", expect=2)

    assert "Tocsin needs Python 3.11 or newer" in said


def test_an_old_python_can_read_the_installer_as_far_as_its_refusal() -> None:
    """Otherwise it would answer with a syntax error."""
    source = (ROOT / "tools" / "install.py").read_text()

    ast.parse(source, feature_version=(3, 8))

    assert source.index("sys.version_info < (3, 11)") < source.index("from tools import")


def wait_until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + 100
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.002)
