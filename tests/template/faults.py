"""The faults that the checks must find: one place of the template each, and the wrong value there."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.template import checks_of_access as access
from tests.template import checks_of_data as data
from tests.template import checks_of_functions as functions
from tests.template import checks_of_network as network
from tests.template import checks_of_pages as pages
from tests.template import checks_of_queues as queues
from tests.template import checks_of_variables as variables
from tests.template import checks_of_watching as watching
from tests.template.checks import Check


@dataclass(frozen=True)
class Fault:
    """`value` replaces what stands at `place`; None removes it; a function changes it."""

    check: Check
    place: tuple[str | int, ...]
    value: Any = None
    parameters: dict[str, str] = field(default_factory=dict)


def _at(resource: str, *path: str | int) -> tuple[str | int, ...]:
    return ("Resources", resource, "Properties", *path)


def _within(*path: str | int) -> tuple[str | int, ...]:
    """A place in network.yaml."""
    return ("Resources", "Network", "Template", *path)


def _in_network(resource: str, *path: str | int) -> tuple[str | int, ...]:
    return _within(*_at(resource, *path))


def _and(**more: Any) -> Any:
    return lambda there: {**there, **more}


def _instead(key: str, **other: Any) -> Any:
    return lambda there: {name: value for name, value in there.items() if name != key} | other


def _admitted_to(policy: str, rule: int) -> tuple[str | int, ...]:
    return _at(policy, "PolicyDocument", "Statement", 1, "Condition", "ArnEquals", "aws:SourceArn", rule)


def _more_callers_of(function: str, count: int) -> Any:
    caller = {"Type": "AWS::Lambda::Permission", "Properties": {"FunctionName": {"Ref": function}}}
    return lambda there: {**there, **{f"Caller{number}": caller for number in range(count)}}


def _more_routes_to(function: str, count: int) -> Any:
    route = {"get": {"x-amazon-apigateway-integration": {"uri": {"Fn::Sub": f"…/${{{function}.Arn}}/invocations"}}}}
    return lambda there: {**there, **{f"/v1/extra/{number}": route for number in range(count)}}


def _with(*more: Any) -> Any:
    return lambda there: [*there, *more]


_EVENT_TYPES = ("EventDestination", "MatchingEventTypes")
_VARIABLES = ("Environment", "Variables")
_PROXY = {"UseDatabaseProxy": "true"}
_ENDPOINTS = {"PrivateEndpoints": "true"}
_ALWAYS = {"Fn::Equals": ["a", "a"]}
_SNAPSHOT = {"DatabaseSnapshot": "before-the-accident"}
_PUBLIC = [{"IpProtocol": "tcp", "FromPort": 5432, "ToPort": 5432, "CidrIp": "0.0.0.0/0"}]

_OF_FUNCTIONS = [
    Fault(functions.functions_say_how_much_memory_and_time_they_need, _at("SweepFunction", "Timeout")),
    Fault(functions.functions_say_how_much_memory_and_time_they_need, _at("SweepFunction", "MemorySize"), 128),
    Fault(functions.functions_say_how_much_memory_and_time_they_need, _at("LiveFunction", "MemorySize"), 128),
    Fault(functions.functions_say_how_much_memory_and_time_they_need, _at("WebhooksFunction", "MemorySize"), 256),
    Fault(functions.functions_run_python_on_arm64, _at("IntakeFunction", "Architectures"), ["x86_64"]),
    Fault(functions.functions_are_traced, _at("IntakeFunction", "TracingConfig")),
    Fault(functions.functions_all_reserve_concurrency_or_none_does, _at("OperateFunction", "ReservedConcurrentExecutions")),
    Fault(functions.functions_together_leave_connections_free, ("Parameters", "IntakeConcurrency", "Default"), 80),
    Fault(functions.functions_together_leave_connections_free, ("Parameters", "LiveConcurrency", "Default"), 40),
    Fault(functions.functions_together_leave_connections_free, ("Parameters", "WaitConcurrency", "Default"), 40),
    Fault(functions.functions_have_a_role_of_their_own, _at("ManageFunction", "Role", "Fn::GetAtt", 0), "DispatchRole"),
    Fault(functions.functions_log_json_to_a_group_of_their_own, _at("ManageFunction", "LoggingConfig")),
    Fault(
        functions.functions_log_json_to_a_group_of_their_own,
        _at("ManageFunction", "LoggingConfig", "LogFormat"),
        "Text",
    ),
    Fault(functions.functions_behind_http_answer_in_time, _at("InboxApiFunction", "Timeout"), 30),
    Fault(functions.functions_behind_http_answer_in_time, _at("LiveFunction", "Timeout"), 30),
    Fault(functions.functions_behind_http_answer_in_time, _at("WaitFunction", "Timeout"), 30),
    Fault(functions.functions_have_room_for_all_who_call_them, ("Resources",), _more_callers_of("ManageFunction", 15)),
    Fault(functions.doors_have_at_most_forty_routes, _at("HttpApi", "Body", "paths"), _more_routes_to("ManageFunction", 15)),
    Fault(functions.doors_have_at_most_forty_routes, _at("HttpApi", "Body", "paths"), _more_routes_to("DataFunction", 41)),
    Fault(functions.functions_outlast_the_longest_statement_of_their_role, _at("IntakeFunction", "Timeout"), 9),
    Fault(functions.functions_outlast_the_longest_statement_of_their_role, _at("SweepFunction", "Timeout"), 26),
    Fault(functions.leases_outlive_the_worker, _at("DispatchFunction", "Timeout"), 60),
    Fault(functions.leases_outlive_the_worker, _at("WebhooksFunction", *_VARIABLES, "LEASE_SECONDS"), "90"),
    Fault(functions.leases_outlive_the_worker, _at("DispatchFunction", *_VARIABLES, "LEASE_SECONDS"), "60"),
    Fault(functions.variables_hold_no_secrets, _at("DispatchFunction", *_VARIABLES), _and(SENDGRID_API_KEY="SG.x1")),
    Fault(
        functions.variables_hold_no_secrets,
        _at("DispatchFunction", *_VARIABLES),
        _and(DSN="{{resolve:secretsmanager:x}}"),
    ),
    Fault(
        functions.asynchronous_functions_have_a_failure_destination,
        _at("SweepFunctionEventInvokeConfig", "DestinationConfig"),
    ),
    Fault(functions.asynchronous_functions_have_a_failure_destination, ("Resources", "MigrateFunctionEventInvokeConfig")),
    Fault(functions.deliveries_have_a_dead_letter_queue, _at("SweepFunctionEveryMinute", "Target", "DeadLetterConfig")),
    Fault(functions.deliveries_have_a_dead_letter_queue, _at("IntentRule", "Targets", 0, "DeadLetterConfig")),
    Fault(functions.deliveries_have_a_dead_letter_queue, _at("DomainEventRule", "Targets", 0, "DeadLetterConfig")),
    Fault(functions.deliveries_have_a_dead_letter_queue, _at("FeedbackSubscription", "RedrivePolicy")),
    Fault(functions.schedules_say_how_often_to_retry, _at("SweepFunctionEveryMinute", "Target", "RetryPolicy")),
    Fault(functions.schedules_are_spelled_right, _at("SweepFunctionEveryMinute", "ScheduleExpression"), "rate(1 minutes)"),
    Fault(functions.schedules_are_spelled_right, _at("RetentionFunctionEveryHour", "ScheduleExpression"), "rate(2 hour)"),
    Fault(functions.schedules_do_not_collide_between_stacks, _at("SweepFunctionEveryMinute"), _and(Name="sweep")),
    Fault(functions.scheduled_functions_run_alone, _at("SweepFunction", "ReservedConcurrentExecutions"), 2),
]

_OF_QUEUES = [
    Fault(queues.queues_stay_hidden_for_six_timeouts, _at("SmsQueue", "VisibilityTimeout"), 179),
    Fault(queues.queues_stay_hidden_for_six_timeouts, _at("IntakeQueueFunction", "Timeout"), 31),
    Fault(queues.queues_stay_hidden_for_six_timeouts, _at("FeedbackFunction", "Timeout"), 31),
    Fault(queues.queues_stay_hidden_for_six_timeouts, _at("WebhookQueue", "VisibilityTimeout"), 180),
    Fault(queues.consumers_report_single_failures, _at("DispatchFunctionEmail", "FunctionResponseTypes")),
    Fault(queues.consumers_report_single_failures, _at("FeedbackFunctionProviderEvents", "FunctionResponseTypes")),
    Fault(queues.large_batches_have_a_window, _at("DispatchFunctionEmail", "BatchSize"), 11),
    Fault(queues.consumers_scale_within_their_reservation, _at("IntakeQueueFunctionIntents", "ScalingConfig")),
    Fault(
        queues.consumers_scale_within_their_reservation,
        _at("IntakeQueueFunctionIntents", "ScalingConfig", "MaximumConcurrency"),
        6,
    ),
    Fault(queues.consumers_scale_within_their_reservation, _at("DispatchFunctionSms", "ScalingConfig", "MaximumConcurrency"), 4),
    Fault(queues.consumers_scale_within_their_reservation, _at("DispatchFunctionSms", "ScalingConfig", "MaximumConcurrency"), 1),
    Fault(queues.consumers_scale_within_their_reservation, ("Parameters", "TriggerConcurrency", "Default"), 1),
    Fault(queues.work_is_divided_whole, ("Mappings", "Dispatch", "40", "Email"), 21),
    Fault(queues.work_is_divided_whole, ("Mappings", "Dispatch", "8"), {"All": 8, "Plan": 3, "Email": 2, "Sms": 1, "Push": 2}),
    Fault(queues.classes_of_work_have_workers_of_their_own, ("Resources", "DispatchFunctionSms")),
    Fault(queues.classes_of_work_have_workers_of_their_own, ("Resources", "WebhooksFunctionWebhook")),
    Fault(
        queues.classes_of_work_have_workers_of_their_own,
        _at("TriggersFunctionTrigger", "EventSourceArn"),
        {"Fn::GetAtt": ["WebhookQueue", "Arn"]},
    ),
    Fault(queues.workers_know_the_queues_they_serve, _at("DispatchFunction", *_VARIABLES, "PUSH_QUEUE_URL")),
    Fault(queues.workers_know_the_queues_they_serve, _at("TriggersFunction", *_VARIABLES, "TRIGGER_QUEUE_URL")),
    Fault(
        queues.functions_may_nudge_the_queues_they_are_told_of_and_no_others,
        _at("SweepFunction", *_VARIABLES, "WEBHOOK_QUEUE_URL"),
    ),
    Fault(
        queues.functions_may_nudge_the_queues_they_are_told_of_and_no_others,
        _at("WaitFunction", *_VARIABLES),
        _and(TRIGGER_QUEUE_URL={"Ref": "TriggerQueue"}),
    ),
    Fault(queues.queues_have_a_dead_letter_queue, _at("SmsQueue", "RedrivePolicy")),
    Fault(queues.messages_are_tried_five_to_twenty_times, _at("SmsQueue", "RedrivePolicy", "maxReceiveCount"), 0),
    Fault(queues.messages_are_tried_five_to_twenty_times, _at("SmsQueue", "RedrivePolicy", "maxReceiveCount"), 21),
    Fault(queues.dead_letters_are_kept_longer_than_messages, _at("FeedbackQueue", "MessageRetentionPeriod"), 1209600),
    Fault(
        queues.dead_letter_queues_keep_what_somebody_needs_for_two_weeks,
        _at("IntakeDeadLetterQueue", "MessageRetentionPeriod"),
        172800,
    ),
    Fault(queues.dead_letter_queues_admit_only_their_own, _at("WorkDeadLetterQueue", "RedriveAllowPolicy")),
    Fault(queues.queues_are_encrypted, _at("SmsQueue", "SqsManagedSseEnabled"), False),
    Fault(queues.topics_are_encrypted, _at("FeedbackTopic", "KmsMasterKeyId")),
    Fault(queues.queues_and_topics_refuse_plain_http, ("Resources", "PushQueuePolicy")),
    Fault(queues.queues_and_topics_refuse_plain_http, _at("AlarmTopicPolicy", "PolicyDocument", "Statement", 0)),
    Fault(queues.services_send_only_on_our_behalf, _at("IntakeQueuePolicy", "PolicyDocument", "Statement", 1, "Condition")),
    Fault(
        queues.services_send_only_on_our_behalf,
        _at("FeedbackTopicPolicy", "PolicyDocument", "Statement", 1, "Condition"),
    ),
    Fault(queues.rules_may_send_where_they_point, _admitted_to("IntakeQueuePolicy", 1)),
    Fault(queues.rules_may_send_where_they_point, _admitted_to("IntakeDeadLetterQueuePolicy", 0)),
    Fault(queues.email_events_prove_every_outcome, _at("EmailEventDestination", *_EVENT_TYPES), ["send", "bounce"]),
    Fault(queues.email_events_prove_every_outcome, _at("EmailEventDestination", "EventDestination", "Enabled"), False),
    Fault(queues.email_travels_encrypted, _at("EmailConfigurationSet", "DeliveryOptions", "TlsPolicy"), "OPTIONAL"),
]

_FIRST_STATEMENT = ("Policies", 0, "PolicyDocument", "Statement", 0)
_SWEEP_STATEMENT = ("Policies", 1, "PolicyDocument", "Statement", 0)
_SEALED_STATEMENT = ("Policies", 0, "PolicyDocument", "Statement", 1)
_THROUGH_SECRETS_MANAGER = _at("SecretsPolicy", "PolicyDocument", "Statement", 0)
_OF_A_SECRET = "kms:EncryptionContext:SecretARN"
_ARCHIVE = {"ArchiveRecords": "true"}
_FOR_THE_ARCHIVE = _at("RetentionFunctionRole", "Policies", 2, "Fn::If", 1, "PolicyDocument", "Statement", 1, "Condition")
_OF_A_BUCKET = "kms:EncryptionContext:aws:s3:arn"
_ALL_KEYS = "ForAllValues:StringEquals"
_PURPOSE = "kms:EncryptionContext:purpose"
_ENDPOINT_STATEMENT = ("PolicyDocument", "Statement", 0)
_OF_ACCESS = [
    Fault(access.grants_name_their_actions, _at("DispatchRole", *_FIRST_STATEMENT, "Action"), "secretsmanager:*"),
    Fault(access.grants_name_their_actions, _at("SweepFunctionRole", *_SWEEP_STATEMENT, "Action"), ["sqs:Send*"]),
    Fault(access.roles_name_their_resources, _at("DispatchRole", *_FIRST_STATEMENT, "Resource"), "*"),
    Fault(
        access.roles_name_their_resources,
        _at("DispatchRole", *_FIRST_STATEMENT, "Resource"),
        {"Fn::Sub": "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:*"},
    ),
    Fault(access.grants_name_their_principals, _at("DataKey", "KeyPolicy", "Statement", 1, "Principal"), "*"),
    Fault(
        access.roles_take_only_known_managed_policies,
        _at("DispatchRole", "ManagedPolicyArns", 0),
        "arn:aws:iam::aws:policy/AdministratorAccess",
    ),
    Fault(
        access.functions_may_read_the_secrets_they_are_told_of_and_no_others,
        _at("LiveFunctionRole", *_FIRST_STATEMENT, "Resource", 1),
    ),
    Fault(
        access.functions_may_read_the_secrets_they_are_told_of_and_no_others,
        _at("IntakeFunctionRole", *_FIRST_STATEMENT, "Resource"),
        _with({"Ref": "UnsubscribeSecret"}),
    ),
    Fault(
        access.email_is_sent_only_with_our_sender,
        _at("DispatchRole", "Policies", 0, "PolicyDocument", "Statement", 4, "Condition"),
    ),
    Fault(access.keys_serve_one_purpose, (*_THROUGH_SECRETS_MANAGER, "Condition")),
    Fault(access.keys_serve_one_purpose, (*_THROUGH_SECRETS_MANAGER, "Condition", "StringEquals")),
    Fault(access.keys_serve_one_purpose, (*_THROUGH_SECRETS_MANAGER, "Condition", "ArnLike")),
    Fault(access.keys_serve_one_purpose, (*_THROUGH_SECRETS_MANAGER, "Condition", "ArnLike", _OF_A_SECRET), "*"),
    Fault(access.keys_serve_one_purpose, (*_FOR_THE_ARCHIVE, "StringEquals"), parameters=_ARCHIVE),
    Fault(access.keys_serve_one_purpose, (*_FOR_THE_ARCHIVE, "StringLike"), parameters=_ARCHIVE),
    Fault(access.keys_serve_one_purpose, (*_FOR_THE_ARCHIVE, "StringLike", _OF_A_BUCKET), "*", parameters=_ARCHIVE),
    Fault(access.keys_serve_one_purpose, _at("DispatchRole", *_SEALED_STATEMENT, "Condition")),
    Fault(access.keys_serve_one_purpose, _at("DispatchRole", *_SEALED_STATEMENT, "Condition", "StringLike")),
    Fault(access.keys_serve_one_purpose, _at("AdminFunctionRole", *_SEALED_STATEMENT, "Condition", _ALL_KEYS)),
    Fault(access.keys_serve_one_purpose, _at("WebhooksRole", *_SEALED_STATEMENT, "Condition", "StringLike", _PURPOSE), "*"),
    Fault(
        access.sealed_values_are_opened_only_where_they_are_used,
        _at("WebhooksRole", *_SEALED_STATEMENT, "Condition", "StringLike", _PURPOSE),
        "provider:*",
    ),
    Fault(
        access.sealed_values_are_opened_only_where_they_are_used,
        _at("DataFunctionRole", *_SEALED_STATEMENT, "Action"),
        "kms:Decrypt",
    ),
    Fault(access.grants_name_their_actions, (*_THROUGH_SECRETS_MANAGER, "Action"), "kms:*"),
    Fault(access.roles_name_their_resources, (*_THROUGH_SECRETS_MANAGER, "Resource"), "*"),
    Fault(access.roles_take_only_known_managed_policies, _at("FeedbackRole", "ManagedPolicyArns", 2), {"Ref": "Stage"}),
    Fault(access.secrets_are_decrypted_by_whoever_reads_them, _at("FeedbackRole", "ManagedPolicyArns", 2)),
    Fault(access.secrets_are_decrypted_by_whoever_reads_them, _at("DataFunctionRole", "Policies")),
    Fault(access.secrets_are_decrypted_by_whoever_reads_them, _at("DatabaseProxyRole", "ManagedPolicyArns"), [], _PROXY),
    Fault(access.secrets_are_decrypted_by_whoever_reads_them, (*_THROUGH_SECRETS_MANAGER, "Resource"), {"Ref": "LogKey"}),
    Fault(access.one_policy_decrypts_secrets, ("Resources", "SecretsPolicy")),
    Fault(
        access.one_policy_decrypts_secrets,
        _at("DispatchRole", *_SEALED_STATEMENT, "Condition"),
        {"StringEquals": {"kms:ViaService": "secretsmanager.us-east-1.amazonaws.com", _OF_A_SECRET: {"Ref": "AdminKeySecret"}}},
    ),
    Fault(
        access.functions_that_encrypt_are_told_of_the_key_and_no_others_may,
        _at("ManageFunctionRole", "Policies", 0, "PolicyDocument", "Statement"),
        _with({"Effect": "Allow", "Action": "kms:Encrypt", "Resource": {"Fn::GetAtt": ["DataKey", "Arn"]}}),
    ),
    Fault(
        access.functions_that_encrypt_are_told_of_the_key_and_no_others_may,
        _at("AdminFunctionRole", *_SEALED_STATEMENT, "Action"),
        "kms:Decrypt",
    ),
    Fault(access.keys_rotate, _at("LogKey", "EnableKeyRotation"), False),
    Fault(
        access.nothing_names_an_account,
        _at("DispatchRole", *_FIRST_STATEMENT, "Resource"),
        "arn:aws:secretsmanager:us-east-1:210987654321:secret:x",
    ),
    Fault(access.security_groups_admit_no_strangers, _in_network("DatabaseSecurityGroup", "SecurityGroupIngress"), _PUBLIC),
    Fault(access.grants_name_their_actions, _in_network("S3Endpoint", *_ENDPOINT_STATEMENT, "Action"), "s3:*"),
    Fault(
        access.nothing_names_an_account,
        _in_network("S3Endpoint", *_ENDPOINT_STATEMENT, "Resource"),
        "arn:aws:s3:us-east-1:210987654321:x",
    ),
]

_OF_DATA = [
    Fault(data.data_survives_the_stack, ("Resources", "Database", "DeletionPolicy")),
    Fault(data.data_survives_the_stack, ("Resources", "Database", "UpdateReplacePolicy"), "Delete"),
    Fault(data.data_survives_the_stack, ("Resources", "DataKey", "DeletionPolicy")),
    Fault(data.databases_are_private_and_encrypted, _at("Database", "PubliclyAccessible"), True),
    Fault(data.databases_are_private_and_encrypted, _at("Database", "StorageEncrypted")),
    Fault(data.databases_are_private_and_encrypted, _at("Database", "DeleteAutomatedBackups")),
    Fault(data.databases_are_told_nothing_that_their_snapshot_brings, _at("Database", "KmsKeyId"), "a-key", _SNAPSHOT),
    Fault(data.databases_are_told_nothing_that_their_snapshot_brings, _at("Database", "EngineVersion"), "17.7", _SNAPSHOT),
    Fault(data.databases_are_told_nothing_that_their_snapshot_brings, _at("Database", "MasterUsername")),
    Fault(data.secrets_survive_the_stack_where_a_new_value_would_not_do, ("Resources", "UnsubscribeSecret", "DeletionPolicy")),
    Fault(
        data.secrets_survive_the_stack_where_a_new_value_would_not_do,
        ("Resources", "UserTokenSecret"),
        _and(DeletionPolicy="Retain"),
    ),
    Fault(data.databases_can_go_back_a_week, _at("Database", "BackupRetentionPeriod"), 1),
    Fault(data.databases_refuse_plain_connections, _at("DatabaseSettings", "Parameters", "rds.force_ssl"), "0"),
    Fault(data.databases_refuse_plain_connections, _at("DatabaseProxy", "RequireTLS"), False, _PROXY),
    Fault(data.databases_stand_in_two_zones, _in_network("SubnetB", "AvailabilityZone", "Fn::Select", 0), 0),
    Fault(
        data.databases_cannot_be_reached_from_the_internet,
        _in_network("RouteOut"),
        _instead("NatGatewayId", GatewayId={"Ref": "InternetGateway"}),
        {"InternetEgress": "true"},
    ),
    Fault(data.databases_cannot_be_reached_from_the_internet, _in_network("SubnetA"), _and(MapPublicIpOnLaunch=True)),
    Fault(data.secrets_are_generated_and_encrypted, _at("UnsubscribeSecret"), _and(SecretString="hunter2")),
    Fault(data.secrets_are_generated_and_encrypted, _at("UserTokenSecret"), _and(SecretString="hunter2")),
    Fault(data.secrets_are_generated_and_encrypted, _at("AppDatabaseSecret"), _and(SecretString="hunter2")),
    Fault(data.secrets_are_generated_and_encrypted, _at("AdminKeySecret", "KmsKeyId")),
    Fault(data.the_schema_comes_before_the_code, ("Resources", "IntakeFunction", "DependsOn")),
    Fault(data.the_schema_comes_before_the_code, ("Resources", "FeedbackFunction", "DependsOn")),
    Fault(data.the_schema_comes_before_the_code, ("Resources", "LiveFunction", "DependsOn")),
    Fault(data.the_schema_comes_before_the_code, ("Resources", "DataFunction", "DependsOn")),
    Fault(data.the_schema_comes_before_the_code, ("Resources", "TriggersFunction", "DependsOn")),
    Fault(
        data.the_schema_comes_before_the_code,
        _at("IntakeFunction", *_VARIABLES),
        _and(DATABASE_ADMIN_SECRET_ARN="arn:aws:secretsmanager:us-east-1:account:secret:x"),
    ),
    Fault(data.the_migration_runs_when_the_database_is_another, _at("Migration", "Database")),
    Fault(
        data.the_migration_runs_when_the_database_is_another,
        _at("Migration", "Database"),
        {"Fn::GetAtt": ["Database", "Endpoint.Address"]},
        {"RestoredDatabaseHost": "restored.c0ffee.us-east-1.rds.amazonaws.com", "RestoredDatabaseSecretArn": "arn"},
    ),
    Fault(data.the_migration_runs_when_a_migration_changes, _at("Migration", "Migrations")),
]

_OUTSIDE = {"SubnetIds": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}
_OF_NETWORK = [
    Fault(network.stacks_are_given_what_they_ask_for, _at("Network", "Parameters", "InternetEgress")),
    Fault(network.stacks_are_given_what_they_ask_for, _within("Parameters", "VpcCidr")),
    Fault(network.stacks_are_given_what_they_ask_for, _at("Network", "Parameters", "InvokeFunctions")),
    Fault(network.stacks_take_what_their_parent_took, _within("Parameters", "DatabasePort", "MinValue"), 5000),
    Fault(network.stacks_take_what_their_parent_took, ("Parameters", "VpcCidr", "AllowedPattern"), ".*"),
    Fault(network.stacks_offer_what_is_taken_from_them, _within("Outputs", "SubnetB")),
    Fault(network.stacks_offer_what_is_taken_from_them, _within("Outputs"), _and(Vpc={"Value": {"Ref": "Vpc"}})),
    Fault(network.the_network_exists_before_the_migration, _within("Resources", "SecretsEndpoint"), None, _ENDPOINTS),
    Fault(network.the_network_exists_before_the_migration, _within("Resources", "KmsEndpoint"), None, _ENDPOINTS),
    Fault(network.the_network_exists_before_the_migration, _within("Resources", "RouteOutByIpv6")),
    Fault(network.functions_reach_aws_by_endpoints_or_over_ipv6, _within("Resources", "SnsEndpoint"), None, _ENDPOINTS),
    Fault(
        network.functions_reach_aws_by_endpoints_or_over_ipv6, _in_network("SqsEndpoint", "PrivateDnsEnabled"), False, _ENDPOINTS
    ),
    Fault(network.functions_reach_aws_by_endpoints_or_over_ipv6, _within("Conditions", "LeadsOutByIpv6"), _ALWAYS, _ENDPOINTS),
    Fault(network.functions_reach_aws_by_endpoints_or_over_ipv6, _in_network("SubnetB", "Ipv6CidrBlock")),
    Fault(network.functions_reach_aws_by_endpoints_or_over_ipv6, _within("Resources", "RouteTableOfSubnetB")),
    Fault(network.functions_reach_aws_by_endpoints_or_over_ipv6, _in_network("RouteOutByIpv6", "EgressOnlyInternetGatewayId")),
    Fault(network.functions_reach_aws_by_endpoints_or_over_ipv6, _in_network("FunctionSecurityGroup", "SecurityGroupEgress", 1)),
    Fault(network.functions_reach_aws_by_endpoints_or_over_ipv6, _at("SweepFunction", "VpcConfig", "Ipv6AllowedForDualStack")),
    Fault(network.functions_reach_aws_by_endpoints_or_over_ipv6, _at("SweepFunction", *_VARIABLES, "AWS_OVER_IPV6"), "false"),
    Fault(network.the_network_exists_before_the_migration, _within("Resources", "S3Endpoint")),
    Fault(network.the_network_exists_before_the_migration, _at("MigrateFunction", "VpcConfig"), _OUTSIDE),
    Fault(
        network.functions_meet_the_database_at_its_port_alone,
        _within("Outputs", "FunctionSecurityGroup", "Value"),
        {"Ref": "DatabaseSecurityGroup"},
    ),
    Fault(
        network.functions_meet_the_database_at_its_port_alone,
        _in_network("DatabaseSecurityGroup", "SecurityGroupIngress", 0, "ToPort"),
        65535,
    ),
    Fault(network.functions_meet_the_database_at_its_port_alone, _at("Network", "Parameters", "DatabasePort"), 6432),
    Fault(network.functions_meet_the_database_at_its_port_alone, _at("SweepFunction", "VpcConfig"), _OUTSIDE),
]

_CORS = _at("HttpApi", "Body", "x-amazon-apigateway-cors")
_CONFIGURED = (*_CORS, "Fn::If", 1)
_OF_PAGES = [
    Fault(pages.pages_may_do_what_people_may, _CORS),
    Fault(pages.pages_may_do_what_people_may, (*_CONFIGURED, "allowMethods"), ["GET", "PUT", "POST", "DELETE"]),
    Fault(pages.pages_may_send_and_read_the_headers_they_need, _CORS),
    Fault(pages.pages_may_send_and_read_the_headers_they_need, (*_CONFIGURED, "allowHeaders", 2)),
    Fault(pages.pages_may_send_and_read_the_headers_they_need, (*_CONFIGURED, "exposeHeaders")),
    Fault(pages.pages_ask_once_and_not_before_every_request, (*_CONFIGURED, "maxAge")),
    Fault(pages.pages_come_without_cookies, _CONFIGURED, _and(allowCredentials=True)),
]


def _dashboard(namespace: str, metric: str, *, width: int = 8) -> str:
    """A dashboard with one widget."""
    shown = {"title": "t", "metrics": [[namespace, metric, "service", "sweep"]]}
    return json.dumps({"widgets": [{"type": "metric", "x": 0, "y": 0, "width": width, "height": 6, "properties": shown}]})


_PLAIN_LINE = '{"requestId": "$context.requestId", "path": "$context.path"}'
_OF_WATCHING = [
    Fault(watching.alarms_tell_somebody, _at("OldestDueAlarm", "AlarmActions")),
    Fault(watching.alarms_tell_somebody, _at("OldestDueAlarm"), _and(ActionsEnabled=False)),
    Fault(watching.alarms_say_what_is_wrong, _at("OldestDueAlarm", "AlarmDescription"), "old"),
    Fault(watching.alarms_decide_about_missing_data, _at("OldestDueAlarm", "TreatMissingData")),
    Fault(watching.dashboards_show_what_there_is, _at("Dashboard", "DashboardBody"), _dashboard("Tocsin/dev", "Unwritten")),
    Fault(watching.dashboards_show_what_there_is, _at("Dashboard", "DashboardBody"), _dashboard("AWS/Lambda", "Sorrows")),
    Fault(watching.dashboards_show_every_alarm, _at("Dashboard", "DashboardBody"), _dashboard("AWS/Lambda", "Errors")),
    Fault(watching.dashboards_fit, _at("Dashboard", "DashboardBody"), _dashboard("AWS/Lambda", "Errors", width=25)),
    Fault(watching.dead_letters_ring_an_alarm, ("Resources", "WorkDeadLetterAlarm")),
    Fault(watching.dead_letters_ring_an_alarm, _at("WorkDeadLetterAlarm", "Threshold"), 1000),
    Fault(
        watching.dead_letters_ring_an_alarm,
        _at("WorkDeadLetterAlarm", "Dimensions", 0, "Value", "Fn::GetAtt", 0),
        "FailedInvocationsQueue",
    ),
    Fault(watching.jobs_that_fail_ring_an_alarm_that_ends, ("Resources", "SweepFailedAlarm")),
    Fault(watching.jobs_that_fail_ring_an_alarm_that_ends, _at("JobsFailedAlarm", "Metrics", 2)),
    Fault(watching.jobs_that_fail_ring_an_alarm_that_ends, _at("JobsFailedAlarm", "Threshold"), 1),
    Fault(watching.messages_that_wait_ring_an_alarm, ("Resources", "FeedbackQueueAgeAlarm")),
    Fault(watching.messages_that_wait_ring_an_alarm, _at("WorkQueueAgeAlarm", "Metrics", 6)),
    Fault(watching.functions_that_fail_ring_an_alarm, ("Resources", "HttpErrorsAlarm")),
    Fault(watching.functions_that_fail_ring_an_alarm, ("Resources", "ManagementErrorsAlarm")),
    Fault(watching.functions_that_fail_ring_an_alarm, _at("HttpDurationAlarm", "Metrics", 5)),
    Fault(watching.functions_that_fail_ring_an_alarm, _at("QueueErrorsAlarm", "Metrics", 3)),
    Fault(watching.functions_that_fail_ring_an_alarm, ("Resources", "LiveFullAlarm")),
    Fault(watching.functions_that_fail_ring_an_alarm, ("Resources", "LiveDurationAlarm")),
    Fault(watching.functions_that_fail_ring_an_alarm, ("Resources", "WaitFullAlarm")),
    Fault(watching.functions_that_fail_ring_an_alarm, ("Resources", "WaitDurationAlarm")),
    Fault(watching.functions_that_fail_ring_an_alarm, ("Resources", "WebhooksDurationAlarm")),
    Fault(watching.functions_that_fail_ring_an_alarm, ("Resources", "AutomationThrottlesAlarm")),
    Fault(watching.slowness_rings_above_what_is_meant_and_below_the_timeout, _at("LiveDurationAlarm", "Threshold"), 20000),
    Fault(watching.slowness_rings_above_what_is_meant_and_below_the_timeout, _at("HttpDurationAlarm", "Threshold"), 10000),
    Fault(watching.slowness_rings_above_what_is_meant_and_below_the_timeout, _at("WaitDurationAlarm", "Threshold"), 20000),
    Fault(watching.slowness_rings_above_what_is_meant_and_below_the_timeout, _at("WebhooksDurationAlarm", "Threshold"), 48000),
    Fault(watching.a_silent_timer_rings_an_alarm, ("Resources", "SweepSilentAlarm")),
    Fault(watching.a_silent_timer_rings_an_alarm, ("Resources", "RetentionSilentAlarm")),
    Fault(watching.a_silent_timer_rings_an_alarm, _at("SweepSilentAlarm", "TreatMissingData"), "notBreaching"),
    Fault(watching.logs_end_and_are_encrypted, _at("ApiLogs", "RetentionInDays")),
    Fault(watching.logs_end_and_are_encrypted, _at("IntakeLogs", "KmsKeyId")),
    Fault(watching.apis_are_throttled_and_logged, _at("HttpApiApiGatewayDefaultStage", "DefaultRouteSettings")),
    Fault(
        watching.apis_are_throttled_and_logged,
        _at("HttpApiApiGatewayDefaultStage", "AccessLogSettings", "DestinationArn"),
    ),
    Fault(
        watching.access_logs_are_json_without_paths,
        _at("HttpApiApiGatewayDefaultStage", "AccessLogSettings", "Format"),
        _PLAIN_LINE,
    ),
    Fault(watching.parameters_are_checked, ("Parameters", "EmailFrom", "AllowedPattern")),
    Fault(watching.parameters_are_checked, _within("Parameters", "Name", "AllowedPattern")),
    Fault(watching.alarms_read_ten_metrics_at_most, _at("ThrottlesAlarm", "Metrics"), lambda there: [*there, there[-1]]),
    Fault(
        watching.the_connections_alarm_counts_what_the_functions_reserve,
        _at("OperateFunction", "ReservedConcurrentExecutions"),
        5,
    ),
    Fault(
        watching.the_connections_alarm_counts_what_the_functions_reserve,
        _at("DatabaseConnectionsAlarm", "Metrics", 0, "Expression", "Fn::Sub"),
        "connections - (${IntakeConcurrency} + ${InboxConcurrency} + ${LiveConcurrency} + ${DispatchConcurrency} + 27)",
    ),
    Fault(watching.outputs_hold_no_secrets, _within("Outputs", "SubnetA", "Value"), "{{resolve:secretsmanager:x}}"),
    Fault(watching.outputs_hold_no_secrets, ("Outputs", "ApiUrl", "Value"), "{{resolve:secretsmanager:x}}"),
    Fault(watching.parameters_hold_no_secrets, ("Parameters", "Stage"), _and(NoEcho=True)),
    Fault(watching.parameters_hold_no_secrets, _within("Parameters", "Name"), _and(NoEcho=True)),
    Fault(watching.parameters_hold_no_secrets, ("Parameters",), _and(DatabasePassword={"Type": "String", "Default": ""})),
]

ON_TRANSLATED: tuple[Fault, ...] = (
    *(*_OF_FUNCTIONS, *_OF_QUEUES, *_OF_ACCESS, *_OF_DATA),
    *(*_OF_NETWORK, *_OF_PAGES, *_OF_WATCHING),
)
ON_SAM: tuple[Fault, ...] = (
    Fault(watching.handlers_exist, ("Resources", "IntakeFunction", "Properties", "CodeUri"), "functions/nowhere"),
    Fault(watching.handlers_exist, ("Globals", "Function", "Handler"), "app.handle"),
    Fault(watching.layers_are_built_for_their_functions, ("Resources", "SharedLayer", "Metadata", "BuildArchitecture")),
    Fault(watching.layers_are_built_for_their_functions, ("Resources", "SharedLayer", "Metadata")),
    Fault(
        variables.variables_follow_the_parameter_of_their_name,
        ("Resources", "FeedbackFunction", "Properties", *_VARIABLES, "SOFT_BOUNCE_LIMIT", "Ref"),
        "SoftBounceWindowDays",
    ),
    Fault(
        variables.variables_follow_the_parameter_of_their_name,
        ("Resources", "RetentionFunction", "Properties", *_VARIABLES, "RECORD_RETENTION_DAYS"),
        "90",
    ),
    Fault(
        variables.variables_follow_the_parameter_of_their_name,
        ("Globals", "Function", *_VARIABLES, "USER_CALLS_PER_MINUTE", "Ref"),
        "ApiCallsPerMinute",
    ),
)
