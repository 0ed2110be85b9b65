// What a notification type means, in sentences; and the way between its form and the API. Pure.
import { span } from "./format.js";
import { TITLES } from "./templates.js";

export const PRIORITIES = ["low", "normal", "high", "critical"];

export const formOf = (type = {}) => ({
  title: type.title ?? "",
  description: type.description ?? "",
  channels: type.channels ?? [],
  template: type.template ?? "",
  priority: type.priority ?? "normal",
  ambiguous_policy: type.ambiguous_policy ?? "",
  transactional: type.transactional ?? true,
  expires_after_seconds: type.expires_after_seconds ? String(type.expires_after_seconds) : "",
  limit: type.over_sending ? String(type.over_sending.limit) : "",
  window_seconds: type.over_sending ? String(type.over_sending.window_seconds) : "",
});

const whole = (text) => (/^\d+$/.test(text.trim()) ? Number(text) : text.trim());

/** What the API takes: the whole of it, as PUT replaces all. Words where a number is wanted go as they are; the API says what is wrong. */
export const bodyOf = (form) => ({
  title: form.title.trim() || null,
  description: form.description.trim() || null,
  channels: form.channels.length ? form.channels : null,
  template: form.template.trim() || null,
  priority: form.priority,
  ambiguous_policy: form.ambiguous_policy || null,
  transactional: form.transactional,
  expires_after_seconds: form.expires_after_seconds.trim() ? whole(form.expires_after_seconds) : null,
  over_sending: form.limit.trim() || form.window_seconds.trim() ? { limit: whole(form.limit), window_seconds: whole(form.window_seconds) } : null,
});

/** A type as the API showed it, as the API takes it: for the way back. */
export const valueOf = (type) => bodyOf(formOf(type));

const isAuth = (name) => /^auth[.:]/.test(name);
const listed = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : (names[0] ?? ""));

/** The sentences that a form comes to. */
export function meaning(name, body) {
  const guard = body.over_sending;
  const isNumber = (value) => typeof value === "number";
  return [
    body.channels ? `It goes by ${listed(body.channels.map((channel) => TITLES[channel].replace("Email", "email").replace("Push", "push").replace("Inbox", "inbox row")))}, unless an intent names other channels.` : "An intent names its channels; without any it goes by those its template has.",
    body.template ? `Its words come from the template ${body.template}, unless an intent names another.` : "It has no template of its own: an intent names one, or its title and message are shown plainly.",
    { low: "Others go first when there is a queue.", normal: "It takes its turn.", high: "It goes before ordinary ones.", critical: "It goes first, comes in quiet hours too, and people cannot switch it off by itself." }[body.priority],
    body.transactional ? "It is transactional: its emails carry no unsubscribe button." : "It is not transactional: its emails carry one-click unsubscribe, and who uses it gets no more of this type.",
    isNumber(body.expires_after_seconds) ? `What is not sent within ${span(body.expires_after_seconds)} is not sent at all.` : "It does not expire by itself.",
    { retry: "When a provider's answer is lost it is sent again: better twice than never.", hold: "When a provider's answer is lost it is held for a person to decide: better late than twice." }[body.ambiguous_policy] ??
      "When a provider's answer is lost, email and push are sent again and an SMS is held for a person to decide.",
    guard && isNumber(guard.limit) && isNumber(guard.window_seconds) ? `One address gets at most ${guard.limit} in any ${span(guard.window_seconds)}; more are skipped.` : isAuth(name) ? "One address gets at most 5 in any hour, as every type that begins with auth." : "How many one address gets is not limited.",
  ];
}
