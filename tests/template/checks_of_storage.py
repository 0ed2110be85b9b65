"""What the database and the archive are told besides: to grow, to stay on their version, to tell nothing, to keep and to end."""

from typing import Any

from tests.template.reading import Template, listed, named, of_type

DATABASE, BUCKET = "AWS::RDS::DBInstance", "AWS::S3::Bucket"
# setting of Postgres: why
SETTINGS = {
    "rds.force_ssl": ("1", "nobody connects in the clear"),
    "password_encryption": ("scram-sha-256", "the proxy's clients log in by it"),
    "idle_in_transaction_session_timeout": ("60000", "a forgotten transaction keeps locks, and old rows, for ever"),
    "log_parameter_max_length": ("0", "what people are told, and their addresses, would stand in the log"),
    "log_parameter_max_length_on_error": ("0", "likewise"),
}
CLOSED = dict.fromkeys(("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"), True)


def databases_are_set_as_they_must_be(template: Template) -> list[str]:
    groups = of_type(template, "AWS::RDS::DBParameterGroup")
    return [
        f"{name}: {setting}, else {why}"
        for name, each in of_type(template, DATABASE).items()
        for setting, (value, why) in SETTINGS.items()
        if groups.get(str(named(each.get("DBParameterGroupName"))), {}).get("Parameters", {}).get(setting) != value
    ]


def databases_grow_before_they_are_full(template: Template) -> list[str]:
    return [
        name
        for name, each in of_type(template, DATABASE).items()
        if int(each.get("MaxAllocatedStorage", 0)) < 1.1 * int(each.get("AllocatedStorage", 0))
        or not (each.get("AllocatedStorage") or _is_from_a_snapshot(each))
    ]


def databases_stay_on_their_version(template: Template) -> list[str]:
    """One that is not said is whichever RDS has by default, and its settings would be of another family."""
    groups = of_type(template, "AWS::RDS::DBParameterGroup")
    violations = []
    for name, each in of_type(template, DATABASE).items():
        family = groups.get(str(named(each.get("DBParameterGroupName"))), {}).get("Family")
        version = str(each.get("EngineVersion", "")).split(".")[0]
        if (f"{each['Engine']}{version}" != family and not _is_from_a_snapshot(each)) or each.get(
            "AutoMinorVersionUpgrade"
        ) is not True:
            violations.append(f"{name}: {each.get('EngineVersion')} with {family}")
    return violations


def databases_are_as_their_parameters_say(template: Template) -> list[str]:
    values = template["Values"]
    wanted = {
        "MultiAZ": values["MultiAz"],
        "DBInstanceClass": values["DatabaseInstanceClass"],
        "AllocatedStorage": values["DatabaseStorageGb"],
        "BackupRetentionPeriod": values["BackupRetentionDays"],
        "Port": values["DatabasePort"],
        "DeletionProtection": values["Stage"] == "prod",
    }
    return [
        f"{name}: {key} is {each.get(key)}"
        for name, each in of_type(template, DATABASE).items()
        for key, value in wanted.items()
        if each.get(key) != value and not (key == "AllocatedStorage" and _is_from_a_snapshot(each))
    ]


def _is_from_a_snapshot(database: dict[str, Any]) -> bool:
    """Then its size and its version come from there, and RDS refuses to be told them again."""
    return "DBSnapshotIdentifier" in database


def databases_are_measured(template: Template) -> list[str]:
    return [name for name, each in of_type(template, DATABASE).items() if each.get("MonitoringInterval") != 60]


def archives_are_closed_and_encrypted(template: Template) -> list[str]:
    violations = []
    guarded = {
        named(each["Bucket"])
        for each in of_type(template, "AWS::S3::BucketPolicy").values()
        if any(_denies_plain_http(statement, str(named(each["Bucket"]))) for statement in each["PolicyDocument"]["Statement"])
    }
    for name, each in of_type(template, BUCKET).items():
        (rule,) = each.get("BucketEncryption", {}).get("ServerSideEncryptionConfiguration", [{}])
        owned = each.get("OwnershipControls", {}).get("Rules")
        open_ones = each.get("PublicAccessBlockConfiguration") != CLOSED or owned != [{"ObjectOwnership": "BucketOwnerEnforced"}]
        by_a_key = (
            rule.get("ServerSideEncryptionByDefault", {}).get("SSEAlgorithm") == "aws:kms"
            and rule.get("BucketKeyEnabled") is True
        )
        if open_ones or not by_a_key or name not in guarded:
            violations.append(name)
    return violations


def archives_end_when_their_parameter_says(template: Template) -> list[str]:
    """What is replaced or left half done is not kept for ever, and is not paid for either."""
    violations = []
    for name, each in of_type(template, BUCKET).items():
        rules = [rule for rule in each.get("LifecycleConfiguration", {}).get("Rules", []) if rule["Status"] == "Enabled"]
        ends = [rule.get("ExpirationInDays") for rule in rules]
        complete = all({"NoncurrentVersionExpiration", "AbortIncompleteMultipartUpload"} <= set(rule) for rule in rules)
        versioned = each.get("VersioningConfiguration") == {"Status": "Enabled"}
        if ends != [template["Values"]["ArchiveRetentionDays"]] or not complete or not versioned:
            violations.append(name)
    return violations


def _denies_plain_http(statement: dict[str, Any], bucket: str) -> bool:
    whole = [{"Fn::GetAtt": [bucket, "Arn"]}, {"Fn::Sub": f"${{{bucket}.Arn}}/*"}]
    said = (statement["Effect"], statement.get("Principal"), statement.get("Action"), listed(statement.get("Resource")))
    return said == ("Deny", "*", "s3:*", whole) and statement.get("Condition") == {"Bool": {"aws:SecureTransport": "false"}}
