"""Batches: up to ten entries in one call, each with an end of its own."""

import re

from devstack.sqs.call import Answer, Asked
from devstack.sqs.errors import SqsError

MOST = 10
_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")


def entries_of(asked: Asked, action: str) -> list[Asked]:
    entries: list[Asked] = asked["Entries"]
    if not entries:
        message = f"There should be at least one {action}BatchRequestEntry in the request."
        raise SqsError("EmptyBatchRequest", message)
    if len(entries) > MOST:
        message = f"Maximum number of entries per request are {MOST}. You have sent {len(entries)}."
        raise SqsError("TooManyEntriesInBatchRequest", message)
    seen: set[str] = set()
    for key in (entry["Id"] for entry in entries):
        if not _ID.fullmatch(key):
            message = "A batch entry id can only contain alphanumeric characters, hyphens and underscores, at most 80."
            raise SqsError("InvalidBatchEntryId", message)
        if key in seen:
            raise SqsError("BatchEntryIdsNotDistinct", f"Id {key} repeated.")
        seen.add(key)
    return entries


def ends_of(entries: list[Asked], refusals: list[SqsError | None]) -> Answer:
    ends = list(zip(entries, refusals, strict=True))
    return {
        "Successful": [{"Id": entry["Id"]} for entry, refusal in ends if refusal is None],
        "Failed": [failed(entry, refusal) for entry, refusal in ends if refusal],
    }


def failed(entry: Asked, error: SqsError) -> Answer:
    return {"Id": entry["Id"], "SenderFault": True, "Code": error.code, "Message": error.message}
