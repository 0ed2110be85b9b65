"""What SQS answers when it refuses a call. The caller acts on it, so the words and codes are those of AWS."""

# The names that clients of the older query protocol know, where they differ; SDKs show these.
_OLD_NAMES = {
    "AccessDeniedException": "AccessDenied",
    "QueueDoesNotExist": "AWS.SimpleQueueService.NonExistentQueue",
    "QueueNameExists": "QueueAlreadyExists",
    "InvalidParameterValueException": "InvalidParameterValue",
    "MissingParameterException": "MissingParameter",
} | {
    name: f"AWS.SimpleQueueService.{name}"
    for name in (
        "BatchEntryIdsNotDistinct",
        "BatchRequestTooLong",
        "EmptyBatchRequest",
        "InvalidBatchEntryId",
        "MessageNotInflight",
        "PurgeQueueInProgress",
        "TooManyEntriesInBatchRequest",
        "UnsupportedOperation",
    )
}
_STATUSES = {
    "AccessDeniedException": 403,
    "PurgeQueueInProgress": 403,
    "ReceiptHandleIsInvalid": 404,
    "ResourceNotFoundException": 404,
}


class SqsError(Exception):
    """A refusal, by the name that the API gives it."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message

    @property
    def code(self) -> str:
        return _OLD_NAMES.get(self.name, self.name)

    @property
    def status(self) -> int:
        return _STATUSES.get(self.name, 400)


def no_such_queue() -> SqsError:
    return SqsError("QueueDoesNotExist", "The specified queue does not exist.")


def invalid(parameter: str, value: object, reason: str) -> SqsError:
    message = f"Value {value} for parameter {parameter} is invalid. Reason: {reason}"
    return SqsError("InvalidParameterValueException", message)


def missing(parameter: str) -> SqsError:
    return SqsError("MissingParameterException", f"The request must contain the parameter {parameter}.")
