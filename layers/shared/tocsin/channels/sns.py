"""SMS and mobile push by Amazon SNS."""

import json
from dataclasses import dataclass
from typing import Any

from tocsin.channels import Message, sdk_errors
from tocsin.outcomes import Accepted, Failure, FailureClass, Outcome

MAX_SMS = 1_600  # what SNS takes, in characters


@dataclass(frozen=True, slots=True)
class SnsSms:
    client: Any
    sender_id: str
    provider: str = "sns"
    lane: str = "sns:sms"

    def send(self, message: Message) -> Outcome:
        words = message.content
        text = words.text if words.text.startswith(words.title) else f"{words.title}: {words.text}"
        attributes = {"AWS.SNS.SMS.SMSType": {"DataType": "String", "StringValue": "Transactional"}}
        if self.sender_id:
            attributes["AWS.SNS.SMS.SenderID"] = {"DataType": "String", "StringValue": self.sender_id}
        try:
            answer = self.client.publish(PhoneNumber=message.phone, Message=_shorten(text, MAX_SMS), MessageAttributes=attributes)
        except Exception as error:
            return sdk_errors.classify("sns", error)
        return Accepted(answer["MessageId"])


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
        except Exception as error:
            return sdk_errors.classify("sns", error, nothing_was_sent=True)
        try:
            answer = self.client.publish(TargetArn=endpoint, MessageStructure="json", Message=_push_body(message))
        except Exception as error:
            return sdk_errors.classify("sns", error)
        return Accepted(answer["MessageId"], endpoint_arn=made)

    def _make_endpoint(self, application: str, token: str) -> str:
        answer = self.client.create_platform_endpoint(PlatformApplicationArn=application, Token=token)
        arn: str = answer["EndpointArn"]
        return arn


def _push_body(message: Message) -> str:
    title, text = message.content.title, _shorten(message.content.text, 1_000)
    apns = json.dumps({"aps": {"alert": {"title": title, "body": text}}})
    fcm = json.dumps({"fcmV1Message": {"message": {"notification": {"title": title, "body": text}}}})
    return json.dumps({"default": text, "APNS": apns, "APNS_SANDBOX": apns, "GCM": fcm})


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
