"""Many records of two tenants, one a second, with their routes, tries and feedback; and many users."""

from tests.world import OTHER_TENANT, TENANT, World

MAILBOX, PHONE = "alerts@example.com", "+14155550100"

# Keys and ids are random, as most are: nothing about them says where they lie.
_RECORDS = """
    INSERT INTO records (notification_id, tenant_id, notification_type, producer, audience_kind, audience, payload_json,
        idempotency_key, request_fingerprint, occurred_at, accepted_at, updated_at, idempotency_expires_at)
    SELECT tocsin_uuid7(), CASE WHEN n %% 2 = 0 THEN %(other)s::uuid ELSE %(tenant)s::uuid END, 'order.shipped', 'shop',
           CASE WHEN n %% 10 = 1 THEN 'address' ELSE 'users' END,
           CASE WHEN n %% 10 = 1 THEN jsonb_build_object('email', %(mailbox)s::text, 'phone', %(phone)s::text) END,
           jsonb_build_object('title', 'Shipped', 'message', repeat('words ', 20)), md5('key' || n), sha256(n::text::bytea),
           at, at, at, at
    FROM generate_series(1, %(many)s) AS n
    CROSS JOIN LATERAL (SELECT tocsin_now() - (%(many)s - n) * interval '1 second') AS _ (at)
"""
_ROUTES = """
    INSERT INTO routes (notification_id, route_id, tenant_id, channel, recipient_ref, status, max_attempts, provider,
        provider_message_id, created_at, updated_at, accepted_at, published_at)
    SELECT notification_id, 'email-' || notification_id, tenant_id, 'email', 'user:u' || idempotency_key, 'published', 5,
           'ses', md5('message' || idempotency_key), accepted_at, accepted_at, accepted_at, accepted_at
    FROM records
    ORDER BY accepted_at
"""
_ATTEMPTS = """
    INSERT INTO attempts (notification_id, route_id, generation, attempt_no, tenant_id, provider, started_at, finished_at,
        outcome)
    SELECT notification_id, route_id, 1, 1, tenant_id, 'ses', accepted_at, accepted_at, 'accepted'
    FROM routes
    ORDER BY accepted_at
"""
_EVENTS = """
    INSERT INTO provider_events (event_key, tenant_id, provider, kind, feedback, notification_id, route_id, generation,
        attempt_no, provider_message_id, occurred_at, received_at)
    SELECT sha256(notification_id::text::bytea), tenant_id, 'ses', 'delivery', 'delivered', notification_id, route_id, 1, 1, '',
           accepted_at, accepted_at
    FROM routes
    ORDER BY accepted_at
"""
_USERS = """
    INSERT INTO users (id, tenant_id, external_id, email, username, phone)
    SELECT tocsin_uuid7(), CASE WHEN n %% 2 = 0 THEN %(other)s::uuid ELSE %(tenant)s::uuid END, 'u' || n,
           'u' || n || '@example.com', 'n' || n, '+1415555' || n
    FROM generate_series(1, %(many)s) AS n
"""


def crowd(world: World, many: int) -> None:
    """So many of each, in the order of time, with their summaries."""
    known = {"tenant": TENANT, "other": OTHER_TENANT, "many": many, "mailbox": MAILBOX, "phone": PHONE}
    world.admin.execute(_RECORDS, known)
    world.admin.execute(_ROUTES)
    world.admin.execute(_ATTEMPTS)
    world.admin.execute(_EVENTS)
    world.admin.execute(_USERS, known)
    for table in ("records", "routes", "attempts", "provider_events", "users"):
        world.admin.execute(f"VACUUM ANALYZE {table}")  # type: ignore[call-overload]
