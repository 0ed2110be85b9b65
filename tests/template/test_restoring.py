"""A restore changes which database the functions work with, and nothing else: network, keys and secrets stay what they are."""

import json
import re
from typing import Any

import pytest
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from tests.template import reading
from tests.template.test_template import VARIANTS
from tools import kept

HOST = "restored.c0ffee.us-east-1.rds.amazonaws.com"
SECRET = "arn:aws:secretsmanager:us-east-1:account:secret:rds!db-restored"
RESTORED = {"RestoredDatabaseHost": HOST, "RestoredDatabaseSecretArn": SECRET}
SNAPSHOT = {"DatabaseSnapshot": "before-the-accident"}
STAYS = (
    "AWS::EC2::",
    "AWS::KMS::",
    "AWS::SecretsManager::",
    "AWS::RDS::DBSubnetGroup",
    "AWS::RDS::DBParameterGroup",
    "AWS::S3::",
)
PAGE = (reading.ROOT / "docs" / "restoring.md").read_text()


def _staying(template: reading.Template) -> dict[str, Any]:
    return {name: each for name, each in template["Resources"].items() if each["Type"].startswith(STAYS)}


@pytest.mark.parametrize("proxy", ["false", "true"])
@pytest.mark.parametrize("restore", [RESTORED, SNAPSHOT, RESTORED | SNAPSHOT], ids=["in the network", "from a snapshot", "both"])
def test_network_keys_and_secrets_are_the_same_before_and_after(restore: dict[str, str], proxy: str) -> None:
    before = reading.standing(UseDatabaseProxy=proxy, ArchiveRecords="true")
    after = reading.standing(UseDatabaseProxy=proxy, ArchiveRecords="true", **restore)

    assert len(_staying(before)) > 20
    assert _staying(after) == _staying(before)
    assert set(after["Resources"]) == set(before["Resources"]), "nothing is added, nothing is removed"


def test_whoever_points_to_another_network_loses_ours() -> None:
    """What keeps the network is the parameter: with ExistingDatabaseHost it goes, and so would the test above fail."""
    elsewhere = reading.standing(**VARIANTS["with a database of your own"])

    assert not [name for name, each in _staying(elsewhere).items() if each["Type"].startswith("AWS::EC2::")]


def test_the_functions_go_to_the_restored_instance_and_the_stack_s_own_stays_untouched() -> None:
    before, after = reading.standing(), reading.standing(**RESTORED)

    hosts = {name: each["Environment"]["Variables"]["DATABASE_HOST"] for name, each in _functions(after).items()}
    assert set(hosts.values()) == {HOST}
    assert after["Resources"]["Database"] == before["Resources"]["Database"]
    assert after["Outputs"]["DatabaseHost"]["Value"] == HOST


def test_the_migration_alone_reads_the_restored_owner_s_secret() -> None:
    template = reading.standing(**RESTORED)

    told = {name for name, each in _functions(template).items() if SECRET in each["Environment"]["Variables"].values()}
    allowed = {name for name, each in reading.of_type(template, "AWS::IAM::Role").items() if SECRET in json.dumps(each)}
    assert (told, allowed) == ({"MigrateFunction"}, {"MigrateFunctionRole"})


def test_behind_the_proxy_it_is_the_proxy_that_goes_to_the_restored_instance() -> None:
    template = reading.standing(UseDatabaseProxy="true", **RESTORED)

    hosts = {name: each["Environment"]["Variables"]["DATABASE_HOST"] for name, each in _functions(template).items()}
    target = template["Resources"]["DatabaseProxyTarget"]["Properties"]["DBInstanceIdentifiers"]
    assert hosts.pop("MigrateFunction") == HOST
    assert {reading.named(host) for host in hosts.values()} == {"DatabaseProxy"}
    assert target == [{"Fn::Select": [0, {"Fn::Split": [".", HOST]}]}]


def test_alarms_watch_the_instance_that_is_worked_with() -> None:
    watched = {}
    for variant, parameters in (("own", {}), ("restored", RESTORED)):
        alarms = reading.of_type(reading.standing(**parameters), "AWS::CloudWatch::Alarm").values()
        watched[variant] = {json.dumps(each["Value"]) for alarm in alarms for each in _instances(alarm)}

    assert watched == {"own": {'{"Ref": "Database"}'}, "restored": {json.dumps({"Fn::Select": [0, {"Fn::Split": [".", HOST]}]})}}


def test_a_snapshot_makes_the_stack_s_own_database_and_everybody_goes_there() -> None:
    template = reading.standing(**SNAPSHOT)

    assert template["Resources"]["Database"]["Properties"]["DBSnapshotIdentifier"] == "before-the-accident"
    assert template["Resources"]["Database"]["Properties"]["ManageMasterUserPassword"] is True
    hosts = {reading.named(each["Environment"]["Variables"]["DATABASE_HOST"]) for each in _functions(template).values()}
    assert hosts == {"Database"}


@pytest.mark.parametrize(
    ("parameter", "value", "is_accepted"),
    [
        ("RestoredDatabaseHost", HOST, True),
        ("RestoredDatabaseHost", "restored.c0ffee.cn-north-1.rds.amazonaws.com.cn", True),
        ("RestoredDatabaseHost", "restored", False),
        ("RestoredDatabaseHost", f"{HOST}:5432", False),
        ("DatabaseSnapshot", "rds:tocsin-prod-database-abc-2026-11-17-04-05", True),
        ("DatabaseSnapshot", "arn:aws:rds:eu-central-1:111111111111:snapshot:before", True),
        ("DatabaseSnapshot", "before the accident", False),
    ],
)
def test_what_is_restored_is_named_as_rds_names_it(parameter: str, value: str, is_accepted: bool) -> None:
    pattern = reading.sam_template()["Parameters"][parameter]["AllowedPattern"]

    assert bool(re.fullmatch(pattern, value)) is is_accepted
    assert re.fullmatch(pattern, "")


def test_the_page_takes_only_outputs_and_parameters_that_exist() -> None:
    template = reading.sam_template()

    outputs = set(re.findall(r"\$\(output (\w+)\)", PAGE))
    parameters = set(re.findall(r"\b((?:Restored|Existing)Database\w+|DatabaseSnapshot)\b", PAGE))
    assert outputs <= set(template["Outputs"])
    assert set(RESTORED) | set(SNAPSHOT) <= parameters <= set(template["Parameters"])


def test_what_is_kept_can_be_imported_into_a_new_stack() -> None:
    """Every resource of the part is one that outlives a stack, none refers to anything outside it, and each is just as it was."""
    whole, part = reading.sam_template(), kept.part(reading.sam_template(), archive=True)

    names = set(part["Resources"])
    assert names == {"DataKey", "LogKey", "UnsubscribeSecret", "ArchiveBucket"}
    assert {each["DeletionPolicy"] for each in part["Resources"].values()} == {"Retain"}
    for name in names:
        assert part["Resources"][name]["Properties"] == whole["Resources"][name]["Properties"]
    assert reading.referred_to(part) <= names | set(part["Parameters"])


def test_what_is_imported_is_named_as_cloudformation_names_it() -> None:
    for each in kept.identifiers(kept.part(reading.sam_template(), archive=True)).values():
        schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", each["ResourceType"]).schema

        assert [f"/properties/{name}" for name in each["ResourceIdentifier"]] == schema["primaryIdentifier"]


def test_without_an_archive_no_bucket_is_asked_for() -> None:
    assert set(kept.part(reading.sam_template(), archive=False)["Resources"]) == {"DataKey", "LogKey", "UnsubscribeSecret"}


def _functions(template: reading.Template) -> dict[str, dict[str, Any]]:
    return reading.of_type(template, "AWS::Lambda::Function")


def _instances(alarm: dict[str, Any]) -> list[dict[str, Any]]:
    metrics = [alarm, *(each["MetricStat"]["Metric"] for each in alarm.get("Metrics", []) if "MetricStat" in each)]
    return [one for each in metrics for one in each.get("Dimensions", []) if one["Name"] == "DBInstanceIdentifier"]
