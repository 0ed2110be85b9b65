"""One-click unsubscribe (RFC 8058): links in mail that is not transactional, and what following one does."""

from typing import Any, NamedTuple
from uuid import UUID

from psycopg import Connection, errors

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.feedback.unsubscribe_tokens import (
    PreferencesSubject,
    Subject,
    ThreadSubject,
    address_hash,
    sign,
    sign_preferences,
    sign_thread,
    verify,
)
from tocsin.foundation import secrets
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.foundation.settings import settings
from tocsin.people import threads
from tocsin.store import suppressions
from tocsin.store.rows import Delivery

LINK = "link:unsubscribe"


class Links(NamedTuple):
    """Where a mail's reader turns; empty where there is no such way."""

    unsubscribe_url: str
    preferences_url: str


NO_LINKS = Links("", "")


def links_for(one: Delivery) -> Links:
    """The ways out of this mail: of the thread, if it reached them as one who follows it, else of the type; and to all
    preferences, if it went to somebody we know. None for transactional mail and other channels."""
    tenant_id, record, route = one.work.tenant_id, one.record, one.route
    if route.channel != "email" or not route.email:
        return NO_LINKS
    if route.audience_reason and route.user_id and record.thread_kind and record.thread_id:
        out = sign_thread(ThreadSubject(tenant_id, route.user_id, record.thread_kind, record.thread_id), _secret())
    elif not record.is_transactional:
        told_apart = address_hash(tenant_id, "email", route.email)
        out = sign(Subject(tenant_id, told_apart, record.notification_type, route.user_id), _secret())
    else:
        return NO_LINKS
    return Links(_link("u", out), preferences_url(tenant_id, route.user_id) if route.user_id else "")


def preferences_url(tenant_id: UUID, user_id: UUID) -> str:
    """Where this person changes what they get, without logging in."""
    return _link("p", sign_preferences(PreferencesSubject(tenant_id, user_id), _secret()))


def headers_for(one: Delivery) -> dict[str, str]:
    """The headers that let a mail program unsubscribe with one click; none where there is no way out."""
    links = links_for(one)
    return _headers(links.unsubscribe_url) if links.unsubscribe_url else {}


def masked_links(*, channel: str, follows_thread: bool, is_transactional: bool, is_known: bool) -> Links:
    """The same to be looked at: whoever has their tokens can act for the person. `is_known`: it went to a user, not to a bare
    address."""
    if channel != "email" or (is_transactional and not follows_thread):
        return NO_LINKS
    return Links("…/u/…", "…/p/…" if is_known else "")


def masked_headers(*, channel: str, follows_thread: bool, is_transactional: bool) -> dict[str, str]:
    links = masked_links(channel=channel, follows_thread=follows_thread, is_transactional=is_transactional, is_known=True)
    return _headers(links.unsubscribe_url) if links.unsubscribe_url else {}


def _link(kind: str, token: str) -> str:
    return f"{settings().public_url}/{kind}/{token}"


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
