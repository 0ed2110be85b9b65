"""The channels that reach a person, by name. Pure."""

CHANNELS = ("email", "sms", "push", "in_app")
DEFAULT_CHANNELS = ["email", "in_app"]  # to users, where neither the intent nor its type nor a template says
