"""The ways out of an installation, as the template configures them."""

from tocsin import aws
from tocsin.channels import Ways
from tocsin.channels.sandbox import Sandbox
from tocsin.channels.ses import SesEmail
from tocsin.channels.sns import SnsPush, SnsSms
from tocsin.settings import Settings


def ways_out(config: Settings) -> Ways:
    sns = aws.client("sns")
    return Ways(
        {
            "email": SesEmail(aws.client("sesv2"), config.email_from, config.email_configuration_set),
            "sms": SnsSms(sns, config.sms_sender_id),
            "push": SnsPush(sns, {"apns": config.apns_application_arn, "fcm": config.fcm_application_arn}),
        },
        Sandbox(),
    )
