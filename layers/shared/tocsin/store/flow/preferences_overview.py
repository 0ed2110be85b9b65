"""What a person can be told by, and what they are told of: channels with their addresses, types with what counts for each."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import args_row, class_row


@dataclass(frozen=True, slots=True)
class ChannelReach:
    """Whether a channel reaches the person. `reason`: why not; None where it does."""

    channel: str
    reason: str | None

    @property
    def is_reachable(self) -> bool:
        return self.reason is None


@dataclass(frozen=True, slots=True)
class ChannelSwitch:
    channel: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class TypeWishes:
    """A type as a person knows it, and whether it comes on each of its channels. `locked`: it is not switched off by itself."""

    name: str
    title: str | None
    description: str | None
    locked: bool
    channels: list[ChannelSwitch]


def find_reach(conn: Connection[Any], tenant_id: UUID, user_id: UUID) -> list[ChannelReach]:
    """By channel: is there an address or a device, and may everything go there? Nothing for who is not there."""
    return (
        conn.cursor(row_factory=class_row(ChannelReach))
        .execute(
            """
            SELECT way.channel,
                   CASE
                       WHEN way.channel IN ('email', 'sms') AND COALESCE(way.address, '') = '' THEN 'no_address'
                       WHEN way.channel = 'push' AND NOT EXISTS (
                           SELECT FROM devices
                           WHERE devices.tenant_id = users.tenant_id AND devices.user_id = users.id AND devices.enabled)
                       THEN 'no_device'
                       WHEN EXISTS (
                           SELECT FROM suppressions
                           WHERE suppressions.tenant_id = users.tenant_id AND suppressions.channel = way.channel
                             AND suppressions.address_hash = tocsin_address_hash(users.tenant_id, way.channel, way.address)
                             AND suppressions.notification_type = ''
                             AND (suppressions.expires_at IS NULL OR suppressions.expires_at > tocsin_now()))
                       THEN 'suppressed'
                   END AS reason
            FROM users
            CROSS JOIN LATERAL (
                VALUES (1, 'email', users.email), (2, 'sms', users.phone), (3, 'push', NULL), (4, 'in_app', NULL)
            ) AS way (place, channel, address)
            WHERE users.tenant_id = %(tenant_id)s AND users.id = %(user_id)s
            ORDER BY way.place
            """,
            {"tenant_id": tenant_id, "user_id": user_id},
        )
        .fetchall()
    )


def list_types(conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, otherwise: list[str], limit: int) -> list[TypeWishes]:
    """The tenant's types by name, on the channels that each has, or its template, or `otherwise`. What counts is what the gate
    asks: the person's rules, and whether they unsubscribed from the type."""
    return (
        conn.cursor(row_factory=args_row(_type))
        .execute(
            """
            WITH kind AS (
                SELECT types.name, types.title, types.description, types.priority,
                       COALESCE(types.channels, worded.channels, %(otherwise)s::text[]) AS channels
                FROM notification_types AS types
                LEFT JOIN LATERAL (
                    SELECT array_agg(DISTINCT templates.channel ORDER BY templates.channel) AS channels
                    FROM templates
                    WHERE templates.tenant_id = types.tenant_id AND templates.name = types.template AND templates.is_active
                ) AS worded ON types.channels IS NULL AND types.template IS NOT NULL
                WHERE types.tenant_id = %(tenant_id)s
                ORDER BY types.name
                LIMIT %(limit)s
            ), rule AS MATERIALIZED (
                SELECT channel, notification_type, enabled
                FROM preferences
                WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND enabled IS NOT NULL
            ), unsubscribed AS MATERIALIZED (
                SELECT suppressions.channel, suppressions.notification_type
                FROM users
                CROSS JOIN LATERAL (VALUES ('email', users.email), ('sms', users.phone)) AS way (channel, address)
                JOIN suppressions ON suppressions.tenant_id = users.tenant_id AND suppressions.channel = way.channel
                    AND suppressions.address_hash = tocsin_address_hash(users.tenant_id, way.channel, way.address)
                WHERE users.tenant_id = %(tenant_id)s AND users.id = %(user_id)s AND suppressions.notification_type <> ''
                  AND (suppressions.expires_at IS NULL OR suppressions.expires_at > tocsin_now())
            )
            SELECT kind.name, kind.title, kind.description, kind.priority = 'critical',
                   array_agg(way.channel ORDER BY way.place),
                   array_agg(tocsin_wanted(finer.enabled, plain.enabled, kind.priority) AND unsubscribed.channel IS NULL
                             ORDER BY way.place)
            FROM kind
            CROSS JOIN LATERAL unnest(kind.channels) WITH ORDINALITY AS way (channel, place)
            LEFT JOIN rule AS plain ON plain.channel = way.channel AND plain.notification_type = ''
            LEFT JOIN rule AS finer ON finer.channel = way.channel AND finer.notification_type = kind.name
            LEFT JOIN unsubscribed ON unsubscribed.channel = way.channel AND unsubscribed.notification_type = kind.name
            GROUP BY kind.name, kind.title, kind.description, kind.priority
            ORDER BY kind.name
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "otherwise": otherwise, "limit": limit},
        )
        .fetchall()
    )


def _type(
    name: str, title: str | None, description: str | None, locked: bool, channels: list[str], switches: list[bool]
) -> TypeWishes:
    return TypeWishes(name, title, description, locked, [ChannelSwitch(*one) for one in zip(channels, switches, strict=True)])
