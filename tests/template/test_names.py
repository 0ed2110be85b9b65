"""Names of one's own: the API's domain and the sender's are made where they are asked for, and nowhere else."""

from typing import Any

import pytest

from tests.template import reading
from tools.template_rules import refusals

ZONE = {"HostedZoneId": "Z1"}
OWN = {"DomainName": "notify.example.com", **ZONE}
CERTIFICATE = "arn:aws:acm:us-east-1:111111111111:certificate/mine"


def _made(**given: str) -> set[str]:
    return set(reading.standing(**given)["Resources"]) - set(reading.standing()["Resources"])


def _public_url(**given: str) -> Any:
    function = reading.standing(**given)["Resources"]["DispatchFunction"]
    return function["Properties"]["Environment"]["Variables"]["PUBLIC_URL"]


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (ZONE, set()),
        (OWN, {"ApiCertificate", "ApiDomain", "ApiDomainMapping", "ApiDomainRecord"}),
        ({**OWN, "CertificateArn": CERTIFICATE}, {"ApiDomain", "ApiDomainMapping", "ApiDomainRecord"}),
        ({"DomainName": "notify.example.com", "CertificateArn": CERTIFICATE}, {"ApiDomain", "ApiDomainMapping"}),
        ({**ZONE, "VerifyEmailDomain": "true"}, {"EmailIdentity", "EmailRecords"}),
    ],
)
def test_what_is_asked_for_is_made_and_nothing_else(given: dict[str, str], made: set[str]) -> None:
    assert refusals(reading.sam_template(), "us-east-1", {**reading.REQUIRED, **given}) == []
    assert _made(**given) == made


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"DomainName": "notify.example.com"},
            "DomainName needs HostedZoneId, in which a certificate can be proved, or CertificateArn.",
        ),
        ({"CertificateArn": CERTIFICATE}, "CertificateArn is for DomainName, which is empty."),
        ({"VerifyEmailDomain": "true"}, "VerifyEmailDomain needs HostedZoneId."),
    ],
)
def test_what_cannot_be_proved_is_refused(given: dict[str, str], said: str) -> None:
    assert refusals(reading.sam_template(), "us-east-1", {**reading.REQUIRED, **given}) == [said]


def test_links_lead_to_the_own_domain_unless_another_address_is_given() -> None:
    assert (
        _public_url(**OWN) == {"Fn::Sub": "https://notify.example.com"} == reading.standing(**OWN)["Outputs"]["ApiUrl"]["Value"]
    )
    assert _public_url(**OWN, PublicUrl="https://mail.example.com") == "https://mail.example.com"


def test_the_identity_is_the_domain_of_the_sender_whom_dispatch_may_send_as() -> None:
    template = reading.standing(**ZONE, VerifyEmailDomain="true", EmailFrom="bell@mail.example.com")

    domain = template["Resources"]["EmailIdentity"]["Properties"]["EmailIdentity"]
    statements = template["Resources"]["DispatchRole"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]
    (sending,) = [each for each in statements if each["Action"] == "ses:SendEmail"]

    assert domain == {"Fn::Select": [1, {"Fn::Split": ["@", "bell@mail.example.com"]}]}
    assert sending["Condition"] == {"StringEquals": {"ses:FromAddress": "bell@mail.example.com"}}
    assert str(sending["Resource"][0]["Fn::Sub"]).endswith(":identity/*")


@pytest.mark.parametrize("policy", ["none", "quarantine", "reject", "own"])
def test_a_domain_that_has_a_dmarc_record_keeps_it(policy: str) -> None:
    template = reading.standing(**ZONE, VerifyEmailDomain="true", DmarcPolicy=policy)

    records = template["Resources"]["EmailRecords"]["Properties"]["RecordSets"]
    made = [each["ResourceRecords"] for each in records if "_dmarc." in str(each["Name"])]

    assert made == ([] if policy == "own" else [[{"Fn::Sub": f'"v=DMARC1; p={policy}"'}]])
