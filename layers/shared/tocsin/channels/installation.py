"""The ways out of an installation: SES and SNS as the template configures them, and each tenant's own providers before them."""

import json
import time
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.channels.sandbox import Sandbox
from tocsin.channels.ses import SesEmail
from tocsin.channels.sns import SnsPush, SnsSms
from tocsin.channels.ways import Channel, Credentials, Way, Ways
from tocsin.foundation import aws, encryption
from tocsin.foundation.settings import Settings
from tocsin.store import brands, provider_configs
from tocsin.store.provider_configs import ProviderConfig
from tocsin.store.rows import Brand

KNOWN_SECONDS = 10.0  # how long a change of a provider or a brand may go unnoticed

log = Logger(child=True)


class InstallationWays(Ways):
    """Reads a tenant's providers and brand when its messages come by, and keeps them for a few seconds."""

    def __init__(self, config: Settings) -> None:
        sns = aws.client("sns")
        super().__init__(
            {
                "email": SesEmail(aws.client("sesv2"), config.email_from, config.email_configuration_set),
                "sms": SnsSms(sns, config.sms_sender_id or ""),
                "push": SnsPush(sns, {"apns": config.apns_application_arn or "", "fcm": config.fcm_application_arn or ""}),
            },
            Sandbox(),
        )
        self._config = config
        self._known: dict[UUID, tuple[float, dict[str, list[Way]]]] = {}
        self._brands: dict[UUID, Brand] = {}
        self._built: dict[tuple[UUID, Any], Channel] = {}

    def prepare(self, conn: Connection[Any], tenant_ids: set[UUID]) -> None:
        now = time.monotonic()
        unknown = [one for one in tenant_ids if one not in self._known or self._known[one][0] < now - KNOWN_SECONDS]
        if not unknown:
            return
        rows = provider_configs.find_all(conn, unknown)
        self._brands |= brands.find_all(conn, unknown)
        for tenant_id in unknown:
            self._known[tenant_id] = (now, self._ways([row for row in rows if row.tenant_id == tenant_id]))

    def of(self, tenant_id: UUID, channel: str) -> list[Way]:
        known = self._known.get(tenant_id)
        return known[1].get(channel, []) if known else self.default.get(channel, [])

    def brand_of(self, tenant_id: UUID) -> Brand:
        return self._brands.get(tenant_id, Brand())

    def _ways(self, rows: list[ProviderConfig]) -> dict[str, list[Way]]:
        """Own providers by priority; the default one counts as priority 0 unless the tenant has a row for it."""
        ways: dict[str, list[Way]] = {}
        for channel, (default,) in self.default.items():
            ranked: list[tuple[int, Way]] = []
            own = [row for row in rows if row.channel == channel]
            for row in own:
                if row.is_active and (built := self._channel(row, default.channel)):
                    platforms = ("fcm",) if row.provider_name == "fcm" else ()
                    ranked.append((row.priority, Way(built, row.id, row.rate_limit, platforms)))
            if not any(row.provider_name == default.channel.provider for row in own):
                ranked.append((0, default))
            ranked.sort(key=lambda pair: -pair[0])
            ways[channel] = [way for _, way in ranked]
        return ways

    def _channel(self, row: ProviderConfig, default: Channel) -> Channel | None:
        if row.provider_name == default.provider:
            return default
        key = (row.id, row.updated_at)
        if key not in self._built:
            try:
                self._built[key] = self._build(row)
            except Exception as error:  # a secret that cannot be read must not stop the tenant's other providers
                log.error("provider cannot be used", extra={"provider": str(row.id), "error": type(error).__name__})
                return None
        return self._built[key]

    def _build(self, row: ProviderConfig) -> Channel:
        def secret(name: str, ciphertext: bytes | None) -> str:
            purpose = f"provider:{row.id}:{name}"
            return encryption.unseal(ciphertext, tenant_id=row.tenant_id, purpose=purpose) if ciphertext else ""

        return build(
            row,
            api_key=secret("api_key", row.api_key),
            api_secret=secret("api_secret", row.api_secret),
            base_urls=json.loads(self._config.provider_base_urls or "{}"),
            allow_private=self._config.allow_private_destinations,
        )


def build(row: ProviderConfig, *, api_key: str, api_secret: str, base_urls: dict[str, str], allow_private: bool) -> Channel:
    """A tenant's own channel. Its lane is its own: one tenant's trouble with a provider stops nobody else."""
    from tocsin.channels.fcm import FcmPush  # noqa: PLC0415 - only tenants with providers of their own need these
    from tocsin.channels.sendgrid import SendGridEmail  # noqa: PLC0415
    from tocsin.channels.twilio import TwilioSms  # noqa: PLC0415

    makers: dict[str, Any] = {"sendgrid": SendGridEmail, "twilio": TwilioSms, "fcm": FcmPush}
    options: dict[str, Any] = {
        "lane": f"{row.provider_name}:{row.id}",
        "timeout": float(row.timeout_seconds),
        "allow_private": allow_private,
    }
    if base_url := base_urls.get(row.provider_name):
        options["base_url"] = base_url
    if row.provider_name == "fcm" and (token_url := base_urls.get("fcm_token")):
        options["token_url"] = token_url
    channel: Channel = makers[row.provider_name](Credentials(api_key, api_secret), row.config_json, **options)
    return channel


def ways_out(config: Settings) -> Ways:
    return InstallationWays(config)
