"""Reads template.yaml into what the local stack can bring to life."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from devstack import event_patterns, intrinsics, nested
from devstack.declarations import as_json, cors, is_enabled, merged, queue_source, route, whole
from devstack.declared import (
    CustomResource,
    Database,
    Declared,
    EmailEvents,
    Function,
    Layer,
    Queue,
    Rule,
    Schedule,
    Secret,
    Subscription,
    Topic,
)
from devstack.iam import reading
from devstack.identities import predictable
from devstack.intrinsics import Evaluator, Identities, TemplateError, text
from devstack.properties import check_event, check_properties

QUEUE_ATTRIBUTES = {
    "ContentBasedDeduplication",
    "DelaySeconds",
    "FifoQueue",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "ReceiveMessageWaitTimeSeconds",
    "VisibilityTimeout",
}


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
        if strange := self._globals.keys() - {"Function"}:
            raise TemplateError(f"Globals: the local stack does not know {', '.join(sorted(strange))}")
        check_properties("AWS::Serverless::Function", "Globals", self._globals.get("Function", {}))
        for name, resource in self._resources.items():
            check_properties(resource["Type"], name, resource.get("Properties", {}))
        self._layers = {name: self._layer(name, each) for name, each in self._of("AWS::Serverless::LayerVersion")}
        shared = evaluator.value(self._globals.get("Function", {}))
        whole = {name: merged(shared, each) for name, each in self._of("AWS::Serverless::Function")}
        self._functions = {name: self._function(name, each) for name, each in whole.items()}
        self._rights = reading.read(self._resources, whole, evaluator)
        self._by_arn = {function.arn: name for name, function in self._functions.items()}

    def declared(self) -> Declared:
        events = list(self._events())
        return Declared(
            functions=self._functions,
            routes=tuple(route(name, event) for name, _, kind, event in events if kind == "HttpApi"),
            cors=next((cors(each) for _, each in self._of("AWS::Serverless::HttpApi") if "CorsConfiguration" in each), None),
            queues=tuple(self._queue(name, each) for name, each in self._of("AWS::SQS::Queue")),
            queue_sources=tuple(
                queue_source(name, event) for name, _, kind, event in events if kind == "SQS" and is_enabled(event)
            ),
            schedules=tuple(self._schedules(events)),
            topics=tuple(self._topic(name) for name, _ in self._of("AWS::SNS::Topic")),
            subscriptions=tuple(self._subscriptions()),
            buses=tuple(self._identity(name, "Name") for name, _ in self._of("AWS::Events::EventBus")),
            rules=tuple(self._rule(name, each) for name, each in self._of("AWS::Events::Rule") if "EventPattern" in each),
            secrets=tuple(self._secret(name, each) for name, each in self._of("AWS::SecretsManager::Secret")),
            keys=tuple(name for name, _ in self._of("AWS::KMS::Key")),
            aliases=dict(self._aliases()),
            buckets=tuple(self._evaluator.value({"Ref": name}) for name, _ in self._of("AWS::S3::Bucket")),
            custom_resources=tuple(self._custom_resources()),
            databases=tuple(Database(name, each["MasterUsername"]) for name, each in self._of("AWS::RDS::DBInstance")),
            email_events=tuple(self._email_events()),
            paused_sets=tuple(
                self._evaluator.value({"Ref": name})
                for name, each in self._of("AWS::SES::ConfigurationSet")
                if text(each.get("SendingOptions", {}).get("SendingEnabled", True)) != "true"
            ),
            rights=self._rights,
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

    def _function(self, name: str, properties: dict[str, Any]) -> Function:
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
            reserved_concurrency=whole(properties.get("ReservedConcurrentExecutions")),
            logs_json=properties.get("LoggingConfig", {}).get("LogFormat") == "JSON",
        )

    def _events(self) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        for function, properties in self._of("AWS::Serverless::Function"):
            for name, event in properties.get("Events", {}).items():
                check_event(event["Type"], f"{function}.{name}", event.get("Properties", {}))
                yield function, name, event["Type"], event.get("Properties", {})

    def _queue(self, name: str, properties: dict[str, Any]) -> Queue:
        attributes = {key: text(value) for key, value in properties.items() if key in QUEUE_ATTRIBUTES}
        if "RedriveAllowPolicy" in properties:
            attributes["RedriveAllowPolicy"] = json.dumps(properties["RedriveAllowPolicy"])
        policy = self._policy("AWS::SQS::QueuePolicy", "Queues", self._identity(name, "QueueUrl"))
        return Queue(name, self._identity(name, "QueueName"), attributes, properties.get("RedrivePolicy"), policy)

    def _topic(self, name: str) -> Topic:
        policy = self._policy("AWS::SNS::TopicPolicy", "Topics", self._evaluator.value({"Ref": name}))
        return Topic(name, self._identity(name, "TopicName"), policy)

    def _policy(self, kind: str, members: str, whose: str) -> dict[str, Any] | None:
        """What a resource of that kind says of whom it names; only one may."""
        found = [each["PolicyDocument"] for _, each in self._of(kind) if whose in each[members]]
        if len(found) > 1:
            raise TemplateError(f"{whose} has more than one {kind}, and the last one made would win")
        return found[0] if found else None

    def _schedules(self, events: list[tuple[str, str, str, dict[str, Any]]]) -> Iterator[Schedule]:
        for function, name, kind, event in events:
            if kind in {"Schedule", "ScheduleV2"} and is_enabled(event):
                expression = event.get("ScheduleExpression") or event["Schedule"]
                yield Schedule(f"{function}{name}", function, expression, as_json(event.get("Input")))
        for name, properties in self._of("AWS::Scheduler::Schedule"):
            target, expression = properties["Target"], properties["ScheduleExpression"]
            if is_enabled(properties):
                yield Schedule(name, self._target(name, target), expression, as_json(target.get("Input")))
        for name, properties in self._of("AWS::Events::Rule"):
            for target in properties.get("Targets", []) if "ScheduleExpression" in properties else []:
                if is_enabled(properties):
                    function = self._target(name, target)
                    yield Schedule(name, function, properties["ScheduleExpression"], as_json(target.get("Input")))

    def _target(self, name: str, target: dict[str, Any]) -> str:
        if target["Arn"] not in self._by_arn:
            raise TemplateError(f"{name} is for {target['Arn']}; the local stack's clock invokes functions of this template")
        return self._by_arn[target["Arn"]]

    def _rule(self, name: str, properties: dict[str, Any]) -> Rule:
        event_patterns.check(properties["EventPattern"], f"the pattern of {name}")
        targets = tuple(properties.get("Targets", []))
        for each in targets:
            if not each["Arn"].startswith("arn:aws:sqs:") or each.keys() & {"Input", "InputPath", "InputTransformer"}:
                raise TemplateError(
                    f"{name}: a rule of the local stack brings events as they are to queues, not to {each['Arn']}"
                )
        return Rule(name, properties.get("EventBusName", "default"), properties["EventPattern"], targets, is_enabled(properties))

    def _email_events(self) -> Iterator[EmailEvents]:
        for name, properties in self._of("AWS::SES::ConfigurationSetEventDestination"):
            destination = properties["EventDestination"]
            if not destination.get("SnsDestination"):
                raise TemplateError(f"{name}: the local stack publishes the events of emails to SNS topics only")
            if is_enabled({"Enabled": destination.get("Enabled", False)}):
                types = tuple(destination["MatchingEventTypes"])
                yield EmailEvents(properties["ConfigurationSetName"], destination["SnsDestination"]["TopicARN"], types)

    def _subscriptions(self) -> Iterator[Subscription]:
        for name, properties in self._of("AWS::SNS::Topic"):
            for each in properties.get("Subscription", []):
                yield Subscription(self._evaluator.value({"Ref": name}), each["Protocol"], each["Endpoint"], {})
        for _, properties in self._of("AWS::SNS::Subscription"):
            attributes = {"RawMessageDelivery": text(properties.get("RawMessageDelivery", False))}
            for each in ("FilterPolicy", "FilterPolicyScope", "RedrivePolicy"):
                if each in properties:
                    attributes[each] = properties[each] if isinstance(properties[each], str) else json.dumps(properties[each])
            yield Subscription(properties["TopicArn"], properties["Protocol"], properties["Endpoint"], attributes)

    def _secret(self, name: str, properties: dict[str, Any]) -> Secret:
        generate = properties.get("GenerateSecretString")
        secret_name = self._identity(name, "Name")
        if generate is None:
            return Secret(name, secret_name, properties.get("SecretString"), None)
        if "GenerateStringKey" not in generate:
            return Secret(name, secret_name, None, "")
        return Secret(name, secret_name, as_json(generate["SecretStringTemplate"]), generate["GenerateStringKey"])

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


def parameters_of(path: Path) -> set[str]:
    """The names of the parameters that the template asks for."""
    return set(intrinsics.load(path).get("Parameters", {}))
