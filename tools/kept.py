"""What outlives a deleted stack, as a template of its own: CloudFormation imports it, and `make deploy` adds the rest.

`python -m tools.kept` prints the template, `python -m tools.kept identifiers` what `--resources-to-import` takes, with gaps to
fill in; `archive` after it, if there was one. docs/restoring.md has the steps.
"""

import json
import sys
from pathlib import Path
from typing import Any

from samtranslator.yaml_helper import yaml_parse

# By what CloudFormation knows each kind.
_IDENTIFIED_BY = {"AWS::KMS::Key": "KeyId", "AWS::SecretsManager::Secret": "Id", "AWS::S3::Bucket": "BucketName"}


def part(template: dict[str, Any], *, archive: bool) -> dict[str, Any]:
    """The resources that are retained, whole, and the parameters they name."""
    resources = {
        name: {key: value for key, value in each.items() if key != "Condition"}
        for name, each in template["Resources"].items()
        if each.get("DeletionPolicy") == "Retain"
        and each["Type"] in _IDENTIFIED_BY  # a log is kept for those who read it; a new stack begins its own
        and (archive or each.get("Condition") != "HasArchive")
    }
    named = json.dumps(resources)
    parameters = {name: each for name, each in template["Parameters"].items() if f'{{"Ref": "{name}"}}' in named}
    return {"AWSTemplateFormatVersion": "2010-09-09", "Parameters": parameters, "Resources": resources}


def identifiers(part: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By logical id, what to fill in and hand to `aws cloudformation create-change-set --resources-to-import`."""
    return {
        name: {
            "ResourceType": each["Type"],
            "LogicalResourceId": name,
            "ResourceIdentifier": {_IDENTIFIED_BY[each["Type"]]: "…"},
        }
        for name, each in part["Resources"].items()
    }


if __name__ == "__main__":
    kept = part(yaml_parse(Path("template.yaml").read_text()), archive="archive" in sys.argv)
    print(json.dumps(list(identifiers(kept).values()) if "identifiers" in sys.argv else kept, indent=1, ensure_ascii=False))
