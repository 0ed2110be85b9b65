// Why something was sent, put off, left out or given up: every reason that the service writes, in plain words. Pure.
import { span, words } from "./format.js";

const ADDRESSES = {
  email: "there is no email address to send to",
  sms: "there is no phone number to send to",
  push: "no device is registered that takes pushes, or all are switched off",
  in_app: "only users have an inbox, and this went to somebody who is none",
};

const SUPPRESSIONS = {
  hard_bounce: "an earlier message to this address came back for good, so nothing more is sent there",
  soft_bounces: "several messages to this address came back, so it is left alone for some days",
  complaint: "somebody at this address reported an earlier message as spam, so nothing more is sent there",
  unsubscribe: "they unsubscribed from messages of this type",
  opted_out: "they told the provider to stop, for example by answering STOP",
  manual: "the address was suppressed by hand",
  sandbox: "it is the sandbox's address that plays a suppressed one",
};

const LANES = {
  slowed: "the provider asked us to slow down",
  stopped: "the provider refuses everything just now, so its lane is stopped",
  broken: "the provider only failed lately, so its lane rests and is tried now and then",
  failing: "the provider failed just before, so only a few are sent at a time",
  closed: "the provider's lane was closed while it was being sent",
};

// Who is told because of what, when an event, a thread or a scope finds its own audience.
const AUDIENCES = {
  mention: "they are mentioned in it",
  review_requested: "they were asked to review it",
  assign: "it is assigned to them",
  author: "they are the author",
  comment: "they took part in the thread",
  subscribed: "they are subscribed to the thread",
  watching: "they watch the scope",
};

const of = (says, rule, more = "") => ({ says, rule, more });

const PLAIN = {
  unknown_user: of("no user with this id was known any more when it was planned", "The audience"),
  no_recipients: of("nobody was in the audience: nobody is known, subscribed or watching", "The audience"),
  muted: of("they muted this thread", "Their word about the thread"),
  read_meanwhile: of("they had read it in the inbox by then, so the digest was not needed", "The dampener"),
  expired: of("it had expired before it was its turn", "The expiry of the notification"),
  cancelled: of("the notification was cancelled", "The cancellation"),
  erased: of("the person was erased", "The erasure of the person"),
  retry: of("the provider surely did not take it, so it is tried again", "The retry rule", "The wait grows with each attempt."),
  awaiting_evidence: of("the provider's answer was lost, so we wait for a sign whether it arrived", "The policy for lost answers",
    "The provider's own event decides, or after 15 minutes the policy of the type: send it again, or hold it."),
  quiet_hours: of("they have quiet hours", "Their quiet hours", "It goes out when these end. It costs no attempt."),
  templates_are_slow: of("other messages of this tenant took long to render, so it has its turn in a later round", "The share of rendering time", "It costs no attempt."),
  round_is_full: of("many large messages were waiting, so it has its turn in a later round", "The share of rendering time", "It costs no attempt."),
  attachments_wait: of("its files, or those of others, found no room or no time in this round", "The share of files", "It has its turn in a later round, at no cost."),
  attachment: of("a file of this email cannot be attached", "The attachments"),
  unsubscribe_secret_unavailable: of("the secret that signs unsubscribe links could not be read", "The unsubscribe link", "It is tried again in a minute, at no cost."),
  time_running_out: of("the worker's time was nearly over", "The worker's time", "The next worker sends it, at no cost."),
  ambiguous: of("the provider's answer was lost and nobody can say whether it arrived", "The policy for lost answers"),
  no_retry: of("somebody waited for the outcome of this one attempt, and it failed", "The request to wait for the outcome"),
  exhausted: of("every attempt failed", "The retry rule"),
  permanent: of("the provider refused it for good", "The provider's answer"),
  unrenderable: of("the words could not be made from the template and the payload", "The template"),
  poison: of("three workers took it on and none came to an end with it", "The protection against work that ends its workers"),
  orphaned: of("what this work was about is gone, or cannot be read", "The record itself"),
  unknown_kind: of("another version of the service wrote this work", "The version of the service"),
  poison_event: of("the event could not be fanned out in three tries", "The protection against work that ends its workers"),
  webhook_exhausted: of("the endpoint of the webhook kept failing", "The retry rule"),
  principal_revoked: of("the key that registered the trigger is revoked, has expired or lacks the scope", "The trigger's key"),
  function_not_allowed: of("the trigger's function is not on the list of those that may be called", "The list of functions"),
  handler_exhausted: of("the trigger's handler failed at every try", "The retry rule"),
  handler_permanent: of("the trigger's handler refused it for good", "The trigger's handler"),
};

// What carries a value after a colon.
const TOLD = {
  suppressed: (value) => of(SUPPRESSIONS[value] ?? "the address is suppressed", "The suppression list"),
  preference: (value, { channel }) => of(`they switched ${channelName(value.replace(/ off$/, "") || channel)} off for messages of this type`, "Their preferences"),
  frequency_cap: (value) => of(`they had as many as they want: ${value}`, "Their frequency cap"),
  over_sending: (value) => of(`the address got as many of this type as is let through: ${asGuard(value)}`, "The over-sending guard of the type",
    "It protects people from messages that a stranger can ask for, such as password resets."),
  dampened: (value) => {
    if (value === "hourly") return of("they got a hundred emails in the last hour", "The dampener", "It goes out when the hour has room again, at no cost.");
    if (value === "thread") return of("an email about this thread had just gone out", "The dampener", "The digest goes out ten minutes after it.");
    return { ...of("an email about this thread had just gone out, so a digest tells of this one", "The dampener"), digest: value.replace("told by digest ", "") };
  },
};

function asGuard(value) {
  const [, limit, seconds] = /^(\d+) in (\d+) s$/.exec(value) ?? [];
  return limit ? `${limit} in ${span(Number(seconds))}` : value;
}

/**
 * What a reason such as `quiet_hours` or `suppressed: complaint` means: `{code, says, more, rule}`. `says` goes behind "because" or a colon;
 * `more` is a sentence of its own, or nothing; `rule` names what decided; `digest` is the notification that tells of it instead.
 */
export function explain(code, about = {}) {
  const [name, value = ""] = String(code ?? "").split(/: ?(.*)/s);
  if (name === "no_address") return { code, ...of(ADDRESSES[about.channel] ?? "there is no address to send to", "The user's addresses") };
  if (name === "no_template") return { code, ...of(`the template has no words for ${channelName(about.channel)}`, "The template") };
  if (PLAIN[name]) return { code, ...PLAIN[name] };
  if (TOLD[name]) return { code, ...TOLD[name](value, about) };
  const lane = LANES[name.replace(/^lane_/, "")];
  if (name.startsWith("lane_") && lane) return { code, ...of(lane + laneMore(value), "The circuit breaker of the lane", "It waits at no cost.") };
  return { code, ...of(words(code).toLowerCase(), "") };
}

function laneMore(value) {
  if (!value) return "";
  if (value === "no active provider") return " (every provider of the channel is switched off)";
  return ` (${value})`;
}

export const audienceReason = (reason) => AUDIENCES[reason] ?? words(reason).toLowerCase();

const CHANNELS = { email: "email", sms: "SMS", push: "push", in_app: "the inbox", webhook: "webhooks" };
const MESSAGES = { email: "the email", sms: "the SMS", push: "the push message", in_app: "the inbox row", webhook: "the call of the webhook" };
export const channelName = (channel) => CHANNELS[channel] ?? channel ?? "this channel";
export const messageName = (channel) => MESSAGES[channel] ?? "the message";
export const channelTitle = (channel) => ({ email: "Email", sms: "SMS", push: "Push", in_app: "Inbox", webhook: "Webhook" })[channel] ?? words(channel);

/** `user:mia` is mia; what is no user has a name of its own. */
export function person(recipient) {
  if (recipient?.startsWith("user:")) return recipient.slice(5);
  return { address: "the address", tenant: "everyone", thread: "the thread's audience", scope: "the scope's audience" }[recipient] ?? recipient ?? "somebody";
}
export const userOf = (recipient) => (recipient?.startsWith("user:") ? recipient.slice(5) : null);

const PROVIDERS = { ses: "SES", sns: "SNS", sendgrid: "SendGrid", twilio: "Twilio", fcm: "FCM", sandbox: "the sandbox", inbox: "the inbox" };
export const providerName = (provider) => PROVIDERS[provider] ?? (provider || "the provider");

const FEEDBACK = {
  delayed: "the provider says that delivery is delayed",
  delivered: "the provider says that it was delivered",
  soft_bounced: "it came back for now: the mailbox is full or does not answer",
  hard_bounced: "it came back for good: there is no such address",
  complained: "it arrived, and was reported as spam",
};
export const feedbackWords = (feedback) => FEEDBACK[feedback] ?? "nothing was heard of it since";

const OUTCOMES = {
  accepted: "taken by the provider",
  transient: "not taken this time",
  throttled: "the provider asked us to slow down; does not count",
  permanent: "refused for good",
  configuration: "refused because of how the provider is set up; does not count",
  unknown: "the answer was lost",
  not_sent: "stopped before it reached the provider; does not count",
};
export const outcomeWords = (outcome) => OUTCOMES[outcome] ?? (outcome ? words(outcome).toLowerCase() : "under way");

/** What a failure says, with the codes of ours in it made plain. */
export const failureWords = (message) =>
  String(message ?? "").replace(/not sent again: ([a-z_]+(?:: [^;]+)?)/, (_, code) => `it was not sent again, because ${explain(code).says}`);

/** Reasons by what can be done about them: where to look, if the reader may. */
export function placeOf(code, { channel, recipient, type, template } = {}) {
  const [name, value = ""] = String(code ?? "").split(/: ?(.*)/s);
  const user = userOf(recipient);
  if (["preference", "quiet_hours", "frequency_cap"].includes(name) && user) return { scope: "manage", parts: ["users", user], query: { tab: "preferences" }, title: "Open their preferences" };
  if (["no_address", "unknown_user"].includes(name) && user) return { scope: "manage", parts: ["users", user], title: "Open the user" };
  if (name === "suppressed") return { scope: "manage", parts: ["suppressions"], query: { channel }, title: "Open the suppressions" };
  if (name === "over_sending" && type) return { scope: "manage", parts: ["types", type], title: "Open the type" };
  if (["no_template", "unrenderable"].includes(name) && template) return { scope: "manage", parts: ["templates", template], title: "Open the template" };
  if (name.startsWith("lane_")) return { scope: "operate", parts: [], title: "Open the lanes" };
  if (name === "dampened" && value.startsWith("told by digest ")) return { scope: "read", parts: ["notifications", value.slice(15)], title: "Open the digest" };
  return null;
}
