"""What a provider's answer says of the recipient: a push endpoint to keep, a device that is gone, a person who opted out."""

from typing import Any

from psycopg import Connection

from tocsin.foundation.ids import uuid7
from tocsin.store import devices, suppressions
from tocsin.store.rows import Delivery


def apply(
    conn: Connection[Any],
    one: Delivery,
    *,
    new_endpoint: str | None = None,
    device_gone: str | None = None,
    opted_out: bool = False,
) -> None:
    """`device_gone`: the provider's word for it. Who told the provider to stop has told us too."""
    if one.device and new_endpoint:
        devices.keep_endpoint(conn, one.device.id, new_endpoint)
    if one.device and device_gone:
        devices.switch_off(conn, one.device.id, device_gone)
    if opted_out and one.route.phone:
        suppressions.insert_or_strengthen(
            conn,
            suppression_id=uuid7(),
            tenant_id=one.work.tenant_id,
            channel="sms",
            address=one.route.phone,
            reason="opted_out",
            source_notification_id=one.record.notification_id,
        )
