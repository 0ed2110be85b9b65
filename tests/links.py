"""What every installation has for links and tokens: an address where they lead, and the secrets that sign them."""

import math

from tocsin.foundation import secrets

VARIABLES = {
    "PUBLIC_URL": "https://notify.example.com",
    "UNSUBSCRIBE_SECRET_ARN": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:links",
    "USER_TOKEN_SECRET_ARN": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:tokens",
}
TOKEN_SECRET = "the secret of the tokens"


def know_the_secrets() -> None:
    """As if they had been read before, so that no test of something else asks for them."""
    for variable, text in (("UNSUBSCRIBE_SECRET_ARN", "the secret of the links"), ("USER_TOKEN_SECRET_ARN", TOKEN_SECRET)):
        secrets._kept[VARIABLES[variable]] = (math.inf, text)
        secrets._others_kept[VARIABLES[variable]] = (math.inf, (text.encode(),))
