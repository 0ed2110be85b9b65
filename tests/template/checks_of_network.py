"""What must hold of the network, and of the seam between it and the rest: the others look into it by its outputs only."""

from typing import Any

from tests.template.reading import Template, named, of_type

FUNCTION = "AWS::Lambda::Function"
SERVICES = {"sqs", "sns", "kms", "secretsmanager", "email"}  # what the functions call, as endpoints are named
LIMITS = ("Type", "AllowedPattern", "AllowedValues", "MinValue", "MaxValue")
# What the migration calls: its secrets, and the bucket by which it tells CloudFormation that it is done.
MIGRATION_CALLS = ("secretsmanager", "kms", "s3")


def stacks_are_given_what_they_ask_for(template: Template) -> list[str]:
    return [
        f"{name}: {parameter}"
        for name, stack in template["Stacks"].items()
        for parameter in sorted(set(stack["Given"]) ^ set(stack["Template"]["Parameters"]))
    ]


def stacks_take_what_their_parent_took(template: Template) -> list[str]:
    """A parameter that both know has one form: else a value that was accepted fails halfway into a deployment."""
    return [
        f"{name}: {parameter}"
        for name, stack in template["Stacks"].items()
        for parameter, each in stack["Template"]["Parameters"].items()
        if (parent := template["Parameters"].get(parameter)) and any(each.get(limit) != parent.get(limit) for limit in LIMITS)
    ]


def stacks_offer_what_is_taken_from_them(template: Template) -> list[str]:
    return [
        f"{name}: {output}"
        for name, stack in template["Stacks"].items()
        for output in sorted(stack["Taken"] ^ set(stack["Template"]["Outputs"]))
    ]


def the_network_exists_before_the_migration(template: Template) -> list[str]:
    """Else it waits for secrets it cannot reach, or cannot tell CloudFormation that it is done.

    Its function takes its subnets from the network's stack, so CloudFormation makes all of that first and deletes it last.
    """
    function = named(template["Resources"]["Migration"]["Properties"]["ServiceToken"])
    subnets = {named(each) for each in of_type(template, FUNCTION)[str(function)]["VpcConfig"]["SubnetIds"]}
    for stack in template["Stacks"].values():
        resources = stack["Template"]["Resources"]
        reached = _services_with_an_endpoint(stack["Template"]) | ({"secretsmanager", "kms"} if _leads_out(template) else set())
        missing = [f"no way leads to {service}" for service in MIGRATION_CALLS if service not in reached]
        return missing + ([] if subnets <= set(resources) else [f"{function} stands outside the network"])
    return []


def functions_reach_aws_by_endpoints_or_over_ipv6(template: Template) -> list[str]:
    """One way or the other, whole: each service has an endpoint, or all that IPv6 needs is there, and nobody is told else."""
    violations = []
    for stack in template["Stacks"].values():
        by_endpoints = _services_with_an_endpoint(stack["Template"]) >= SERVICES
        for name, each in of_type(template, FUNCTION).items():
            told = each["Environment"]["Variables"].get("AWS_OVER_IPV6")
            allowed = each["VpcConfig"].get("Ipv6AllowedForDualStack")
            if (told, allowed) != (("false", False) if by_endpoints else ("true", True)):
                violations.append(f"{name}: told {told}, allowed {allowed}")
        if not by_endpoints and not _leads_out(template):
            violations.append("neither endpoints nor IPv6 lead to AWS")
        if by_endpoints and _leads_out(template):
            violations.append("endpoints cost, and a gateway leads out all the same")
    return violations


def _services_with_an_endpoint(network: Template) -> set[str]:
    endpoints = of_type(network, "AWS::EC2::VPCEndpoint").values()
    usable = [each for each in endpoints if each["VpcEndpointType"] == "Gateway" or each.get("PrivateDnsEnabled") is True]
    return {str(each["ServiceName"]["Fn::Sub"]).rpartition(".")[2] for each in usable}


def _leads_out(template: Template) -> bool:
    """Whether every subnet of the functions has IPv6 addresses and a route to a gateway that lets nothing in, and their groups
    let port 443 out there."""
    functions = of_type(template, FUNCTION).values()
    subnets = {str(named(subnet)) for each in functions for subnet in each["VpcConfig"]["SubnetIds"]}
    groups = {str(named(group)) for each in functions for group in each["VpcConfig"]["SecurityGroupIds"]}
    gateways = of_type(template, "AWS::EC2::EgressOnlyInternetGateway")
    routes = of_type(template, "AWS::EC2::Route").values()
    leading = {named(each["RouteTableId"]) for each in routes if named(each.get("EgressOnlyInternetGatewayId")) in gateways}
    tables = of_type(template, "AWS::EC2::SubnetRouteTableAssociation").values()
    routed = {named(each["SubnetId"]) for each in tables if named(each["RouteTableId"]) in leading}
    allowing = [
        rule.get("CidrIpv6") == "::/0" and rule["FromPort"] == rule["ToPort"] == 443
        for name, each in of_type(template, "AWS::EC2::SecurityGroup").items()
        if name in groups
        for rule in each["SecurityGroupEgress"]
    ]
    addressed = {name for name, each in of_type(template, "AWS::EC2::Subnet").items() if "Ipv6CidrBlock" in each}
    return subnets <= routed & addressed and any(allowing)


def functions_meet_the_database_at_its_port_alone(template: Template) -> list[str]:
    """Every function is in a group that the database admits, and in none of the database's own."""
    violations = []
    for database in of_type(template, "AWS::RDS::DBInstance").values():
        own = {named(group) for group in database["VPCSecurityGroups"]}
        admitted = {named(rule["SourceSecurityGroupId"]) for rule in _ingress(template, own) if _is_for(rule, database["Port"])}
        for name, each in of_type(template, FUNCTION).items():
            joined = {named(group) for group in each["VpcConfig"]["SecurityGroupIds"]}
            if joined & own or not joined & admitted:
                violations.append(f"{name}: {sorted(map(str, joined))}")
    return violations


def _ingress(template: Template, groups: set[str | None]) -> list[dict[str, Any]]:
    inside = [
        rule
        for name, each in of_type(template, "AWS::EC2::SecurityGroup").items()
        if name in groups
        for rule in each.get("SecurityGroupIngress", [])
    ]
    beside = of_type(template, "AWS::EC2::SecurityGroupIngress").values()
    return [
        rule
        for rule in (*inside, *(each for each in beside if named(each["GroupId"]) in groups))
        if "SourceSecurityGroupId" in rule
    ]


def _is_for(rule: dict[str, Any], port: Any) -> bool:
    return bool(rule["FromPort"] == rule["ToPort"] == port)
