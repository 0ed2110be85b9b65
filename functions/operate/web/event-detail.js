// An event: what was told, who heard of it, and if nobody did, why.
import { replayOne } from "./acts.js";
import { get } from "./api.js";
import { many, words } from "./format.js";
import { Icon } from "./icons.js";
import { useLoaded } from "./poll.js";
import { href } from "./router.js";
import { can } from "./session.js";
import { Action, Badge, Card, Copy, Facts, Json, Loaded, Notice, PageHead, Time } from "./ui.js";
import { html } from "./view.js";

const OUTCOMES = {
  waiting: ["info", () => "It waits to be told, or a large audience is being told page by page."],
  notified: ["good", (event) => `${many(event.recipient_count, "person has", "people have")} a reason to hear of it, and a rule for it.`],
  nobody: ["warn", () => "It told nobody: no one is named or watching, all of them muted it, or the routing has no rule for their reasons."],
  not_routed: ["warn", (event) => `It told nobody: no event routing matches the type ${event.type}.`],
  expired: ["warn", () => "It told nobody: the expiry of its type had passed before it was its turn."],
  dead_letter: ["bad", () => "It could not be told in three tries, and was set aside."],
};
const ICONS = { good: "check", warn: "alert", bad: "alert", info: "jobs" };

export function EventDetail({ id }) {
  const loaded = useLoaded((signal) => get(["events", id], {}, { signal }), [id], { seconds: 10 });
  const sent = useLoaded((signal) => get(["notifications", id], {}, { signal }).catch((error) => (error.status === 404 ? null : Promise.reject(error))), [id], { seconds: 10 });
  const event = loaded.data;
  const crumbs = [["Notifications", ["notifications"]]];
  if (loaded.error?.status === 404 && !event) {
    return html`<${PageHead} title="No such event" crumbs=${crumbs} /><${Notice} tone="warn" title="There is no event with this id">
      It may be older than retention keeps, or be <a href=${href(["notifications", id])}>a notification</a> that somebody asked for.<//>`;
  }
  return html`<${PageHead} title=${event?.type ?? "Event"} crumbs=${crumbs} actions=${sent.data && html`<a class="button" href=${href(["notifications", id])}>What was sent</a>`}>
      ${event && html`<span class="row"><${Badge} status=${event.outcome} tone=${OUTCOMES[event.outcome]?.[0]} /><${Copy} value=${event.notification_id} /></span>`}<//>
    <${Loaded} of=${loaded}>${(found) => html`<${Drawn} event=${found} sent=${sent} refresh=${loaded.refresh} />`}<//>`;
}

function Drawn({ event, sent, refresh }) {
  const [tone, says] = OUTCOMES[event.outcome] ?? ["info", () => words(event.outcome)];
  const letter = event.dead_letter;
  const isOpen = letter && (!letter.resolution || letter.resolution === "handler_failed");
  return html`<div class=${`verdict ${tone}`} role="status"><${Icon} name=${ICONS[tone]} /><div class="grow"><strong title=${event.outcome}>${says(event)}</strong>
      ${sent.data === null && event.outcome === "notified" && "It wrote inbox rows only: nothing was sent by email, SMS or push."}
      ${event.outcome === "not_routed" && can("manage") && html`<a href=${href(["routing"])}>Look at the event routing</a>`}</div></div>
    ${letter && html`<${Notice} tone=${isOpen ? "bad" : "info"} title="It became a dead letter" actions=${can("operate") && html`<a class="button small" href=${href(["dead-letters", letter.id])}>Open the dead letter</a>
      ${isOpen && html`<${Action} small icon="replay" run=${async () => (await replayOne(letter)) && refresh()}>Replay it<//>`}`}>“${letter.message}” ${letter.recovery_hint}<//>`}
    <div class="told"><div class="stack"><${Card} title="Data"><${Json} value=${event.data} label="data" /><//></div>
      <div class="stack"><${Card} title="Facts"><${Facts} rows=${factsOf(event)} /><//></div></div>`;
}

function factsOf(event) {
  const actor = event.actor && (can("manage") ? html`<a href=${href(["users", event.actor])}>${event.actor}</a>` : event.actor);
  return [
    ["Type", event.type],
    ["Source", event.source],
    ["Event id", html`<${Copy} value=${event.event_id} />`],
    ["Notification id", html`<${Copy} value=${event.notification_id} />`],
    ["Who did it", actor ?? undefined],
    ["Scope", event.scope ? html`<${Copy} value=${event.scope} />` : undefined],
    ["Thread", event.thread ? html`${event.thread.kind} <${Copy} value=${event.thread.id} />` : undefined],
    ["People told", event.recipient_count.toLocaleString()],
    ["Mode", event.mode],
    ["Occurred", html`<${Time} at=${event.occurred_at} />`],
    ["Recorded", html`<${Time} at=${event.recorded_at} />`],
  ];
}
