"""Email by Amazon SES."""

from dataclasses import dataclass
from email.header import Header
from email.utils import formataddr, parseaddr
from functools import lru_cache
from typing import Any

from tocsin.channels import aws_errors
from tocsin.channels.outcomes import Accepted, Outcome
from tocsin.channels.ways import Message


@dataclass(frozen=True, slots=True)
class SesEmail:
    client: Any
    sender: str
    configuration_set: str
    provider: str = "ses"
    lane: str = "ses:email"

    def send(self, message: Message) -> Outcome:
        try:
            answer = self.client.send_email(
                FromEmailAddress=named(self.sender, message.from_name) if message.from_name else self.sender,
                Destination={"ToAddresses": [message.email]} | ({"CcAddresses": [*message.cc]} if message.cc else {}),
                **({"ReplyToAddresses": [reply_to]} if (reply_to := message.asked_reply_to or message.reply_to) else {}),
                Content={"Simple": _simple(message)},
                EmailTags=[{"Name": name, "Value": value} for name, value in message.tags.items()],
                ConfigurationSetName=self.configuration_set,
            )
            return Accepted(answer["MessageId"], response=aws_errors.said(answer))
        except Exception as error:
            return aws_errors.classify("ses", error)


@lru_cache(256)
def named(sender: str, name: str) -> str:
    """The sender's address under a name, as a header has it: in quotes, or encoded where it is not ASCII (RFC 2047)."""
    address = parseaddr(sender)[1] or sender
    if name.isascii():
        return formataddr((name, address))
    return f"{Header(name, 'utf-8', maxlinelen=75).encode(linesep='')} <{address}>"


def _simple(message: Message) -> dict[str, Any]:
    content: dict[str, Any] = {
        "Subject": {"Data": message.content.title, "Charset": "UTF-8"},
        "Body": {
            "Text": {"Data": message.content.text, "Charset": "UTF-8"},
            "Html": {"Data": message.content.html, "Charset": "UTF-8"},
        },
    }
    if message.headers:
        content["Headers"] = [{"Name": name, "Value": value} for name, value in message.headers.items()]
    if message.attachments:
        content["Attachments"] = [
            {
                "FileName": one.name,
                "ContentType": one.content_type,
                "ContentDisposition": "ATTACHMENT",
                "ContentTransferEncoding": "BASE64",
                "RawContent": one.data,
            }
            for one in message.attachments
        ]
    return content
