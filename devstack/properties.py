"""The properties that the local stack holds to, and those that mean nothing here; any other is refused, not ignored."""

from typing import Any

from devstack.intrinsics import TemplateError

# By type of resource, or of a function's event: what is brought to life, and what exists only in AWS.
HONOURED = {
    "AWS::Serverless::Function": """CodeUri Environment EventInvokeConfig Events Handler Layers MemorySize Policies
        ReservedConcurrentExecutions Role Timeout Tracing VpcConfig""",
    "AWS::Serverless::HttpApi": "CorsConfiguration",
    "AWS::KMS::Key": "KeyPolicy",
    "AWS::SecretsManager::Secret": "GenerateSecretString KmsKeyId Name SecretString",
    "SQS": """BatchSize Enabled FilterCriteria FunctionResponseTypes MaximumBatchingWindowInSeconds Queue ScalingConfig""",
    "HttpApi": "ApiId Method Path",
    "Schedule": "Enabled Input Schedule State",
    "ScheduleV2": "Input ScheduleExpression State",
    "AWS::Scheduler::Schedule": "ScheduleExpression State Target",
    "AWS::Events::Rule": "EventBusName EventPattern ScheduleExpression State Targets",
    "AWS::Events::EventBus": "Name",
    "AWS::SQS::Queue": """DelaySeconds MaximumMessageSize MessageRetentionPeriod QueueName ReceiveMessageWaitTimeSeconds
        RedriveAllowPolicy RedrivePolicy VisibilityTimeout""",
    "AWS::SQS::QueuePolicy": "PolicyDocument Queues",
    "AWS::SNS::Topic": "KmsMasterKeyId Subscription TopicName",
    "AWS::SNS::TopicPolicy": "PolicyDocument Topics",
    "AWS::SNS::Subscription": """Endpoint FilterPolicy FilterPolicyScope Protocol RawMessageDelivery RedrivePolicy TopicArn""",
    "AWS::SES::ConfigurationSet": "Name SendingOptions",
    "AWS::SES::ConfigurationSetEventDestination": "ConfigurationSetName EventDestination",
}
INERT = {
    "AWS::Serverless::Function": """Architectures AutoPublishAlias AutoPublishAliasAllProperties AutoPublishCodeSha256
        DeploymentPreference Description EphemeralStorage FunctionName KmsKeyArn LoggingConfig ProvisionedConcurrencyConfig
        Runtime RuntimeManagementConfig SnapStart Tags VersionDescription""",
    "AWS::Serverless::HttpApi": """AccessLogSettings DefaultRouteSettings Description DisableExecuteApiEndpoint Domain
        FailOnWarnings Name RouteSettings StageName StageVariables Tags""",
    "AWS::KMS::Key": "Description EnableKeyRotation MultiRegion PendingWindowInDays RotationPeriodInDays Tags",
    "AWS::SecretsManager::Secret": "Description ReplicaRegions Tags",
    "HttpApi": "PayloadFormatVersion RouteSettings TimeoutInMillis",
    "Schedule": "DeadLetterConfig Description Name RetryPolicy",
    "ScheduleV2": "DeadLetterConfig Description FlexibleTimeWindow Name OmitName RetryPolicy RoleArn",
    "AWS::Scheduler::Schedule": "Description FlexibleTimeWindow GroupName KmsKeyArn Name",
    "AWS::Events::Rule": "Description Name Tags",
    "AWS::Events::EventBus": "DeadLetterConfig Description KmsKeyIdentifier Policy Tags",
    "AWS::SQS::Queue": "FifoQueue KmsDataKeyReusePeriodSeconds KmsMasterKeyId SqsManagedSseEnabled Tags",
    "AWS::SNS::Topic": "DisplayName SignatureVersion Tags TracingConfig",
    "AWS::SNS::Subscription": "DeliveryPolicy Region",
    "AWS::SES::ConfigurationSet": "DeliveryOptions ReputationOptions SuppressionOptions Tags TrackingOptions VdmOptions",
}
EVENTS = {"SQS", "HttpApi", "Schedule", "ScheduleV2"}


def check_properties(kind: str, name: str, properties: dict[str, Any]) -> None:
    """Raise for a property of something alive that is neither."""
    if kind not in HONOURED:
        return
    known = {*HONOURED[kind].split(), *INERT.get(kind, "").split()}
    if unknown := properties.keys() - known:
        raise TemplateError(f"{name} ({kind}): the local stack does not know {', '.join(sorted(unknown))}")


def check_event(kind: str, name: str, properties: dict[str, Any]) -> None:
    if kind not in EVENTS:
        raise TemplateError(f"{name}: the local stack does not know events of the type {kind}")
    check_properties(kind, name, properties)
