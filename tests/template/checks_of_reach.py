"""What the functions call, they reach: every service of AWS by an endpoint, and the database by its port."""

from ipaddress import IPv4Network
from itertools import combinations
from typing import Any

from tests.template import subnets
from tests.template.aws_calls import answers_cloudformation
from tests.template.checks_of_grants import calls_of, needs_of, variables_of
from tests.template.doors import folders
from tests.template.policies import Grant, arn
from tests.template.reading import Template, listed, named, of_type
from tests.template.security_groups import ANYWHERE, admits, lets_out

FUNCTION, ENDPOINT = "AWS::Lambda::Function", "AWS::EC2::VPCEndpoint"
# client: what its endpoint is called. Logs and metrics need none, since Lambda itself collects what a function prints; nor do
# traces, which are handed to Lambda's own daemon beside the function.
SERVICES = {"sesv2": "email", **{each: each for each in ("sqs", "secretsmanager", "kms", "sns", "lambda", "s3")}}
HTTPS = 443
TO_CLOUDFORMATION = Grant("s3:PutObject", "arn:${AWS::Partition}:s3:::cloudformation-custom-resource-response-*/*")


def endpoints_lead_to_every_service_that_is_called_and_to_no_other(template: Template) -> list[str]:
    """One that nobody calls would still be paid for."""
    made = [_service(each) for each in _endpoints(template).values()]
    double = [f"{service}: {made.count(service)} endpoints" for service in sorted(set(made)) if made.count(service) > 1]
    return double + [
        f"{service} is {'called' if service in _called(template) else 'not called'}" for service in _differing(template, made)
    ]


def endpoints_answer_to_the_names_of_the_services(template: Template) -> list[str]:
    """The SDK asks for the service by its public name, which leads to the endpoint only with a private zone of the VPC."""
    violations = []
    for name, each in _endpoints(template).items():
        network = of_type(template, "AWS::EC2::VPC")[str(named(each["VpcId"]))]
        if each["ServiceName"] != {"Fn::Sub": f"com.amazonaws.${{AWS::Region}}.{_service(each)}"}:
            violations.append(f"{name}: {each['ServiceName']}")
        if _is_interface(each) and each.get("PrivateDnsEnabled") is not True:
            violations.append(f"{name}: no private DNS")
        if network.get("EnableDnsSupport") is not True or network.get("EnableDnsHostnames") is not True:
            violations.append(f"{name}: its network resolves no private names")
    return violations


def endpoints_stand_beside_the_functions(template: Template) -> list[str]:
    """An interface in a subnet of theirs (in each, if both zones are asked for), a gateway in every route table of theirs."""
    near = subnets.of_functions(template)
    routed = {table for found in subnets.tables(template, near).values() for table in found}
    wanted = len(near) if template["Values"].get("EndpointsInBothZones") == "true" else 1
    violations = []
    for name, each in _endpoints(template).items():
        standing = {str(named(subnet)) for subnet in each.get("SubnetIds", [])}
        if _is_interface(each) and (len(standing & near) < wanted or standing - near):
            violations.append(f"{name}: in {sorted(standing)}")
        if not _is_interface(each) and not routed <= {str(named(table)) for table in each.get("RouteTableIds", [])}:
            violations.append(f"{name}: not routed from every subnet")
    return violations


def endpoints_admit_the_functions(template: Template) -> list[str]:
    return [
        f"{name}: {group} is not let in"
        for name, each in _endpoints(template).items()
        if _is_interface(each)
        for group in subnets.groups_of_functions(template)
        if not admits(template, {named(one) for one in each.get("SecurityGroupIds", [])}, group, HTTPS)
    ]


def endpoints_let_through_what_is_called_and_nothing_else(template: Template) -> list[str]:
    """Those with a policy of their own, which every gateway has; an interface lets through whatever the caller's role allows."""
    open_ones = [name for name, each in _endpoints(template).items() if not _is_interface(each) and "PolicyDocument" not in each]
    return open_ones + [
        f"{name}: {' '.join(grant)}"
        for name, each in _endpoints(template).items()
        if "PolicyDocument" in each
        for grant in sorted(_let_through(template, each["PolicyDocument"]) ^ _through(template, _service(each)))
    ]


def functions_may_go_out_to_what_they_call(template: Template) -> list[str]:
    """To any address, since those of the S3 gateway are public; and to the database wherever it stands in the network."""
    violations = []
    networks = of_type(template, "AWS::EC2::VPC").values()
    for name, each in of_type(template, FUNCTION).items() if networks else ():
        groups = {named(group) for group in each["VpcConfig"]["SecurityGroupIds"]}
        port = int(variables_of(each)["DATABASE_PORT"])
        inside = all(lets_out(template, groups, port, to=subnets.addresses(network["CidrBlock"])) for network in networks)
        if not inside or not lets_out(template, groups, HTTPS, to=ANYWHERE):
            violations.append(name)
    return violations


def functions_stand_in_two_zones_with_routes(template: Template) -> list[str]:
    """A subnet without a table of its own follows the network's main one, which leads to no gateway endpoint."""
    if not of_type(template, "AWS::EC2::VPC"):
        return []
    violations = []
    for name, each in of_type(template, FUNCTION).items():
        near = {str(named(subnet)) for subnet in each["VpcConfig"]["SubnetIds"]} & set(of_type(template, subnets.SUBNET))
        if len({subnets.zone(template, subnet) for subnet in near}) < 2:
            violations.append(f"{name}: in one zone")
        lost = [subnet for subnet, found in subnets.tables(template, near).items() if len(found) != 1]
        violations += [f"{name}: {subnet} has no route table" for subnet in sorted(lost)]
    return violations


def subnets_have_addresses_of_their_own_within_the_network(template: Template) -> list[str]:
    blocks = {name: subnets.addresses(each["CidrBlock"]) for name, each in of_type(template, subnets.SUBNET).items()}
    networks = {name: subnets.addresses(each["CidrBlock"]) for name, each in of_type(template, "AWS::EC2::VPC").items()}
    within = {name: networks.get(str(named(each["VpcId"]))) for name, each in of_type(template, subnets.SUBNET).items()}
    outside = [name for name, block in blocks.items() if not _contains(within[name], block)]
    return outside + [f"{one} and {other}" for one, other in combinations(blocks, 2) if blocks[one].overlaps(blocks[other])]


def a_way_out_leads_to_the_internet(template: Template) -> list[str]:
    """From every subnet of the functions, by a NAT gateway, and on by a gateway of the network; if one is asked for."""
    if template["Values"].get("InternetEgress") != "true":
        return []
    attached = {named(each["InternetGatewayId"]) for each in of_type(template, "AWS::EC2::VPCGatewayAttachment").values()}
    nats = {name: str(named(each["SubnetId"])) for name, each in of_type(template, "AWS::EC2::NatGateway").items()}
    addressed = {name for name, each in of_type(template, "AWS::EC2::NatGateway").items() if each.get("AllocationId")}
    lost = []
    for subnet, found in subnets.tables(template, subnets.of_functions(template)).items():
        out = {named(way.get("NatGatewayId")) for table in found for way in subnets.ways_on(template, table)}
        good = {nat for nat in out if nat in addressed and _leads_to(template, nats[str(nat)], attached)}
        lost += [] if good and good == out else [subnet]
    return lost


def everything_stands_in_one_network(template: Template) -> list[str]:
    """What names no network would stand in the account's own, apart from the rest."""
    networks = set(of_type(template, "AWS::EC2::VPC"))
    kinds = ("Subnet", "RouteTable", "SecurityGroup", "VPCEndpoint", "VPCGatewayAttachment")
    placed = [(name, each) for kind in kinds for name, each in of_type(template, f"AWS::EC2::{kind}").items()]
    return [name for name, each in placed if {named(each.get("VpcId"))} != networks]


def nothing_else_narrows_the_network(template: Template) -> list[str]:
    """A network ACL would be a second set of rules, which the checks above do not read."""
    return [name for name, each in template["Resources"].items() if "NetworkAcl" in each["Type"]]


def _endpoints(template: Template) -> dict[str, dict[str, Any]]:
    return of_type(template, ENDPOINT)


def _service(endpoint: dict[str, Any]) -> str:
    return str(endpoint["ServiceName"].get("Fn::Sub", "")).rpartition(".")[2]


def _is_interface(endpoint: dict[str, Any]) -> bool:
    return endpoint.get("VpcEndpointType") == "Interface"


def _differing(template: Template, made: list[str]) -> list[str]:
    """Without endpoints AWS is reached over IPv6, but for the bucket that CloudFormation hears by, whose address is IPv4's."""
    needed = _called(template) if template["Values"]["PrivateEndpoints"] == "true" else _called(template) & {"s3"}
    return sorted(set(made) ^ needed) if of_type(template, "AWS::EC2::VPC") else []


def _called(template: Template) -> set[str]:
    """The endpoints that the functions need, with the parameters as they are."""
    return {service for service in SERVICES.values() if _through(template, service)}


def _through(template: Template, service: str) -> set[Grant]:
    """What is done through the endpoint of a service."""
    found: set[Grant] = set()
    for name, each in of_type(template, FUNCTION).items():
        calls = [call for call in calls_of(name) if SERVICES[call.service] == service]
        found |= {
            grant
            for call in calls
            for grant in needs_of(call)(template, variables_of(each))
            if not grant.purpose or service != "s3"
        }
        found |= {TO_CLOUDFORMATION} if service == "s3" and answers_cloudformation(folders()[name]) else set()
    return found


def _let_through(template: Template, document: dict[str, Any]) -> set[Grant]:
    return {
        Grant(action, arn(template, resource))
        for statement in document["Statement"]
        if statement["Effect"] == "Allow" and statement["Principal"] == "*" and "Condition" not in statement
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    }


def _contains(network: IPv4Network | None, block: IPv4Network) -> bool:
    return network is not None and block.subnet_of(network)


def _leads_to(template: Template, subnet: str, gateways: set[str | None]) -> bool:
    (found,) = subnets.tables(template, {subnet}).values()
    return any(named(way.get("GatewayId")) in gateways for table in found for way in subnets.ways_on(template, table))
