"""The files that other programs read for us (pre-commit, GitHub, editors) say what the Makefile says, of files that exist."""

import configparser
import re
import shlex
import subprocess
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.tools.checkout import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
NOT_OURS = {".git", ".venv", ".venv.old", ".local", ".aws-sam", ".hypothesis", "node_modules"}


@cache
def _is_anothers(path: Path) -> bool:
    """Pictures, and what somebody else wrote and published."""
    return path.suffix == ".png" or path.name.startswith("vendor-") or (path.parent.name == "vendor" and path.suffix == ".js")


def ours() -> list[str]:
    """The files of the repository, without what was installed or made here."""
    found: list[Path] = []
    folders = [ROOT]
    while folders:
        for path in folders.pop().iterdir():
            if path.is_dir() and path.name not in NOT_OURS and not path.name.endswith(("_cache", "__pycache__")):
                folders.append(path)
            elif path.is_file() and path.name not in NOT_OURS and not _is_anothers(path):
                found.append(path)
    return sorted(str(path.relative_to(ROOT)) for path in found)


def read(path: str) -> Any:
    # GitHub's `on` is a word to it, and a yes to YAML 1.1.
    return yaml.load((ROOT / path).read_text(), Loader=yaml.BaseLoader)  # noqa: S506 - makes nothing but strings


def hooks() -> dict[str, Any]:
    (local,) = read(".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    return {hook["id"]: hook for hook in local["hooks"]}


def test_the_hooks_need_nothing_but_what_is_here() -> None:
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))
    locked = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements" / "test.txt").read_text(), re.MULTILINE))

    for hook in hooks().values():
        programs = set(re.findall(r"\.venv/bin/(\w+)", hook["entry"]))
        made = set(re.findall(r"\bmake (\w+)", hook["entry"]))

        assert hook["language"] == "system"
        assert programs <= locked
        assert made <= targets
        assert programs | made


def test_the_hooks_check_what_make_lint_and_make_validate_check() -> None:
    (recipe,) = re.findall(r"^lint:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    by_make = set(re.findall(r"\$\(BIN\)/(ruff \w+|mypy)", recipe)) | {"make validate"}

    by_hook = {re.sub(r"^.*?\.venv/bin/(ruff \w+|mypy).*$", r"\1", hook["entry"]) for hook in hooks().values()}

    assert by_hook == by_make


def test_every_hook_has_files_to_look_at() -> None:
    looked_at = {
        name: [path for path in ours() if re.search(hook.get("files", r"\.py$"), path)] for name, hook in hooks().items()
    }

    assert all(looked_at.values())
    assert "template.yaml" in looked_at["sam-validate"]
    assert looked_at["mypy-doors"] == sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("functions/*/app.py"))


def test_the_hook_for_the_doors_looks_at_each_and_fails_with_any() -> None:
    there = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("functions/*/app.py"))]
    command = shlex.split(hooks()["mypy-doors"]["entry"].replace(".venv/bin/mypy", "echo seen; test -f"))

    good = subprocess.run([*command, *there], cwd=ROOT, capture_output=True, text=True, check=False)
    bad = subprocess.run([*command, "functions/none/app.py", there[0]], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (good.returncode, good.stdout.count("seen")) == (0, len(there))
    assert bad.returncode == 1


def test_the_workflow_runs_the_one_script_on_the_oldest_python_and_the_functions_own() -> None:
    workflow = read(".github/workflows/ci.yml")
    (job,) = workflow["jobs"].values()
    (oldest,) = re.findall(r'^requires-python = ">=(\S+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    (deployed,) = set(re.findall(r"Runtime: python(\S+)", (ROOT / "template.yaml").read_text()))

    assert set(workflow["on"]) == {"push", "pull_request"}
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    assert job["strategy"]["matrix"]["python"] == [oldest, deployed]


def test_the_workflow_may_read_and_nothing_else_and_ends() -> None:
    workflow = read(".github/workflows/ci.yml")
    (job,) = workflow["jobs"].values()

    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in job
    assert int(job["timeout-minutes"]) <= 40
    assert workflow["concurrency"]["cancel-in-progress"] == "true"
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in job["steps"] if "uses" in step)


def test_a_failed_run_keeps_the_file_that_make_test_writes() -> None:
    (job,) = read(".github/workflows/ci.yml")["jobs"].values()

    (upload,) = [step for step in job["steps"] if "upload-artifact" in step.get("uses", "")]

    assert upload["if"] == "failure()"
    assert re.search(rf"^\t.*-m pytest .*--junitxml={re.escape(upload['with']['path'])}", MAKEFILE, re.MULTILINE)


def test_every_lock_is_looked_at_for_newer_versions_and_every_folder_that_is_named_has_one() -> None:
    (python,) = [each for each in read(".github/dependabot.yml")["updates"] if each["package-ecosystem"] == "pip"]
    locks = {
        f"/{path.rpartition('/')[0]}"
        for path in ours()
        if re.search(r"(^requirements/(installers/)?\w+|/requirements)\.txt$", path)
    }

    assert {lock for lock in locks if not any(fnmatch(lock, pattern) for pattern in python["directories"])} == set()
    assert [pattern for pattern in python["directories"] if not any(fnmatch(lock, pattern) for lock in locks)] == []
    assert python["groups"]["python"]["patterns"] == ["*"]  # one pull request: the locks agree with each other or fail


def test_the_actions_and_the_lock_of_npm_are_looked_at_too() -> None:
    ecosystems = {each["package-ecosystem"]: each["schedule"]["interval"] for each in read(".github/dependabot.yml")["updates"]}

    assert ecosystems == {"pip": "weekly", "npm": "weekly", "github-actions": "weekly"}
    assert [path for path in ours() if path.endswith("package-lock.json")] == ["tests/clients/js/npm/package-lock.json"]


def test_every_file_is_as_editors_are_told() -> None:
    told = configparser.ConfigParser()
    told.read_string("[top]\n" + (ROOT / ".editorconfig").read_text())
    found = []
    for path in ours():
        text = (ROOT / path).read_bytes().decode(told["*"]["charset"])
        lines = text.split("\n")
        found += [f"{path} ends without a new line"] if text and lines[-1] else []
        found += [f"{path}:{number} ends with a carriage return" for number, line in enumerate(lines, 1) if line.endswith("\r")]
        found += [
            f"{path}:{number} ends with a space"
            for number, line in enumerate(lines, 1)
            if line.endswith(" ") and not path.endswith(".md")
        ]
        found += [
            f"{path}:{number} begins with a tab"
            for number, line in enumerate(lines, 1)
            if line.startswith("\t") and path != "Makefile"
        ]

    assert found == []
    assert f"line-length = {told['*']['max_line_length']}\n" in (ROOT / "pyproject.toml").read_text()
