"""Stands before the local AWS: a function's call that its role does not allow is answered here, and nobody else sees it."""

import base64
import binascii
import io
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl

from devstack.iam import asks, refusals
from devstack.iam.asks import Ask
from devstack.iam.callers import Caller, Callers, UnknownCaller, key_id_in, service_in
from devstack.iam.policies import Policy
from devstack.iam.verdict import known, refusal

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]
logger = logging.getLogger(__name__)


class Refused(Exception):
    """The call is not allowed; the message is for the caller."""


class Judge:
    """Knows who calls and what the policies of resources say; the log has what is missing."""

    def __init__(self, callers: Callers, policy_of: Callable[[str], Policy | None] = lambda _: None) -> None:
        self.callers = callers
        self._policy_of = policy_of

    def caller(self, authorization: str, token: str = "") -> Caller | None:
        try:
            return self.callers.find(key_id_in(authorization), token)
        except UnknownCaller as unknown:
            raise Refused(f"The security token included in the request is invalid: nobody is known as {unknown}") from unknown

    def check(self, caller: Caller, ask: Ask) -> None:
        of_resource = self._policy(ask.resource)
        if words := refusal(caller, ask, of_resource):
            # For a service, what it reaches decides.
            decisive = caller.policy if caller.account or not of_resource else of_resource.for_principals(caller.principals)
            logger.warning("%s. %s", words, decisive.nearest(ask.action, ask.resource, known(caller, ask)))
            raise Refused(words)

    def _policy(self, resource: str) -> Policy | None:
        """Of an object, its bucket's."""
        holder = resource.partition("/")[0] if resource.startswith("arn:aws:s3:") else resource
        return self.callers.policies.get(holder) or self._policy_of(holder)

    def check_any(self, caller: Caller, ways: list[Ask]) -> None:
        """One of them is enough; the refusal is about the first."""
        if all(refusal(caller, each, None) for each in ways):
            self.check(caller, ways[0])


class Guard:
    """The application behind it is asked only what is allowed."""

    def __init__(self, judge: Judge, others: Application) -> None:
        self._judge = judge
        self._others = others

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        authorization = environ.get("HTTP_AUTHORIZATION") or _presigned(environ)
        service = service_in(authorization)
        try:
            caller = self._judge.caller(authorization, environ.get("HTTP_X_AMZ_SECURITY_TOKEN", ""))
            if caller:
                for ask in self._asks(service, environ):
                    self._judge.check(caller, ask)
        except Refused as refused:
            answer = refusals.denied(service, str(refused), is_form=_is_form(environ))
            headers = [("Content-Type", answer.content_type), ("Content-Length", str(len(answer.body))), *answer.headers]
            start_response(f"{answer.status} -", headers)
            return [answer.body]
        return self._others(environ, start_response)

    def _asks(self, service: str, environ: Environ) -> Iterator[Ask]:
        callers, method, path = self._judge.callers, environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")
        query = dict(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True))
        operation = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
        match service:
            case "s3":
                yield from asks.of_s3(method, path, query, environ, callers.keys, callers.bucket_keys)
            case "lambda":
                yield asks.of_lambda(method, path, query.get("Qualifier", ""))
            case "sns":
                yield from asks.of_sns(dict(parse_qsl(_body(environ).decode(), keep_blank_values=True)), callers.keys)
            case "secretsmanager":
                yield from asks.of_secrets(operation, _json(environ), callers.keys)
            case "kms":
                asked = _json(environ)
                yield asks.of_kms(operation, asked, _key_of(asked.get("CiphertextBlob")), callers.aliases)
            case "events":
                yield from asks.of_events(operation, _json(environ))
            case _ if _is_form(environ):
                action = dict(parse_qsl(_body(environ).decode())).get("Action")
                if (service, action) != ("sts", "GetCallerIdentity"):  # which everybody may ask
                    yield Ask(f"{service}:{action}", "*")
            case _:
                yield Ask(f"{service or 'unsigned'}:{operation or method + path}", "*")


def _is_form(environ: Environ) -> bool:
    return str(environ.get("CONTENT_TYPE", "")).startswith("application/x-www-form-urlencoded")


def _body(environ: Environ) -> bytes:
    """The body, which is there again for whoever reads it next."""
    content: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(content)
    return content


def _json(environ: Environ) -> dict[str, Any]:
    try:
        asked = json.loads(_body(environ) or b"{}")
    except ValueError:
        return {}
    return asked if isinstance(asked, dict) else {}


def _key_of(ciphertext: Any) -> str:
    try:
        return base64.b64decode(ciphertext or "")[: asks.KEY_ID_LENGTH].decode("ascii")
    except (binascii.Error, UnicodeDecodeError, TypeError):
        return ""


def _presigned(environ: Environ) -> str:
    """A presigned URL says in its query who signed it; the older kind, which is for S3 only, says nothing else."""
    query = dict(parse_qsl(environ.get("QUERY_STRING", "")))
    older = f"{query['AWSAccessKeyId']}/any/any/s3" if "AWSAccessKeyId" in query else ""
    return f"Credential={query.get('X-Amz-Credential', older)}"
