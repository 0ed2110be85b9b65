"""What every installation has for unsubscribe links: an address they lead to, and a secret that signs them."""

import math

from tocsin.foundation import secrets

VARIABLES = {
    "PUBLIC_URL": "https://notify.example.com",
    "UNSUBSCRIBE_SECRET_ARN": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:links",
}


def know_the_secret() -> None:
    """As if it had been read before, so that no test of something else asks for it."""
    secrets._kept[VARIABLES["UNSUBSCRIBE_SECRET_ARN"]] = (math.inf, "the secret of the links")
