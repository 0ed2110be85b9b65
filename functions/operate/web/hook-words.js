// Webhooks in words: how each does, and why a call came to nothing. Pure.
import { words } from "./format.js";

export const EVENTS = [
  ["notification.published", "published"],
  ["notification.delivered", "delivered"],
  ["notification.bounced", "bounced"],
  ["notification.complained", "complained"],
  ["notification.dead_lettered", "dead letter"],
  ["notification.skipped", "skipped"],
  ["notification.cancelled", "cancelled"],
];
export const eventWords = (event) => Object.fromEntries(EVENTS)[event] ?? (event === "webhook.test" ? "test" : event);

const DISABLED = {
  request: "Somebody switched it off.",
  gone: "Its endpoint answered 410: it is gone.",
  failing: "There were nothing but failures for five days.",
};
export const disabledWords = (reason) => DISABLED[reason] ?? words(reason);

/** How a webhook does, in a word with its tone, and a sentence. `lane` is there while its lane is in trouble. */
export function healthOf(hook, lane) {
  if (!hook.is_active) return { word: "off", tone: hook.disabled_reason === "request" ? "mute" : "bad", says: disabledWords(hook.disabled_reason) };
  if (lane?.state === "broken") return { word: "resting", tone: "bad", says: "It failed several times in a row, so it rests and is tried by one call now and then." };
  if (hook.failing_since) return { word: "failing", tone: "warn", says: "Its last calls failed; each is tried again." };
  if (lane) return { word: "failing", tone: "warn", says: "Its last call failed." };
  if (hook.last_success_at) return { word: "well", tone: "good", says: "Its last call was a success." };
  return { word: "not called yet", tone: "mute", says: "Nothing was told to it yet." };
}

const ERRORS = {
  timeout: "it did not answer in time",
  name_not_resolved: "its name leads nowhere",
  denied_address: "its name leads to an address that is not public",
  denied_url: "its address may not be called",
  connection_refused: "nobody listens there",
  connection_closed: "it closed the connection",
  unreachable: "no way leads there",
  bad_certificate: "its certificate is not trusted",
  tls_failed: "no secure connection came about",
  resolver_busy: "its name could not be looked up just then",
  bad_answer: "what it answered is no HTTP, or too long",
  disabled: "the webhook was switched off",
  gone: "it answered 410: gone",
};

/** What the endpoint said, or why it said nothing. */
export function answerWords(delivery) {
  if (delivery.response_status) return `it answered ${delivery.response_status}`;
  if (delivery.error) return ERRORS[delivery.error] ?? words(delivery.error).toLowerCase();
  return delivery.status === "pending" && !delivery.attempt_count ? "not called yet" : "";
}
