"""`make deploy` with names of one's own: what would fail late is said early."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tools import deploy_checks, name_checks
from tools.deploy_checks import Findings

SENDER = "bell@mail.example.com"


@pytest.fixture
def zone_id() -> Iterator[str]:
    with mock_aws():
        made = _route53().create_hosted_zone(Name="example.com", CallerReference="1")
        yield made["HostedZone"]["Id"].rpartition("/")[2]


def _route53() -> Any:
    return boto3.client("route53", region_name="us-east-1")


def _ses() -> Any:
    return boto3.client("sesv2", region_name="us-east-1")


def _found(**parameters: str) -> list[str]:
    return name_checks.obstacles(_route53(), _ses(), {"EmailFrom": SENDER, **parameters})


def test_names_in_the_zone_and_what_is_not_there_yet_are_fine(zone_id: str) -> None:
    assert _found(HostedZoneId=zone_id, DomainName="notify.example.com", VerifyEmailDomain="true") == []
    assert _found(HostedZoneId=zone_id, DomainName="example.com") == []


def test_a_zone_that_is_not_theirs_is_named(zone_id: str) -> None:
    assert _found(HostedZoneId=zone_id, DomainName="notanexample.com") == [
        f"HostedZoneId={zone_id} is the zone of example.com, where notanexample.com is not."
    ]
    assert _found(HostedZoneId="Z0") == ["HostedZoneId=Z0: this account has no such zone."]


def test_what_the_stack_would_make_a_second_time_is_named(zone_id: str) -> None:
    record = {"Name": "_dmarc.mail.example.com", "Type": "TXT", "TTL": 60, "ResourceRecords": [{"Value": '"v=DMARC1; p=none"'}]}
    _route53().change_resource_record_sets(
        HostedZoneId=zone_id, ChangeBatch={"Changes": [{"Action": "CREATE", "ResourceRecordSet": record}]}
    )
    _ses().create_email_identity(EmailIdentity="mail.example.com")

    dmarc, identity = _found(HostedZoneId=zone_id, VerifyEmailDomain="true")

    assert dmarc == "mail.example.com has a DMARC record. Say DmarcPolicy=own to keep it."
    assert identity.startswith("mail.example.com is an identity of SES in this region already.")
    assert _found(HostedZoneId=zone_id, VerifyEmailDomain="true", DmarcPolicy="own") == [identity]


class _Ses:
    """moto's, and what moto does not know: that this account is out of the sandbox."""

    def __init__(self) -> None:
        self._ses = _ses()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ses, name)

    def get_account(self) -> dict[str, Any]:
        return {"ProductionAccessEnabled": True}


def _looked(monkeypatch: pytest.MonkeyPatch, **parameters: str) -> Findings:
    """At a stack that is not there, of which moto would say so in other words than AWS."""
    ask = deploy_checks._client
    monkeypatch.setattr(deploy_checks, "_look_at_stack", lambda *_: True)
    monkeypatch.setattr(deploy_checks, "_client", lambda session, name: _Ses() if name == "sesv2" else ask(session, name))
    return deploy_checks.look("tocsin", "us-east-1", {"EmailFrom": SENDER, **parameters}, reserved=0)


def test_a_first_deployment_looks_at_them(zone_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _looked(monkeypatch, HostedZoneId="Z0").obstacles == ["HostedZoneId=Z0: this account has no such zone."]


@pytest.mark.parametrize(("asked", "is_missed"), [("true", False), ("false", True)])
def test_a_domain_that_the_stack_will_verify_is_not_missed(
    zone_id: str, monkeypatch: pytest.MonkeyPatch, asked: str, is_missed: bool
) -> None:
    findings = _looked(monkeypatch, HostedZoneId=zone_id, VerifyEmailDomain=asked)

    assert any("has verified neither" in each for each in findings.notes) is is_missed
