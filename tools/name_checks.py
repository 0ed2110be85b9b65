"""Before a first deployment with names of one's own: is the zone theirs, and is what the stack would make there already?"""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError


def obstacles(route53: Any, ses: Any, parameters: Mapping[str, str]) -> list[str]:
    """Each would fail the deployment after the quarter of an hour that a database takes."""
    zone_id, sender = parameters.get("HostedZoneId"), parameters.get("EmailFrom", "").partition("@")[2]
    if not zone_id:
        return []
    mail = sender if parameters.get("VerifyEmailDomain") == "true" else ""
    try:
        zone = route53.get_hosted_zone(Id=zone_id)["HostedZone"]["Name"].rstrip(".")
        wanted = [name for name in (parameters.get("DomainName"), mail) if name]
        found = [
            f"HostedZoneId={zone_id} is the zone of {zone}, where {name} is not." for name in wanted if not _is_in(name, zone)
        ]
        if mail and not found:
            found += _made_already(route53, ses, zone_id, mail, parameters)
    except route53.exceptions.NoSuchHostedZone:
        return [f"HostedZoneId={zone_id}: this account has no such zone."]
    except (BotoCoreError, ClientError):
        return []  # who may deploy need not be allowed to read this
    return found


def _made_already(route53: Any, ses: Any, zone_id: str, domain: str, parameters: Mapping[str, str]) -> list[str]:
    found = []
    record = f"_dmarc.{domain}."
    listed = route53.list_resource_record_sets(HostedZoneId=zone_id, StartRecordName=record, StartRecordType="TXT", MaxItems="1")
    has_dmarc = any(each["Name"] == record for each in listed["ResourceRecordSets"])
    if has_dmarc and parameters.get("DmarcPolicy", "none") != "own":
        found.append(f"{domain} has a DMARC record. Say DmarcPolicy=own to keep it.")
    try:
        ses.get_email_identity(EmailIdentity=domain)
        found.append(f"{domain} is an identity of SES in this region already. Leave VerifyEmailDomain out.")
    except ses.exceptions.NotFoundException:
        pass
    return found


def _is_in(name: str, zone: str) -> bool:
    return name == zone or name.endswith(f".{zone}")
