"""The actions on queues: make, find, list, describe, empty, remove."""

import base64
import binascii

from devstack.sqs.call import Answer, Asked, Call, queue_name
from devstack.sqs.errors import SqsError, invalid
from devstack.sqs.settings import READABLE

LISTED = 1000


def create_queue(call: Call, asked: Asked) -> Answer:
    queue = call.queues.create(asked["QueueName"], asked.get("Attributes", {}), asked.get("tags", {}))
    return {"QueueUrl": call.url(queue.name)}


def get_queue_url(call: Call, asked: Asked) -> Answer:
    return {"QueueUrl": call.url(call.queues.find(asked["QueueName"]).name)}


def list_queues(call: Call, asked: Asked) -> Answer:
    names = [each.name for each in call.queues.all() if each.name.startswith(asked.get("QueueNamePrefix", ""))]
    return _page(call, asked, names, "QueueUrls")


def list_dead_letter_source_queues(call: Call, asked: Asked) -> Answer:
    return _page(call, asked, [each.name for each in call.queues.sources_of(queue_name(asked))], "queueUrls")


def delete_queue(call: Call, asked: Asked) -> Answer:
    call.queues.delete(queue_name(asked))
    return {}


def purge_queue(call: Call, asked: Asked) -> Answer:
    call.queues.purge(queue_name(asked))
    return {}


def get_queue_attributes(call: Call, asked: Asked) -> Answer:
    names = asked.get("AttributeNames", [])
    for name in names:
        if name not in READABLE and name != "All":
            raise SqsError("InvalidAttributeName", f"Unknown Attribute {name}.")
    found = call.queues.attributes(queue_name(asked))
    shown = {name: value for name, value in found.items() if name in names or "All" in names}
    return {"Attributes": shown} if shown else {}


def set_queue_attributes(call: Call, asked: Asked) -> Answer:
    call.queues.set_attributes(queue_name(asked), asked["Attributes"])
    return {}


def list_queue_tags(call: Call, asked: Asked) -> Answer:
    tags = call.queues.find(queue_name(asked)).tags
    return {"Tags": tags} if tags else {}


def tag_queue(call: Call, asked: Asked) -> Answer:
    queue = call.queues.find(queue_name(asked))
    queue.tags = queue.tags | asked["Tags"]
    return {}


def untag_queue(call: Call, asked: Asked) -> Answer:
    queue = call.queues.find(queue_name(asked))
    queue.tags = {name: value for name, value in queue.tags.items() if name not in asked["TagKeys"]}
    return {}


def _page(call: Call, asked: Asked, names: list[str], key: str) -> Answer:
    """In the order of the names, after the one that the token holds; only who asks for pages gets them."""
    try:
        after = base64.b64decode(asked.get("NextToken", ""), validate=True).decode()
    except (binascii.Error, ValueError):
        raise invalid("NextToken", asked["NextToken"], "It is not a token of ours.") from None
    limit = asked.get("MaxResults", LISTED)
    if not 1 <= limit <= LISTED:
        raise invalid("MaxResults", limit, f"Must be between 1 and {LISTED}.")
    rest = [name for name in names if name > after]
    answer: Answer = {key: [call.url(name) for name in rest[:limit]]}
    if len(rest) > limit and "MaxResults" in asked:
        answer["NextToken"] = base64.b64encode(rest[limit - 1].encode()).decode()
    return answer
