"""What following an unsubscribe link does: show what it is about, act, and take it back. Looking changes nothing."""

import hmac
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, errors

from tocsin.access import audit, rate_limits
from tocsin.access.audit import Actor
from tocsin.content.unsubscribe_page import Mailing
from tocsin.feedback.unsubscribe_tokens import (
    PreferencesSubject,
    Subject,
    ThreadSubject,
    address_hash,
    sign_preferences,
    verify,
)
from tocsin.foundation import secrets
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.foundation.settings import settings
from tocsin.people import addresses, threads
from tocsin.store import brands, notification_threads, notification_types, suppressions, tenants, users
from tocsin.store.users import Contact

LINK = "link:unsubscribe"


@dataclass(frozen=True, slots=True)
class Followed:
    """A link that leads out of something: of what, what its reader speaks, whether they are out, and whether anything else keeps
    such mail from them."""

    mailing: Mailing
    locale: str | None
    is_out: bool
    is_stopped_otherwise: bool


def follow(conn: Connection[Any], token: str) -> Followed | None:
    """What the link is about. None for a token that is not ours, and where the user or the tenant is gone."""
    subject = _subject(token)
    if subject is None:
        return None
    tenant_id, user_id, contact = subject.tenant_id, subject.user_id, None
    with tenant_transaction(conn, tenant_id):
        if tenants.status_of(conn, tenant_id) not in ("active", "suspended"):
            return None
        if user_id and (contact := users.contact_of(conn, tenant_id, user_id)) is None:
            return None
        brand = brands.find(conn, tenant_id)
        if isinstance(subject, ThreadSubject):
            kind, thread = "", f"{subject.thread_kind} {subject.thread_id}"
            said = notification_threads.find(conn, tenant_id, subject.user_id, subject.thread_kind, subject.thread_id)
            is_out, others = said is not None and not said.subscribed, False
        else:
            kind, thread = subject.notification_type, ""
            kind = next((one.title for one in notification_types.find_all(conn, tenant_id, kind) if one.title), kind)
            reasons = suppressions.reasons_at(conn, tenant_id, subject.address_hash, subject.notification_type)
            ours = (subject.notification_type, "unsubscribe")
            is_out, others = ours in reasons, any(one != ours for one in reasons)
    mailing = Mailing(brand, kind, thread, _address(subject, contact), _preferences_path(subject))
    return Followed(mailing, contact.locale if contact else None, is_out, others)


def unsubscribe(conn: Connection[Any], token: str, *, ip_address: str = "", user_agent: str = "") -> bool:
    """Suppress that type for that address, or mute that thread for that user. False for a token that is not ours, or whose user
    or tenant is gone; the caller answers alike."""
    subject = _subject(token)
    if subject is None:
        return False
    try:
        if isinstance(subject, ThreadSubject):
            actor = Actor.person(subject.tenant_id, subject.user_id, ip_address, user_agent)
            threads.choose(conn, actor, subject.user_id, subject.thread_kind, subject.thread_id, subscribed=False)
        else:
            _suppress(conn, subject, _actor(subject, ip_address, user_agent))
    except errors.ForeignKeyViolation:
        return False
    return True


def undo(conn: Connection[Any], token: str, *, ip_address: str = "", user_agent: str = "") -> bool:
    """Take back what the same token did, and nothing else: a bounce, a complaint or somebody's hand stays. False: too often in
    this minute. (Unsubscribing is never too often; but without undoing, only the first writes anything.)"""
    subject = _subject(token)
    if subject is None:
        return True
    told_apart = str(subject.user_id) if isinstance(subject, ThreadSubject) else subject.address_hash.hex()[:32]
    try:
        if not rate_limits.admits_call(conn, subject.tenant_id, f"link:{told_apart}", rate_limits.calls_of_user()):
            return False
        if isinstance(subject, ThreadSubject):
            actor = Actor.person(subject.tenant_id, subject.user_id, ip_address, user_agent)
            threads.unmute(conn, actor, subject.user_id, subject.thread_kind, subject.thread_id)
        else:
            _lift(conn, subject, _actor(subject, ip_address, user_agent))
    except errors.ForeignKeyViolation:
        pass  # of a tenant that is gone
    return True


def _suppress(conn: Connection[Any], subject: Subject, actor: Actor) -> None:
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
            audit.record(conn, actor, "suppress", "suppression", str(suppression_id), {"new": _audited(subject)})


def _lift(conn: Connection[Any], subject: Subject, actor: Actor) -> None:
    with tenant_transaction(conn, subject.tenant_id):
        lifted = suppressions.delete_unsubscribe_at(conn, subject.tenant_id, subject.address_hash, subject.notification_type)
        if lifted:
            audit.record(conn, actor, "lift", "suppression", str(lifted), {"old": _audited(subject)})


def _subject(token: str) -> Subject | ThreadSubject | None:
    return verify(token, secrets.accepted(settings().unsubscribe_secret_arn))


def _preferences_path(subject: Subject | ThreadSubject) -> str:
    """To the preferences, from where the page of the link stands."""
    if subject.user_id is None:
        return ""
    secret = secrets.known(settings().unsubscribe_secret_arn)
    return f"../p/{sign_preferences(PreferencesSubject(subject.tenant_id, subject.user_id), secret)}"


def _actor(subject: Subject, ip_address: str, user_agent: str) -> Actor:
    """An address, not a person: whoever reads its mail."""
    return Actor(subject.tenant_id, LINK, audit.network_of(ip_address), user_agent)


def _audited(subject: Subject) -> dict[str, str]:
    return {"channel": "email", "reason": "unsubscribe", "notification_type": subject.notification_type}


def _address(subject: Subject | ThreadSubject, contact: Contact | None) -> str:
    """Where the mail went, if they still have that address."""
    if contact is None or not contact.email:
        return ""
    if isinstance(subject, Subject):
        theirs = address_hash(subject.tenant_id, "email", contact.email)
        return addresses.masked(contact.email) if hmac.compare_digest(theirs, subject.address_hash) else ""
    return addresses.masked(contact.email)
