"""One-click unsubscribe (RFC 8058): links in mail that is not transactional, and what following one does."""

from typing import Any

from psycopg import Connection, errors

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.feedback.unsubscribe_tokens import Subject, ThreadSubject, address_hash, sign, sign_thread, verify
from tocsin.foundation import secrets
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.foundation.settings import settings
from tocsin.people import threads
from tocsin.store import suppressions
from tocsin.store.rows import Delivery

LINK = "link:unsubscribe"


def headers_for(one: Delivery) -> dict[str, str]:
    """The headers that let a mail program unsubscribe with one click: from the thread, if it reached them
    as one who follows it, else from the type; none for transactional mail and other channels."""
    tenant_id, record, route = one.work.tenant_id, one.record, one.route
    if route.channel != "email" or not route.email:
        return {}
    if route.audience_reason and route.user_id and record.thread_kind and record.thread_id:
        subject = ThreadSubject(tenant_id, route.user_id, record.thread_kind, record.thread_id)
        return _headers(_link(sign_thread(subject, _secret())))
    if not record.is_transactional:
        told_apart = address_hash(tenant_id, "email", route.email)
        return _headers(_link(sign(Subject(tenant_id, told_apart, record.notification_type), _secret())))
    return {}


def masked_headers(*, channel: str, follows_thread: bool, is_transactional: bool) -> dict[str, str]:
    """The same to be looked at, without the link: whoever has its token can unsubscribe the person."""
    return _headers("…/u/…") if channel == "email" and (follows_thread or not is_transactional) else {}


def _link(token: str) -> str:
    return f"{settings().public_url}/u/{token}"


def _headers(link: str) -> dict[str, str]:
    return {
        "List-Unsubscribe": f"<{link}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }


def unsubscribe(conn: Connection[Any], token: str, *, ip_address: str = "", user_agent: str = "") -> bool:
    """Suppress that type for that address, or mute that thread for that user. False for a token that is not ours, or whose user
    is gone; the caller answers alike."""
    subject = verify(token, secrets.accepted(settings().unsubscribe_secret_arn))
    if subject is None:
        return False
    if isinstance(subject, ThreadSubject):
        return _mute(conn, subject, Actor.person(subject.tenant_id, subject.user_id, ip_address, user_agent))
    actor = Actor(subject.tenant_id, LINK, audit.network_of(ip_address), user_agent)  # an address, not a person
    suppression_id = uuid7()
    with tenant_transaction(conn, subject.tenant_id):
        is_new = suppressions.insert_hash(
            conn,
            suppression_id=suppression_id,
            tenant_id=subject.tenant_id,
            channel="email",
            address_hash=subject.address_hash,
            notification_type=subject.notification_type,
        )
        if is_new:
            new = {"channel": "email", "reason": "unsubscribe", "notification_type": subject.notification_type}
            audit.record(conn, actor, "suppress", "suppression", str(suppression_id), {"new": new})
    return True


def _mute(conn: Connection[Any], subject: ThreadSubject, actor: Actor) -> bool:
    try:
        threads.choose(conn, actor, subject.user_id, subject.thread_kind, subject.thread_id, subscribed=False)
    except errors.ForeignKeyViolation:
        return False
    return True


def _secret() -> bytes:
    """The key that signs the links. While it cannot be read the mail waits: without its link it must not go out."""
    return secrets.known(settings().unsubscribe_secret_arn)
