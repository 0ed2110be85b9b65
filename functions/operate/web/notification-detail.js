// One notification: in one line what became of it, then for each route, then step by step.
import { cancelNotification, replayOne } from "./acts.js";
import { get } from "./api.js";
import { headline } from "./became.js";
import { many, words } from "./format.js";
import { Icon } from "./icons.js";
import { Audience, Counts } from "./notification-parts.js";
import { Routes } from "./notification-routes.js";
import { Story } from "./notification-story.js";
import { useLoaded } from "./poll.js";
import { channelTitle, explain } from "./reasons.js";
import { href, setQuery } from "./router.js";
import { can } from "./session.js";
import { Action, Badge, Card, Copy, Facts, Json, Loaded, Notice, PageHead, Time } from "./ui.js";
import { html, useState } from "./view.js";

const UNDER_WAY = ["accepted", "in_progress"];
const SOON = 3;
const LATER = 20; // providers tell of a delivery or a bounce long after the end

export function NotificationDetail({ id, query }) {
  const [isUnderWay, setUnderWay] = useState(true);
  const loaded = useLoaded((signal) => get(["notifications", id], {}, { signal }), [id, isUnderWay], { seconds: isUnderWay ? SOON : LATER });
  const found = loaded.data;
  if (found && UNDER_WAY.includes(found.status) !== isUnderWay) setUnderWay(!isUnderWay);
  if (loaded.error?.status === 404 && !found) return html`<${Missing} id=${id} />`;
  return html`<${PageHead} title=${found?.type ?? "Notification"} crumbs=${[["Notifications", ["notifications"]]]} actions=${found && html`<${Acts} found=${found} refresh=${loaded.refresh} />`}>
      ${found && html`<${Standing} found=${found} isUnderWay=${isUnderWay} />`}<//>
    <${Loaded} of=${loaded}>${(one) => html`<${Drawn} one=${one} query=${query} refresh=${loaded.refresh} />`}<//>`;
}

function Standing({ found, isUnderWay }) {
  return html`<span class="row"><${Badge} status=${found.status} tone=${found.status === "finished" ? "mute" : undefined} />${found.mode === "test" && html`<${Badge} tone="warn">test<//>`}
    <${Copy} value=${found.notification_id} />${isUnderWay && html`<span class="mute">refreshed by itself</span>`}</span>`;
}

function Acts({ found, refresh }) {
  const waiting = (found.route_counts.pending ?? 0) + (found.route_counts.failed ?? 0);
  const isOpen = UNDER_WAY.includes(found.status) && !found.cancelled_at;
  if (!can("send") || !isOpen) return null;
  return html`<${Action} icon="block" run=${async () => (await cancelNotification(found.notification_id, waiting)) && refresh()}>Cancel<//>`;
}

function Drawn({ one, query, refresh }) {
  const follow = (routeId) => {
    setQuery({ route: routeId });
    document.querySelector("#story")?.scrollIntoView({ block: "start" });
  };
  return html`<${Verdict} one=${one} />
    ${one.dead_letter && html`<${WholeLetter} letter=${one.dead_letter} refresh=${refresh} />`}
    <div class="told">
      <div class="stack">
        <${Routes} one=${one} follow=${follow} refresh=${refresh} />
        <${Story} one=${one} chosen=${query.route ?? ""} choose=${(route) => setQuery({ route })} />
      </div>
      <div class="stack">
        <${Card} title="Facts"><${What} one=${one} /><//>
        <${Card} title="Payload"><${Json} value=${one.payload} label="payload" /><//>
      </div>
    </div>`;
}

const ICONS = { good: "check", bad: "alert", warn: "alert", info: "jobs", mute: "block" };

function Verdict({ one }) {
  const told = headline(one);
  return html`<div class=${`verdict ${told.tone}`} role="status"><${Icon} name=${ICONS[told.tone]} /><div class="grow">
    ${told.says.map((each) => html`<strong key=${each} dir="auto">${each}</strong>`)}
    ${told.lines.length > 0 && html`<ul class="verdict-lines">${told.lines.map((line) => html`<li key=${line.says} class=${`${line.tone}-ink`} title=${line.code || undefined} dir="auto">${line.says}.</li>`)}
      ${told.further > 0 && html`<li>${many(told.further, "further outcome")} below.</li>`}</ul>`}
  </div></div>`;
}

/** What was given up as a whole, before its routes or among them. */
function WholeLetter({ letter, refresh }) {
  const isOpen = !letter.resolution || letter.resolution === "handler_failed";
  return html`<${Notice} tone=${isOpen ? "bad" : "info"} title=${isOpen ? "It is a dead letter" : `It was a dead letter: ${words(letter.resolution).toLowerCase()}`}
    actions=${can("operate") && html`<a class="button small" href=${href(["dead-letters", letter.id])}>Open the dead letter</a>
      ${isOpen && html`<${Action} small icon="replay" run=${async () => (await replayOne(letter)) && refresh()}>Replay it<//>`}`}>
    <span title=${letter.classification}>${explain(letter.classification).says}: “${letter.message}”.</span> ${letter.recovery_hint}<//>`;
}

function What({ one }) {
  const { thread, audience } = one;
  const type = can("manage") ? html`<a href=${href(["types", one.type])}>${one.type}</a>` : one.type;
  const template = one.template && (can("manage") ? html`<a href=${href(["templates", one.template])}>${one.template}</a>` : one.template);
  return html`<${Facts} rows=${[
    ["Type", type],
    ["Producer", html`<a href=${href(["notifications"], { producer: one.producer })}>${one.producer}</a>`],
    ["Audience", html`<${People} audience=${audience} />`],
    ["Event", audience.kind === "event" ? html`<a href=${href(["notifications", "event", one.notification_id])}>The event it came from</a>` : undefined],
    ["Routes", html`<${Counts} counts=${one.route_counts} />`],
    ["Priority", one.priority],
    ["Template", template ?? html`<span class="mute">none: the words are in the payload</span>`],
    ["Thread", thread ? html`${thread.kind} <${Copy} value=${thread.id} />` : undefined],
    ["Mode", one.mode === "test" ? "test: the sandbox takes it, nothing is sent" : "live"],
    ["Occurred", html`<${Time} at=${one.occurred_at} />`],
    ["Accepted", html`<${Time} at=${one.accepted_at} />`],
    ["Not before", one.send_at ? html`<${Time} at=${one.send_at} />` : undefined],
    ["Expires", one.expires_at ? html`<${Time} at=${one.expires_at} />` : undefined],
    ["Cancelled", one.cancelled_at ? html`<${Time} at=${one.cancelled_at} />` : undefined],
    ["Notification id", html`<${Copy} value=${one.notification_id} />`],
    ["Idempotency key", html`<${Copy} value=${one.idempotency_key} />`],
    ["Request id", html`<${Copy} value=${one.request_id} />`],
    ["Trace id", html`<${Copy} value=${one.trace_id} />`],
  ]} />`;
}

const MOST_IDS = 12;

function People({ audience }) {
  const ids = audience.user_ids ?? [];
  if (!ids.length) return html`<${Audience} of=${audience} />`;
  const shown = ids.slice(0, MOST_IDS).map((id, index) => html`<span key=${id}>${index ? ", " : ""}${can("manage") ? html`<a href=${href(["users", id])} dir="auto">${id}</a>` : html`<span dir="auto">${id}</span>`}</span>`);
  return html`${shown}${ids.length > MOST_IDS && html` <span class="mute">and ${many(ids.length - MOST_IDS, "other")}</span>`}`;
}

function Missing({ id }) {
  return html`<${PageHead} title="No such notification" crumbs=${[["Notifications", ["notifications"]]]} />
    <${Notice} tone="warn" title="There is no notification with this id">It may be older than retention keeps, belong to another tenant, or be <a href=${href(["notifications", "event", id])}>an event that wrote ${channelTitle("in_app").toLowerCase()} rows only</a>.
      You can also <a href=${href(["search"], { q: id })}>search for what the id means</a>.<//>`;
}
