"""The monthly figure of an idle installation is the template's, on the page that explains it."""

import re

import pytest

from tests.template import idle_cost, reading

PAGE = (reading.ROOT / "docs" / "deploying.md").read_text()
PRINT = "`python -m tests.template.idle_cost` prints what the page should say"


def test_the_page_has_a_row_for_everything_that_bills_and_no_other() -> None:
    (table,) = re.findall(r"\| what bills \|.*\n\| ---.*\n((?:\|.*\n)+)", PAGE)

    *listed, together = table.splitlines()

    assert listed == [str(row) for row in idle_cost.rows()], PRINT
    assert together == f"| **together** | | | **{idle_cost.total():.2f}** |", PRINT


def test_the_page_begins_with_the_sum() -> None:
    own = round(idle_cost.total(**idle_cost.own_network()))
    everything = round(idle_cost.total())

    assert f"About {everything} USD a month: list prices in us-east-1" in PAGE, PRINT
    assert f"all in all | {own} |" in PAGE, PRINT


@pytest.mark.parametrize("choice", re.findall(r"^\| `(\w+=\S+)` \| [+-][\d.]+ \|$", PAGE, re.MULTILINE))
def test_what_a_choice_adds_or_saves_is_what_the_template_makes_of_it(choice: str) -> None:
    name, value = choice.split("=")

    difference = idle_cost.total(**{name: value}) - idle_cost.total()

    assert f"| `{choice}` | {difference:+.2f} |" in PAGE, PRINT


def test_production_costs_what_the_page_says() -> None:
    together = round(idle_cost.total(**idle_cost.production()))

    assert f"| production as `samconfig.toml` has it: all in all | {together} |" in PAGE, PRINT


def test_every_kind_of_resource_that_bills_by_the_hour_or_month_is_known() -> None:
    """A kind that is new here must be looked up: it bills (then idle_cost counts it), or it does not (then it is listed)."""
    free = {
        *(
            "ApiGatewayV2::Api",
            "ApiGatewayV2::Stage",
            "EC2::InternetGateway",
            "EC2::Route",
            "EC2::RouteTable",
            "EC2::SecurityGroup",
        ),
        *(
            "EC2::SecurityGroupIngress",
            "EC2::Subnet",
            "EC2::SubnetRouteTableAssociation",
            "EC2::VPC",
            "EC2::VPCCidrBlock",
            "EC2::EgressOnlyInternetGateway",
            "EC2::VPCGatewayAttachment",
        ),
        *(
            "Events::EventBus",
            "Events::Rule",
            "IAM::Role",
            "Lambda::EventInvokeConfig",
            "Lambda::Function",
            "Lambda::LayerVersion",
        ),
        *("Lambda::Permission", "Logs::LogGroup", "RDS::DBParameterGroup", "RDS::DBProxyTargetGroup", "RDS::DBSubnetGroup"),
        *(
            "SES::ConfigurationSet",
            "SES::ConfigurationSetEventDestination",
            "SNS::Subscription",
            "SNS::Topic",
            "SNS::TopicPolicy",
        ),
        *("SQS::Queue", "SQS::QueuePolicy", "CloudFormation::Stack", "IAM::ManagedPolicy"),
        *("S3::Bucket", "S3::BucketPolicy"),  # an empty bucket costs nothing
        # in a zone that is there already, and a certificate that only AWS's own services can use
        *("ApiGatewayV2::DomainName", "ApiGatewayV2::ApiMapping", "CertificateManager::Certificate", "SES::EmailIdentity"),
        *("Route53::RecordSet", "Route53::RecordSetGroup"),
    }
    counted = {
        *(
            "RDS::DBInstance",
            "EC2::VPCEndpoint",
            "EC2::NatGateway",
            "EC2::EIP",
            "RDS::DBProxy",
            "KMS::Key",
            "SecretsManager::Secret",
        ),
        *("CloudWatch::Alarm", "CloudWatch::Dashboard", "Lambda::EventSourceMapping", "Scheduler::Schedule"),
    }

    kinds = {resource["Type"] for resource in reading.every_resource(reading.whole())}

    assert {kind.removeprefix("AWS::") for kind in kinds if not kind.startswith("Custom::")} - free == counted
