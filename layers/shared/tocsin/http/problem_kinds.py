"""Every kind of problem the API answers with: its status, what it means and what to do. The error page is made of this. Pure."""

from typing import NamedTuple


class Kind(NamedTuple):
    name: str
    status: int
    cause: str
    fix: str


AREAS: dict[str, list[Kind]] = {
    "The request": [
        Kind(
            "invalid-request",
            422,
            "A field, a parameter, a header or a part of the path is missing, unknown, or not what is expected there.",
            "Each of `errors` has a `pointer` to the place (`/audience/user_ids` in the body, `?limit` in the query, `{id}` "
            "in the path, a header by its name) and a `message`; `detail` names the first one. Correct them and send the "
            "request again; nothing was stored.",
        ),
        Kind(
            "invalid-json",
            400,
            "The body is empty, or is not JSON.",
            "`detail` says where it stops being JSON. Check the quotes of your shell, and that the body is UTF-8 without a byte "
            "order mark. JSON that two readers could understand differently (a name twice, NaN) is `invalid-request`.",
        ),
        Kind("invalid-body", 400, "The body arrived encoded, and cannot be decoded.", "Send the body as it is, without Base64."),
        Kind(
            "too-large",
            413,
            "The body or the value is larger than the limit that `detail` names.",
            "Send less. Put what is large elsewhere and send a link to it; split a batch.",
        ),
        Kind(
            "unsupported-media-type",
            415,
            "The `Content-Type` is not the one this call takes, or the body is compressed.",
            "Send the type that `detail` names: mostly `application/json`; events are `application/cloudevents+json`. "
            "`curl -d` says `application/x-www-form-urlencoded` unless told otherwise. Send no `Content-Encoding`.",
        ),
        Kind(
            "invalid-cursor",
            400,
            "The `cursor` is not one that a page of this list gave.",
            "Use `next_cursor` of the page before, unchanged, or leave it out to begin anew.",
        ),
        Kind(
            "not-found",
            404,
            "There is no such thing, or it belongs to another tenant, or the path is not one of the API.",
            "Check the id and the tenant of the key. `GET /v1/openapi.json` lists every path; all are in lower "
            "case, and none ends in a slash.",
        ),
        Kind(
            "method-not-allowed",
            405,
            "The path is right and the method is not.",
            "Use one of those that the `Allow` header names.",
        ),
        Kind(
            "precondition-failed",
            412,
            "`If-Match` or `If-None-Match` names another state than there is: somebody was faster.",
            "Read it again, decide anew, and send the new `ETag`.",
        ),
        Kind(
            "invalid-person",
            422,
            "The header `Tocsin-Person` is not a name.",
            "Send up to 100 characters, percent-encoded where they are not ASCII, or leave it out.",
        ),
    ],
    "Keys and limits": [
        Kind(
            "unauthorized",
            401,
            "The API key or the user token is missing, malformed, unknown, revoked or expired. Which of these is not told.",
            "Send `Authorization: Bearer tcn_…`. A revoked or expired key needs a new one; a user token is made anew with "
            "`POST /v1/users/{id}/tokens`.",
        ),
        Kind(
            "user-token",
            401,
            "A user's token was sent to a call that is for API keys. It opens the inbox of that user and nothing else.",
            "Make the call from your server, with a key. A browser calls `/v1/inbox` and what lies under it.",
        ),
        Kind(
            "forbidden",
            403,
            "The key is valid and lacks the scope that `detail` names.",
            "Use a key that has it, or make one: docs/keys.md lists which call needs which scope.",
        ),
        Kind(
            "live-key-required",
            403,
            "What came in live is to be accepted with a test key.",
            "Use a live key: a test key would accept it and send nothing.",
        ),
        Kind(
            "tenant-suspended",
            403,
            "The tenant of this key is suspended. Nothing is lost meanwhile.",
            "Whoever runs the installation can resume it: `POST /v1/tenants/{id}/resume`.",
        ),
        Kind(
            "rate-limited",
            429,
            "The key has used up its minute. Nothing was stored.",
            "Wait as many seconds as `Retry-After` says, and send the same request with the same `Idempotency-Key`. Batches "
            "count each intent.",
        ),
        Kind(
            "unavailable",
            503,
            "The database, or a secret that is needed, cannot be reached just now.",
            "Send the same request again after `Retry-After`, with the same `Idempotency-Key`. If it lasts, see `GET "
            "/ready` and docs/operations.md.",
        ),
        Kind(
            "internal",
            500,
            "Something went wrong that should not.",
            "Send it again with the same `Idempotency-Key`. If it stays, the `request_id` finds the cause in the log of the "
            "function.",
        ),
    ],
    "Sending": [
        Kind(
            "idempotency-key-required",
            400,
            "An intent came without the header `Idempotency-Key`.",
            "Send a value that is unique to this intent and the same on each retry, such as `order-A-17-shipped`.",
        ),
        Kind(
            "idempotency-key-invalid",
            400,
            "The `Idempotency-Key` is empty, too long, or stands there twice.",
            "Send one value of 1 to 255 printable ASCII characters.",
        ),
        Kind(
            "idempotency-key-reused",
            422,
            "The key was used before for an intent with another body.",
            "Use a new key for a new intent. To repeat an intent, repeat its body unchanged.",
        ),
        Kind(
            "idempotency-key-in-flight",
            409,
            "Another request with this key has not finished.",
            "Send it again after a second: you get the answer of the first.",
        ),
        Kind(
            "unknown-users",
            422,
            "`audience.user_ids` names users whom nobody has made known.",
            'Make them known with `PUT /v1/users/{id}`, or give them in the intent itself: `{"id": "alice", "email": '
            '"alice@example.com"}` in place of the id.',
        ),
        Kind(
            "unknown-template",
            422,
            "No active template of this name has words for any of the channels.",
            "Make one with `POST /v1/templates`, or correct `template`, `channels` or the notification type's own.",
        ),
        Kind(
            "missing-variables",
            422,
            "The template declares variables that the payload does not have.",
            "Add each that `errors` points to, or change the template's `variables`.",
        ),
        Kind(
            "nothing-to-say",
            422,
            "There is no template, and the payload has no words.",
            "Give the payload a `title` or a `message`, or name a `template`.",
        ),
        Kind(
            "prefer-invalid",
            400,
            "The header `Prefer` asks for a wait that is no number of seconds from 1 to 20.",
            "Send `Prefer: wait=5`.",
        ),
        Kind(
            "prefer-wait-required",
            400,
            "`POST /v1/intents/wait` came without `Prefer: wait=N`.",
            "Say how long to wait, or use `POST /v1/intents`, which does not.",
        ),
        Kind(
            "too-late",
            409,
            "Every route of the notification has ended, or is in the provider's hands.",
            "Nothing can be stopped any more. `GET /v1/notifications/{id}` shows what became of it.",
        ),
        Kind(
            "event-in-flight",
            409,
            "The same event (`source` and `id`) is being recorded by another request.",
            "Send it again after a second: it is told as a duplicate then.",
        ),
        Kind(
            "trigger-depth-exceeded",
            409,
            "More triggers led to this call, one after the other, than may: they form a loop.",
            "Look which trigger's handler causes what fires it again (docs/triggers.md), and change one of them.",
        ),
        Kind(
            "not-renderable",
            409,
            "The words of this message cannot be shown: what they were made of is gone, or does not fit.",
            "`detail` says which. A payload is kept as long as its notification (docs/retention.md).",
        ),
        Kind(
            "layout-in-use",
            409,
            "A layout or a partial is to be taken out of use, and a template, a layout or a partial has it.",
            "Make the next version of what `detail` names without it, or take that out of use first.",
        ),
    ],
    "Users": [
        Kind(
            "already-taken",
            409,
            "Another user of the tenant has this email or username.",
            "Find who with `GET /v1/users?query=…`. One person with two ids is two users: keep one of them.",
        ),
        Kind(
            "named-twice",
            422,
            "A batch of users names the same user twice.",
            "Name each user once. The first one counts.",
        ),
        Kind(
            "reason-required",
            422,
            "Whoever complained is to be written to again, and nobody says why.",
            "Add `?reason=…`: it is kept in the audit log.",
        ),
    ],
    "Keys, tenants and providers": [
        Kind("revoked", 409, "The key is revoked.", "Make a new one with `POST /v1/api-keys`."),
        Kind("key-expired", 409, "The key has expired, and cannot be rotated.", "Make a new one with `POST /v1/api-keys`."),
        Kind("already-rotated", 409, "The key was rotated before.", "Rotate its successor, which `detail` names."),
        Kind(
            "installation-only",
            403,
            "Tenants belong to the installation; this key belongs to another tenant.",
            "Use an `admin` key of the installation's first tenant.",
        ),
        Kind(
            "of-the-installation",
            403,
            "It belongs to the whole installation, and this key to one tenant.",
            "Use a key of the installation's first tenant.",
        ),
        Kind(
            "first-tenant",
            409,
            "The installation's first tenant cannot be suspended or deleted: its administrators would lock themselves out.",
            "Remove the stack instead (docs/deploying.md).",
        ),
        Kind("being-deleted", 409, "The tenant is being deleted.", "There is no way back. Make a new tenant."),
        Kind(
            "internet-egress-required",
            409,
            "This installation has no way to the internet, and what was asked for calls somebody there.",
            "Deploy with `InternetEgress=true` (docs/deploying.md).",
        ),
    ],
    "Webhooks, values and triggers": [
        Kind("limit-reached", 409, "The tenant has as many webhooks as it may.", "Delete one that is not needed."),
        Kind(
            "webhook-disabled",
            409,
            "The webhook is switched off.",
            'Switch it on with `PATCH /v1/webhooks/{id}` and `{"is_active": true}`.',
        ),
        Kind("kv-full", 409, "The tenant has as many values as it may.", "Delete some, or let them expire."),
        Kind(
            "too-many-triggers",
            409,
            "The tenant has as many triggers as it may.",
            "Delete one, or raise the parameter `TriggersPerTenant`.",
        ),
        Kind(
            "other-mode",
            409,
            "The trigger was registered by a key of the other mode, test or live.",
            "Use a key of its own mode.",
        ),
    ],
    "Operating": [
        Kind("already-resolved", 409, "Somebody has resolved it already.", "Nothing is to be done; its row says who and how."),
        Kind(
            "expired",
            409,
            "The notification has expired, and would come too late.",
            'Send `{"past_expiry": true}` to replay it all the same.',
        ),
        Kind(
            "not-replayable",
            409,
            "This dead letter cannot be replayed, for the reason in `detail`.",
            "Resolve it as `ignored`, or send a new intent.",
        ),
        Kind("job-ended", 409, "The job has ended.", "What it has done is in its row: `GET /v1/jobs/{id}`."),
        Kind(
            "system-event-open",
            409,
            "A system event of this type and subject is open.",
            "Resolve that one first, or leave it to tell the same.",
        ),
        Kind("too-many-open", 409, "Too many system events are open.", "Resolve some first."),
    ],
}

KINDS: dict[str, Kind] = {kind.name: kind for kinds in AREAS.values() for kind in kinds}
