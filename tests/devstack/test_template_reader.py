"""The reader of template.yaml: what CloudFormation and SAM would make of it, we make of it too."""

from pathlib import Path
from textwrap import dedent, indent

import pytest

from devstack import template
from devstack.declared import Cors, Declared
from devstack.intrinsics import TemplateError

ROOT = Path(__file__).parents[2]
PREAMBLE = """
Parameters:
  Stage: {Type: String, Default: dev}
  Sender: {Type: String}
  Zones: {Type: CommaDelimitedList, Default: "a, b"}
  Limit: {Type: Number, Default: 7}
Conditions:
  IsProduction: !Equals [!Ref Stage, prod]
  IsQuiet: !And [!Not [!Condition IsProduction], !Or [!Equals [a, b], !Equals [a, a]]]
Globals:
  Function:
    Handler: app.handler
    Timeout: 20
    Layers: [!Ref House]
    Environment: {Variables: {STAGE: !Ref Stage, SHARED: "yes"}}
"""

HOUSE = """
  House:
    Type: AWS::Serverless::LayerVersion
    Metadata: {BuildMethod: python3.13}
    Properties: {ContentUri: house}
"""


def read(folder: Path, resources: str, *, known: dict[tuple[str, str], str] | None = None, **parameters: str) -> Declared:
    for name in ("door", "house", "rules"):
        (folder / name).mkdir(exist_ok=True)
    path = folder / "template.yaml"
    path.write_text(f"{PREAMBLE}\nResources:\n{HOUSE}\n{indent(dedent(resources), '  ')}")
    return template.read(path, {"Sender": "us@example.com"} | parameters, known or {}, endpoint="http://aws")


def variables(folder: Path, values: str, **arguments: object) -> dict[str, str]:
    """The environment of a function that declares these variables, without the shared ones."""
    resources = f"""
      Queue: {{Type: AWS::SQS::Queue}}
      Secret: {{Type: AWS::SecretsManager::Secret}}
      Role: {{Type: AWS::IAM::Role}}
      Door:
        Type: AWS::Serverless::Function
        Properties:
          CodeUri: door
          Environment: {{Variables: {{{values}}}}}
    """
    found = read(folder, resources, **arguments).functions["Door"].variables  # type: ignore[arg-type]
    return {name: value for name, value in found.items() if name not in {"STAGE", "SHARED"}}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("!Ref Sender", "us@example.com"),
        ("!Ref Limit", "7"),
        ("!Ref AWS::AccountId", "123456789012"),
        ("!Ref Queue", "http://aws/123456789012/tocsin-local-Queue"),
        ("!GetAtt Queue.Arn", "arn:aws:sqs:us-east-1:123456789012:tocsin-local-Queue"),
        ("!GetAtt [Queue, QueueName]", "tocsin-local-Queue"),
        ('{"Fn::GetAtt": [Queue, QueueName]}', "tocsin-local-Queue"),
        ('!Sub "${Stage}/${Queue.Arn}/${!Kept}"', "dev/arn:aws:sqs:us-east-1:123456789012:tocsin-local-Queue/${Kept}"),
        ('!Sub ["${Own}-${Stage}", {Own: !Ref Limit}]', "7-dev"),
        ('!Join ["-", [x, !Ref Stage]]', "x-dev"),
        ('!Select [1, !Split ["|", "a|b|c"]]', "b"),
        ("!Select [1, !Ref Zones]", "b"),
        ("!If [IsProduction, 1, 2]", "2"),
        ("!If [IsQuiet, true, false]", "true"),
    ],
)
def test_an_expression_has_the_value_that_cloudformation_gives_it(tmp_path: Path, expression: str, expected: str) -> None:
    assert variables(tmp_path, f"V: {expression}") == {"V": expected}


def test_no_value_leaves_the_variable_out(tmp_path: Path) -> None:
    assert variables(tmp_path, "V: !If [IsProduction, x, !Ref AWS::NoValue]") == {}


def test_a_parameter_given_at_the_start_wins_over_its_default(tmp_path: Path) -> None:
    assert variables(tmp_path, "V: !If [IsProduction, 1, 2]", Stage="prod") == {"V": "1"}


def test_a_reference_to_what_exists_only_in_aws_goes_through_the_known_identities(tmp_path: Path) -> None:
    found = variables(tmp_path, "V: !Ref Secret, R: !GetAtt Role.Arn", known={("Secret", "Ref"): "arn:of:the:secret"})

    assert found["V"] == "arn:of:the:secret"
    assert found["R"].startswith("arn:aws:"), "the rest gets a recognisable name"


@pytest.mark.parametrize(
    ("values", "complaint"),
    [("V: !Ref Nowhere", "Nowhere"), ("V: !Base64 x", "Fn::Base64"), ("V: !If [Unheard, 1, 2]", "Unheard")],
)
def test_what_cannot_be_resolved_is_named(tmp_path: Path, values: str, complaint: str) -> None:
    with pytest.raises(TemplateError, match=complaint):
        variables(tmp_path, values)


def test_a_parameter_without_value_says_how_to_give_one(tmp_path: Path) -> None:
    (tmp_path / "template.yaml").write_text(
        f"{PREAMBLE}\nResources:\n  Q: {{Type: AWS::SQS::Queue, Properties: {{QueueName: !Ref Sender}}}}"
    )

    with pytest.raises(TemplateError, match="--parameter Sender="):
        template.read(tmp_path / "template.yaml", {}, {})


@pytest.mark.parametrize("content", ["Resources: [", '{"Resources": '])
def test_broken_yaml_or_json_is_a_template_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "template.yaml").write_text(content)

    with pytest.raises(TemplateError, match=r"template\.yaml"):
        template.read(tmp_path / "template.yaml", {}, {})


def test_an_unknown_parameter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="Stag"):
        variables(tmp_path, "V: 1", Stag="prod")


def test_globals_lie_under_the_properties_of_each_function(tmp_path: Path) -> None:
    declared = read(
        tmp_path,
        """
  Rules: {Type: AWS::Serverless::LayerVersion, Properties: {ContentUri: rules}}
  Door:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: door
      MemorySize: 256
      ReservedConcurrentExecutions: 1
      Layers: [!Ref Rules]
      Environment: {Variables: {OWN: "1", SHARED: "no"}}
""",
    )

    door = declared.functions["Door"]

    assert (door.handler, door.timeout, door.memory, door.reserved_concurrency) == ("app.handler", 20, 256, 1)
    assert door.variables == {"STAGE": "dev", "SHARED": "no", "OWN": "1"}
    assert [(layer.name, layer.is_built) for layer in door.layers] == [("House", True), ("Rules", False)]
    assert door.folder == tmp_path / "door"


def test_a_resource_whose_condition_is_false_does_not_exist(tmp_path: Path) -> None:
    resources = "Queue: {Type: AWS::SQS::Queue, Condition: IsProduction}"

    assert read(tmp_path, resources).queues == ()
    assert len(read(tmp_path, resources, Stage="prod").queues) == 1


def test_events_become_routes_queue_sources_and_schedules(tmp_path: Path) -> None:
    declared = read(
        tmp_path,
        """
  Queue: {Type: AWS::SQS::Queue}
  Door:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: door
      Events:
        Get: {Type: HttpApi, Properties: {Method: get, Path: "/things/{id}"}}
        Any: {Type: HttpApi, Properties: {Method: ANY, Path: "/all/{rest+}"}}
        Rest: {Type: HttpApi}
        Nudges:
          Type: SQS
          Properties:
            Queue: !GetAtt Queue.Arn
            BatchSize: 25
            MaximumBatchingWindowInSeconds: 2
            FunctionResponseTypes: [ReportBatchItemFailures]
            ScalingConfig: {MaximumConcurrency: 3}
        Tick: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 minute), Input: '{"a": 1}'}}
        Tock: {Type: Schedule, Properties: {Schedule: rate(1 hour)}}
        Off: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 hour), State: DISABLED}}
""",
    )

    assert [route.key for route in declared.routes] == ["GET /things/{id}", "ANY /all/{rest+}", "$default"]
    source = declared.queue_sources[0]
    assert source.queue == "arn:aws:sqs:us-east-1:123456789012:tocsin-local-Queue"
    assert (source.batch_size, source.window, source.reports_item_failures, source.max_concurrency) == (25, 2, True, 3)
    assert [(each.expression, each.event) for each in declared.schedules] == [
        ("rate(1 minute)", {"a": 1}),
        ("rate(1 hour)", None),
    ]


def test_a_cors_configuration_says_which_pages_may_call(tmp_path: Path) -> None:
    declared = read(
        tmp_path,
        """
  Api:
    Type: AWS::Serverless::HttpApi
    Properties:
      CorsConfiguration:
        AllowOrigins: !Split ["|", "https://a.example|https://b.example"]
        AllowMethods: [GET]
        AllowHeaders: [authorization]
        ExposeHeaders: [etag]
        MaxAge: 600
""",
    )

    assert declared.cors == Cors(("https://a.example", "https://b.example"), ("GET",), ("authorization",), ("etag",), 600, False)


def test_an_api_without_cors_has_none(tmp_path: Path) -> None:
    resources = """
      Api:
        Type: AWS::Serverless::HttpApi
        Properties: {CorsConfiguration: !If [IsProduction, {AllowOrigins: ["*"]}, !Ref AWS::NoValue]}
    """

    assert read(tmp_path, resources).cors is None


def test_queues_keep_their_settings_and_their_way_to_the_dead_letters(tmp_path: Path) -> None:
    declared = read(
        tmp_path,
        """
  Dead: {Type: AWS::SQS::Queue, Properties: {QueueName: !Sub "${AWS::StackName}-dead"}}
  Queue:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 180
      DelaySeconds: 1
      MessageRetentionPeriod: 86400
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 5}
""",
    )

    queue = next(queue for queue in declared.queues if queue.name == "Queue")

    assert queue.attributes == {"VisibilityTimeout": "180", "DelaySeconds": "1", "MessageRetentionPeriod": "86400"}
    assert queue.redrive == {
        "deadLetterTargetArn": "arn:aws:sqs:us-east-1:123456789012:tocsin-local-dead",
        "maxReceiveCount": 5,
    }


def test_code_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="functions/nowhere"):
        read(tmp_path, "Door: {Type: AWS::Serverless::Function, Properties: {CodeUri: functions/nowhere}}")


def nested_in(folder: Path, value: str, template_of_it: str, **parameters: str) -> dict[str, str]:
    """The variables of a function that takes this value of a nested stack, which exists in production only."""
    (folder / "ground.yaml").write_text(dedent(template_of_it))
    resources = f"""
  Ground:
    Type: AWS::CloudFormation::Stack
    Condition: IsProduction
    Properties: {{TemplateURL: ground.yaml, Parameters: {{Name: !Sub "${{Stage}}-ground"}}}}
  Door:
    Type: AWS::Serverless::Function
    Properties: {{CodeUri: door, Environment: {{Variables: {{V: !If [IsProduction, {value}, none]}}}}}}
"""
    return read(folder, resources, **parameters).functions["Door"].variables


GROUND = """
    Parameters: {Name: {Type: String}}
    Resources: {Subnet: {Type: AWS::EC2::Subnet}}
    Outputs: {Label: {Value: !Sub "${Name}!"}, Subnet: {Value: !Ref Subnet}}
"""


def test_a_nested_stack_gives_its_outputs(tmp_path: Path) -> None:
    labels = nested_in(tmp_path, "!GetAtt Ground.Outputs.Label", GROUND, Stage="prod")
    subnets = nested_in(tmp_path, "!GetAtt Ground.Outputs.Subnet", GROUND, Stage="prod")

    assert labels["V"] == "prod-ground!"
    assert subnets["V"] == "tocsin-local-Subnet", "what exists only in AWS gets a recognisable name"


def test_a_nested_stack_whose_condition_is_false_is_not_even_read(tmp_path: Path) -> None:
    assert nested_in(tmp_path, "!GetAtt Ground.Outputs.Label", "Resources: [", Stage="dev")["V"] == "none"


@pytest.mark.parametrize(
    ("value", "template_of_it", "complaint"),
    [
        ("!GetAtt Ground.Outputs.Nowhere", GROUND, r"Ground\.Outputs\.Nowhere"),
        ("!GetAtt Ground.Outputs.Label", GROUND.replace("Name: {Type", "Other: {Type"), "no parameter Name"),
        ("!GetAtt Ground.Outputs.Label", GROUND.replace("EC2::Subnet", "SQS::Queue"), "declares Subnet"),
    ],
)
def test_what_is_wrong_with_a_nested_stack_is_named(tmp_path: Path, value: str, template_of_it: str, complaint: str) -> None:
    with pytest.raises(TemplateError, match=complaint):
        nested_in(tmp_path, value, template_of_it, Stage="prod")


def test_a_nested_template_that_is_not_there_is_named(tmp_path: Path) -> None:
    stack = "Ground: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: nowhere.yaml}}"

    with pytest.raises(TemplateError, match=r"nowhere\.yaml"):
        read(tmp_path, stack)


def test_our_own_template_can_be_brought_to_life() -> None:
    declared = template.read(ROOT / "template.yaml", {"EmailFrom": "us@example.com"}, {})

    doors = {"IntakeFunction", "IntakeQueueFunction", "InboxApiFunction", "ManageFunction", "DispatchFunction"}
    assert declared.cors is not None
    assert declared.cors.origins == ("*",)
    assert doors | {
        "OperateFunction",
        "AdminFunction",
        "DataFunction",
        "LiveFunction",
        "SweepFunction",
        "RetentionFunction",
        "MigrateFunction",
    } <= set(declared.functions)
    assert "$default" in {route.key for route in declared.routes}
    assert {source.function for source in declared.queue_sources} >= {"IntakeQueueFunction", "DispatchFunction"}
    assert {each.function for each in declared.schedules} == {"SweepFunction", "RetentionFunction"}
    assert [each.function for each in declared.custom_resources] == ["MigrateFunction"]
    assert declared.email_events[0].topic_arn.endswith("FeedbackTopic")
    assert declared.functions["MigrateFunction"].variables["MIGRATIONS_FOLDER"] == "/opt"


def rights_of(folder: Path, properties: str, more: str = "") -> dict[str, list[str]]:
    """What the role of a function allows: by action, on what."""
    door = f"Door: {{Type: AWS::Serverless::Function, Properties: {{CodeUri: door, {properties}}}}}"
    resources = f"Queue: {{Type: AWS::SQS::Queue}}\n{dedent(more)}\n{door}"
    allowed: dict[str, list[str]] = {}
    for statement in read(folder, resources).rights["functions"]["LKIADoor"]["statements"]:
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        for action in actions:
            allowed.setdefault(action, []).append(statement["Resource"])
    return allowed


QUEUE_ARN = "arn:aws:sqs:us-east-1:123456789012:tocsin-local-Queue"


def test_the_role_that_sam_makes_allows_what_the_events_of_a_function_need(tmp_path: Path) -> None:
    plain = rights_of(tmp_path, "MemorySize: 128")
    fed = rights_of(tmp_path, "Events: {Nudges: {Type: SQS, Properties: {Queue: !GetAtt Queue.Arn}}}")

    assert "sqs:ReceiveMessage" not in plain
    assert "logs:PutLogEvents" in plain
    assert fed["sqs:ReceiveMessage"] == ["*"]


def test_sam_lets_a_function_write_to_where_its_failures_go(tmp_path: Path) -> None:
    config = "EventInvokeConfig: {DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt Queue.Arn}}}"

    assert rights_of(tmp_path, config)["sqs:SendMessage"] == [QUEUE_ARN]


def test_policies_are_statements_and_what_the_template_keeps_apart(tmp_path: Path) -> None:
    statement = "{Effect: Allow, Action: sqs:SendMessage, Resource: !GetAtt Queue.Arn}"
    shared = """
Shared:
  Type: AWS::IAM::ManagedPolicy
  Properties: {PolicyDocument: {Statement: {Effect: Allow, Action: kms:Decrypt, Resource: "arn:key"}}}
"""
    policies = (
        f"Policies: [!Ref Shared, {{Statement: [{statement}]}}, !If [IsProduction, AdministratorAccess, !Ref AWS::NoValue]]"
    )

    allowed = rights_of(tmp_path, policies, shared)

    assert (allowed["sqs:SendMessage"], allowed["kms:Decrypt"]) == ([QUEUE_ARN], ["arn:key"])


def test_a_role_of_its_own_is_all_that_a_function_has(tmp_path: Path) -> None:
    role = """
Taken:
  Type: AWS::IAM::Role
  Properties:
    AssumeRolePolicyDocument:
      Statement: [{Effect: Allow, Principal: {Service: lambda.amazonaws.com}, Action: sts:AssumeRole}]
    ManagedPolicyArns: ["arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"]
    Policies:
      - PolicyName: own
        PolicyDocument: {Statement: [{Effect: Allow, Action: sqs:SendMessage, Resource: !GetAtt Queue.Arn}]}
"""
    events = "Events: {Nudges: {Type: SQS, Properties: {Queue: !GetAtt Queue.Arn}}}"

    allowed = rights_of(tmp_path, f"Role: !GetAtt Taken.Arn, {events}", role)

    assert allowed["sqs:SendMessage"] == [QUEUE_ARN]
    assert "sqs:ReceiveMessage" not in allowed, "SAM adds nothing to a role that it did not make"


def test_a_rule_has_the_name_of_its_bus_in_its_arn(tmp_path: Path) -> None:
    resources = """
      Bus: {Type: AWS::Events::EventBus, Properties: {Name: !Ref AWS::StackName}}
      Mine: {Type: AWS::Events::Rule, Properties: {EventBusName: !Ref Bus, EventPattern: {source: [x]}}}
      Plain: {Type: AWS::Events::Rule, Properties: {EventPattern: {source: [x]}}}
      Door:
        Type: AWS::Serverless::Function
        Properties: {CodeUri: door, Environment: {Variables: {MINE: !GetAtt Mine.Arn, PLAIN: !GetAtt Plain.Arn}}}
    """

    found = read(tmp_path, resources).functions["Door"].variables

    assert found["MINE"] == "arn:aws:events:us-east-1:123456789012:rule/tocsin-local/Mine"
    assert found["PLAIN"] == "arn:aws:events:us-east-1:123456789012:rule/Plain"
