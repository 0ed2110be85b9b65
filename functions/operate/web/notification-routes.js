// The routes of a notification as cards: what became of each, by which rule, what the provider said, and what can be done.
import { replayOne } from "./acts.js";
import { becameOf } from "./became.js";
import { many, span } from "./format.js";
import { Icon } from "./icons.js";
import { showMessage } from "./message-dialog.js";
import { ORDER } from "./notification-parts.js";
import { audienceReason, channelTitle, explain, failureWords, feedbackWords, messageName, outcomeWords, person, placeOf, providerName, userOf } from "./reasons.js";
import { href } from "./router.js";
import { sentence } from "./sentences.js";
import { can } from "./session.js";
import { Action, Badge, Card, Copy, Facts, Time } from "./ui.js";
import { html, useState } from "./view.js";

const SHOWN = [4, 12]; // at first: those that need a look, but some at least and not a crowd
const FURTHER = 24;
const ICONS = { email: "mail", sms: "sms", push: "bell", in_app: "inbox", webhook: "hook" };

export function Routes({ one, follow, refresh }) {
  const routes = [...one.routes].sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || a.recipient.localeCompare(b.recipient) || a.channel.localeCompare(b.channel));
  const troubled = routes.filter((route) => !isWell(route)).length;
  const [added, setAdded] = useState(0);
  if (!routes.length) return null;
  const most = Math.min(SHOWN[1], Math.max(SHOWN[0], troubled)) + added;
  const total = Object.values(one.route_counts).reduce((sum, count) => sum + count, 0);
  const rest = routes.length - most;
  return html`<section class="stack" aria-label="Routes"><h2>${many(total, "route")}${total > routes.length ? html` <span class="mute">of which ${routes.length.toLocaleString()} can be shown</span>` : ""}</h2>
    ${routes.slice(0, most).map((route) => html`<${RouteCard} key=${route.route_id} route=${route} one=${one} follow=${follow} refresh=${refresh} />`)}
    ${rest > 0 && html`<div class="more"><button type="button" class="button" onClick=${() => setAdded(added + FURTHER)}>Show ${rest > FURTHER ? `${FURTHER} of the ${rest.toLocaleString()} others` : many(rest, "other")}${troubled <= most ? ", which went well" : ""}</button></div>`}</section>`;
}

const isWell = (route) => route.status === "published" && !["hard_bounced", "soft_bounced", "complained"].includes(route.feedback);

function RouteCard({ route, one, follow, refresh }) {
  const became = becameOf(route);
  const user = userOf(route.recipient);
  const who = user && can("manage") ? html`<a href=${href(["users", user])} dir="auto">${user}</a>` : html`<span dir="auto">${person(route.recipient)}</span>`;
  const title = html`<span class="route-title"><${Icon} name=${ICONS[route.channel]} />${channelTitle(route.channel)} <span class="mute">${route.channel === "in_app" ? "of" : "to"}</span> ${who}</span>`;
  const said = route.status === "dead_letter" && route.last_error?.message;
  const facts = html`<${Facts} rows=${factsOf(route, one)} /><${Attempts} route=${route} />`;
  return html`<${Card} title=${title} actions=${html`<${Badge} status=${route.status} />${route.feedback !== "none" && html`<${Badge} status=${route.feedback} />`}`}>
    <div class="route-card">
      <p class=${`${became.tone}-ink`} title=${route.reason || undefined} dir="auto">${sentence(`${messageName(route.channel)} ${became.says}`)}</p>
      ${said && html`<p class="mute" dir="auto">“${failureWords(said)}”</p>`}
      ${route.dead_letter?.recovery_hint && route.status === "dead_letter" && !route.dead_letter.resolution && html`<p class="hint"><strong>What to do.</strong> ${route.dead_letter.recovery_hint}</p>`}
      ${isWell(route) && one.routes.length > 1 ? html`<details class="attempts"><summary>Facts and attempts</summary><div class="route-card">${facts}</div></details>` : facts}
      <div class="actions">
        <button type="button" class="button small" onClick=${() => showMessage(one.notification_id, route)}><${Icon} name="eye" />${route.status === "published" ? "Show the message as sent" : "Show the message"}</button>
        <button type="button" class="button small" onClick=${() => follow(route.route_id)}><${Icon} name="log" />Its story</button>
        <${Letter} route=${route} refresh=${refresh} />
      </div>
    </div><//>`;
}

function Letter({ route, refresh }) {
  if (!route.dead_letter || !can("operate")) return null;
  const isOpen = route.status === "dead_letter" && (!route.dead_letter.resolution || route.dead_letter.resolution === "handler_failed");
  return html`<a class="button small" href=${href(["dead-letters", route.dead_letter.id])}>Open the dead letter</a>
    ${isOpen && html`<${Action} small icon="replay" run=${async () => (await replayOne(route.dead_letter)) && refresh()}>Replay it<//>`}`;
}

function factsOf(route, one) {
  const { template } = route;
  const named = template && `${template.name}, version ${template.version}`;
  const isOpen = ["pending", "failed"].includes(route.status);
  return [
    ["Decided by", html`<${Rule} route=${route} one=${one} />`],
    ["Told because", route.audience_reason ? html`<span title=${route.audience_reason}>${audienceReason(route.audience_reason)}</span>` : undefined],
    ["Attempts", route.channel === "in_app" ? undefined : `${route.attempt_count} of ${route.max_attempts}${route.generation > 1 ? `, in generation ${route.generation}` : ""}`],
    ["Next", isOpen && route.next_attempt_at ? html`<${Time} at=${route.next_attempt_at} />` : undefined],
    ["Provider", route.provider && route.provider !== "inbox" ? sentence(providerName(route.provider)).slice(0, -1) : undefined],
    ["Its answer", route.provider_response && route.provider_response !== route.last_error?.message ? html`<span dir="auto">${route.provider_response}</span>` : undefined],
    ["Its message id", route.provider_message_id ? html`<${Copy} value=${route.provider_message_id} />` : undefined],
    ["Since then", route.feedback !== "none" ? html`<span title=${route.feedback}>${feedbackWords(route.feedback)}</span> <span class="mute">(<${Time} at=${route.feedback_at} />)</span>` : undefined],
    ["In doubt", route.duplicate_suspected ? "An earlier answer was lost, so there may be two copies." : route.may_have_arrived ? "An earlier attempt may have arrived all the same." : undefined],
    ["Template", named ? (can("manage") ? html`<a href=${href(["templates", template.name])}>${named}</a>` : named) : undefined],
  ];
}

/** The rule that had the last word, with the way to where it can be changed. */
function Rule({ route, one }) {
  const about = { ...route, type: one.type, template: route.template?.name ?? one.template };
  if (!route.reason) return html`${route.status === "published" ? "Nothing stood in the way" : "Nothing stands in the way so far"}`;
  const { rule, more } = explain(route.reason, about);
  const place = placeOf(route.reason, about);
  return html`<span title=${route.reason}>${rule || route.reason}</span>${place && can(place.scope) ? html` · <a href=${href(place.parts, place.query)}>${place.title}</a>` : ""}${more && html`<div class="mute">${more}</div>`}`;
}

function Attempts({ route }) {
  if (!route.attempts.length) return null;
  const isTold = route.attempts.length > 1 && route.attempts.length < 6 && route.status !== "published";
  return html`<details class="attempts" open=${isTold}><summary>${many(route.attempts.length, "attempt")}</summary><ol>${route.attempts.map(
    (each) => html`<li key=${`${each.generation}-${each.attempt_no}`}><span class=${each.outcome === "accepted" ? "good-ink" : ""} title=${each.outcome ?? "under way"}>
        ${each.generation > 1 ? `Generation ${each.generation}, attempt` : "Attempt"} ${each.attempt_no} by ${providerName(each.provider)}: ${outcomeWords(each.outcome)}.</span>
      <span class="mute"> <${Time} at=${each.started_at} />${each.finished_at ? `, took ${span((Date.parse(each.finished_at) - Date.parse(each.started_at)) / 1000)}` : ""}</span>
      ${each.error_message && html`<div class="mute" dir="auto">“${each.error_message}”</div>`}</li>`
  )}</ol></details>`;
}
