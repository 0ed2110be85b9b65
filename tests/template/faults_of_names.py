"""The faults that the checks of names must find."""

from tests.template import checks_of_names as names
from tests.template.faults import Fault

_OWN = {"DomainName": "notify.example.com", "HostedZoneId": "Z1", "VerifyEmailDomain": "true"}
_RECORDS = ("Resources", "EmailRecords", "Properties", "RecordSets")

ON_TRANSLATED: tuple[Fault, ...] = (
    Fault(names.domains_lead_to_the_api_and_speak_tls_1_2, ("Resources", "ApiDomainMapping"), parameters=_OWN),
    Fault(names.domains_lead_to_the_api_and_speak_tls_1_2, ("Resources", "ApiDomainRecord"), parameters=_OWN),
    Fault(
        names.domains_lead_to_the_api_and_speak_tls_1_2,
        ("Resources", "ApiDomain", "Properties", "DomainNameConfigurations", 0, "SecurityPolicy"),
        "TLS_1_0",
        _OWN,
    ),
    Fault(
        names.certificates_prove_themselves,
        ("Resources", "ApiCertificate", "Properties", "DomainValidationOptions", 0, "HostedZoneId"),
        parameters=_OWN,
    ),
    *(Fault(names.senders_are_signed_and_align, (*_RECORDS, number), parameters=_OWN) for number in range(6)),
    Fault(
        names.senders_are_signed_and_align,
        ("Resources", "EmailIdentity", "Properties", "MailFromAttributes"),
        parameters=_OWN,
    ),
)
