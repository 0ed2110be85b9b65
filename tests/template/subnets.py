"""Where the functions stand: their subnets, the addresses of these, and the ways that lead on."""

import json
from ipaddress import IPv4Network
from typing import Any

from tests.template.reading import Template, named, of_type

SUBNET, FUNCTION = "AWS::EC2::Subnet", "AWS::Lambda::Function"


def of_functions(template: Template) -> set[str]:
    places = [each.get("VpcConfig", {}) for each in of_type(template, FUNCTION).values()]
    return {str(named(subnet)) for place in places for subnet in place.get("SubnetIds", [])}


def groups_of_functions(template: Template) -> set[str]:
    places = [each.get("VpcConfig", {}) for each in of_type(template, FUNCTION).values()]
    return {str(named(group)) for place in places for group in place.get("SecurityGroupIds", [])}


def zone(template: Template, subnet: str) -> str:
    return json.dumps(of_type(template, SUBNET)[subnet]["AvailabilityZone"])


def addresses(block: Any) -> IPv4Network:
    """The addresses that a block names, whether it is written out or is one of the parts of another."""
    match block:
        case {"Fn::Select": [number, {"Fn::Cidr": [whole, count, bits]}]}:
            parts = list(addresses(whole).subnets(new_prefix=32 - int(bits)))[: int(count)]
            return parts[int(number)]
        case _:
            return IPv4Network(str(block))


def tables(template: Template, subnets: set[str]) -> dict[str, set[str]]:
    """By subnet, the route tables that it is told of."""
    told = of_type(template, "AWS::EC2::SubnetRouteTableAssociation").values()
    return {
        subnet: {str(named(each["RouteTableId"])) for each in told if named(each["SubnetId"]) == subnet} for subnet in subnets
    }


def ways_on(template: Template, table: str) -> list[dict[str, Any]]:
    """The routes of a table that lead to anywhere else."""
    routes = of_type(template, "AWS::EC2::Route").values()
    return [each for each in routes if named(each["RouteTableId"]) == table and each.get("DestinationCidrBlock") == "0.0.0.0/0"]
