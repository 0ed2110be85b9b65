"""What template.yaml declares, as plain values: the vocabulary of the local stack."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Layer:
    """A folder that Lambda mounts at /opt; one that is built for Python arrives there as /opt/python."""

    name: str
    content: Path
    is_built: bool

    @property
    def python_path(self) -> Path:
        return self.content if self.is_built else self.content / "python"


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    arn: str
    folder: Path
    handler: str
    timeout: int
    memory: int
    variables: dict[str, str]
    layers: tuple[Layer, ...]
    reserved_concurrency: int | None
    logs_json: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """An HTTP route; the catch-all has the path `$default`."""

    method: str
    path: str
    function: str

    @property
    def key(self) -> str:
        return self.path if self.path == "$default" else f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class Cors:
    """Which pages may call the API from a browser, with which methods and headers, and which headers they may read."""

    origins: tuple[str, ...]
    methods: tuple[str, ...]
    headers: tuple[str, ...]
    exposed: tuple[str, ...]
    max_age: int | None
    with_credentials: bool


@dataclass(frozen=True, slots=True)
class Queue:
    name: str
    queue_name: str
    attributes: dict[str, str]
    redrive: dict[str, Any] | None
    policy: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class QueueSource:
    """An event source mapping: a queue whose messages a function is given."""

    function: str
    queue: str
    batch_size: int
    window: int
    reports_item_failures: bool
    max_concurrency: int | None
    filters: tuple[dict[str, Any], ...] = ()  # one of them must match, if there are any


@dataclass(frozen=True, slots=True)
class Schedule:
    name: str
    function: str
    expression: str
    event: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    topic_name: str
    policy: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Subscription:
    topic_arn: str
    protocol: str
    endpoint: str
    attributes: dict[str, str]


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    bus: str
    pattern: dict[str, Any]
    targets: tuple[dict[str, Any], ...]
    is_enabled: bool


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret; `fixed` holds what the template says, `generated_key` names the part that is random."""

    name: str
    secret_name: str
    fixed: dict[str, Any] | str | None
    generated_key: str | None


@dataclass(frozen=True, slots=True)
class Database:
    name: str
    owner: str


@dataclass(frozen=True, slots=True)
class EmailEvents:
    """Where SES publishes the events of emails sent with a configuration set, and which of them."""

    configuration_set: str
    topic_arn: str
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CustomResource:
    name: str
    function: str
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Declared:
    """Everything in one template that can be brought to life locally."""

    functions: dict[str, Function]
    routes: tuple[Route, ...]
    cors: Cors | None
    queues: tuple[Queue, ...]
    queue_sources: tuple[QueueSource, ...]
    schedules: tuple[Schedule, ...]
    topics: tuple[Topic, ...]
    subscriptions: tuple[Subscription, ...]
    buses: tuple[str, ...]
    rules: tuple[Rule, ...]
    secrets: tuple[Secret, ...]
    keys: tuple[str, ...]
    aliases: dict[str, str]
    buckets: tuple[str, ...]
    custom_resources: tuple[CustomResource, ...]
    databases: tuple[Database, ...]
    email_events: tuple[EmailEvents, ...]
    paused_sets: tuple[str, ...]  # configuration sets with which nothing is sent
    rights: dict[str, Any]  # as devstack/iam/reading.py puts it together
