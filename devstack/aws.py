"""The stack's side of the local AWS: starts the server and creates in it what the template declares."""

import json
import secrets
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from devstack.children import Child
from devstack.declared import Database, Declared, Secret
from devstack.iam import callers
from devstack.intrinsics import REGION, TemplateError
from devstack.reach import LOOPBACK
from devstack.state import State

SUBSCRIBABLE = "sqs"  # of the protocols, the one that something local listens to


class LocalAws:
    """A server that comes back at the same address, and clients that talk to it."""

    def __init__(self, state: State, *, host: str = LOOPBACK) -> None:
        self._state = state
        self._host = host
        self._child: Child | None = None
        self._created: Declared | None = None
        self.url = ""

    def start(self) -> None:
        self.stop()
        log = self._state.logs / "aws.log"
        port = self.url.rpartition(":")[2] or "0"
        arguments = ("--folder", str(self._state.folder / "aws"), "--host", self._host, "--port", port)
        self._child = Child.module("devstack.aws_server", *arguments, log=log, stdout=subprocess.PIPE)
        self.url = self._child.first_line()

    def restart(self) -> None:
        """Start again at the same address, with everything that was there."""
        self.start()
        if self._created:
            self.create(self._created)

    def stop(self) -> None:
        if self._child:
            self._child.stop()

    @property
    def is_alive(self) -> bool:
        return self._child is not None and self._child.returncode is None

    def client(self, service: str, key_id: str = "test") -> Any:
        """A client that may do anything, unless it has the key id of a function."""
        return _client(service, self.url, key_id)

    @property
    def rights(self) -> Path:
        """The file that says what each function may do."""
        return self._state.folder / "aws" / "rights.json"

    def grant(self, declared: Declared) -> None:
        """Let each function do what its role allows, from now on and after a restart too."""
        self._created = declared
        callers.write(self.rights, declared.rights)

    def create(self, declared: Declared) -> dict[tuple[str, str], str]:
        """Make every declared resource; returns what references to those with unpredictable names mean here."""
        self.grant(declared)
        try:
            self._create_queues(declared)
            self._create_topics(declared)
            self._create_rules(declared)
            for bucket in declared.buckets:
                self.client("s3").create_bucket(Bucket=bucket)
            return self._create_keys(declared) | self._create_secrets(declared)
        except ClientError as error:
            raise TemplateError(f"the local AWS does not take what the template declares: {error}") from error

    def depths(self, declared: Declared) -> dict[str, dict[str, int]]:
        """How many messages each queue holds, by its logical id."""
        shown = {"ApproximateNumberOfMessages": "waiting", "ApproximateNumberOfMessagesNotVisible": "in_flight"}
        found = {}
        for queue in declared.queues:
            url = self.client("sqs").get_queue_url(QueueName=queue.queue_name)["QueueUrl"]
            answer = self.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=list(shown))
            found[queue.name] = {word: int(answer["Attributes"][name]) for name, word in shown.items()}
        return found

    def secret_value(self, arn: str) -> str | None:
        client = self.client("secretsmanager")
        try:
            value: str = client.get_secret_value(SecretId=arn)["SecretString"]
        except (client.exceptions.ResourceNotFoundException, KeyError):
            return None
        return value

    def database_password(self, database: Database) -> str:
        """What RDS would have made up for the master user."""
        login: dict[str, str] = json.loads(self.secret_value(f"rds-{database.name}") or "{}")
        return login["password"]

    def remember_secrets(self, declared: Declared) -> None:
        """Keep what functions have put into secrets, so that it is there again after a restart."""
        for secret in declared.secrets:
            value = self.secret_value(secret.secret_name) if secret.generated_key is None else None
            if value is not None:
                self._state.keep_secret(secret.secret_name, value)

    def _create_queues(self, declared: Declared) -> None:
        sqs = self.client("sqs")
        urls = {
            queue.name: sqs.create_queue(QueueName=queue.queue_name, Attributes=queue.attributes)["QueueUrl"]
            for queue in declared.queues
        }
        for queue in declared.queues:
            # The queue that a redrive policy names exists only now.
            later = {"RedrivePolicy": queue.redrive, "Policy": queue.policy}
            if attributes := {name: json.dumps(each) for name, each in later.items() if each}:
                sqs.set_queue_attributes(QueueUrl=urls[queue.name], Attributes=attributes)

    def _create_topics(self, declared: Declared) -> None:
        for topic in declared.topics:
            arn = self.client("sns").create_topic(Name=topic.topic_name)["TopicArn"]
            if topic.policy:
                policy = json.dumps(topic.policy)
                self.client("sns").set_topic_attributes(TopicArn=arn, AttributeName="Policy", AttributeValue=policy)
        for each in declared.subscriptions:
            if each.protocol == SUBSCRIBABLE:
                self.client("sns").subscribe(
                    TopicArn=each.topic_arn, Protocol=each.protocol, Endpoint=each.endpoint, Attributes=each.attributes
                )

    def _create_rules(self, declared: Declared) -> None:
        for bus in declared.buses:
            self.client("events").create_event_bus(Name=bus)
        for rule in declared.rules:
            pattern = json.dumps(rule.pattern)
            state = "ENABLED" if rule.is_enabled else "DISABLED"
            self.client("events").put_rule(Name=rule.name, EventBusName=rule.bus, EventPattern=pattern, State=state)
            self.client("events").put_targets(Rule=rule.name, EventBusName=rule.bus, Targets=list(rule.targets))

    def _create_keys(self, declared: Declared) -> dict[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        for name in declared.keys:
            # The server makes the same key again for the same description.
            key = self.client("kms").create_key(Description=name)["KeyMetadata"]
            found |= {(name, "Ref"): key["KeyId"], (name, "KeyId"): key["KeyId"], (name, "Arn"): key["Arn"]}
        for alias, name in declared.aliases.items():
            self.client("kms").create_alias(AliasName=alias, TargetKeyId=found[name, "KeyId"])
        return found

    def _create_secrets(self, declared: Declared) -> dict[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        for secret in declared.secrets:
            arn = self._create_secret(secret.secret_name, self._value(secret))
            found |= {(secret.name, "Ref"): arn, (secret.name, "Id"): arn}
        for database in declared.databases:
            login = json.dumps({"username": database.owner, "password": secrets.token_urlsafe(24)})
            name = f"rds-{database.name}"
            arn = self._create_secret(name, self._state.secret(name, login))
            found[database.name, "MasterUserSecret.SecretArn"] = arn
        return found

    def _create_secret(self, name: str, value: str | None) -> str:
        given = {} if value is None else {"SecretString": value}
        arn: str = self.client("secretsmanager").create_secret(Name=name, **given)["ARN"]
        return arn

    def _value(self, secret: Secret) -> str | None:
        """What the secret holds: the same after a restart, whoever made it up."""
        if secret.generated_key is None:
            fixed = secret.fixed if secret.fixed is None or isinstance(secret.fixed, str) else json.dumps(secret.fixed)
            return self._state.secret(secret.secret_name, fixed)
        password = secrets.token_urlsafe(32)
        if not secret.generated_key:
            return self._state.secret(secret.secret_name, password)
        whole = {**(secret.fixed if isinstance(secret.fixed, dict) else {}), secret.generated_key: password}
        return self._state.secret(secret.secret_name, json.dumps(whole))


@cache
def _client(service: str, url: str, key_id: str) -> Any:
    return boto3.client(  # type: ignore[call-overload]
        service,
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=key_id,
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 2}, max_pool_connections=32, connect_timeout=5, read_timeout=60),
    )
