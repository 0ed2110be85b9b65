"""Every endpoint, rule, route and subnet is taken away in turn, or leads elsewhere."""

from collections.abc import Iterator
from typing import Any

from tests.template import checks_of_proxy as proxy
from tests.template import checks_of_reach as reach
from tests.template.everything import at, fault, of, resources
from tests.template.faults import Fault

GROUP, FUNCTION = "AWS::EC2::SecurityGroup", "AWS::Lambda::Function"
_OTHER = {"Ref": "PublicRouteTable"}


def faults() -> Iterator[Fault]:
    yield from _of_endpoints()
    yield from _of_security_groups()
    yield from _of_subnets()
    yield from _of_the_proxy()
    yield from _of_rules()
    yield from _of_the_way_out()


def _of_endpoints() -> Iterator[Fault]:
    for name in resources("AWS::EC2::VPCEndpoint"):
        yield fault(reach.endpoints_lead_to_every_service_that_is_called_and_to_no_other, ("Resources", name))
        yield fault(
            reach.endpoints_answer_to_the_names_of_the_services,
            of(name, "ServiceName", "Fn::Sub"),
            "com.amazonaws.eu-west-1.sqs",
        )
        if at(of(name, "VpcEndpointType")) == "Interface":
            yield fault(reach.endpoints_answer_to_the_names_of_the_services, of(name, "PrivateDnsEnabled"))
            yield fault(reach.endpoints_answer_to_the_names_of_the_services, of(name, "PrivateDnsEnabled"), False)
            yield fault(reach.endpoints_stand_beside_the_functions, of(name, "SubnetIds"))
            yield fault(reach.endpoints_stand_beside_the_functions, of(name, "SubnetIds", 1))
            yield fault(reach.endpoints_admit_the_functions, of(name, "SecurityGroupIds"))
            yield fault(reach.endpoints_admit_the_functions, of(name, "SecurityGroupIds", 0), {"Ref": "DatabaseSecurityGroup"})
    yield fault(reach.endpoints_stand_beside_the_functions, of("S3Endpoint", "RouteTableIds"))
    yield fault(reach.endpoints_stand_beside_the_functions, of("S3Endpoint", "RouteTableIds", 0), _OTHER)
    yield fault(reach.endpoints_let_through_what_is_called_and_nothing_else, of("S3Endpoint", "PolicyDocument"))
    for kind in ("Subnet", "RouteTable", "SecurityGroup", "VPCEndpoint", "VPCGatewayAttachment"):
        yield from (fault(reach.everything_stands_in_one_network, of(name, "VpcId")) for name in resources(f"AWS::EC2::{kind}"))
    policy = of("S3Endpoint", "PolicyDocument", "Statement", 0)
    for number in range(len(at((*policy, "Resource")))):
        yield fault(reach.endpoints_let_through_what_is_called_and_nothing_else, (*policy, "Resource", number))
    for key, value in {"Action": "s3:GetObject", "Effect": "Deny", "Principal": {"AWS": "x"}, "Condition": {"Bool": {}}}.items():
        yield fault(reach.endpoints_let_through_what_is_called_and_nothing_else, (*policy, key), value)
    yield fault(reach.endpoints_answer_to_the_names_of_the_services, of("Vpc", "EnableDnsSupport"), False)
    yield fault(reach.endpoints_answer_to_the_names_of_the_services, of("Vpc", "EnableDnsHostnames"))
    extra = {"Type": "AWS::EC2::VPCEndpoint", "Properties": {"ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.logs"}}}
    yield fault(reach.endpoints_lead_to_every_service_that_is_called_and_to_no_other, ("Resources", "LogsEndpoint"), extra)
    yield fault(reach.nothing_else_narrows_the_network, ("Resources", "Walls"), {"Type": "AWS::EC2::NetworkAcl"})


def _of_security_groups() -> Iterator[Fault]:
    """Each rule is for another port, another protocol, another source or destination."""
    checks: dict[tuple[str, str], Any] = {
        ("FunctionSecurityGroup", "SecurityGroupEgress"): reach.functions_may_go_out_to_what_they_call,
        ("EndpointSecurityGroup", "SecurityGroupIngress"): reach.endpoints_admit_the_functions,
        ("DatabaseSecurityGroup", "SecurityGroupIngress"): proxy.the_proxy_is_reached_and_reaches_the_database,
        ("DatabaseSecurityGroup", "SecurityGroupEgress"): proxy.the_proxy_is_reached_and_reaches_the_database,
    }
    for (group, way), check in checks.items():
        for number, rule in enumerate(at(of(group, way))):
            place = of(group, way, number)
            yield fault(check, (*place, "ToPort"), 80)
            yield fault(check, (*place, "FromPort"), 60000)
            yield fault(check, (*place, "IpProtocol"), "udp")
            if "CidrIp" in rule:
                yield fault(check, (*place, "CidrIp"), "192.0.2.0/24")
            else:
                yield fault(check, (*place, "SourceSecurityGroupId"), {"Ref": "EndpointSecurityGroup"})
    yield fault(reach.functions_may_go_out_to_what_they_call, of("FunctionSecurityGroup", "SecurityGroupEgress", 0))
    yield fault(reach.functions_may_go_out_to_what_they_call, of("FunctionSecurityGroup", "SecurityGroupEgress", 1))
    yield fault(reach.endpoints_admit_the_functions, of("EndpointSecurityGroup", "SecurityGroupIngress", 0))


def _of_subnets() -> Iterator[Fault]:
    for subnet in ("SubnetA", "SubnetB"):
        yield fault(reach.functions_stand_in_two_zones_with_routes, ("Resources", f"RouteTableOf{subnet}"))
        yield fault(reach.subnets_have_addresses_of_their_own_within_the_network, of(subnet, "CidrBlock"), "10.43.0.0/26")
        yield fault(reach.subnets_have_addresses_of_their_own_within_the_network, of(subnet, "CidrBlock", "Fn::Select", 0), 2)
    yield fault(reach.functions_stand_in_two_zones_with_routes, of("SubnetB", "AvailabilityZone", "Fn::Select", 0), 0)
    yield fault(reach.subnets_have_addresses_of_their_own_within_the_network, of("Vpc", "CidrBlock"), "10.42.0.0/26")
    for function in resources(FUNCTION):
        yield fault(reach.functions_stand_in_two_zones_with_routes, of(function, "VpcConfig", "SubnetIds", 1))
        yield fault(
            reach.functions_may_go_out_to_what_they_call,
            of(function, "VpcConfig", "SecurityGroupIds", 0),
            {"Ref": "DatabaseSecurityGroup"},
        )


def _of_the_proxy() -> Iterator[Fault]:
    met, served = (
        proxy.the_proxy_is_reached_and_reaches_the_database,
        proxy.the_proxy_serves_the_database_and_every_role_of_its_callers,
    )
    yield fault(met, ("Resources", "ProxyReachesDatabase"))
    yield fault(met, of("ProxyReachesDatabase", "SourceSecurityGroupId"), {"Ref": "FunctionSecurityGroup"})
    yield fault(met, of("DatabaseProxy", "VpcSecurityGroupIds", 0), {"Ref": "EndpointSecurityGroup"})
    yield fault(met, of("IntakeFunction", "Environment", "Variables", "DATABASE_PORT"), 6432)
    yield from (fault(served, of("DatabaseProxy", "Auth", number)) for number in range(len(at(of("DatabaseProxy", "Auth")))))
    yield fault(served, ("Resources", "DatabaseProxyTarget"))
    yield fault(served, of("DatabaseProxyTarget", "DBInstanceIdentifiers"), [])


def _of_rules() -> Iterator[Fault]:
    check = proxy.what_cannot_be_reached_is_refused_before_it_is_made
    for rule, each in at(("Rules",)).items():
        yield fault(check, ("Rules", rule))
        yield from (fault(check, ("Rules", rule, "Assertions", number)) for number in range(len(each["Assertions"])))
        yield fault(check, ("Rules", rule, "RuleCondition"), {"Fn::Equals": [{"Ref": "Stage"}, "prod"]})


def _of_the_way_out() -> Iterator[Fault]:
    for gone in (
        "RouteOut",
        "NatGateway",
        "RouteToInternet",
        "InternetGatewayOfVpc",
        "RouteTableOfPublicSubnet",
        "RouteTableOfSubnetB",
    ):
        yield fault(reach.a_way_out_leads_to_the_internet, ("Resources", gone))
    yield fault(reach.a_way_out_leads_to_the_internet, of("RouteOut", "RouteTableId"), _OTHER)
    yield fault(reach.a_way_out_leads_to_the_internet, of("RouteOut", "DestinationCidrBlock"), "192.0.2.0/24")
    yield fault(reach.a_way_out_leads_to_the_internet, of("NatGateway", "SubnetId"), {"Ref": "SubnetA"})
    yield fault(reach.a_way_out_leads_to_the_internet, of("NatGateway", "AllocationId"))
