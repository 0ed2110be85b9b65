// One dead letter: why, what was tried, what it was about, what stands in the way of doing it again, and what was done about it.
import { ignoreLetter, replayOne } from "./acts.js";
import { get } from "./api.js";
import { many, number, span, words } from "./format.js";
import { Recipient } from "./letter-acts.js";
import { classWords, isOpen, kindWords, obstacleWords, replayWords, stateWords, userOf, whatDied } from "./letters.js";
import { useLoaded } from "./poll.js";
import { href } from "./router.js";
import { can } from "./session.js";
import { Action, Ago, Badge, Card, Copy, Empty, Facts, Json, Loaded, Notice, PageHead, Table, Time } from "./ui.js";
import { html } from "./view.js";

const CRUMBS = [["Dead letters", ["dead-letters"]]];

export function DeadLetter({ id }) {
  const loaded = useLoaded((signal) => get(["dead-letters", id], {}, { signal }), [id], { seconds: 5 });
  const letter = loaded.data;
  const then = (act) => async () => (await act(letter)) && loaded.refresh();
  const mayReplay = letter && isOpen(letter) && (!letter.obstacle || letter.obstacle.reason === "expired");
  const actions = letter && html`${isOpen(letter) && html`<${Action} run=${then(ignoreLetter)}>Lay it aside<//>`}
    ${mayReplay && html`<${Action} tone="primary" icon="replay" run=${then(replayOne)}>Replay it<//>`}`;
  return html`<${PageHead} title=${letter ? titleOf(letter) : "Dead letter"} crumbs=${CRUMBS} actions=${actions}>
      ${letter && html`<${Badge} status=${letter.resolution ?? "unresolved"} tone=${letter.resolution ? undefined : "bad"}>${stateWords(letter.resolution)}<//> Died <${Ago} at=${letter.created_at} /> after ${many(letter.final_attempt_count, "attempt")}${letter.max_attempts > letter.final_attempt_count ? ` of ${number(letter.max_attempts)}` : ""}.`}<//>
    <${Loaded} of=${loaded}>${(one) => html`<${Advice} letter=${one} /><${Attempts} letter=${one} />
      <div class="grid two"><${Failure} letter=${one} /><${About} letter=${one} /></div>
      <${Delivery} delivery=${one.delivery} /><${Work} letter=${one} />`}<//>`;
}

function titleOf(letter) {
  const user = userOf(letter.recipient);
  return `${whatDied(letter)}${user ? ` to ${user}` : ""}: ${classWords(letter.classification)}`;
}

/** What to do now, or what was done. */
function Advice({ letter }) {
  const { obstacle, replay } = letter;
  return html`${letter.resolution && html`<${Outcome} letter=${letter} replay=${replay} />`}
    ${isOpen(letter) && html`<${Notice} title="What to do">${letter.recovery_hint}
      ${letter.second_copy_possible && !letter.recovery_hint.includes("second copy") && html` An earlier attempt may have arrived: a replay may be a second copy.`}<//>`}
    ${isOpen(letter) && obstacle && html`<${Notice} tone="warn" title=${obstacle.reason === "expired" ? "It has expired" : "It cannot be replayed just now"} actions=${html`<${WayOut} letter=${letter} />`}>
      ${obstacleWords(obstacle).says} ${obstacleWords(obstacle).advice}<//>`}`;
}

/** What stands in the way leads to where it is taken out of it. */
function WayOut({ letter }) {
  const hook = letter.work.payload?.webhook_id;
  if (letter.obstacle.reason === "webhook_disabled" && hook && can("manage")) return html`<a class="button small" href=${href(["webhooks", hook])}>Open the webhook</a>`;
  if (letter.obstacle.reason === "trigger_disabled" && can("manage")) return html`<a class="button small" href=${href(["triggers", letter.trigger_id])}>Open the trigger</a>`;
  if (letter.obstacle.reason === "superseded" && can("read")) return html`<a class="button small" href=${href(["notifications", letter.notification_id])}>Open the notification</a>`;
  return null;
}

const OUTCOMES = { replayed: "It was replayed", ignored: "It was laid aside", handled_by_script: "A trigger has handled it", handler_failed: "A trigger tried to handle it and failed" };

function Outcome({ letter, replay }) {
  const tone = letter.resolution === "handler_failed" || replay?.status === "dead_letter" ? "warn" : "good";
  const next = replay?.dead_letter_id && html`<a class="button small" href=${href(["dead-letters", replay.dead_letter_id])}>Open its new letter</a>`;
  return html`<${Notice} tone=${tone} title=${OUTCOMES[letter.resolution] ?? words(letter.resolution)} actions=${next}>
    <${Time} at=${letter.resolved_at} />${letter.resolved_by && html` by <code>${letter.resolved_by}</code>`}.
    ${letter.resolution_reason && html` <q dir="auto">${letter.resolution_reason}</q>`} ${replay && replayWords(replay.status)}<//>`;
}

const COLUMNS = [
  { name: "no", label: "Attempt", show: (row) => number(row.attempt_no) },
  { name: "began", label: "Began", show: (row) => html`<span class="nowrap"><${Time} at=${row.started_at} /></span>` },
  { name: "took", label: "Took", end: true, show: (row) => html`<span class="nowrap">${row.finished_at ? span((new Date(row.finished_at) - new Date(row.started_at)) / 1000) : "not ended"}</span>` },
  { name: "provider", label: "Provider", show: (row) => row.provider || "–" },
  { name: "outcome", label: "Outcome", show: (row) => html`<${Badge} status=${row.outcome ?? "unknown"} />` },
  { name: "said", label: "What it said", wide: true, show: (row) => html`<span dir="auto">${row.error_message || "–"}</span>` },
  { name: "message", label: "Message id", show: (row) => html`<${Copy} value=${row.provider_message_id} />` },
];

function Attempts({ letter }) {
  const none = letter.source_kind === "deliver" ? "It died before a provider was asked." : "Single attempts are kept of messages only; the last answer is below.";
  return html`<${Card} title="Retry history" flush>${letter.attempts.length
    ? html`<${Table} columns=${COLUMNS} rows=${letter.attempts} keyOf=${(row) => row.attempt_no} label="Attempts" />`
    : html`<${Empty} title="No single attempts are kept.">${none} There were ${number(letter.final_attempt_count)}, the first <${Ago} at=${letter.first_attempt_at} />.<//>`}<//>`;
}

function Failure({ letter }) {
  const { template } = letter;
  return html`<${Card} title="Why it died"><${Facts} rows=${[
    ["Said", html`<span dir="auto">${letter.failure_message || "–"}</span>`],
    ["Failure", html`${classWords(letter.classification)} <span class="mute">${letter.classification}</span>`],
    ["Provider", letter.provider || undefined],
    ["Code", letter.provider_code ? html`<${Copy} value=${letter.provider_code} />` : undefined],
    ["Template", template ? (can("manage") ? html`<a href=${href(["templates", template.name])}>${template.name}</a> version ${template.version}` : `${template.name} version ${template.version}`) : undefined],
    ["First attempt", html`<${Time} at=${letter.first_attempt_at} />`],
    ["Last attempt", html`<${Time} at=${letter.last_attempt_at} />`],
    ["Letter", html`<${Copy} value=${letter.id} />`],
  ]} /><//>`;
}

function About({ letter }) {
  const { notification } = letter;
  const id = letter.notification_id;
  const link = id && can("read") ? html`<a class="button small" href=${href(["notifications", id])}>Open it</a>` : null;
  if (!notification) {
    const trigger = letter.trigger_id && html`<${Facts} rows=${[["Trigger", can("manage") ? html`<a href=${href(["triggers", letter.trigger_id])}><code>${letter.trigger_id}</code></a>` : html`<${Copy} value=${letter.trigger_id} />`], ["Handler", html`<${Copy} value=${letter.handler_id} />`]]} />`;
    return html`<${Card} title=${trigger ? "The trigger" : "The notification"}>${trigger || html`<p class="mute">${id ? "The notification is not kept any more." : "This work belongs to no notification."}</p>`}<//>`;
  }
  return html`<${Card} title="The notification" actions=${link}><${Facts} rows=${[
    ["Type", notification.type],
    ["Recipient", letter.recipient ? html`<${Recipient} recipient=${letter.recipient} />` : undefined],
    ["Producer", html`${notification.producer} ${notification.mode === "test" && html`<${Badge} tone="warn">test<//>`}`],
    ["Priority", notification.priority],
    ["Accepted", html`<${Time} at=${notification.accepted_at} />`],
    ["To be sent", notification.send_at ? html`<${Time} at=${notification.send_at} />` : undefined],
    ["Expires", notification.expires_at ? html`<${Time} at=${notification.expires_at} /> <span class="mute">(<${Ago} at=${notification.expires_at} />)</span>` : "never"],
    ["Cancelled", notification.cancelled_at ? html`<${Time} at=${notification.cancelled_at} />` : undefined],
    ["Id", html`<${Copy} value=${notification.notification_id} />`],
  ]} /><//>`;
}

/** Of a webhook's letter: what its endpoint said last. */
function Delivery({ delivery }) {
  if (!delivery) return null;
  const link = can("manage") && html`<a class="button small" href=${href(["webhooks", delivery.webhook_id])}>Open the webhook</a>`;
  return html`<${Card} title="The call" actions=${link}><div class="stack"><${Facts} rows=${[
    ["Event", delivery.event_type],
    ["Answer", delivery.response_status ? html`<code>${delivery.response_status}</code>` : words(delivery.error) || "none"],
    ["Took", delivery.duration_ms === null ? undefined : span(delivery.duration_ms / 1000)],
    ["Message", html`<${Copy} value=${delivery.message_id} />`],
  ]} />${delivery.response_body && html`<${Json} value=${delivery.response_body} label="Answer of the endpoint" />`}<${Json} value=${delivery.payload} label="What was sent" /></div><//>`;
}

function Work({ letter }) {
  const { work } = letter;
  return html`<${Card} title="The work"><div class="stack"><${Facts} rows=${[
    ["Kind", kindWords(letter.source_kind)],
    ["Queue", work.queue],
    ["Generation", html`${number(letter.generation)} <span class="mute">each replay begins a new one</span>`],
    ["Retries", letter.max_attempts === 1 ? "none: it had one attempt" : `up to ${number(letter.max_attempts)} attempts, ${work.retry_backoff} pauses from ${span(work.retry_base_ms / 1000)}`],
    ["As key", work.principal_id ? html`<${Copy} value=${work.principal_id} />` : undefined],
    ["Depth of triggers", work.trigger_depth ? number(work.trigger_depth) : undefined],
    ["Id", html`<${Copy} value=${work.id} />`],
  ]} />${work.payload && html`<${Json} value=${work.payload} label="Payload of the work" />`}</div><//>`;
}
