"""A tenant's own providers: rows with sealed secrets, and the installation's ways out that read them."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.world import LEASE, TENANT, WINDOW, World
from tocsin.channels.installation import InstallationWays
from tocsin.channels.sandbox import Sandbox
from tocsin.channels.ways import Ways
from tocsin.delivery.prepare import Policy
from tocsin.foundation import aws, encryption, settings
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.foundation.settings import Settings
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.worker import Worker
from tocsin.store import provider_configs
from tocsin.store.provider_configs import ProviderConfig

CHANNELS = {"ses": "email", "sendgrid": "email", "sns": "sms", "twilio": "sms", "fcm": "push"}
CONFIGS: dict[str, dict[str, Any]] = {"sendgrid": {"from_email": "shop@example.com"}, "twilio": {"from": "Shop"}}


def make_data_key(monkeypatch: pytest.MonkeyPatch) -> str:
    """The installation's key, in the make-believe account."""
    arn: str = aws.client("kms").create_key()["KeyMetadata"]["Arn"]
    monkeypatch.setenv("DATA_KEY_ARN", arn)
    settings.settings.cache_clear()
    return arn


def add_provider(
    world: World,
    name: str = "sendgrid",
    *,
    tenant: UUID = TENANT,
    api_key: str | None = None,
    api_secret: str | None = None,
    **row: Any,
) -> ProviderConfig:
    config_id = uuid7()

    def sealed(part: str, secret: str | None) -> bytes | None:
        if not secret:
            return None
        key_arn = settings.settings().data_key_arn
        return encryption.seal(secret, tenant_id=tenant, purpose=f"provider:{config_id}:{part}", key_arn=key_arn)

    ordinary: dict[str, Any] = {
        "channel": CHANNELS[name],
        "config_json": CONFIGS.get(name, {}),
        "is_active": True,
        "rate_limit": None,
        "timeout_seconds": 5,
        "priority": 10,
    }
    with tenant_transaction(world.app, tenant):
        return provider_configs.insert(
            world.app,
            config_id=config_id,
            tenant_id=tenant,
            provider_name=name,
            api_key=sealed("api_key", api_key),
            api_secret=sealed("api_secret", api_secret),
            **(ordinary | row),
        )


def ways_of(world: World, office_url: str = "") -> InstallationWays:
    """As an installation has them, but the default ones are the world's postboxes and the others lead to a post office."""
    others = dict.fromkeys(("sendgrid", "twilio", "fcm"), office_url) | {"fcm_token": f"{office_url}/token"}
    ways = InstallationWays(
        Settings(
            email_from="shop@example.com",
            email_configuration_set="events",
            provider_base_urls=json.dumps(others),
            allow_private_destinations=True,
        )
    )
    ways.default = Ways({"email": world.email, "sms": world.sms, "push": world.push}, Sandbox()).default
    return ways


def deliver_by(world: World, ways: Ways, *, concurrency: int = 1) -> int:
    worker = Worker(ways, LEASE, Policy(WINDOW, concurrency), lambda: timedelta(seconds=30), batch_size=100)
    return dispatch(world.worker, world.due(), worker)
