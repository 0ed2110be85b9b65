"""`make scan`: what the scanner is shown is what would be made, and whatever it is told to leave out has its reason."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.template import reading
from tests.tools.checkout import ROOT
from tools import scan

CONFIGURATION = (ROOT / ".checkov.yaml").read_text()
PYTHON = ROOT / scan.FOLDER / "venv/bin/python"


def test_the_scanner_is_shown_templates_in_which_everything_is_decided(tmp_path: Path) -> None:
    shown = {path.stem: json.loads(path.read_text())["Resources"] for path in scan.written(tmp_path)}

    assert shown.keys() == scan.CHOICES.keys()
    assert not [name for name, each in shown.items() if "Fn::If" in json.dumps(each)]
    assert shown["production"]["Database"]["Properties"]["MultiAZ"] == "true"
    assert {"Vpc", "SqsEndpoint", "ArchiveBucket"} <= set(shown["private-endpoints"]), "the network is looked at too"


def test_every_check_that_is_left_out_has_its_sentence() -> None:
    left_out = re.findall(r"((?:^  #.*\n)*)^  - (CKV\w+)$", CONFIGURATION, re.MULTILINE)

    assert len(left_out) == CONFIGURATION.count("CKV_") > 0
    assert [check for reason, check in left_out if len(reason) < 40] == []


def test_the_scanner_s_packages_are_locked_with_hashes_and_stay_apart_from_ours() -> None:
    locked = (ROOT / scan.LOCKED).read_text()

    assert len(re.findall(r"^[\w.-]+==", locked, re.MULTILINE)) == len(
        re.findall(r"^[\w.-]+==\S+(?: ; [^\\]+)? \\\n    --hash=sha256:", locked, re.MULTILINE)
    )
    assert "checkov==" in locked
    assert f"-o {scan.LOCKED}" in (ROOT / "requirements/lock.sh").read_text()


@pytest.mark.skipif(not PYTHON.exists(), reason="`make scan` installs checkov")
def test_checkov_finds_a_database_that_the_world_may_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.chdir(ROOT)
    database = copy.deepcopy(reading.standing()["Resources"]["Database"])
    database["Properties"]["PubliclyAccessible"] = True
    (tmp_path / "open.json").write_text(
        json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"Database": database}})
    )

    assert scan.scan(PYTHON, [tmp_path / "open.json"]) == 1
    assert "CKV_AWS_17" in capfd.readouterr().out
