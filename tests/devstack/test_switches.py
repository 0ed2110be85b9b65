"""What template.yaml switches off, filters or does not admit stays off here too, and what nobody here can honour is refused."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from botocore.exceptions import ClientError

from devstack.aws import LocalAws
from devstack.declared import Declared
from devstack.event_patterns import check, takes
from devstack.intrinsics import TemplateError
from devstack.post_counter import publisher
from devstack.post_office import PostOffice
from devstack.post_office.rules import Rules
from devstack.state import State
from tests.devstack import sdk
from tests.devstack.planted import ROOT, Document, changed, planted, read, without_statement

Fault = Callable[[Document], None]
Bring = Callable[[Fault], LocalAws]
SET = "tocsin-local-EmailConfigurationSet"
EVENT = {"eventType": "Bounce", "mail": {"tags": {"ses:configuration-set": [SET]}}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    state = State(tmp_path_factory.mktemp("state"))
    state.open()
    made = LocalAws(state)
    made.start()
    yield made
    made.stop()
    state.close()


@pytest.fixture
def bring(server: LocalAws, tmp_path: Path) -> Bring:
    """A local AWS with what a template declares that has this fault, and nothing in its queues."""

    def begin(fault: Fault = lambda _: None) -> LocalAws:
        urlopen(Request(f"{server.url}/moto-api/reset", method="POST")).close()
        path = planted(tmp_path, fault)
        known = server.create(read(path, endpoint=server.url))
        server.grant(read(path, known, server.url))
        return server

    return begin


def received(aws: LocalAws, name: str) -> list[str]:
    """Everything in the queue, which is then empty: a queue outlives its server."""
    sqs, found = aws.client("sqs"), []
    url = sqs.get_queue_url(QueueName=f"tocsin-local-{name}")["QueueUrl"]
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        found += [each["Body"] for each in messages]
        for each in messages:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
    return found


def put_intent(aws: LocalAws) -> None:
    entry = {"EventBusName": "tocsin-local", "Source": "shop", "DetailType": "tocsin.intent", "Detail": "{}"}
    assert aws.client("events").put_events(Entries=[entry])["FailedEntryCount"] == 0


def tell(aws: LocalAws, declared: Declared) -> None:
    """SES has something to tell about an email."""
    publisher(declared.email_events, aws.url)(EVENT)


def declared_by(tmp_path: Path, fault: Fault) -> Declared:
    return read(planted(tmp_path, fault))


# Messages that one service carries to another


def test_a_rule_brings_events_into_a_queue_that_admits_it(bring: Bring) -> None:
    aws = bring()

    put_intent(aws)

    assert len(received(aws, "intake")) == 1


def test_what_the_queue_does_not_admit_goes_to_the_rules_dead_letters(bring: Bring) -> None:
    aws = bring(without_statement("IntakeQueuePolicy", "RulesOfTheBus"))

    put_intent(aws)

    assert received(aws, "intake") == []
    assert len(received(aws, "IntakeDeadLetterQueue")) == 1


def test_without_either_statement_it_is_lost(bring: Bring) -> None:
    def both(resources: Document) -> None:
        without_statement("IntakeQueuePolicy", "RulesOfTheBus")(resources)
        without_statement("IntakeDeadLetterQueuePolicy", "RulesOfTheBus")(resources)

    aws = bring(both)

    put_intent(aws)

    assert (received(aws, "intake"), received(aws, "IntakeDeadLetterQueue")) == ([], [])


def test_a_rule_that_is_disabled_brings_nothing(bring: Bring) -> None:
    aws = bring(changed("IntentRule", State="DISABLED"))

    put_intent(aws)

    assert received(aws, "intake") == []


def test_events_of_emails_reach_the_feedback_queue(bring: Bring, tmp_path: Path) -> None:
    aws = bring()

    tell(aws, read(ROOT / "template.yaml"))

    [body] = received(aws, "feedback")
    assert json.loads(json.loads(body)["Message"]) == EVENT


@pytest.mark.parametrize(
    ("resource", "sid"),
    [("FeedbackTopicPolicy", "EmailEventsOfThisStack"), ("DataKey", "EmailEventsReachTheFeedbackTopic")],
)
def test_ses_is_refused_by_a_topic_or_a_key_that_does_not_name_it(bring: Bring, resource: str, sid: str) -> None:
    aws = bring(without_statement(resource, sid))

    with pytest.raises(ClientError, match="AuthorizationError"):
        tell(aws, read(ROOT / "template.yaml"))

    assert received(aws, "feedback") == []


def test_ses_is_refused_for_a_configuration_set_that_the_topic_does_not_name(bring: Bring) -> None:
    def another(resources: Document) -> None:
        statement = resources["FeedbackTopicPolicy"]["Properties"]["PolicyDocument"]["Statement"][1]
        statement["Condition"]["ArnEquals"]["aws:SourceArn"] = "arn:aws:ses:us-east-1:123456789012:configuration-set/another"

    aws = bring(another)

    with pytest.raises(ClientError, match="AuthorizationError"):
        tell(aws, read(ROOT / "template.yaml"))

    log = (aws._state.logs / "aws.log").read_text()
    assert f"configuration-set/another (ArnEquals) but it is arn:aws:ses:us-east-1:123456789012:configuration-set/{SET}" in log


def test_what_the_feedback_queue_does_not_admit_goes_to_the_subscriptions_dead_letters(bring: Bring) -> None:
    aws = bring(without_statement("FeedbackQueuePolicy", "FeedbackTopic"))

    tell(aws, read(ROOT / "template.yaml"))

    assert received(aws, "feedback") == []
    assert len(received(aws, "FeedbackDeadLetterQueue")) == 1


def test_a_subscription_filters(bring: Bring) -> None:
    aws = bring(changed("FeedbackSubscription", FilterPolicyScope="MessageBody", FilterPolicy={"eventType": ["Complaint"]}))
    declared = read(ROOT / "template.yaml")

    tell(aws, declared)
    publisher(declared.email_events, aws.url)(EVENT | {"eventType": "Complaint"})

    [body] = received(aws, "feedback")
    assert json.loads(json.loads(body)["Message"])["eventType"] == "Complaint"


# Emails


def destination(**changes: Any) -> Fault:
    def change(resources: Document) -> None:
        resources["EmailEventDestination"]["Properties"]["EventDestination"].update(changes)

    return change


def test_an_event_destination_that_is_off_is_told_nothing(tmp_path: Path) -> None:
    assert len(read(ROOT / "template.yaml").email_events) == 1
    assert declared_by(tmp_path, destination(Enabled=False)).email_events == ()


def test_an_event_of_a_kind_that_nobody_asked_for_is_not_told(bring: Bring, tmp_path: Path) -> None:
    fault = destination(MatchingEventTypes=["complaint"])
    aws = bring(fault)

    tell(aws, declared_by(tmp_path, fault))

    assert received(aws, "feedback") == []


def test_with_a_configuration_set_that_is_switched_off_nothing_is_sent(tmp_path: Path) -> None:
    declared = declared_by(tmp_path, changed("EmailConfigurationSet", SendingOptions={"SendingEnabled": False}))
    assert (declared.paused_sets, read(ROOT / "template.yaml").paused_sets) == ((SET,), ())

    with PostOffice(tmp_path / "ledger.sqlite3", rules=Rules(paused=declared.paused_sets)) as office:
        with pytest.raises(ClientError, match="SendingPausedException"):
            sdk.mail(office.url, ConfigurationSetName=SET)
        sdk.mail(office.url, ConfigurationSetName="another")

        assert len(office.ledger()) == 1


# What starts functions


def event(function: str, name: str, **properties: Any) -> Fault:
    def change(resources: Document) -> None:
        resources[function]["Properties"]["Events"][name]["Properties"].update(properties)

    return change


def test_an_event_source_that_is_off_has_no_poller(tmp_path: Path) -> None:
    for off in (False, "false"):
        declared = declared_by(tmp_path, event("FeedbackFunction", "ProviderEvents", Enabled=off))

        assert "FeedbackFunction" not in {each.function for each in declared.queue_sources}
    assert "FeedbackFunction" in {each.function for each in read(ROOT / "template.yaml").queue_sources}


def test_a_schedule_that_is_off_never_comes(tmp_path: Path) -> None:
    declared = declared_by(tmp_path, event("SweepFunction", "EveryMinute", State="DISABLED"))

    assert {each.function for each in declared.schedules} == {"RetentionFunction"}


def test_a_filter_of_an_event_source_is_read(tmp_path: Path) -> None:
    criteria = {"Filters": [{"Pattern": '{"body": {"kind": ["x"]}}'}]}

    declared = declared_by(tmp_path, event("FeedbackFunction", "ProviderEvents", FilterCriteria=criteria))

    [source] = [each for each in declared.queue_sources if each.function == "FeedbackFunction"]
    assert source.filters == ({"body": {"kind": ["x"]}},)


@pytest.mark.parametrize(
    ("pattern", "body", "taken"),
    [
        ({"body": {"kind": ["a", "b"]}}, '{"kind": "b"}', True),
        ({"body": {"kind": ["a"]}}, '{"kind": "b"}', False),
        ({"body": {"kind": ["a"]}}, "{}", False),
        ({"body": {"kind": ["a"]}}, "no JSON", False),
        ({"body": {"kind": ["a"]}}, '["a"]', False),
        ({"body": ["no JSON"]}, "no JSON", True),
        ({"body": {"a": {"b": [1]}}}, '{"a": {"b": 1}}', True),
        ({"body": {"a": [1]}}, '{"a": "1"}', False),
        ({"body": {"a": [True]}}, '{"a": 1}', False),
        ({"body": {"a": [None]}}, '{"a": null}', True),
        ({"body": {"tags": ["x"]}}, '{"tags": ["w", "x"]}', True),
        ({"body": {"a": [{"prefix": "ab"}]}}, '{"a": "abc"}', True),
        ({"body": {"a": [{"suffix": "bc"}]}}, '{"a": "abd"}', False),
        ({"body": {"a": [{"equals-ignore-case": "ABC"}]}}, '{"a": "abc"}', True),
        ({"body": {"a": [{"anything-but": ["x", "y"]}]}}, '{"a": "z"}', True),
        ({"body": {"a": [{"anything-but": ["x", "y"]}]}}, '{"a": "x"}', False),
        ({"body": {"a": [{"anything-but": {"prefix": "x"}}]}}, '{"a": "xyz"}', False),
        ({"body": {"a": [{"anything-but": "x"}]}}, "{}", False),
        ({"body": {"a": [{"exists": True}]}}, '{"a": 1}', True),
        ({"body": {"a": [{"exists": False}]}}, '{"a": 1}', False),
        ({"body": {"a": [{"exists": False}]}}, "{}", True),
        ({"body": {"a": [{"numeric": [">", 1, "<=", 5]}]}}, '{"a": 5}', True),
        ({"body": {"a": [{"numeric": [">", 1, "<=", 5]}]}}, '{"a": 1}', False),
        ({"messageAttributes": {"kind": {"stringValue": ["test"]}}}, "x", True),
    ],
)
def test_a_filter_takes_what_its_pattern_matches(pattern: dict[str, Any], body: str, taken: bool) -> None:
    record = {"body": body, "messageAttributes": {"kind": {"stringValue": "test", "dataType": "String"}}}

    check(pattern)
    assert takes((pattern,), record) is taken
    assert takes((), record), "without any filter it takes everything"
    assert takes(({"body": {"never": ["x"]}}, pattern), record) is taken, "one of several is enough"


@pytest.mark.parametrize(
    "wanted",
    [
        {"cidr": "10.0.0.0/8"},
        {"prefix": "a", "suffix": "b"},
        {},
        {"prefix": ["a"]},
        {"numeric": [">"]},
        {"numeric": ["~", 1]},
        {"exists": "true"},
        {"anything-but": {"wildcard": "a*"}},
    ],
)
def test_a_pattern_that_nobody_here_can_read_is_refused(wanted: dict[str, Any]) -> None:
    with pytest.raises(TemplateError, match="does not know"):
        check({"body": {"a": [wanted]}})


# What nobody here can honour


def added(name: str, kind: str, **properties: Any) -> Fault:
    def add(resources: Document) -> None:
        resources[name] = {"Type": kind, "Properties": properties}

    return add


def another_event(resources: Document) -> None:
    resources["SweepFunction"]["Properties"]["Events"]["Stream"] = {"Type": "DynamoDB", "Properties": {"Stream": "x"}}


def test_what_stands_in_globals_is_no_exception(tmp_path: Path) -> None:
    path = planted(tmp_path, lambda _: None)
    document = json.loads(path.read_text())
    for shared in ({"Function": {"FileSystemConfigs": []}}, {"HttpApi": {"Auth": {}}}):
        path.write_text(json.dumps({**document, "Globals": shared}))

        with pytest.raises(TemplateError, match="Globals"):
            read(path)


def second_policy(resources: Document) -> None:
    resources["Second"] = resources["PlanQueuePolicy"]


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (changed("LiveFunction", FileSystemConfigs=[]), r"LiveFunction .*FileSystemConfigs"),
        (changed("HttpApi", Auth={"DefaultAuthorizer": "x"}), r"HttpApi .*Auth"),
        (changed("DataKey", Enabled=False), r"DataKey .*Enabled"),
        (changed("PlanQueue", Fairness=1), r"PlanQueue .*Fairness"),
        (changed("FeedbackSubscription", ReplayPolicy={}), r"FeedbackSubscription .*ReplayPolicy"),
        (changed("FeedbackTopic", DeliveryStatusLogging=[]), r"FeedbackTopic .*DeliveryStatusLogging"),
        (changed("EmailConfigurationSet", ArchivingOptions={}), r"EmailConfigurationSet .*ArchivingOptions"),
        (changed("IntentRule", State="SOMETIMES"), "SOMETIMES"),
        (changed("IntentRule", EventPattern={"source": [{"wildcard": "shop*"}]}), "IntentRule.*wildcard"),
        (changed("IntentRule", EventPattern={"source": "shop"}), "IntentRule.source"),
        (changed("IntentRule", Targets=[{"Id": "x", "Arn": "arn:aws:lambda:us-east-1:1:function:x"}]), "IntentRule: a rule"),
        (changed("IntentRule", Targets=[{"Id": "x", "Arn": "arn:aws:sqs:us-east-1:1:x", "Input": "{}"}]), "IntentRule: a rule"),
        (event("SweepFunction", "EveryMinute", EndDate="2027-01-01"), r"SweepFunction\.EveryMinute .*EndDate"),
        (event("SweepFunction", "EveryMinute", ScheduleExpressionTimezone="Asia/Tokyo"), "ScheduleExpressionTimezone"),
        (event("FeedbackFunction", "ProviderEvents", ProvisionedPollerConfig={}), "ProvisionedPollerConfig"),
        (event("FeedbackFunction", "ProviderEvents", FilterCriteria={"Filters": [{"Pattern": "{"}]}), "not JSON"),
        (event("FeedbackFunction", "ProviderEvents", FilterCriteria={"Filters": [{"Pattern": '{"$or": []}'}]}), r"\$or"),
        (
            event("FeedbackFunction", "ProviderEvents", FilterCriteria={"Filters": [{"Pattern": '{"a": [{"cidr": "x"}]}'}]}),
            "cidr",
        ),
        (destination(SnsDestination=None), "EmailEventDestination"),
        (another_event, r"SweepFunction\.Stream.*DynamoDB"),
        (second_policy, "more than one"),
        (
            added("Late", "AWS::Scheduler::Schedule", ScheduleExpression="rate(1 hour)", Target={"Arn": "arn:aws:sqs:x"}),
            "Late is for arn:aws:sqs:x",
        ),
    ],
)
def test_what_the_local_stack_cannot_honour_it_does_not_start_with(tmp_path: Path, fault: Fault, complaint: str) -> None:
    with pytest.raises(TemplateError, match=complaint):
        declared_by(tmp_path, fault)


def test_a_dead_letter_queue_that_admits_nobody_keeps_the_stack_from_starting(server: LocalAws, bring: Bring) -> None:
    server.start()

    with pytest.raises(TemplateError, match="does not admit the dead letters"):
        bring(changed("WorkDeadLetterQueue", RedriveAllowPolicy={"redrivePermission": "denyAll"}))

    server.start()  # without what was made of it
