"""What must hold of the database, the secrets and everything else that outlives a deployment."""

import json

from tests.template.reading import Template, named, of_type

DATABASE = "AWS::RDS::DBInstance"
# What must survive a mistaken deletion, and how.
SURVIVES = {DATABASE: {"Snapshot", "Retain"}, "AWS::KMS::Key": {"Retain"}, "AWS::S3::Bucket": {"Retain"}}
# secret: whose it is once the stack is gone
SECRETS_THAT_SURVIVE = {"UnsubscribeSecret": "links in mail are good for years"}
BROUGHT_BY_A_SNAPSHOT = {"AllocatedStorage", "DBName", "EngineVersion", "KmsKeyId", "MasterUsername", "StorageEncrypted"}
NOT_A_SECRET = "none yet"  # what stands in a secret until a function fills it
DATABASE_SETTINGS = {
    "StorageEncrypted": True,
    "PubliclyAccessible": False,
    "ManageMasterUserPassword": True,
    "EnableIAMDatabaseAuthentication": True,
    "CopyTagsToSnapshot": True,
    "DeleteAutomatedBackups": False,
}


def data_survives_the_stack(template: Template) -> list[str]:
    return [
        f"{name}: {policy} is {resource.get(policy)}"
        for name, resource in template["Resources"].items()
        for policy in ("DeletionPolicy", "UpdateReplacePolicy")
        if resource["Type"] in SURVIVES and resource.get(policy) not in SURVIVES[resource["Type"]]
    ]


def secrets_survive_the_stack_where_a_new_value_would_not_do(template: Template) -> list[str]:
    secrets = {name: one for name, one in template["Resources"].items() if one["Type"] == "AWS::SecretsManager::Secret"}
    return [
        f"{name}: {policy} is {each.get(policy)}"
        for name, each in secrets.items()
        for policy in ("DeletionPolicy", "UpdateReplacePolicy")
        if (each.get(policy) == "Retain") is not (name in SECRETS_THAT_SURVIVE)
    ]


def databases_are_private_and_encrypted(template: Template) -> list[str]:
    """One from a snapshot is encrypted as the snapshot is, and may not say so."""
    return [
        f"{name}: {setting} is {each.get(setting)}"
        for name, each in of_type(template, DATABASE).items()
        for setting, wanted in DATABASE_SETTINGS.items()
        if each.get(setting) is not wanted and not (setting in BROUGHT_BY_A_SNAPSHOT and "DBSnapshotIdentifier" in each)
    ]


def databases_are_told_nothing_that_their_snapshot_brings(template: Template) -> list[str]:
    """RDS refuses it, or fails half an hour later: the snapshot may be larger than the stack, or of a newer version."""
    databases = of_type(template, DATABASE).items()
    return [
        f"{name}: {setting}"
        for name, each in databases
        for setting in sorted(BROUGHT_BY_A_SNAPSHOT)
        if (setting in each) is ("DBSnapshotIdentifier" in each)
    ]


def databases_can_go_back_a_week(template: Template) -> list[str]:
    return [name for name, each in of_type(template, DATABASE).items() if each.get("BackupRetentionPeriod", 1) < 7]


def databases_refuse_plain_connections(template: Template) -> list[str]:
    settings = of_type(template, "AWS::RDS::DBParameterGroup")
    forced = {name for name, each in settings.items() if each["Parameters"].get("rds.force_ssl") == "1"}
    databases = of_type(template, DATABASE).items()
    open_ones = [name for name, each in databases if named(each.get("DBParameterGroupName")) not in forced]
    proxies = of_type(template, "AWS::RDS::DBProxy").items()
    return open_ones + [name for name, each in proxies if each.get("RequireTLS") is not True]


def databases_stand_in_two_zones(template: Template) -> list[str]:
    subnets = of_type(template, "AWS::EC2::Subnet")
    zones = {
        name: {json.dumps(subnets[str(named(subnet))]["AvailabilityZone"]) for subnet in each["SubnetIds"]}
        for name, each in of_type(template, "AWS::RDS::DBSubnetGroup").items()
    }
    return [name for name, found in zones.items() if len(found) < 2]


def databases_cannot_be_reached_from_the_internet(template: Template) -> list[str]:
    """Their subnets have no public addresses, and no route to an internet gateway; a NAT gateway lets nothing in."""
    subnets = {
        str(named(subnet)) for each in of_type(template, "AWS::RDS::DBSubnetGroup").values() for subnet in each["SubnetIds"]
    }
    routed = of_type(template, "AWS::EC2::SubnetRouteTableAssociation").values()
    tables = {named(each["RouteTableId"]) for each in routed if named(each["SubnetId"]) in subnets}
    routes = of_type(template, "AWS::EC2::Route").items()
    public = [name for name in subnets if of_type(template, "AWS::EC2::Subnet")[name].get("MapPublicIpOnLaunch")]
    return public + [name for name, each in routes if named(each["RouteTableId"]) in tables and "GatewayId" in each]


def secrets_are_generated_and_encrypted(template: Template) -> list[str]:
    secrets = of_type(template, "AWS::SecretsManager::Secret").items()
    return [
        name
        for name, each in secrets
        if each.get("SecretString", NOT_A_SECRET) != NOT_A_SECRET or named(each.get("KmsKeyId")) is None
    ]


def the_schema_comes_before_the_code(template: Template) -> list[str]:
    """Every function with a database secret waits for the migration, and only the migration reads the owner's."""
    waiting = {name for name, each in template["Resources"].items() if "Migration" in (each.get("DependsOn") or [])}
    functions = of_type(template, "AWS::Lambda::Function")
    variables = {name: each.get("Environment", {}).get("Variables", {}) for name, each in functions.items()}
    early = [name for name, each in variables.items() if "DATABASE_SECRET_ARN" in each and name not in waiting]
    owners = [name for name, each in variables.items() if "DATABASE_ADMIN_SECRET_ARN" in each]
    return early + ([] if owners == ["MigrateFunction"] else [f"the owner's secret is read by {owners}"])


def the_migration_runs_when_the_database_is_another(template: Template) -> list[str]:
    """It must be named in the properties, and be the one that the function goes to: CloudFormation looks at properties only."""
    migration = template["Resources"]["Migration"]["Properties"]
    function = of_type(template, "AWS::Lambda::Function")[str(named(migration["ServiceToken"]))]
    host = function["Environment"]["Variables"]["DATABASE_HOST"]
    return [] if migration.get("Database") == host else [f"Migration looks at {migration.get('Database')}, not {host}"]


def the_migration_runs_when_a_migration_changes(template: Template) -> list[str]:
    layers = of_type(template, "AWS::Lambda::LayerVersion")
    properties = template["Resources"]["Migration"]["Properties"]
    return [] if any(named(value) in layers for value in properties.values()) else ["Migration names no layer"]
