"""What a tenant has to say, and to whom not: templates, types and suppressions, made as the API makes them."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.world import TENANT, World
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import notification_types, suppressions, templates
from tocsin.store.templates import TemplateRow

NOBODY = UUID(int=0)


def add_template(
    world: World, name: str = "shipped", *, tenant: UUID = TENANT, channel: str = "email", **parts: Any
) -> TemplateRow:
    """The next version of a template; unless told, its words are what it is called, and its locale."""
    locale = parts.pop("locale", "default")
    has_subject = channel != "sms"
    words = {"subject": f"{name} {locale}" if has_subject else None, "body": f"{name} {locale}", "text": None, "variables": []}
    with tenant_transaction(world.app, tenant):
        return templates.insert_version(
            world.app,
            template_id=uuid7(),
            tenant_id=tenant,
            name=name,
            channel=channel,
            locale=locale,
            created_by=NOBODY,
            **(words | parts),
        )


def add_type(world: World, name: str = "order.shipped", *, tenant: UUID = TENANT, **meaning: Any) -> None:
    ordinary = {
        "channels": None,
        "template": None,
        "priority": "normal",
        "ambiguous_policy": None,
        "transactional": True,
        "expires_after_seconds": None,
        "over_sending_limit": None,
        "over_sending_window_seconds": None,
        "title": None,
        "description": None,
    }
    with tenant_transaction(world.app, tenant):
        notification_types.upsert(world.app, tenant_id=tenant, name=name, **(ordinary | meaning))  # type: ignore[arg-type]


def add_suppression(
    world: World,
    address: str = "alice@example.com",
    *,
    tenant: UUID = TENANT,
    reason: str = "manual",
    notification_type: str = "",
    lasts: timedelta | None = None,
) -> UUID:
    suppression_id = uuid7()
    with tenant_transaction(world.app, tenant):
        suppressions.insert_or_strengthen(
            world.app,
            suppression_id=suppression_id,
            tenant_id=tenant,
            channel="email" if "@" in address else "sms",
            address=address,
            notification_type=notification_type,
            reason=reason,
            lasts=lasts,
        )
    return suppression_id
