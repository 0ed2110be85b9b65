"""What must hold of names in DNS: the API's own domain, and the domain that mail is sent from."""

from typing import Any

from tests.template.reading import Template, named, of_type

RECORD, RECORDS = "AWS::Route53::RecordSet", "AWS::Route53::RecordSetGroup"


def domains_lead_to_the_api_and_speak_tls_1_2(template: Template) -> list[str]:
    mapped = {
        named(each["DomainName"]) for each in of_type(template, "AWS::ApiGatewayV2::ApiMapping").values() if named(each["ApiId"])
    }
    led = {named(each.get("AliasTarget", {}).get("DNSName")) for each in of_type(template, RECORD).values()}
    return [
        name
        for name, each in of_type(template, "AWS::ApiGatewayV2::DomainName").items()
        if name not in mapped & led or {one["SecurityPolicy"] for one in each["DomainNameConfigurations"]} != {"TLS_1_2"}
    ]


def certificates_prove_themselves(template: Template) -> list[str]:
    """By a record that CloudFormation makes; without one a deployment would wait for hours for somebody to answer a mail."""
    made = of_type(template, "AWS::CertificateManager::Certificate").items()
    return [
        name
        for name, each in made
        if each.get("ValidationMethod") != "DNS"
        or not all(one.get("HostedZoneId") for one in each.get("DomainValidationOptions", [{}]))
    ]


def senders_are_signed_and_align(template: Template) -> list[str]:
    """Three keys of DKIM; a return path that takes bounces and whose SPF names SES; and DMARC, which asks for one of the two."""
    records = [each for group in of_type(template, RECORDS).values() for each in group["RecordSets"]]
    missing = []
    for name, each in of_type(template, "AWS::SES::EmailIdentity").items():
        keys = [str(record["Name"]) for record in records if record["Type"] == "CNAME" and named(record["Name"]) == name]
        returned = str(each.get("MailFromAttributes", {}).get("MailFromDomain"))
        found = {
            "DKIM": len(set(keys)) == 3,
            "MX": _has(records, "MX", returned, "feedback-smtp."),
            "SPF": _has(records, "TXT", returned, "include:amazonses.com"),
            "DMARC": _has(records, "TXT", returned.replace("bounce.", "_dmarc."), "v=DMARC1; p="),
        }
        missing += [f"{name}: {what}" for what, is_there in found.items() if not is_there]
    return missing


def _has(records: list[dict[str, Any]], kind: str, name: str, value: str) -> bool:
    return any(each["Type"] == kind and str(each["Name"]) == name and value in str(each["ResourceRecords"]) for each in records)
