// The story of a notification: each step of a timeline as a sentence, with its reason explained. Pure.
import { localTime, toneOf, words } from "./format.js";
import { audienceReason, explain, failureWords, messageName, person, providerName } from "./reasons.js";

const ATTEMPT = /^attempt (\d+) by ([^\s:,(]+)(?: \(generation (\d+)\))?(, as was learned later)?(?:: (.*?))?(?:; (the (?:text|title) was cut [^;]*))?$/s;
const MOST_NAMED = 8;
export const DOUBT = "an earlier attempt may have arrived";

/**
 * A step of a timeline as `{says, why, tone, code}`: a sentence, its reason explained (or nothing), and the raw words of the service.
 * `route` is the step's route, or whatever is known of it: its channel and recipient are enough.
 */
export function tell(step, route = {}) {
  const code = step.reason ? `${step.what}: ${step.reason}` : step.what;
  const it = step.route_id || route.channel ? `${messageName(route.channel)} ${route.channel === "in_app" ? "for" : "to"} ${person(route.recipient)}` : "it";
  const told = (ATTEMPTS[step.what] && attempt(step, it)) ?? STEPS[step.what]?.(step.reason ?? "", it, route) ?? provider(step, it) ?? unknown(step);
  return { why: "", tone: toneOf(step.what), code, ...told, says: sentence(told.says), ...(told.why && { why: sentence(told.why) }) };
}

/** The same for a step of `gathered`, which may stand for several; `routeOf(id)` finds a route. */
export function tellStep(step, routeOf) {
  if (!step.together) return tell(step, routeOf(step.route_id));
  const said = step.together.map((one) => tell(one, routeOf(one.route_id)).says.replace(/ was planned.*$/, ""));
  const why = plannedFor(step.reason);
  const named = said.slice(0, MOST_NAMED).map((one) => one[0].toLowerCase() + one.slice(1)).join(", ");
  const rest = said.length > MOST_NAMED ? ` and ${said.length - MOST_NAMED} more` : "";
  return { says: `${said.length} messages were planned${why ? `, because ${audienceReason(why)}` : ""}.`, why: sentence(named + rest), tone: "mute", code: `planned: ${step.reason}, …` };
}

/** What was planned in one instant for the same reason is one step, so that a crowd does not bury the rest. */
export function gathered(timeline) {
  const steps = [];
  for (const step of timeline) {
    const last = steps.at(-1);
    const isAlike = last?.what === "planned" && step.what === "planned" && last.at === step.at && plannedFor(last.reason) === plannedFor(step.reason);
    if (isAlike) steps[steps.length - 1] = { ...last, together: [...(last.together ?? [last]), step] };
    else steps.push(step);
  }
  return steps;
}

/** A large first letter, unless a name of somebody's own stands there, and a full stop. */
export function sentence(text, { isName = false } = {}) {
  const trimmed = text.trim();
  if (isName) return trimmed + (/[.?!…]”?$/.test(trimmed) ? "" : ".");
  const first = [...trimmed][0] ?? "";
  return first.toUpperCase() + trimmed.slice(first.length) + (/[.?!…]”?$/.test(trimmed) ? "" : ".");
}

/** A reason of `explain` as its own sentence, with what there is to add. */
export const because = (reason) => [sentence(reason.says), reason.more].filter(Boolean).join(" ");

const plannedFor = (reason) => / \(([^()]*)\)$/.exec(reason)?.[1] ?? "";

const STEPS = {
  accepted: (reason) => ({ says: `taken in ${reason.replace(/^by /, "from ")}`, tone: "info" }),
  cancel_asked: () => ({ says: "somebody asked to cancel it", why: "What was not sent by then stops here; what was sent stays sent.", tone: "warn" }),
  scheduled: (reason) => ({ says: `it is to go out at ${clock(reason.replace(/^for /, ""))}, and not before`, tone: "info" }),
  planned: (reason, it) => {
    const why = plannedFor(reason);
    return { says: `${it} was planned${why ? `, because ${audienceReason(why)}` : ""}`, tone: "mute" };
  },
  deferred: (reason, it, route) => {
    const [, code, times] = /^(.*?)(?: \((\d+) times, the last one shown\))?$/s.exec(reason);
    const why = because(explain(code, route));
    return { says: `${it} was put off${times ? ` ${times} times` : ""}`, why: times ? `The last time: ${why[0].toLowerCase()}${why.slice(1)}` : why, tone: "warn" };
  },
  waiting: (reason, it, route) => {
    const [, code, at] = /^(.*?); next at (.*)$/s.exec(reason) ?? [null, reason, ""];
    return { says: `${it} waits${at ? `; it goes on ${moment(at)}` : ""}`, why: code ? because(explain(code, route)) : "", tone: "info" };
  },
  published: (reason, it) => {
    const [how, doubt] = reason.split("; ");
    const by = /^accepted by (.*)$/.exec(how)?.[1];
    const says = by === "sandbox" ? `the sandbox took ${it}; nothing was sent` : by ? `with that, ${it} is published` : `${it} is there`;
    return { says, why: doubt ? "An earlier attempt may have arrived too, so there may be two copies." : "", tone: "good" };
  },
  skipped: (reason, it, route) => end(`${it} was not sent`, reason, route),
  cancelled: (reason, it, route) => end(`${it} was cancelled before it was sent`, reason === "cancelled" ? "" : reason, route),
  dead_letter: (reason, it, route) => {
    const [, kind, code, message] = /^(?:(plan|fanout|webhook|trigger|replay|deliver): )?([a-z_]+)(?:: (.*))?$/s.exec(reason) ?? [];
    const what = { plan: "the notification could not be planned and was given up", fanout: "the rest of the audience could not be told and was given up" }[kind];
    const said = message || route.last_error?.message;
    return { says: what ?? `${it} was given up`, why: [code && because(explain(code, route)), said && quoted(said)].filter(Boolean).join(" ") || reason, tone: "bad" };
  },
  replayed: (reason, it) => ({ says: `${it} was replayed${by(reason)}`, why: generation(reason), tone: "info" }),
  ignored: (reason) => ({ says: `the dead letter was laid aside${by(reason)}`, tone: "mute" }),
  handled_by_script: (reason) => ({ says: `a trigger took care of the dead letter${by(reason)}`, tone: "mute" }),
  handler_failed: () => ({ says: "a trigger tried to take care of the dead letter and failed", tone: "bad" }),
};

function end(says, reason, route) {
  const [code, doubt] = reason.split(`; ${DOUBT}`);
  const why = [code && because(explain(code, route)), doubt !== undefined && sentence(DOUBT)].filter(Boolean).join(" ");
  return { says, why, tone: "mute" };
}

const by = (reason) => (reason.includes("key:") ? ` with the key ${reason.split("key:")[1].split(",")[0]}` : "");
const generation = (reason) => (/generation (\d+)/.exec(reason) ? `From here on it is generation ${/generation (\d+)/.exec(reason)[1]}: its attempts count anew.` : "");
/** Seconds matter while one waits for them. */
export const clock = (at, now = Date.now()) => localTime(at, new Date(now), { seconds: Math.abs(Date.parse(at) - now) < 600_000 });
const moment = (at) => (Date.parse(at) <= Date.now() ? `now (it was due at ${clock(at)})` : `at ${clock(at)}`);
export const quoted = (message) => `“${failureWords(message).trim()}”`;

const ATTEMPTS = {
  attempt_opened: (it, no, provider) => ({ says: `attempt ${no}: ${it} was handed to ${provider}`, tone: "mute" }),
  attempt_accepted: (it, no, provider) => ({ says: `${provider} took ${it}`, tone: "good" }),
  attempt_transient: (it, no, provider) => ({ says: `${provider} did not take attempt ${no}`, tone: "warn" }),
  attempt_throttled: (it, no, provider) => ({ says: `${provider} asked us to slow down; attempt ${no} does not count`, tone: "warn" }),
  attempt_permanent: (it, no, provider) => ({ says: `${provider} refused ${it} for good`, tone: "bad" }),
  attempt_configuration: (it, no, provider) => ({ says: `${provider} refused because of how it is set up here; attempt ${no} does not count`, tone: "bad" }),
  attempt_unknown: (it, no, provider) => ({ says: `${provider}'s answer to attempt ${no} was lost: it may have arrived`, tone: "warn" }),
  attempt_not_sent: (it, no, provider) => ({ says: `attempt ${no} was stopped before it reached ${provider}; it does not count`, tone: "mute" }),
};

function attempt(step, it) {
  const [, no, name, again, later, message, note] = ATTEMPT.exec(step.reason) ?? [];
  if (!no) return null;
  const said = providerName(name);
  const told = ATTEMPTS[step.what](it, again ? `${no} of generation ${again}` : no, said);
  const why = [message && !later && sentence(`${said} said: ${quoted(message)}`), note && sentence(note)].filter(Boolean).join(" ");
  return { ...told, ...(later && { says: `${told.says}, as was learned later` }), why };
}

const EVENTS = {
  send: ["has sent", "info"],
  delivery: ["has delivered", "good"],
  deliverydelay: ["is late with", "warn"],
  complaint: ["passes on a complaint about", "bad"],
  reject: ["would not send", "bad"],
  open: ["saw somebody open", "good"],
  click: ["saw somebody follow a link in", "good"],
  renderingfailure: ["could not render", "bad"],
};

/** What a provider told later, by its own clock. */
function provider(step, it) {
  if (!step.what.startsWith("provider_")) return null;
  const kind = step.what.slice(9);
  const [by, detail] = step.reason.split(/: (.*)/s);
  const name = providerName(by);
  const more = detail ? `${sentence(name).slice(0, -1)} said: ${quoted(detail)}` : "";
  if (kind === "bounce") {
    const isHard = !/^(Transient|Undetermined)/.test(detail ?? "");
    return isHard
      ? { says: `${it} came back for good`, why: `Nothing more is sent to this address until the suppression is lifted. ${more}`, tone: "bad" }
      : { says: `${it} came back for now`, why: more, tone: "warn" };
  }
  if (kind === "complaint") return { says: `${it} was reported as spam`, why: `Nothing more is sent to this address until the suppression is lifted. ${more}`, tone: "bad" };
  const [does, tone] = EVENTS[kind] ?? [`says “${words(kind).toLowerCase()}” of`, "info"];
  return { says: `${name} says that it ${does} ${it}`.replace("says that it says", "says"), why: more, tone };
}

const unknown = (step) => ({ says: words(step.what), why: step.reason });
