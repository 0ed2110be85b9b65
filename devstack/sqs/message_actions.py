"""The actions on messages: send, receive, delete, change how long they stay invisible."""

from devstack.sqs import batches, shown
from devstack.sqs.call import Answer, Asked, Call, queue_name
from devstack.sqs.drafts import Draft, check_size
from devstack.sqs.errors import SqsError, invalid, missing
from devstack.sqs.settings import LARGEST_MESSAGE, LONGEST_VISIBILITY, LONGEST_WAIT


def send_message(call: Call, asked: Asked) -> Answer:
    name, draft = queue_name(asked), Draft.of(asked)
    check_size(draft, call.queues.find(name).settings.largest_message)
    return shown.sent(call.queues.send(name, [draft])[0])


def send_message_batch(call: Call, asked: Asked) -> Answer:
    name, entries = queue_name(asked), batches.entries_of(asked, "SendMessage")
    largest = call.queues.find(name).settings.largest_message
    drafts: dict[str, Draft] = {}
    failed = []
    total = 0
    for entry in entries:
        try:
            draft = Draft.of(entry)
            total += draft.size
            check_size(draft, largest)
            drafts[entry["Id"]] = draft
        except SqsError as error:
            failed.append(batches.failed(entry, error))
    if total > LARGEST_MESSAGE:
        message = f"Batch requests cannot be longer than {LARGEST_MESSAGE} bytes. You have sent {total} bytes."
        raise SqsError("BatchRequestTooLong", message)
    messages = call.queues.send(name, drafts.values())
    successful = [{"Id": key} | shown.sent(message) for key, message in zip(drafts, messages, strict=True)]
    return {"Successful": successful, "Failed": failed}


def receive_message(call: Call, asked: Asked) -> Answer:
    name, limit = queue_name(asked), asked.get("MaxNumberOfMessages", 1)
    if not 1 <= limit <= batches.MOST:
        raise invalid("MaxNumberOfMessages", limit, f"Must be between 1 and {batches.MOST}, if provided.")
    wait, visibility = asked.get("WaitTimeSeconds"), asked.get("VisibilityTimeout")
    if wait is not None and not 0 <= wait <= LONGEST_WAIT:
        raise invalid("WaitTimeSeconds", wait, f"Must be >= 0 and <= {LONGEST_WAIT}, if provided.")
    if visibility is not None:
        _check_visibility(visibility)
    found = call.queues.receive(name, limit, visibility=visibility, wait=wait, is_gone=call.is_gone)
    system = {*asked.get("AttributeNames", []), *asked.get("MessageSystemAttributeNames", [])}
    wanted = asked.get("MessageAttributeNames", [])
    return {"Messages": [shown.received(message, name, system, wanted) for message in found]} if found else {}


def delete_message(call: Call, asked: Asked) -> Answer:
    _raise_first(call.queues.delete_messages(queue_name(asked), [asked["ReceiptHandle"]]))
    return {}


def delete_message_batch(call: Call, asked: Asked) -> Answer:
    entries = batches.entries_of(asked, "DeleteMessage")
    refusals = call.queues.delete_messages(queue_name(asked), [each["ReceiptHandle"] for each in entries])
    return batches.ends_of(entries, refusals)


def change_message_visibility(call: Call, asked: Asked) -> Answer:
    _check_visibility(asked["VisibilityTimeout"])
    _raise_first(call.queues.change_visibility(queue_name(asked), [(asked["ReceiptHandle"], asked["VisibilityTimeout"])]))
    return {}


def change_message_visibility_batch(call: Call, asked: Asked) -> Answer:
    name, entries = queue_name(asked), batches.entries_of(asked, "ChangeMessageVisibility")
    call.queues.find(name)
    refusals = [_change(call, name, entry) for entry in entries]
    return batches.ends_of(entries, refusals)


def _change(call: Call, name: str, entry: Asked) -> SqsError | None:
    try:
        if "VisibilityTimeout" not in entry:
            raise missing("VisibilityTimeout")
        _check_visibility(entry["VisibilityTimeout"])
    except SqsError as error:
        return error
    return call.queues.change_visibility(name, [(entry["ReceiptHandle"], entry["VisibilityTimeout"])])[0]


def _check_visibility(seconds: int) -> None:
    if not 0 <= seconds <= LONGEST_VISIBILITY:
        raise invalid("VisibilityTimeout", seconds, f"VisibilityTimeout must be an integer between 0 and {LONGEST_VISIBILITY}")


def _raise_first(refusals: list[SqsError | None]) -> None:
    for refusal in refusals:
        if refusal:
            raise refusal
