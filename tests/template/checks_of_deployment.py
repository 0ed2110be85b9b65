"""What must hold so that a deployment that fails can be understood, and a later one does no harm."""

import re

from tests.template.reading import Template, named, of_type

LOG_GROUP = "AWS::Logs::LogGroup"
# Of the kinds that we keep: the property that would give one a name of its own.
NAMED_BY = {
    LOG_GROUP: "LogGroupName",
    "AWS::S3::Bucket": "BucketName",
    "AWS::KMS::Key": None,
    "AWS::SecretsManager::Secret": "Name",
    "AWS::Lambda::Version": None,
}

# What RDS cannot change: CloudFormation would make another, empty database and leave the first in a snapshot.
REPLACES = ("DBName", "Port", "MasterUsername", "Engine", "StorageEncrypted", "KmsKeyId", "DBSubnetGroupName")


def no_parameter_replaces_the_database(sam: Template) -> list[str]:
    """Reads the SAM template, because in a settled one parameters are filled in."""
    return [
        f"{name}: {setting}"
        for name, each in of_type(sam, "AWS::RDS::DBInstance").items()
        for setting in REPLACES
        if set(re.findall(r"'Ref': '(\w+)'", str(each.get(setting)))) & set(sam["Parameters"])
    ]


def what_is_kept_has_no_fixed_name(template: Template) -> list[str]:
    """It would be in the way when the stack is made again, in the same place and with the same name."""
    kept = {name: each for name, each in template["Resources"].items() if each.get("DeletionPolicy") == "Retain"}
    return [name for name, each in kept.items() if NAMED_BY[each["Type"]] in each["Properties"]]


def functions_log_from_the_level_that_is_asked_for(template: Template) -> list[str]:
    """Lambda's own level wins over the logger's. It takes lines without a level for INFO, and those of our metrics have none."""
    functions = of_type(template, "AWS::Lambda::Function").items()
    asked = {name: each["Environment"]["Variables"]["LOG_LEVEL"] for name, each in functions}
    levels = {name: each.get("LoggingConfig", {}).get("ApplicationLogLevel") for name, each in functions}
    return [name for name, level in levels.items() if level != asked[name] or level not in {"DEBUG", "INFO"}]


def why_a_migration_failed_outlives_the_rollback(template: Template) -> list[str]:
    group = str(named(of_type(template, "AWS::Lambda::Function")["MigrateFunction"]["LoggingConfig"]["LogGroup"]))
    return [] if template["Resources"][group].get("DeletionPolicy") == "Retain" else [group]
