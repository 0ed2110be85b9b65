"""How a local stack differs from a deployed one: the template's parameters that it sets itself."""

import json

from devstack.intrinsics import ACCOUNT, REGION


def local_parameters(*, database_port: int, public_url: str, post_office_url: str) -> dict[str, str]:
    """Push works, because the post office knows any application; it also stands in for the providers outside AWS.

    A laptop bears few environments of the functions that compute, twice as many of the one that waits for news, and of the one
    that waits for outcomes as many as the local Lambda allows. Webhooks may lead to this machine and to the internet.
    """
    applications = f"arn:aws:sns:{REGION}:{ACCOUNT}:app"
    return {
        "EmailFrom": "tocsin@example.com",
        "DatabaseSslMode": "disable",
        "DatabasePort": str(database_port),
        "ApnsApplicationArn": f"{applications}/APNS/tocsin-local",
        "FcmApplicationArn": f"{applications}/GCM/tocsin-local",
        "ReserveConcurrency": "true",
        "IntakeConcurrency": "4",
        "InboxConcurrency": "4",
        "LiveConcurrency": "8",
        "WaitConcurrency": "200",
        "DispatchConcurrency": "8",
        "WebhookConcurrency": "2",
        "TriggerConcurrency": "2",
        "AllowPrivateDestinations": "true",
        "PrivateEndpoints": "true",
        "InternetEgress": "true",
        "ArchiveRecords": "true",
        "PublicUrl": public_url,
        "ProviderBaseUrls": _base_urls(post_office_url) if post_office_url else "",
    }


def _base_urls(url: str) -> str:
    return json.dumps({"sendgrid": url, "twilio": url, "fcm": url, "fcm_token": f"{url}/token"})
