"""What the reasons of routes mean, in a sentence each: the table of docs/sending.md, which a test compares. Pure."""

# By the beginning of the reason, the longest first.
MEANINGS = {
    "no_address": "the user has no email, phone or device for this channel",
    "unknown_user": "the user was removed before planning",
    "no_recipients": "nobody is in the tenant, subscribed or watching",
    "muted": "they watch the scope, but muted this thread",
    "suppressed": "the address bounced, complained, unsubscribed or was suppressed by hand",
    "no_template": "the template has no words for this channel",
    "preference": "the user switched the channel or type off",
    "frequency_cap": "the user had as many today as they want",
    "over_sending": "the address got as many of this type as its guard lets through",
    "dampened: hourly": "a hundred emails in the last hour; costs no attempt",
    "dampened": "an email about the thread had just gone out, so a digest tells of this one",
    "read_meanwhile": "a digest of what was read by then",
    "expired": "expires_at had passed",
    "cancelled": "a cancel came first",
    "erased": "the person was erased",
    "retry": "the provider surely did not take it; it is tried again",
    "awaiting_evidence": "the provider's answer was lost; its own event decides, or after 15 minutes the policy",
    "quiet_hours": "the user's quiet hours; costs no attempt",
    "attachments_wait": "its files found no room or no time in this round: a later one; costs no attempt",
    "templates_are_slow": "other messages of the tenant took long to render: a later round; costs no attempt",
    "round_is_full": "many messages were large: a later round; costs no attempt",
    "lane_": "the provider is throttling, out of quota, misconfigured or does not answer; costs no attempt",
    "ambiguous": "the provider's answer was lost, no event told of it, and it must not be sent again",
    "no_retry": "somebody waited for its one attempt, which failed",
    "exhausted": "every attempt failed",
    "permanent": "the provider refuses it for good",
    "attachment": "a file of this email cannot be attached",
    "unrenderable": "its template cannot be rendered with this payload",
    "poison": "it ended the workers that tried it",
}


def meaning(reason: str) -> str:
    """The sentence; empty where the reason speaks for itself."""
    return next((MEANINGS[name] for name in sorted(MEANINGS, key=len, reverse=True) if reason.startswith(name)), "")
