"""Reads template.yaml into what the local stack can bring to life."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from devstack import intrinsics, nested
from devstack.declared import (
    Cors,
    CustomResource,
    Database,
    Declared,
    EmailEvents,
    Function,
    Layer,
    Queue,
    QueueSource,
    Route,
    Rule,
    Schedule,
    Secret,
    Subscription,
    Topic,
)
from devstack.identities import predictable
from devstack.intrinsics import Evaluator, Identities, TemplateError, text

QUEUE_ATTRIBUTES = {
    "ContentBasedDeduplication",
    "DelaySeconds",
    "FifoQueue",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "ReceiveMessageWaitTimeSeconds",
    "VisibilityTimeout",
}
ANY_METHOD = {"*", "ANY", "X-AMAZON-APIGATEWAY-ANY-METHOD"}


def read(path: Path, parameters: Mapping[str, str], known: Identities, *, endpoint: str = "http://localhost") -> Declared:
    """What the template declares, once its parameters are given; `known` says what some references mean here.

    Names, ARNs and queue URLs follow from the template and the endpoint alone, so `known` need only hold the rest.
    """
    document = intrinsics.load(path)
    unknown = set(parameters) - set(document.get("Parameters", {}))
    if unknown:
        raise TemplateError(f"{path.name} has no parameter {', '.join(sorted(unknown))}")
    plain = Evaluator(document, parameters, known)
    names = predictable(document["Resources"], plain, endpoint) | nested.outputs(path.parent, document["Resources"], plain)
    return _Reader(path.parent, document, Evaluator(document, parameters, {**names, **known})).declared()


class _Reader:
    def __init__(self, root: Path, document: dict[str, Any], evaluator: Evaluator) -> None:
        self._root = root
        self._evaluator = evaluator
        self._globals = document.get("Globals", {})
        self._resources: dict[str, dict[str, Any]] = {
            name: resource
            for name, resource in document["Resources"].items()
            if "Condition" not in resource or evaluator.condition(resource["Condition"])
        }
        self._layers = {name: self._layer(name, each) for name, each in self._of("AWS::Serverless::LayerVersion")}
        self._functions = {name: self._function(name, each) for name, each in self._of("AWS::Serverless::Function")}
        self._by_arn = {function.arn: name for name, function in self._functions.items()}

    def declared(self) -> Declared:
        events = list(self._events())
        return Declared(
            functions=self._functions,
            routes=tuple(_route(name, event) for name, _, kind, event in events if kind == "HttpApi"),
            cors=next((_cors(each) for _, each in self._of("AWS::Serverless::HttpApi") if "CorsConfiguration" in each), None),
            queues=tuple(self._queue(name, each) for name, each in self._of("AWS::SQS::Queue")),
            queue_sources=tuple(_queue_source(name, event) for name, _, kind, event in events if kind == "SQS"),
            schedules=tuple(self._schedules(events)),
            topics=tuple(Topic(name, self._identity(name, "TopicName")) for name, _ in self._of("AWS::SNS::Topic")),
            subscriptions=tuple(self._subscriptions()),
            buses=tuple(self._identity(name, "Name") for name, _ in self._of("AWS::Events::EventBus")),
            rules=tuple(_rule(name, each) for name, each in self._of("AWS::Events::Rule") if "EventPattern" in each),
            secrets=tuple(self._secret(name, each) for name, each in self._of("AWS::SecretsManager::Secret")),
            keys=tuple(name for name, _ in self._of("AWS::KMS::Key")),
            aliases=dict(self._aliases()),
            buckets=tuple(self._evaluator.value({"Ref": name}) for name, _ in self._of("AWS::S3::Bucket")),
            custom_resources=tuple(self._custom_resources()),
            databases=tuple(Database(name, each["MasterUsername"]) for name, each in self._of("AWS::RDS::DBInstance")),
            email_events=tuple(_email_events(each) for _, each in self._of("AWS::SES::ConfigurationSetEventDestination")),
        )

    def _of(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The resources of one type, with their properties evaluated."""
        for name, resource in self._resources.items():
            if resource["Type"] == kind:
                yield name, self._evaluator.value(resource.get("Properties", {}))

    def _identity(self, name: str, attribute: str) -> str:
        return str(self._evaluator.value({"Fn::GetAtt": [name, attribute]}))

    def _layer(self, name: str, properties: dict[str, Any]) -> Layer:
        method, content = self._resources[name].get("Metadata", {}).get("BuildMethod", ""), self._root / properties["ContentUri"]
        is_source = not (content / "python").is_dir()  # sam has made that folder where this is what it built
        return Layer(name, content, is_built=method.startswith("python") and is_source)

    def _function(self, name: str, own: dict[str, Any]) -> Function:
        properties = _merged(self._evaluator.value(self._globals.get("Function", {})), own)
        variables = properties.get("Environment", {}).get("Variables", {})
        folder = self._root / properties["CodeUri"]
        if not folder.is_dir():
            raise TemplateError(f"{name} has its code in {properties['CodeUri']}, which is not a folder")
        return Function(
            name=name,
            arn=self._identity(name, "Arn"),
            folder=folder,
            handler=properties["Handler"],
            timeout=int(properties.get("Timeout", 3)),
            memory=int(properties.get("MemorySize", 128)),
            variables={key: text(value) for key, value in variables.items()},
            layers=tuple(self._layers[layer] for layer in properties.get("Layers", []) if layer in self._layers),
            reserved_concurrency=_whole(properties.get("ReservedConcurrentExecutions")),
            logs_json=properties.get("LoggingConfig", {}).get("LogFormat") == "JSON",
        )

    def _events(self) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        for function, properties in self._of("AWS::Serverless::Function"):
            for name, event in properties.get("Events", {}).items():
                yield function, name, event["Type"], event.get("Properties", {})

    def _queue(self, name: str, properties: dict[str, Any]) -> Queue:
        attributes = {key: text(value) for key, value in properties.items() if key in QUEUE_ATTRIBUTES}
        return Queue(name, self._identity(name, "QueueName"), attributes, properties.get("RedrivePolicy"))

    def _schedules(self, events: list[tuple[str, str, str, dict[str, Any]]]) -> Iterator[Schedule]:
        for function, name, kind, event in events:
            if kind in {"Schedule", "ScheduleV2"} and _is_enabled(event):
                expression = event.get("ScheduleExpression") or event["Schedule"]
                yield Schedule(f"{function}{name}", function, expression, _json(event.get("Input")))
        for name, properties in self._of("AWS::Scheduler::Schedule"):
            target = properties["Target"]
            if target["Arn"] in self._by_arn and _is_enabled(properties):
                expression, event = properties["ScheduleExpression"], _json(target.get("Input"))
                yield Schedule(name, self._by_arn[target["Arn"]], expression, event)
        for name, properties in self._of("AWS::Events::Rule"):
            for target in properties.get("Targets", []) if "ScheduleExpression" in properties else []:
                if target["Arn"] in self._by_arn and _is_enabled(properties):
                    function = self._by_arn[target["Arn"]]
                    yield Schedule(name, function, properties["ScheduleExpression"], _json(target.get("Input")))

    def _subscriptions(self) -> Iterator[Subscription]:
        for name, properties in self._of("AWS::SNS::Topic"):
            for each in properties.get("Subscription", []):
                yield Subscription(self._evaluator.value({"Ref": name}), each["Protocol"], each["Endpoint"], {})
        for _, properties in self._of("AWS::SNS::Subscription"):
            attributes = {"RawMessageDelivery": text(properties.get("RawMessageDelivery", False))}
            yield Subscription(properties["TopicArn"], properties["Protocol"], properties["Endpoint"], attributes)

    def _secret(self, name: str, properties: dict[str, Any]) -> Secret:
        generate = properties.get("GenerateSecretString")
        secret_name = self._identity(name, "Name")
        if generate is None:
            return Secret(name, secret_name, properties.get("SecretString"), None)
        if "GenerateStringKey" not in generate:
            return Secret(name, secret_name, None, "")
        return Secret(name, secret_name, _json(generate["SecretStringTemplate"]), generate["GenerateStringKey"])

    def _aliases(self) -> Iterator[tuple[str, str]]:
        """Each alias with the logical id of its key, whose own id does not exist yet."""
        for name, properties in self._of("AWS::KMS::Alias"):
            target = self._resources[name]["Properties"]["TargetKeyId"]
            yield properties["AliasName"], target.get("Ref") or target["Fn::GetAtt"][0]

    def _custom_resources(self) -> Iterator[CustomResource]:
        for name, resource in self._resources.items():
            if resource["Type"].startswith("Custom::") or resource["Type"] == "AWS::CloudFormation::CustomResource":
                properties = self._evaluator.value(resource["Properties"])
                if function := self._by_arn.get(properties["ServiceToken"]):
                    yield CustomResource(name, function, properties)


def _route(function: str, event: dict[str, Any]) -> Route:
    path, method = event.get("Path"), str(event.get("Method", "ANY")).upper()
    if path is None or re.fullmatch(r"/?\$default", path):
        return Route("ANY", "$default", function)
    return Route("ANY" if method in ANY_METHOD else method, path, function)


def _cors(api: dict[str, Any]) -> Cors:
    given = api["CorsConfiguration"]
    return Cors(
        origins=tuple(given.get("AllowOrigins", ())),
        methods=tuple(given.get("AllowMethods", ())),
        headers=tuple(given.get("AllowHeaders", ())),
        exposed=tuple(given.get("ExposeHeaders", ())),
        max_age=_whole(given.get("MaxAge")),
        with_credentials=bool(given.get("AllowCredentials", False)),
    )


def _queue_source(function: str, event: dict[str, Any]) -> QueueSource:
    return QueueSource(
        function=function,
        queue=event["Queue"],
        batch_size=int(event.get("BatchSize", 10)),
        window=int(event.get("MaximumBatchingWindowInSeconds", 0)),
        reports_item_failures="ReportBatchItemFailures" in event.get("FunctionResponseTypes", []),
        max_concurrency=_whole(event.get("ScalingConfig", {}).get("MaximumConcurrency")),
    )


def _rule(name: str, properties: dict[str, Any]) -> Rule:
    targets = tuple(properties.get("Targets", []))
    return Rule(name, properties.get("EventBusName", "default"), properties["EventPattern"], targets)


def _email_events(properties: dict[str, Any]) -> EmailEvents:
    destination = properties["EventDestination"]
    types = tuple(destination["MatchingEventTypes"])
    return EmailEvents(properties["ConfigurationSetName"], destination["SnsDestination"]["TopicARN"], types)


def _is_enabled(properties: dict[str, Any]) -> bool:
    return bool(properties.get("Enabled", True)) and properties.get("State", "ENABLED") == "ENABLED"


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _merged(shared: Any, own: Any) -> Any:
    """Globals under a function's own properties, as SAM merges them: maps by key, lists one after the other."""
    if isinstance(shared, dict) and isinstance(own, dict):
        return {
            **shared,
            **{key: _merged(shared[key], value) if key in shared else value for key, value in own.items()},
        }
    if isinstance(shared, list) and isinstance(own, list):
        return [*shared, *own]
    return own


def parameters_of(path: Path) -> set[str]:
    """The names of the parameters that the template asks for."""
    return set(intrinsics.load(path).get("Parameters", {}))
