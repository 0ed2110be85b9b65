"""Every statement by which one service lets another in is taken away in turn, and so is whatever leads to it."""

from collections.abc import Iterator

from tests.template import checks_of_edges as edges
from tests.template import checks_of_invoking as invoking
from tests.template.everything import at, fault, of, resources
from tests.template.faults import Fault
from tests.template.reading import listed, named

_ELSEWHERE = {"ArnEquals": {"aws:SourceArn": "arn:aws:sns:us-east-1:account:other"}}
_NEVER = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}, "aws:SourceVpc": "vpc-1"}}
_STRANGER = {"Service": "s3.amazonaws.com"}


def faults() -> Iterator[Fault]:
    yield from _of_queues_and_topics()
    yield from _of_keys()
    yield from _of_schedules()
    yield from _of_failures()
    yield from _of_routes()
    yield from _of_dead_letters()
    yield from _of_emails()
    yield from _of_waiting()
    yield from _of_the_database()


def _of_queues_and_topics() -> Iterator[Fault]:
    check = edges.queues_and_topics_let_in_whoever_sends_to_them_and_no_other
    for policy in [*resources("AWS::SQS::QueuePolicy"), *resources("AWS::SNS::TopicPolicy")]:
        document = of(policy, "PolicyDocument", "Statement")
        allowing = [number for number, each in enumerate(at(document)) if each["Effect"] == "Allow"]
        if allowing:
            yield fault(check, ("Resources", policy))
            yield fault(check, of(policy, "Queues" if "Queues" in at(of(policy)) else "Topics"), [{"Ref": "PlanQueue"}])
        for number in allowing:
            yield fault(check, (*document, number))
            for key, value in {
                "Effect": "Deny",
                "Principal": _STRANGER,
                "Action": "sqs:ReceiveMessage",
                "Resource": {"Fn::GetAtt": ["PlanQueue", "Arn"]},
            }.items():
                yield fault(check, (*document, number, key), value)
            yield fault(check, (*document, number, "Condition"), _ELSEWHERE)
            yield fault(check, (*document, number, "Condition"), _NEVER)
            sources = at((*document, number, "Condition")).get("ArnEquals", {}).get("aws:SourceArn")
            for source in range(len(sources) if isinstance(sources, list) else 0):
                yield fault(check, (*document, number, "Condition", "ArnEquals", "aws:SourceArn", source))


def _of_keys() -> Iterator[Fault]:
    checks = {
        "DataKey": edges.keys_serve_whoever_publishes_to_what_they_encrypt,
        "LogKey": edges.keys_serve_the_logs_they_encrypt,
    }
    for key, check in checks.items():
        statements = of(key, "KeyPolicy", "Statement")
        for number, each in enumerate(at(statements)):
            if "Service" in each["Principal"]:
                yield fault(check, (*statements, number))
                yield fault(check, (*statements, number, "Effect"), "Deny")
                yield fault(check, (*statements, number, "Principal"), _STRANGER)
                yield fault(check, (*statements, number, "Condition"), _ELSEWHERE)
                yield fault(check, (*statements, number, "Action", 0))
        root = (*statements, 0)
        yield fault(edges.keys_leave_it_to_the_roles_who_uses_them, root)
        for part in ("Action", "Principal", "Resource"):
            yield fault(edges.keys_leave_it_to_the_roles_who_uses_them, (*root, part), "kms:DescribeKey")
    for topic in resources("AWS::SNS::Topic"):
        yield fault(checks["DataKey"], of(topic, "KmsMasterKeyId"), "alias/aws/sns")
        yield fault(checks["DataKey"], of(topic, "KmsMasterKeyId"), {"Ref": "LogKey"})
    for group in resources("AWS::Logs::LogGroup"):
        yield fault(checks["LogKey"], of(group, "LogGroupName"), {"Fn::Sub": "/elsewhere/${AWS::StackName}"})
        yield fault(checks["LogKey"], of(group, "KmsKeyId"), {"Fn::GetAtt": ["DataKey", "Arn"]})


def _of_schedules() -> Iterator[Fault]:
    check = invoking.schedules_may_invoke_what_they_point_at_and_nothing_else
    for name in resources("AWS::Scheduler::Schedule"):
        role = str(named(at(of(name, "Target", "RoleArn"))))
        for number in range(len(at(of(role, "Policies")))):
            yield fault(check, of(role, "Policies", number))
        yield fault(check, of(name, "Target", "Arn"), {"Fn::GetAtt": ["IntakeFunction", "Arn"]})
        yield fault(check, of(name, "Target", "Arn"), {"Fn::GetAtt": ["PlanQueue", "Arn"]})
        yield fault(check, of(name, "Target", "DeadLetterConfig", "Arn"), {"Fn::GetAtt": ["PlanQueue", "Arn"]})


def _of_failures() -> Iterator[Fault]:
    check = invoking.failures_are_caught_of_the_very_version_that_is_invoked
    for name in resources("AWS::Lambda::EventInvokeConfig"):
        yield fault(check, ("Resources", name))
        yield fault(check, of(name, "Qualifier"), "live")
        yield fault(check, of(name, "DestinationConfig"))


def _of_routes() -> Iterator[Fault]:
    """One permission of each function, the widest (which no other includes); all are made alike, by SAM."""
    permissions: dict[str, list[str]] = {}
    for name in resources("AWS::Lambda::Permission"):
        permissions.setdefault(str(named(at(of(name, "FunctionName")))), []).append(name)
    for function, names in permissions.items():
        name = min(names, key=lambda each: len(str(at(of(each, "SourceArn")))))
        check = invoking.routes_may_invoke_the_functions_they_lead_to
        yield fault(check, ("Resources", name))
        yield fault(check, of(name, "Principal"), "events.amazonaws.com")
        yield fault(check, of(name, "SourceArn"), "arn:aws:execute-api:us-east-1:account:other/*")
        yield fault(invoking.routes_lead_to_functions, ("Resources", function))
    path = next(iter(at(of("HttpApi", "Body", "paths"))))
    method = next(iter(at(of("HttpApi", "Body", "paths", path))))
    integration = of("HttpApi", "Body", "paths", path, method, "x-amazon-apigateway-integration")
    yield fault(invoking.routes_lead_to_functions, (*integration, "payloadFormatVersion"), "1.0")
    yield fault(invoking.routes_lead_to_functions, (*integration, "type"), "mock")


def _of_dead_letters() -> Iterator[Fault]:
    check = edges.dead_letter_queues_admit_all_that_feed_them_and_no_others
    for queue in resources("AWS::SQS::Queue"):
        policy = at(of(queue)).get("RedriveAllowPolicy", {})
        for number in range(len(policy.get("sourceQueueArns", []))):
            yield fault(check, of(queue, "RedriveAllowPolicy", "sourceQueueArns", number))
        if "RedrivePolicy" in at(of(queue)):
            yield fault(check, of(queue, "QueueName"), {"Fn::Sub": "${AWS::StackName}-other"})
            yield fault(
                edges.queues_are_emptied_by_a_function_or_by_people,
                of(queue, "RedrivePolicy", "deadLetterTargetArn"),
                {"Ref": queue},
            )
    for mapping in resources("AWS::Lambda::EventSourceMapping"):
        yield fault(edges.queues_are_emptied_by_a_function_or_by_people, ("Resources", mapping))
        source = {"Fn::GetAtt": ["WorkDeadLetterQueue", "Arn"]}
        yield fault(edges.queues_are_emptied_by_a_function_or_by_people, of(mapping, "EventSourceArn"), source)


def _of_emails() -> Iterator[Fault]:
    check = edges.what_becomes_of_an_email_comes_back
    for gone in ("EmailEventDestination", "FeedbackSubscription", "FeedbackFunctionProviderEvents"):
        yield fault(check, ("Resources", gone))
    yield fault(check, of("EmailEventDestination", "EventDestination", "SnsDestination", "TopicARN"), {"Ref": "AlarmTopic"})
    yield fault(check, of("EmailEventDestination", "ConfigurationSetName"), "other")
    yield fault(check, of("FeedbackSubscription", "TopicArn"), {"Ref": "AlarmTopic"})
    yield fault(check, of("FeedbackSubscription", "Endpoint"), {"Fn::GetAtt": ["PlanQueue", "Arn"]})
    yield fault(check, of("FeedbackFunctionProviderEvents", "FunctionName"), {"Ref": "IntakeQueueFunction"})
    yield fault(check, of("DispatchFunction", "Environment", "Variables", "EMAIL_CONFIGURATION_SET"), "other")


def _of_waiting() -> Iterator[Fault]:
    check = edges.whoever_sends_begins_when_it_is_let_in
    yield fault(check, ("Resources", "EmailEventDestination", "DependsOn"))
    yield fault(check, ("Resources", "FeedbackSubscription", "DependsOn"))
    for number in range(len(at(("Resources", "FeedbackSubscription", "DependsOn")))):
        yield fault(check, ("Resources", "FeedbackSubscription", "DependsOn", number))


def _of_the_database() -> Iterator[Fault]:
    check = edges.the_database_is_watched_and_encrypted_by_whom_it_names
    yield fault(check, of("DatabaseMonitoringRole", "ManagedPolicyArns"), [])
    yield fault(check, of("Database", "MonitoringRoleArn"), {"Fn::GetAtt": ["DispatchRole", "Arn"]})
    yield fault(check, of("DatabaseProxyRole", "ManagedPolicyArns"), [])
    statement = of("DatabaseProxyRole", "Policies", 0, "PolicyDocument", "Statement", 0)
    for number in range(len(listed(at((*statement, "Resource"))))):
        yield fault(check, (*statement, "Resource", number))
