"""Archive: records are written to a bucket before they are forgotten, and what could not be written is not forgotten."""

import base64
import gzip
import hashlib
import io
from datetime import date, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation import aws
from tocsin.foundation.ids import uuid7
from tocsin.store import archives, records
from tocsin.store.flow import read_records
from tocsin.store.records import ExpiredRecord


class ArchiveUnavailable(Exception):
    """The bucket did not take an object. Nothing was forgotten. Whoever runs the installation acts; the next run tries again."""


def forget_records(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int, bucket: str | None) -> int:
    """Forget old records that have ended; with a bucket, those that it has taken, and nothing else."""
    expired = records.find_expired(conn, age=age, least=least, limit=limit)
    if bucket is None:
        return records.delete_unchanged(conn, expired) if expired else 0
    return sum(_archive(conn, bucket, place, list(part)) for place, part in groupby(expired, key=_place))


def _place(one: ExpiredRecord) -> tuple[UUID, date]:
    return one.tenant_id, one.accepted_at.date()


def _archive(conn: Connection[Any], bucket: str, place: tuple[UUID, date], expired: list[ExpiredRecord]) -> int:
    """Read, put, forget. Whoever dies in between leaves an object too many, never a record too few; one that changes meanwhile
    stays, and is archived again when its time comes."""
    (tenant_id, day), archive_id = place, uuid7()
    key = f"tenant={tenant_id}/date={day.isoformat()}/{archive_id}.ndjson.gz"
    body = _packed(conn, [one.notification_id for one in expired])
    sha256 = hashlib.sha256(body).digest()
    _put(bucket, key, body, sha256)
    with conn.transaction():
        archives.insert(
            conn,
            archive_id=archive_id,
            tenant_id=tenant_id,
            object_key=key,
            records=len(expired),
            size=len(body),
            sha256=sha256,
        )
        return records.delete_unchanged(conn, expired)


def _packed(conn: Connection[Any], ids: list[UUID]) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        for line in read_records.read(conn, ids):
            file.write(line.encode() + b"\n")
    return packed.getvalue()


def _put(bucket: str, key: str, body: bytes, sha256: bytes) -> None:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - the SDK is imported on first use

    try:
        # S3 compares what arrived with the checksum, and refuses what was damaged on its way.
        aws.client("s3").put_object(
            Bucket=bucket,
            Key=key,
            Body=body,
            ContentType="application/x-ndjson",
            ContentEncoding="gzip",
            ChecksumSHA256=base64.b64encode(sha256).decode(),
        )
    except (BotoCoreError, ClientError) as error:
        raise ArchiveUnavailable(type(error).__name__) from error
