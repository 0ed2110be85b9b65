"""What cannot work is refused before anything is made, and what would replace the database is refused too."""

import re
import ssl
from functools import cache
from pathlib import Path

import pytest

from tests.template import reading
from tests.template.idle_cost import own_network
from tocsin.foundation.connecting import RDS_CERTIFICATES
from tools.template_rules import refusals


def _refused(region: str = "us-east-1", **given: str) -> list[str]:
    return refusals(reading.sam_template(), region, {**reading.REQUIRED, **given})


def test_what_is_asked_for_by_default_and_what_an_existing_database_needs_is_accepted() -> None:
    assert _refused() == []
    assert _refused(**own_network(), DatabaseName="orders", DatabasePort="6432") == []


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("ExistingDatabaseSecretArn", "An existing database needs ExistingDatabaseSecretArn."),
        ("ExistingSubnetIds", "An existing database needs ExistingSubnetIds, two at least."),
        ("ExistingSecurityGroupId", "An existing database needs ExistingSecurityGroupId."),
    ],
)
def test_an_existing_database_needs_all_that_leads_to_it(missing: str, said: str) -> None:
    assert _refused(**{**own_network(), missing: ""}) == [said]


@pytest.mark.parametrize(
    ("subnets", "fits"), [("", True), ("subnet-1", False), ("subnet-1,", False), ("subnet-1,subnet-2", True)]
)
def test_subnets_are_none_or_two_at_least(subnets: str, fits: bool) -> None:
    pattern = reading.sam_template()["Parameters"]["ExistingSubnetIds"]["AllowedPattern"]

    assert bool(re.fullmatch(pattern, subnets)) is fits


@pytest.mark.parametrize(("parameter", "other"), [("DatabaseName", "orders"), ("DatabasePort", "6432")])
def test_what_would_make_another_database_in_place_of_the_stacks_own_is_refused(parameter: str, other: str) -> None:
    assert [each.split()[0] for each in _refused(**{parameter: other})] == [parameter]


def test_the_regions_of_the_rule_are_those_whose_certificates_are_shipped() -> None:
    (assertion,) = reading.sam_template()["Rules"]["CertificatesOfTheRegionAreKnown"]["Assertions"]

    assert set(assertion["Assert"]["Fn::Contains"][0]) == _regions(RDS_CERTIFICATES)


@pytest.mark.parametrize("region", ["il-central-1", "ca-west-1", "mx-central-1", "us-gov-west-1", "cn-north-1"])
def test_a_region_without_certificates_is_refused_until_somebody_brings_them(region: str) -> None:
    (said,) = _refused(region)

    assert said.startswith("The certificates of RDS in this region are not shipped. Add them and say DatabaseCertificates=own")
    assert _refused(region, DatabaseSslMode="verify-ca") == [said]
    assert _refused(region, DatabaseCertificates="own") == []
    assert _refused(region, DatabaseSslMode="require") == []


@cache
def _regions(bundle: Path) -> set[str]:
    """Of whose RDS authorities the bundle has a certificate."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.load_verify_locations(bundle)
    return set(re.findall(r"Amazon RDS (\S+) Root CA", str(trusting.get_ca_certs())))
