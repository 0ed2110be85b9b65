// What became of a notification: for one route, for one person, and for all in one line. Pure.
import { many, number, toneOf, words } from "./format.js";
import { channelName, channelTitle, explain, feedbackWords, messageName, person, providerName } from "./reasons.js";
import { because, clock, DOUBT, quoted, sentence } from "./sentences.js";

/** `{says, tone}` of a route: what follows "the email". */
export function becameOf(route, now = Date.now()) {
  const tone = toneOf(route.status);
  const why = route.reason ? explain(route.reason, route).says : "";
  switch (route.status) {
    case "published":
      return published(route);
    case "skipped":
      return { says: `was not sent: ${why}${route.may_have_arrived ? `; ${DOUBT}` : ""}`, tone };
    case "cancelled":
      return { says: route.reason === "cancelled" ? "was cancelled before it was sent" : `was cancelled: ${why}`, tone };
    case "dead_letter": {
      const after = { ignored: ". It was laid aside", handled_by_script: ". A trigger took care of it" }[route.dead_letter?.resolution] ?? "";
      return { says: `was given up: ${why}${route.may_have_arrived && route.reason !== "ambiguous" ? `; ${DOUBT}` : ""}${after}`, tone };
    }
    default: {
      const isLater = route.next_attempt_at && Date.parse(route.next_attempt_at) > now;
      if (route.answer_unknown && route.reason !== "awaiting_evidence") return { says: "is in the provider's hands", tone: "info" };
      const until = isLater ? ` until ${clock(route.next_attempt_at)}` : "";
      return { says: why ? `waits${until}: ${why}` : isLater ? `waits${until}` : "is about to be sent", tone: route.status === "failed" ? "warn" : "info" };
    }
  }
}

function published(route) {
  const twice = route.duplicate_suspected ? "; there may be two copies" : "";
  if (route.channel === "in_app") return { says: "is there", tone: "good" };
  const feedback = route.feedback && route.feedback !== "none" ? feedbackWords(route.feedback) : "";
  if (route.provider === "sandbox") return { says: `ended in the sandbox, which sends nothing${feedback ? ` and plays: ${feedback}` : ""}`, tone: feedback ? toneOf(route.feedback) : "info" };
  return { says: `was taken by ${providerName(route.provider)}${feedback ? `; ${feedback}` : ""}${twice}`, tone: feedback ? toneOf(route.feedback) : "good" };
}

const REACHED = { got: 4, sent: 3, waits: 2, failed: 1 };

/** Did it get there: `got` (surely), `sent` (as far as is known), `waits`, or `failed` (not). */
function reached(route) {
  if (["pending", "failed"].includes(route.status)) return "waits";
  if (route.status !== "published" || ["hard_bounced", "soft_bounced"].includes(route.feedback)) return "failed";
  return route.channel === "in_app" || ["delivered", "complained"].includes(route.feedback) ? "got" : "sent";
}

const how = (channels, joint = "and") => join(channels.map((channel) => (channel === "in_app" ? "in the inbox" : `by ${channelName(channel)}`)), joint);

function join(parts, joint = "and") {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} ${joint} ${parts.at(-1)}`;
}

/** One sentence about one recipient: nora got it in the inbox, but not by email or by SMS. */
export function aboutPerson(who, routes) {
  const best = new Map();
  for (const route of routes) {
    const found = reached(route);
    if (REACHED[found] > (REACHED[best.get(route.channel)] ?? 0)) best.set(route.channel, found);
  }
  const those = (wanted) => [...best].filter(([, found]) => found === wanted).map(([channel]) => channel);
  const [got, sent, waits, failed] = ["got", "sent", "waits", "failed"].map(those);
  const parts = [];
  if (got.length) parts.push(`${who} got it ${how(got)}`);
  if (sent.length) parts.push(got.length ? `it was sent ${how(sent)} too` : `${who} was sent it ${how(sent)}`);
  if (waits.length) parts.push(`${join(waits.map(messageName))}${parts.length ? "" : ` to ${who}`} still ${waits.length > 1 ? "wait" : "waits"}`);
  const isName = !who.startsWith("the ") && (got.length || sent.length || !waits.length);
  if (failed.length && parts.length) return sentence(`${parts.join("; ")}${waits.length ? "; it was not sent" : ", but not"} ${how(failed, "or")}`, { isName });
  return sentence(parts.length ? parts.join("; ") : `${who} did not get it`, { isName });
}

const MOST_PEOPLE = 3;
const MOST_LINES = 7;

/** The answer in a line for each person, or one for all, and why: `{says: [sentence], tone, lines: [{says, tone, code}], further}`. */
export function headline(notification, now = Date.now()) {
  const { routes, route_counts: counts, dead_letter: letter } = notification;
  if (letter && letter.resolution !== "replayed") {
    const says = [routes.length ? "The rest of the audience was not told." : "Nobody was told."];
    return { says, tone: "bad", lines: [{ says: `${because(explain(letter.classification))} ${quoted(letter.message)}`, tone: "bad", code: letter.classification }] };
  }
  if (!routes.length) return beforeRoutes(notification, now);
  const people = grouped(routes, (route) => route.recipient);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const says = people.size <= MOST_PEOPLE ? [...people].map(([who, theirs]) => aboutPerson(person(who), theirs)) : [inNumbers(people, total, routes, counts)];
  const isPlayed = routes.every((route) => route.provider === "sandbox");
  const lines = linesOf(routes, people.size > 1 && people.size <= MOST_PEOPLE, now);
  return { says: isPlayed ? says.map((each) => `In the sandbox: ${each}`) : says, tone: toneOfAll(routes, people), lines: lines.slice(0, MOST_LINES), further: lines.length - MOST_LINES };
}

function beforeRoutes({ cancelled_at: cancelled, send_at: sendAt }, now) {
  if (cancelled) return { says: ["It was cancelled before anything was sent."], tone: "mute", lines: [] };
  if (sendAt && Date.parse(sendAt) > now) return { says: [`It waits until ${clock(sendAt)}, when it is to go out.`], tone: "info", lines: [] };
  return { says: ["It was taken in and is about to be planned."], tone: "info", lines: [] };
}

function grouped(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return groups;
}

function inNumbers(people, total, routes, counts) {
  if (total > routes.length) {
    return sentence(`of ${number(total)} messages, ${join(Object.entries(counts).map(([status, count]) => `${number(count)} ${COUNTED[status] ?? words(status).toLowerCase()}`))}`);
  }
  const best = [...people.values()].map((theirs) => theirs.map(reached).sort((one, other) => REACHED[other] - REACHED[one])[0]);
  const said = [["got", "got it"], ["sent", "were sent it"], ["waits", "still wait for it"], ["failed", "did not get it"]];
  const parts = said.map(([name, words]) => [best.filter((one) => one === name).length, words]).filter(([count]) => count);
  if (parts.length === 1) return sentence(`all ${many(people.size, "recipient")} ${parts[0][1]}`);
  return sentence(`of ${many(people.size, "recipient")}, ${join(parts.map(([count, words]) => `${number(count)} ${count === 1 ? words.replace("were", "was").replace("wait ", "waits ") : words}`))}`);
}

const COUNTED = { published: "were published", skipped: "were not sent", dead_letter: "were given up", pending: "wait", failed: "are tried again", cancelled: "were cancelled" };

/** Bad: something was given up or came back. Else what still waits, then whether everybody was reached by some way. */
function toneOfAll(routes, people) {
  const tones = new Set(routes.map((route) => becameOf(route).tone));
  if (tones.has("bad")) return "bad";
  if (routes.some((route) => reached(route) === "waits")) return tones.has("warn") ? "warn" : "info";
  if (routes.every((route) => route.status === "cancelled")) return "mute";
  if (routes.every((route) => route.provider === "sandbox")) return "info";
  return [...people.values()].every((theirs) => theirs.some((route) => reached(route) !== "failed")) ? "good" : "warn";
}

/** A line for each thing that became of a channel; `isNamed`: with whom it was so, while they are few. */
function linesOf(routes, isNamed, now) {
  const said = routes.map((route) => ({ ...becameOf(route, now), code: route.reason, route }));
  const groups = [...grouped(said, ({ says, route }) => `${route.channel} ${says}`).values()];
  const order = ["bad", "warn", "mute", "info", "good"];
  groups.sort((one, other) => order.indexOf(one[0].tone) - order.indexOf(other[0].tone) || other.length - one.length);
  return groups.map((group) => {
    const [{ says, tone, code, route }] = group;
    const whose = isNamed ? ` ${route.channel === "in_app" ? "of" : "to"} ${join([...new Set(group.map((one) => person(one.route.recipient)))])}` : "";
    const count = !isNamed && group.length > 1 ? `${number(group.length)} × ` : "";
    return { says: `${count}${channelTitle(route.channel)}${whose} ${says.replace(/^is there$/, "has its row")}`, tone, code };
  });
}
