"""The tenants' own providers, with their secrets as ciphertexts and their rate as a token bucket."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    id: UUID
    tenant_id: UUID
    provider_name: str
    channel: str
    api_key: bytes | None
    api_secret: bytes | None
    config_json: dict[str, Any]
    is_active: bool
    rate_limit: int | None
    timeout_seconds: int
    priority: int
    created_at: datetime
    updated_at: datetime


def insert(
    conn: Connection[Any],
    *,
    config_id: UUID,
    tenant_id: UUID,
    provider_name: str,
    channel: str,
    api_key: bytes | None,
    api_secret: bytes | None,
    config_json: dict[str, Any],
    is_active: bool,
    rate_limit: int | None,
    timeout_seconds: int,
    priority: int,
) -> ProviderConfig:
    row = (
        conn.cursor(row_factory=class_row(ProviderConfig))
        .execute(
            """
            INSERT INTO provider_configs (
                id, tenant_id, provider_name, channel, api_key, api_secret, config_json, is_active, rate_limit,
                timeout_seconds, priority, tokens)
            VALUES (%(config_id)s, %(tenant_id)s, %(provider_name)s, %(channel)s, %(api_key)s, %(api_secret)s,
                    %(config_json)s, %(is_active)s, %(rate_limit)s, %(timeout_seconds)s, %(priority)s,
                    COALESCE(%(rate_limit)s, 0))
            RETURNING id, tenant_id, provider_name, channel, api_key, api_secret, config_json, is_active, rate_limit,
                      timeout_seconds, priority, created_at, updated_at
            """,
            {
                "config_id": config_id,
                "tenant_id": tenant_id,
                "provider_name": provider_name,
                "channel": channel,
                "api_key": api_key,
                "api_secret": api_secret,
                "config_json": Jsonb(config_json),
                "is_active": is_active,
                "rate_limit": rate_limit,
                "timeout_seconds": timeout_seconds,
                "priority": priority,
            },
        )
        .fetchone()
    )
    assert row is not None  # noqa: S101 - an insert without a conflict clause returns its row or raises
    return row


def update(
    conn: Connection[Any],
    tenant_id: UUID,
    config_id: UUID,
    *,
    is_active: bool | None,
    priority: int | None,
    rate_limit: int | None,
    timeout_seconds: int | None,
) -> ProviderConfig | None:
    """Change what is given; a secret is changed by a new row."""
    return (
        conn.cursor(row_factory=class_row(ProviderConfig))
        .execute(
            """
            UPDATE provider_configs
            SET is_active = COALESCE(%(is_active)s, is_active), priority = COALESCE(%(priority)s, priority),
                rate_limit = COALESCE(%(rate_limit)s, rate_limit),
                timeout_seconds = COALESCE(%(timeout_seconds)s, timeout_seconds), updated_at = tocsin_now()
            WHERE tenant_id = %(tenant_id)s AND id = %(config_id)s
            RETURNING id, tenant_id, provider_name, channel, api_key, api_secret, config_json, is_active, rate_limit,
                      timeout_seconds, priority, created_at, updated_at
            """,
            {
                "tenant_id": tenant_id,
                "config_id": config_id,
                "is_active": is_active,
                "priority": priority,
                "rate_limit": rate_limit,
                "timeout_seconds": timeout_seconds,
            },
        )
        .fetchone()
    )


def find(conn: Connection[Any], tenant_id: UUID, config_id: UUID) -> ProviderConfig | None:
    return next((row for row in find_all(conn, [tenant_id]) if row.id == config_id), None)


def find_all(conn: Connection[Any], tenant_ids: list[UUID]) -> list[ProviderConfig]:
    """The providers of these tenants, the preferred first."""
    return (
        conn.cursor(row_factory=class_row(ProviderConfig))
        .execute(
            """
            SELECT id, tenant_id, provider_name, channel, api_key, api_secret, config_json, is_active, rate_limit,
                   timeout_seconds, priority, created_at, updated_at
            FROM provider_configs
            WHERE tenant_id = ANY(%(tenant_ids)s)
            ORDER BY tenant_id, channel, priority DESC, created_at, id
            """,
            {"tenant_ids": tenant_ids},
        )
        .fetchall()
    )


def delete(conn: Connection[Any], tenant_id: UUID, config_id: UUID) -> None:
    conn.execute(
        "DELETE FROM provider_configs WHERE tenant_id = %(tenant_id)s AND id = %(config_id)s",
        {"tenant_id": tenant_id, "config_id": config_id},
    )


@dataclass(frozen=True, slots=True)
class Grant:
    """How many messages a provider may be handed now, and how long until it may take one more."""

    config_id: UUID
    granted: int
    seconds_per_token: float


def take_tokens(conn: Connection[Any], wanted: dict[UUID, int]) -> dict[UUID, Grant]:
    """Take up to so many tokens from each bucket. They refill evenly and hold a minute's worth; no limit grants all."""
    rows = conn.cursor(row_factory=class_row(Grant)).execute(
        """
        WITH wish AS (
            SELECT * FROM jsonb_to_recordset(%(wanted)s) AS wish (config_id uuid, messages integer)
        ), bucket AS (
            SELECT provider_configs.id, wish.messages, rate_limit,
                   LEAST(rate_limit, tokens
                       + rate_limit * GREATEST(extract(epoch FROM tocsin_now() - tokens_at)::float8, 0) / 60) AS level
            FROM provider_configs JOIN wish ON wish.config_id = provider_configs.id
            ORDER BY provider_configs.id
            FOR UPDATE OF provider_configs
        ), taken AS (
            UPDATE provider_configs
            SET tokens = bucket.level - LEAST(bucket.messages, floor(GREATEST(bucket.level, 0))),
                tokens_at = GREATEST(tokens_at, tocsin_now())
            FROM bucket
            WHERE provider_configs.id = bucket.id AND bucket.rate_limit IS NOT NULL
        )
        SELECT id AS config_id,
               CASE WHEN rate_limit IS NULL THEN messages
                    ELSE LEAST(messages, floor(GREATEST(level, 0))) END::integer AS granted,
               COALESCE(60.0 / rate_limit, 0)::float8 AS seconds_per_token
        FROM bucket
        """,
        {"wanted": Jsonb([{"config_id": str(config_id), "messages": count} for config_id, count in wanted.items()])},
    )
    return {grant.config_id: grant for grant in rows}
