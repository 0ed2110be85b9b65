"""One-click unsubscribe (RFC 8058): links in mail that is not transactional, and what following one does."""

from functools import cache
from typing import Any

from psycopg import Connection

from tocsin import aws
from tocsin.database import tenant_transaction
from tocsin.ids import uuid7
from tocsin.settings import settings
from tocsin.store import suppressions
from tocsin.store.outbox import Claimed
from tocsin.unsubscribe_tokens import Subject, address_hash, sign, verify


class SecretUnavailable(Exception):
    """The key that signs the links cannot be read just now. The mail waits: without its link it must not go out."""


def headers_for(one: Claimed) -> dict[str, str]:
    """The headers that let a mail program unsubscribe with one click; none for transactional mail and other channels."""
    public_url = settings().public_url
    if one.channel != "email" or one.is_transactional or not public_url or not one.email:
        return {}
    subject = Subject(one.tenant_id, address_hash(one.tenant_id, "email", one.email), one.notification_type)
    return {
        "List-Unsubscribe": f"<{public_url}/u/{sign(subject, secret())}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }


def unsubscribe(conn: Connection[Any], token: str) -> bool:
    """Suppress that type for that address. False for a token that is not ours; the caller answers alike."""
    subject = verify(token, secret())
    if subject is None:
        return False
    with tenant_transaction(conn, subject.tenant_id):
        suppressions.insert_hash(
            conn,
            suppression_id=uuid7(),
            tenant_id=subject.tenant_id,
            channel="email",
            address_hash=subject.address_hash,
            notification_type=subject.notification_type,
        )
    return True


@cache
def secret() -> bytes:
    try:
        answer = aws.client("secretsmanager").get_secret_value(SecretId=settings().unsubscribe_secret_arn)
    except Exception as error:
        raise SecretUnavailable(type(error).__name__) from error
    text: str = answer["SecretString"]
    return text.encode()
