"""The links in mail that is not transactional: out of its type or thread by one click (RFC 8058), and to all preferences."""

from typing import NamedTuple
from uuid import UUID

from tocsin.feedback.unsubscribe_tokens import (
    PreferencesSubject,
    Subject,
    ThreadSubject,
    address_hash,
    sign,
    sign_preferences,
    sign_thread,
)
from tocsin.foundation import secrets
from tocsin.foundation.settings import settings
from tocsin.store.rows import Delivery


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
    return Links(_link("u", out), link_to_preferences(tenant_id, route.user_id) if route.user_id else "")


def link_to_preferences(tenant_id: UUID, user_id: UUID) -> str:
    """Where this person changes what they get, without logging in."""
    return _link("p", sign_preferences(PreferencesSubject(tenant_id, user_id), _secret()))


def headers_for(one: Delivery) -> dict[str, str]:
    """The headers that let a mail program unsubscribe with one click; none where there is no way out."""
    return headers_of(links_for(one))


def headers_of(links: Links) -> dict[str, str]:
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


def _secret() -> bytes:
    """The key that signs the links. While it cannot be read the mail waits: without its link it must not go out."""
    return secrets.known(settings().unsubscribe_secret_arn)
