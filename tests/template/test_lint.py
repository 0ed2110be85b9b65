"""cfn-lint has nothing to say, neither to the template as written nor to what SAM makes of it."""

import json
import subprocess
import sys
from pathlib import Path

from tests.template import reading

REGIONS = ("us-east-1", "eu-central-1", "ap-southeast-2")


def _linted(template: Path) -> str:
    linter = Path(sys.executable).with_name("cfn-lint")
    command = [str(linter), "--regions", *REGIONS, "--template", str(template)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_the_template_is_valid_in_every_kind_of_region() -> None:
    assert _linted(reading.ROOT / "template.yaml") == ""


def test_the_translated_template_is_valid_too(tmp_path: Path) -> None:
    translated = tmp_path / "translated.json"
    translated.write_text(json.dumps(reading.translated()))

    assert _linted(translated) == ""


def test_the_linter_would_speak_up(tmp_path: Path) -> None:
    template = reading.translated()
    template["Resources"]["SweepFunction"]["Properties"] |= {"Timeout": 901, "MemorySizes": 512}
    spoiled = tmp_path / "spoiled.json"
    spoiled.write_text(json.dumps(template))

    said = _linted(spoiled)

    assert "901 is greater than the maximum" in said
    assert "MemorySizes" in said
