"""The wire: AWS JSON 1.0 over HTTP, in front of whatever serves the rest of AWS at the same address."""

import json
import logging
import socket
from collections.abc import Callable, Iterable
from typing import Any
from uuid import uuid4

import botocore.session
from botocore.validate import ParamValidator

from devstack.sqs import message_actions, queue_actions
from devstack.sqs.call import Answer, Asked, Call
from devstack.sqs.errors import SqsError
from devstack.sqs.queues import Queues

TARGET = "AmazonSQS."
SIGNED_FOR_SQS = "/sqs/aws4_request"
LARGEST_REQUEST = 8 * 1_048_576  # JSON escapes can make six bytes of one
LONGEST_COMPLAINT = 500
logger = logging.getLogger(__name__)

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
Check = Callable[[Environ, str, Asked], None]  # raises what the caller is told who may not do this

ACTIONS: dict[str, Callable[[Call, Asked], Answer]] = {
    name.title().replace("_", ""): action
    for module in (queue_actions, message_actions)
    for name, action in vars(module).items()
    if getattr(action, "__module__", "") == module.__name__ and not name.startswith("_")
}


class SqsWire:
    """Answers what is for SQS; hands everything else on."""

    def __init__(self, queues: Queues, others: Application, check: Check = lambda *_: None) -> None:
        self._queues = queues
        self._check = check
        self._others = others
        # The SDK's own description of the API says what a call may hold.
        model = botocore.session.get_session().get_service_model("sqs")
        self._shapes = {name: model.operation_model(name).input_shape for name in model.operation_names}

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        target: str = environ.get("HTTP_X_AMZ_TARGET", "")
        if not target.startswith(TARGET) and SIGNED_FOR_SQS not in environ.get("HTTP_AUTHORIZATION", ""):
            return self._others(environ, start_response)
        headers = [("Content-Type", "application/x-amz-json-1.0"), ("x-amzn-RequestId", str(uuid4()))]
        try:
            status, answer = 200, self._answer(target.removeprefix(TARGET), environ)
        except SqsError as error:
            status, answer = error.status, {"__type": f"com.amazonaws.sqs#{error.name}", "message": error.message}
            headers.append(("x-amzn-query-error", f"{error.code};Sender"))
        except Exception:
            logger.exception("%s failed", target)
            status, answer = 500, {"__type": "com.amazonaws.sqs#InternalFailure", "message": "See aws.log."}
        body = json.dumps(answer).encode()
        start_response(f"{status} -", [*headers, ("Content-Length", str(len(body)))])
        return [body]

    def _answer(self, name: str, environ: Environ) -> Answer:
        action, shape = ACTIONS.get(name), self._shapes.get(name)
        if action is None or shape is None:
            known = "AWS JSON 1.0 with these actions: " + ", ".join(sorted(ACTIONS))
            raise SqsError("UnsupportedOperation", f"The local stack's SQS speaks {known}.")
        asked = _body(environ)
        report = ParamValidator().validate(asked, shape)
        if report.has_errors():
            raise SqsError("SerializationException", report.generate_report()[:LONGEST_COMPLAINT])
        self._check(environ, name, asked)
        host = environ.get("HTTP_HOST") or f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
        base_url = f"{environ['wsgi.url_scheme']}://{host}"
        return action(Call(self._queues, base_url, lambda: _has_hung_up(environ.get("werkzeug.socket"))), asked)


def _body(environ: Environ) -> Asked:
    length = environ.get("CONTENT_LENGTH") or ""
    if not length.isdecimal() or len(length) > 9 or int(length) > LARGEST_REQUEST:
        raise SqsError("SerializationException", f"A request has a length, and at most {LARGEST_REQUEST} bytes.")
    try:
        asked = json.loads(environ["wsgi.input"].read(int(length)))
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise SqsError("SerializationException", "The body is not a JSON object.")
    return asked


def _has_hung_up(connection: socket.socket | None) -> bool:
    """A message for somebody who no longer listens would be invisible for nothing."""
    if connection is None:
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
