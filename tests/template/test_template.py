"""The template keeps every rule we have, however its parameters are chosen."""

import re
from typing import Any

import pytest

from tests.template import checks, reading
from tests.template.checks import Check

VARIANTS = {
    "as it comes": {},
    "in production behind a proxy": {
        "Stage": "prod",
        "ReserveConcurrency": "true",
        "UseDatabaseProxy": "true",
        "MultiAz": "true",
        "PrivateEndpoints": "true",
        "EndpointsInBothZones": "true",
        "AlarmEmail": "ops@example.com",
    },
    "with a database of your own": {
        "ExistingDatabaseHost": "db.example.com",
        "ExistingDatabaseSecretArn": "arn:aws:secretsmanager:us-east-1:account:secret:mine",
        "ExistingDatabaseSecretKeyArn": "arn:aws:kms:us-east-1:account:key/mine",
        "ExistingSubnetIds": "subnet-1,subnet-2",
        "ExistingSecurityGroupId": "sg-1",
    },
    "with a restored database in its network": {
        "UseDatabaseProxy": "true",
        "RestoredDatabaseHost": "restored.c0ffee.us-east-1.rds.amazonaws.com",
        "RestoredDatabaseSecretArn": "arn:aws:secretsmanager:us-east-1:account:secret:rds!db-restored",
    },
    "with a database from a snapshot": {"DatabaseSnapshot": "tocsin-before-the-accident"},
    "with a way to the internet": {"InternetEgress": "true", "PublicUrl": "https://notify.example.com"},
    "with push": {
        "ApnsApplicationArn": "arn:aws:sns:us-east-1:account:app/APNS/ours",
        "FcmApplicationArn": "arn:aws:sns:us-east-1:account:app/GCM/ours",
    },
    "with an archive": {"ArchiveRecords": "true"},
    "with names of its own": {"DomainName": "notify.example.com", "HostedZoneId": "Z1", "VerifyEmailDomain": "true"},
    "with functions for triggers": {
        "PrivateEndpoints": "true",
        "TriggerFunctionArns": "arn:aws:lambda:us-east-1:account:function:one,arn:aws:lambda:us-east-1:account:function:two:live",
    },
}

FUNCTION = "AWS::Lambda::Function"
WAY_OUT = ("EIP", "InternetGateway", "NatGateway", "Route", "VPCGatewayAttachment")


def _sentence(check: Check) -> str:
    return check.__name__.replace("_", " ")


@pytest.mark.parametrize("check", checks.ON_TRANSLATED, ids=_sentence)
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_template_keeps_the_rule_that(check: Check, variant: str) -> None:
    assert check(reading.standing(**VARIANTS[variant])) == []


@pytest.mark.parametrize("check", checks.ON_SAM, ids=_sentence)
def test_the_sources_keep_the_rule_that(check: Check) -> None:
    assert check(reading.sam_template()) == []


def test_only_production_protects_its_database_from_deletion() -> None:
    protected = {
        stage: reading.standing(Stage=stage)["Resources"]["Database"]["Properties"]["DeletionProtection"]
        for stage in ("dev", "prod")
    }

    assert protected == {"dev": False, "prod": True}


def test_an_existing_database_brings_its_network_so_none_is_made() -> None:
    template = reading.standing(**VARIANTS["with a database of your own"])

    made = {resource["Type"].split("::")[1] for resource in template["Resources"].values()}
    variables = template["Resources"]["IntakeFunction"]["Properties"]["Environment"]["Variables"]

    assert not made & {"EC2", "RDS", "CloudFormation"}
    assert template["Stacks"] == {}
    assert variables["DATABASE_HOST"] == "db.example.com"


def test_there_is_no_way_to_the_internet_unless_it_is_asked_for() -> None:
    made = {
        choice: {each["Type"] for each in reading.standing(PrivateEndpoints="true", InternetEgress=choice)["Resources"].values()}
        for choice in ("false", "true")
    }

    assert made["true"] - made["false"] == {f"AWS::EC2::{kind}" for kind in WAY_OUT}
    assert "AWS::EC2::EgressOnlyInternetGateway" not in made["true"]


def test_without_endpoints_a_gateway_for_ipv6_leads_to_aws_and_nothing_else_changes_but_the_endpoints() -> None:
    cheap, private = (reading.standing(PrivateEndpoints=choice)["Resources"] for choice in ("false", "true"))

    assert set(cheap) - set(private) == {"Ipv6Gateway", "RouteOutByIpv6"}
    assert set(private) - set(cheap) == {
        "EndpointSecurityGroup",
        *(f"{name}Endpoint" for name in ("Sqs", "Sns", "Kms", "Secrets", "Email")),
    }
    assert [cheap[name] for name in ("Vpc", "SubnetA", "SubnetB", "Database")] == [
        private[name] for name in ("Vpc", "SubnetA", "SubnetB", "Database")
    ], "whoever changes their mind keeps the database"


def test_unsubscribe_links_lead_to_the_api_unless_another_address_is_given() -> None:
    urls = {
        given: reading.standing(PublicUrl=given)["Resources"]["DispatchFunction"]["Properties"]
        for given in ("", "https://notify.example.com")
    }
    led = {given: each["Environment"]["Variables"]["PUBLIC_URL"] for given, each in urls.items()}

    assert led["https://notify.example.com"] == "https://notify.example.com"
    assert led[""] == reading.standing()["Outputs"]["ApiUrl"]["Value"]


@pytest.mark.parametrize("given", ["*", "https://app.example.com", "https://app.example.com,http://localhost:3000"])
def test_pages_of_the_given_origins_may_call_the_api(given: str) -> None:
    cors = _cors(given)

    assert cors["allowOrigins"] == {"Fn::Split": [",", given]}, "CloudFormation makes a list of it"
    assert set(cors) == {"allowOrigins", "allowMethods", "allowHeaders", "exposeHeaders", "maxAge"}


def test_without_origins_no_page_elsewhere_may_call_the_api() -> None:
    assert _cors("") is None


def _cors(origins: str) -> Any:
    template = reading.sam_template()
    template["Resources"] = {"HttpApi": template["Resources"]["HttpApi"]}  # SAM takes seconds for all, and asks no other of this
    translated = reading.translate(template, InboxOrigins=origins)  # SAM itself fills this parameter in
    api = reading.settled(translated, InboxOrigins=origins)["Resources"]["HttpApi"]
    return api["Properties"]["Body"].get("x-amazon-apigateway-cors")


@pytest.mark.parametrize(
    ("origins", "is_accepted"),
    [
        ("", True),
        ("*", True),
        ("https://*", True),
        ("https://app.example.com,http://localhost:3000", True),
        ("app.example.com", False),
        ("https://app.example.com/", False),
        ("https://app.example.com, https://other.example.com", False),
        ("https://*.example.com", False),
    ],
)
def test_origins_are_written_as_browsers_send_them(origins: str, is_accepted: bool) -> None:
    pattern = reading.sam_template()["Parameters"]["InboxOrigins"]["AllowedPattern"]

    assert bool(re.fullmatch(pattern, origins)) is is_accepted


def test_the_migration_goes_past_the_proxy_and_the_others_through_it() -> None:
    template = reading.standing(UseDatabaseProxy="true")

    hosts = {
        name: reading.named(each["Environment"]["Variables"]["DATABASE_HOST"])
        for name, each in reading.of_type(template, "AWS::Lambda::Function").items()
    }

    assert hosts.pop("MigrateFunction") == "Database"
    assert set(hosts.values()) == {"DatabaseProxy"}


def test_push_is_allowed_only_to_the_endpoints_of_our_applications() -> None:
    template = reading.standing(**VARIANTS["with push"])

    statements = template["Resources"]["DispatchRole"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]
    made = [each["Resource"] for each in statements if each["Action"] == "sns:CreatePlatformEndpoint"]

    assert made == [VARIANTS["with push"]["ApnsApplicationArn"], VARIANTS["with push"]["FcmApplicationArn"]]


def test_triggers_invoke_the_functions_of_the_list_and_nobody_else_invokes_any() -> None:
    variants = ("as it comes", "with functions for triggers")
    roles = {
        variant: {name: str(reading.named(each["Role"])) for name, each in _functions(variant).items()} for variant in variants
    }
    invoking = {
        variant: {name: invoked for name, role in roles[variant].items() if (invoked := _invoked_by(variant, role))}
        for variant in variants
    }

    listed = VARIANTS["with functions for triggers"]["TriggerFunctionArns"]
    assert invoking == {"as it comes": {}, "with functions for triggers": {"TriggersFunction": listed.split(",")}}
    assert _variables_of("TriggersFunction", "with functions for triggers")["TRIGGER_FUNCTION_ARNS"] == listed
    assert _variables_of("DataFunction", "as it comes")["TRIGGER_FUNCTION_ARNS"] == ""


def test_an_endpoint_to_lambda_is_made_only_for_triggers_that_need_it() -> None:
    made = {variant: set(reading.standing(**VARIANTS[variant])["Resources"]) for variant in VARIANTS}

    assert {variant for variant, resources in made.items() if "LambdaEndpoint" in resources} == {"with functions for triggers"}


@pytest.mark.parametrize(
    ("arn", "is_accepted"),
    [
        ("", True),
        ("arn:aws:lambda:eu-central-1:111111111111:function:on-change", True),
        ("arn:aws-us-gov:lambda:us-gov-west-1:111111111111:function:on_change:live", True),
        ("arn:aws:lambda:eu-central-1:111111111111:function:*", False),
        ("arn:aws:lambda:*:111111111111:function:on-change", False),
        ("arn:aws:lambda:eu-central-1:111111111111:function:on-change:*", False),
        ("arn:aws:lambda:eu-central-1:111111111111:layer:on-change", False),
        ("on-change", False),
    ],
)
def test_a_function_is_named_whole(arn: str, is_accepted: bool) -> None:
    pattern = reading.sam_template()["Parameters"]["TriggerFunctionArns"]["AllowedPattern"]

    assert bool(re.fullmatch(pattern, arn)) is is_accepted


@pytest.mark.parametrize(
    ("variant", "said"),
    [("as it comes", "false"), ("with a way to the internet", "true"), ("with a database of your own", "unknown")],
)
def test_whoever_takes_webhooks_knows_whether_a_way_leads_to_the_internet(variant: str, said: str) -> None:
    assert _variables_of("DataFunction", variant)["INTERNET_EGRESS"] == said


def test_nothing_private_is_called_unless_the_parameter_says_so() -> None:
    said = {name: _variables_of(name, "as it comes").get("ALLOW_PRIVATE_DESTINATIONS") for name in _functions("as it comes")}

    takes_files = {"IntakeFunction", "WaitFunction", "IntakeQueueFunction", "OperateFunction"}
    told = {"DataFunction", "DispatchFunction", "WebhooksFunction", "TriggersFunction"} | takes_files
    assert said == {name: "false" if name in told else None for name in said}


def _functions(variant: str) -> dict[str, dict[str, Any]]:
    return reading.of_type(reading.standing(**VARIANTS[variant]), FUNCTION)


def _variables_of(function: str, variant: str) -> dict[str, Any]:
    variables: dict[str, Any] = _functions(variant)[function]["Environment"]["Variables"]
    return variables


def _invoked_by(variant: str, role: str) -> list[Any]:
    policies = reading.of_type(reading.standing(**VARIANTS[variant]), "AWS::IAM::Role")[role].get("Policies", [])
    statements = [each for policy in policies for each in policy["PolicyDocument"]["Statement"]]
    found = [each["Resource"] for each in statements if "lambda:InvokeFunction" in reading.listed(each["Action"])]
    return [one for resource in found for one in reading.listed(resource)]


def test_without_reservations_which_is_how_it_comes_a_young_account_can_deploy() -> None:
    template = reading.standing()

    functions = reading.of_type(template, "AWS::Lambda::Function").values()

    assert not any("ReservedConcurrentExecutions" in each for each in functions)
