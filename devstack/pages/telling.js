// What became of a notification, for reading: its messages, its attempts, its story. The words are the console's.
import { becameOf } from "./became.js";
import { el } from "./elements.js";
import { localTime } from "./format.js";
import { channelTitle, messageName, outcomeWords, providerName } from "./reasons.js";
import { gathered, quoted, sentence, tellStep } from "./sentences.js";

const ORDER = ["email", "sms", "in_app"];
const inOrder = (routes) => [...routes].sort((one, other) => ORDER.indexOf(one.channel) - ORDER.indexOf(other.channel));

/** A line for each channel, with the message itself as soon as it is in the mailbox. */
export function messages(one, mail, who) {
  return el("ul", { class: "messages" }, inOrder(one.routes).map((route) => {
    const letter = mail.find((each) => each.message_id === route.provider_message_id);
    const became = becameOf(route);
    return el("li", {},
      el("span", { class: `badge ${became.tone}` }, channelTitle(route.channel)),
      el("div", { class: "grow" },
        el("p", {}, sentence(`${messageName(route.channel)} ${became.says}`)),
        letter && el("blockquote", {}, letter.subject && el("strong", {}, letter.subject), el("span", {}, letter.text ?? "")),
        letter && el("a", { href: `/_local/mailbox#${encodeURIComponent(letter.message_id)}` }, `Open ${messageName(route.channel)} in the mailbox`),
        route.channel === "in_app" && route.status === "published" && el("a", { href: `/_local/inbox?user=${encodeURIComponent(who.id)}` }, `Open the inbox of ${who.id}`)));
  }));
}

/** The attempts of the email, and when the next one is. */
export function attempts(route) {
  const isOpen = ["pending", "failed"].includes(route.status);
  const became = becameOf(route);
  return el("div", { class: "stack" },
    el("ol", { class: "tries" }, route.attempts.map((each) => el("li", { class: each.outcome === "accepted" ? "good-ink" : "" },
      el("time", { datetime: each.started_at }, localTime(each.started_at)),
      el("span", {}, `Attempt ${each.attempt_no} by ${providerName(each.provider)}: ${outcomeWords(each.outcome)}. `, each.error_message && quoted(each.error_message))))),
    el("p", { class: `${became.tone}-ink` }, sentence(`${messageName(route.channel)} ${became.says}`), " ",
      isOpen && route.next_attempt_at && el("strong", { "data-due": route.next_attempt_at }, due(route.next_attempt_at))));
}

/** How long until then, in words that count down. */
export function due(at, now = Date.now()) {
  const seconds = Math.ceil((Date.parse(at) - now) / 1000);
  return seconds > 0 ? `The next attempt is in ${seconds} s.` : "The next attempt is due now.";
}

/** The timeline as sentences. */
export function story(one) {
  const byId = new Map(one.routes.map((route) => [route.route_id, route]));
  return el("ol", { class: "story" }, gathered(one.timeline).map((step) => {
    const { says, why, tone } = tellStep(step, (id) => byId.get(id));
    return el("li", { class: tone }, el("time", { datetime: step.at }, localTime(step.at)), el("span", { class: "dot", "aria-hidden": "true" }),
      el("div", {}, el("p", {}, says), why && el("p", { class: "why" }, why)));
  }));
}
