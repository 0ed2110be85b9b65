// Dead letters in words, and the filters of their list as the API takes them. Pure.
import { words } from "./format.js";

export const KINDS = [
  ["deliver", "Delivery of a message"],
  ["plan", "Planning of a notification"],
  ["fanout", "Fan-out to an audience"],
  ["webhook", "Call of a webhook"],
  ["trigger", "Run of a trigger"],
  ["replay", "Replay of many"],
];
export const CHANNELS = [["email", "Email"], ["sms", "Text message"], ["push", "Push"], ["in_app", "Inbox"], ["webhook", "Webhook"]];
export const STATES = [
  ["unresolved", "unresolved"],
  ["resolved", "resolved in any way"],
  ["replayed", "replayed"],
  ["ignored", "ignored"],
  ["handled_by_script", "handled by script"],
  ["handler_failed", "handler failed"],
  ["all", "all"],
];
export const CLASSIFICATIONS = [
  ["exhausted", "every attempt failed"],
  ["no_retry", "the only attempt failed"],
  ["permanent", "refused for good"],
  ["unrenderable", "could not be rendered"],
  ["attachment", "has a file that cannot be attached"],
  ["ambiguous", "the answer was lost"],
  ["poison", "ended its worker"],
  ["poison_event", "the event could not be fanned out"],
  ["orphaned", "what it was about is gone"],
  ["unknown_kind", "not known to this version"],
  ["principal_revoked", "its key may not any more"],
  ["function_not_allowed", "the function may not be invoked"],
  ["handler_permanent", "the handler refused it for good"],
];

const said = (pairs, value) => Object.fromEntries(pairs)[value] ?? words(value).toLowerCase();
export const kindWords = (kind) => said(KINDS, kind);
export const classWords = (classification) => said(CLASSIFICATIONS, classification);
export const stateWords = (resolution) => (resolution ? said(STATES, resolution) : "unresolved");

/** What died: the channel of a message, else the kind of work. */
export const whatDied = ({ source_kind: kind, channel }) => (kind === "deliver" && channel ? said(CHANNELS, channel) : kindWords(kind));
export const causeWords = (cause) => `${whatDied(cause)}: ${classWords(cause.classification)}`;

const FILTER_NAMES = [
  "state", "source_kind", "channel", "classification", "provider", "provider_code", "notification_id", "user_id", "recipient", "type", "template",
  "template_version", "trigger_id", "since", "until",
];

/** The address of the list that shows a group: what the group has of the filters; what is empty cannot be asked for. */
export function filtersOfCause(cause) {
  const names = ["source_kind", "channel", "classification", "provider", "provider_code", "template", "template_version"];
  return Object.fromEntries(names.filter((name) => cause[name]).map((name) => [name, String(cause[name])]));
}

/** What stands in the address, as the body of a replay of many has it. */
export function filterOf(query) {
  const told = FILTER_NAMES.filter((name) => query[name]).map((name) => [name, name === "template_version" && /^\d+$/.test(query[name]) ? Number(query[name]) : query[name]]);
  return { state: "unresolved", ...Object.fromEntries(told) };
}

export const isShown = (cause, query) => {
  const wanted = filtersOfCause(cause);
  return Object.entries(wanted).every(([name, value]) => query[name] === value);
};

/** Only these can still be replayed or laid aside. */
export const isOpen = (letter) => !letter.resolution || letter.resolution === "handler_failed";

// Why a letter is not replayed: [for one, in a count, what to do].
const OBSTACLES = {
  already_resolved: ["It is resolved already.", "resolved already", "Nothing is left to do."],
  expired: ["The notification has expired.", "expired", "It can be replayed all the same, if it is still of use to the recipient: its expiry is then passed over this once."],
  orphaned: ["What this work was about is gone, or cannot be read.", "about something that is gone", "Lay it aside."],
  cancelled: ["The notification was cancelled.", "of a cancelled notification", "Lay it aside; send a new one if it was cancelled by mistake."],
  superseded: ["The route is not dead any more, or was erased.", "not dead any more", "Look at the notification; then lay this letter aside."],
  recipient_gone: ["The recipient is not a user any more.", "to somebody who is not a user any more", "Lay it aside, or make the user again first."],
  arrived: ["The provider has confirmed since that it took this message.", "arrived after all", "Lay it aside: a replay would be a second copy."],
  record_gone: ["The notification is not there any more.", "of a notification that is gone", "Lay it aside."],
  event_gone: ["The event is not kept any more.", "of an event that is not kept any more", "Lay it aside."],
  delivery_gone: ["The webhook is deleted, or its delivery is not kept any more.", "of a webhook or delivery that is gone", "Lay it aside."],
  webhook_disabled: ["The webhook is switched off.", "of a webhook that is switched off", "Switch the webhook on, then replay."],
  trigger_gone: ["The trigger is deleted.", "of a trigger that is deleted", "Lay it aside."],
  trigger_disabled: ["The trigger is switched off.", "of a trigger that is switched off", "Switch the trigger on, then replay."],
  under_way: ["The same work is under way again.", "under way again", "Wait for its end."],
  unknown_kind: ["This version knows no such work.", "not known to this version", "Deploy a version that does, then replay."],
};

export function obstacleWords(obstacle) {
  const [says, , advice] = OBSTACLES[obstacle.reason] ?? [obstacle.detail, "", ""];
  return { says, advice };
}

export const skippedWords = (reason) => OBSTACLES[reason]?.[1] ?? words(reason).toLowerCase();

// What became of a replay, by its state.
const REPLAYS = {
  under_way: "It is under way.", published: "It was handed to the provider.", delivered: "It was delivered.", skipped: "It was not sent: the gate, which is asked anew, left it out.",
  dead_letter: "It died again.", done: "It is done.", cancelled: "It was cancelled.", failed: "It failed.", pending: "It is under way.",
};
export const replayWords = (status) => REPLAYS[status] ?? `It is ${words(status).toLowerCase()}.`;

/** `user:ada` is a user's id behind a word; `address` is somebody without one. */
export const userOf = (recipient) => (recipient?.startsWith("user:") ? recipient.slice(5) : null);
