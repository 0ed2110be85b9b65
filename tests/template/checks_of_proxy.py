"""The proxy before the database: it is found, it lets its callers through, and it gets through itself."""

from typing import Any

from tests.template import subnets
from tests.template.checks_of_grants import variables_of
from tests.template.policies import arn
from tests.template.reading import Template, named, of_type, refused
from tests.template.security_groups import admits, lets_out

FUNCTION = "AWS::Lambda::Function"
PROXY_LISTENS_AT = 5432  # whatever the port of the database
_ELSEWHERE = {
    "ExistingDatabaseHost": "db.example.com",
    "ExistingDatabaseSecretArn": "arn:aws:secretsmanager:us-east-1:account:secret:mine",
    "ExistingSubnetIds": "subnet-1,subnet-2",
    "ExistingSecurityGroupId": "sg-1",
}
_RESTORED = {
    "RestoredDatabaseHost": "restored.c0ffee.us-east-1.rds.amazonaws.com",
    "RestoredDatabaseSecretArn": "arn:aws:secretsmanager:us-east-1:account:secret:rds!db-restored",
}
# Parameters that go together with no installation that works.
CANNOT_WORK = (
    {"DatabaseName": "orders"},  # CloudFormation would make another database
    {"DatabasePort": "6432"},
    {"EndpointsInBothZones": "true"},  # of which there are none
    {**_ELSEWHERE, "UseDatabaseProxy": "true"},
    {**_ELSEWHERE, "InternetEgress": "true"},
    {**_ELSEWHERE, "ExistingDatabaseSecretArn": ""},
    {**_ELSEWHERE, "ExistingSubnetIds": ""},
    {**_ELSEWHERE, "ExistingSecurityGroupId": ""},
    {**_RESTORED, "RestoredDatabaseSecretArn": ""},
    {**_RESTORED, **_ELSEWHERE},
    {**_ELSEWHERE, "DatabaseSnapshot": "before"},
    {"DomainName": "notify.example.com"},  # nobody can prove that it is ours
    {"CertificateArn": "arn:aws:acm:us-east-1:account:certificate/ours"},
    {"VerifyEmailDomain": "true"},
    {"AWS::Region": "il-central-1"},  # whose certificates are not shipped
)


def the_proxy_is_reached_and_reaches_the_database(template: Template) -> list[str]:
    """It listens at its own port, and goes on to that of the database."""
    violations = []
    for name, proxy in of_type(template, "AWS::RDS::DBProxy").items():
        own = {named(group) for group in proxy["VpcSecurityGroupIds"]}
        through = [each for each in of_type(template, FUNCTION).values() if named(variables_of(each)["DATABASE_HOST"]) == name]
        if not through or any(int(variables_of(each)["DATABASE_PORT"]) != PROXY_LISTENS_AT for each in through):
            violations.append(f"{name}: functions look for it at another port than {PROXY_LISTENS_AT}")
        callers = {named(group) for each in through for group in each["VpcConfig"]["SecurityGroupIds"]}
        violations += [f"{name} refuses {group}" for group in callers if not admits(template, own, group, PROXY_LISTENS_AT)]
        for database, each in of_type(template, "AWS::RDS::DBInstance").items():
            groups = {named(group) for group in each["VPCSecurityGroups"]}
            network = subnets.addresses(next(iter(of_type(template, "AWS::EC2::VPC").values()))["CidrBlock"])
            if not all(admits(template, groups, group, each["Port"]) for group in own):
                violations.append(f"{database} refuses {name}")
            if not lets_out(template, own, each["Port"], to=network):
                violations.append(f"{name} may not go to {database}")
    return violations


def the_proxy_serves_the_database_and_every_role_of_its_callers(template: Template) -> list[str]:
    """Of whose secret it does not know, it lets nobody through; of whose it may not read, neither."""
    violations = []
    for name, proxy in of_type(template, "AWS::RDS::DBProxy").items():
        through = [each for each in of_type(template, FUNCTION).values() if named(variables_of(each)["DATABASE_HOST"]) == name]
        wanted = {arn(template, variables_of(each)["DATABASE_SECRET_ARN"]) for each in through}
        known = {arn(template, each["SecretArn"]) for each in proxy["Auth"]}
        violations += [f"{name}: {secret}" for secret in sorted(wanted ^ known)]
        targets = of_type(template, "AWS::RDS::DBProxyTargetGroup").values()
        served = {
            named(each) for target in targets if named(target["DBProxyName"]) == name for each in target["DBInstanceIdentifiers"]
        }
        if served != ({None} if template["Values"]["RestoredDatabaseHost"] else set(of_type(template, "AWS::RDS::DBInstance"))):
            violations.append(f"{name} serves {sorted(map(str, served))}")
    return violations


def what_cannot_be_reached_is_refused_before_it_is_made(template: Template) -> list[str]:
    """By the rules of the template, which speak up before anything is made; and they say nothing of what does work."""
    accepted = [f"accepted: {parameters}" for parameters in CANNOT_WORK if not refused(template, **parameters)]
    return accepted + refused(template, **{name: _as_given(value) for name, value in template["Values"].items()})


def _as_given(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)
