"""SMS and mobile push by Amazon SNS."""

import json
from dataclasses import dataclass
from typing import Any

from tocsin.channels import aws_errors
from tocsin.channels.fit import MAX_SMS, push_words, sms_text
from tocsin.channels.outcomes import Accepted, Failure, FailureClass, Outcome
from tocsin.channels.ways import Message


@dataclass(frozen=True, slots=True)
class SnsSms:
    client: Any
    sender_id: str
    provider: str = "sns"
    lane: str = "sns:sms"

    def send(self, message: Message) -> Outcome:
        attributes = {"AWS.SNS.SMS.SMSType": {"DataType": "String", "StringValue": "Transactional"}}
        if self.sender_id:
            attributes["AWS.SNS.SMS.SenderID"] = {"DataType": "String", "StringValue": self.sender_id}
        try:
            answer = self.client.publish(
                PhoneNumber=message.phone, Message=sms_text(message.content, MAX_SMS), MessageAttributes=attributes
            )
            return Accepted(answer["MessageId"], response=aws_errors.said(answer))
        except Exception as error:
            return aws_errors.classify("sns", error)


@dataclass(frozen=True, slots=True)
class SnsPush:
    client: Any
    applications: dict[str, str]  # platform application ARNs by platform
    provider: str = "sns"
    lane: str = "sns:push"

    def send(self, message: Message) -> Outcome:
        made: str | None = None
        endpoint = message.device_endpoint_arn
        try:
            if not endpoint:
                application = self.applications.get(message.device_platform, "")
                if not application:
                    return Failure(
                        FailureClass.CONFIGURATION,
                        "NoPlatformApplication",
                        f"no SNS platform application is configured for {message.device_platform}",
                    )
                endpoint = made = self._make_endpoint(application, message.device_token)
        except Exception as error:  # every way to fail has a class; see sdk_errors
            return aws_errors.classify_preparation("sns", error)
        try:
            answer = self.client.publish(TargetArn=endpoint, MessageStructure="json", Message=_push_body(message))
            return Accepted(answer["MessageId"], made, aws_errors.said(answer))
        except Exception as error:
            return aws_errors.classify("sns", error)

    def _make_endpoint(self, application: str, token: str) -> str:
        answer = self.client.create_platform_endpoint(PlatformApplicationArn=application, Token=token)
        arn: str = answer["EndpointArn"]
        return arn


def _push_body(message: Message) -> str:
    """The words for each platform, which takes at most 4 KiB of JSON, and the link as data for the app."""
    words = push_words(message.content)
    link = {"url": message.content.url} if message.content.url else {}
    apns = _json({"aps": {"alert": words}} | link)
    fcm = _json({"fcmV1Message": {"message": {"notification": words} | ({"data": link} if link else {})}})
    return _json({"default": words.get("body") or words["title"], "APNS": apns, "APNS_SANDBOX": apns, "GCM": fcm})


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
