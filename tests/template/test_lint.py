"""cfn-lint has nothing to say to what SAM makes of the template, all at once or step by step, nor to the network."""

import copy
import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.template import reading

REGIONS = ("us-east-1", "eu-central-1", "ap-southeast-2")
PACKAGED = "W3002"  # a nested template that is a file here; `sam deploy` uploads it


def _linted(*templates: Path) -> str:
    linter = Path(sys.executable).with_name("cfn-lint")
    command = [str(linter), "--regions", *REGIONS, "--template", *map(str, templates)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_what_sam_makes_of_the_template_and_the_network_are_valid_in_every_kind_of_region(tmp_path: Path) -> None:
    """`make validate` asks the same of template.yaml as it is written."""
    at_once = _written(tmp_path / "at_once", reading.translated())
    gradual = _written(tmp_path / "gradual", copy.deepcopy(reading.shifted("one")))

    assert _linted(at_once, gradual, reading.ROOT / "network.yaml") == ""


def test_the_linter_would_speak_up(tmp_path: Path) -> None:
    template = reading.translated()
    template["Resources"] = {name: template["Resources"][name] for name in ("SweepFunction", "Network")}
    template["Resources"]["SweepFunction"]["Properties"] |= {"Timeout": 901, "MemorySizes": 512}
    del template["Resources"]["Network"]["Properties"]["Parameters"]["VpcCidr"]

    said = _linted(_written(tmp_path / "wrong", template))

    assert "901 is greater than the maximum" in said
    assert "MemorySizes" in said
    assert 'parameter "VpcCidr" is not specified' in said, "it reads the nested template too"


def _written(folder: Path, template: reading.Template) -> Path:
    """The template in a file, and beside it those that it names."""
    folder.mkdir()
    for stack in reading.of_type(template, reading.STACK).values():
        shutil.copy(reading.ROOT / stack["TemplateURL"], folder)
    template["Metadata"]["cfn-lint"]["config"]["ignore_checks"].append(PACKAGED)
    path = folder / "template.json"
    path.write_text(json.dumps(template))
    return path
