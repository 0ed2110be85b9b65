// One webhook: how it does, what it was told, and what can be done about it.
import { openLane, switchWebhook } from "./acts.js";
import { get, post, remove } from "./api.js";
import { many, number, span } from "./format.js";
import { answerWords, EVENTS, eventWords, healthOf } from "./hook-words.js";
import { loadLanes } from "./lanes.js";
import { List } from "./list.js";
import { useLoaded } from "./poll.js";
import { go, href, setQuery } from "./router.js";
import { Secret, showSecret } from "./secrets.js";
import { can } from "./session.js";
import { Action, Ago, ask, Badge, Card, Copy, dialog, Facts, For, Json, Loaded, Notice, PageHead, Time, toast } from "./ui.js";
import { html, useState } from "./view.js";
import { HookForm } from "./webhook-form.js";

async function load(id, signal) {
  const [hook, lanes] = await Promise.all([get(["webhooks", id], {}, { signal }), loadLanes(signal)]);
  return { hook, lane: lanes[`webhook:${id}`] };
}

export function Webhook({ id, query }) {
  const loaded = useLoaded((signal) => load(id, signal), [id], { seconds: 5 });
  const [again, setAgain] = useState(0);
  const hook = loaded.data?.hook;
  const then = (act) => async () => {
    if (!(await act())) return;
    await loaded.refresh();
    setAgain((turn) => turn + 1);
  };
  const isEdited = query.edit === "1";
  const actions = hook && html`<${Action} run=${then(() => switchWebhook(id, !hook.is_active))} icon=${hook.is_active ? undefined : "play"}>${hook.is_active ? "Switch off" : "Switch on"}<//>
    ${hook.is_active && html`<${Action} run=${then(() => test(id))}>Send a test<//>`}
    ${!isEdited && html`<button type="button" class="button" onClick=${() => setQuery({ edit: "1" }, { push: true })}>Change it</button>`}`;
  const stopEditing = () => {
    setQuery({ edit: undefined });
    loaded.refresh();
  };
  return html`<${PageHead} title=${hook ? hook.description || hostOf(hook.url) : "Webhook"} crumbs=${[["Webhooks", ["webhooks"]]]} actions=${actions}>
      ${hook && html`<${Copy} value=${hook.url} />`}<//>
    <${Secret} place=${`webhook ${id}`}>Every call is signed with it, as Standard Webhooks has it. After a rotation the secret before signs too for 24 hours.<//>
    <${Loaded} of=${loaded}>${(data) => html`${isEdited && html`<${HookForm} hook=${data.hook} done=${stopEditing} />`}
      <${Standing} ...${data} then=${then} />
      <div class="grid two"><${Health} ...${data} /><${Settings} hook=${data.hook} then=${then} /></div>
      <${Deliveries} hook=${data.hook} again=${again} seeAgain=${() => setAgain((turn) => turn + 1)} />`}<//>`;
}

const hostOf = (url) => {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
};

function Standing({ hook, lane, then }) {
  const { tone, says } = healthOf(hook, lane);
  if (!hook.is_active) {
    return html`<${Notice} tone=${tone === "bad" ? "bad" : "warn"} title="It is switched off" actions=${html`<${Action} small icon="play" run=${then(() => switchWebhook(hook.id, true))}>Switch it on<//>`}>
      ${says} For <${For} at=${hook.disabled_at ?? hook.updated_at} />. It hears of nothing new until it is switched on; what it missed can be redelivered below.<//>`;
  }
  if (tone !== "bad" && tone !== "warn") return null;
  return html`<${Notice} tone=${tone} title=${lane?.is_closed ? "Its lane is closed" : "It fails"} actions=${lane && can("operate") && html`<${Action} small icon="play" run=${then(() => openLane(lane.id, lane.waiting.count))}>Open the lane<//>`}>
    ${says}${hook.failing_since && html` Failing for <${For} at=${hook.failing_since} />; after five days of nothing but failures it is switched off.`}
    ${lane?.waiting.count > 0 && html` ${many(lane.waiting.count, "call waits", "calls wait")}${lane.waiting.at_least ? " or more" : ""}, at no cost of tries.`}
    ${lane?.is_closed && html` It is tried again <${Ago} at=${lane.resume_at} />.`}<//>`;
}

function Health({ hook, lane }) {
  const { word, tone } = healthOf(hook, lane);
  return html`<${Card} title="How it does"><${Facts} rows=${[
    ["State", html`<${Badge} tone=${tone}>${word}<//>`],
    ["Lane", can("operate") ? (lane ? html`<${Badge} status=${lane.state} /> <span class="mute">${many(lane.failures, "failure")} in a row</span>` : "open") : undefined],
    ["Last success", html`<${Time} at=${hook.last_success_at} none="never" />`],
    ["Failing since", hook.failing_since ? html`<${Time} at=${hook.failing_since} />` : "it does not fail"],
    ["Added", html`<${Time} at=${hook.created_at} />`],
    ["Changed", html`<${Time} at=${hook.updated_at} />`],
    ["Id", html`<${Copy} value=${hook.id} />`],
  ]} /><//>`;
}

function Settings({ hook, then }) {
  const actions = html`<${Action} small icon="key" run=${then(() => rotate(hook))}>Rotate the secret<//><${Action} small tone="danger" run=${() => drop(hook)}>Delete it<//>`;
  return html`<${Card} title="What it is told" actions=${actions}><${Facts} rows=${[
    ["Hears of", hook.events.map(eventWords).join(", ")],
    ["From", hook.modes.map((mode) => `${mode} keys`).join(" and ")],
    ["Tries", `${number(hook.retry_count)} in all`],
    ["Time for a call", span(hook.timeout_seconds)],
    ["Earlier secret", hook.previous_secret_expires_at ? html`signs until <${Time} at=${hook.previous_secret_expires_at} />` : undefined],
    ["Added by", html`<${Copy} value=${hook.created_by}>key:${hook.created_by}<//>`],
  ]} /><//>`;
}

async function test(id) {
  const sent = await post(["webhooks", id, "test"]);
  toast("A test event is on its way; what the endpoint answers appears below.");
  return sent;
}

const rotate = (hook) =>
  ask({
    title: "Make a new secret?",
    says: html`<p>The new secret is shown once. For 24 hours the present one signs too, so that the receiver can change in its own time${hook.previous_secret_expires_at && new Date(hook.previous_secret_expires_at) > new Date() ? html`; <strong>the one before that ends now</strong>` : ""}.</p>`,
    verb: "Make a new secret",
    tone: "primary",
    run: async () => {
      const made = await post(["webhooks", hook.id, "rotate-secret"]);
      showSecret(`webhook ${hook.id}`, made.secret);
      return made;
    },
  });

const drop = (hook) =>
  ask({
    title: "Delete this webhook?",
    plan: async () => {
      const waiting = await get(["webhooks", hook.id, "deliveries"], { status: "pending", limit: 200 });
      const count = `${number(waiting.data.length)}${waiting.next_cursor ? " or more" : ""}`;
      return html`<p><code>${hook.url}</code> hears of nothing any more. Its log of deliveries is deleted with it${waiting.data.length ? html`, and <strong>${count} ${waiting.data.length === 1 ? "delivery that waits is" : "deliveries that wait are"} never made</strong>` : ""}.</p>
        <p class="mute">This cannot be taken back. To pause it, switch it off.</p>`;
    },
    verb: "Delete the webhook",
    run: async () => {
      await remove(["webhooks", hook.id]);
      toast("The webhook is deleted.");
      go(["webhooks"]);
    },
  });

const FILTERS = [
  { name: "status", label: "Status", options: [["pending"], ["delivered"], ["failed"]] },
  { name: "event_type", label: "Event", options: [...EVENTS, ["webhook.test", "test"]] },
  { name: "notification_id", label: "Notification", placeholder: "id", wide: true },
];

function Deliveries({ hook, again, seeAgain }) {
  const redeliver = async (delivery) => {
    await post(["webhooks", "deliveries", delivery.id, "redeliver"]);
    toast("The same message goes out once more.");
    seeAgain();
  };
  const show = (delivery) => dialog({ title: `What it was told: ${eventWords(delivery.event_type)}`, wide: true, body: () => html`<${Delivery} delivery=${delivery} />` });
  const columns = [
    { name: "event", label: "Event", show: (row) => html`<button type="button" class="linkish" onClick=${() => show(row)}>${eventWords(row.event_type)}</button>` },
    { name: "status", label: "Status", show: (row) => html`<div><${Badge} status=${row.status} tone=${row.status === "failed" ? "bad" : undefined} />${row.redelivery_of && html` <span class="mute">again</span>`}</div>` },
    { name: "answer", label: "Answer", wide: true, show: (row) => html`<div>${answerWords(row) || "–"}${row.response_body && html`<div class="mute clamp mono" dir="auto">${row.response_body}</div>`}</div>` },
    { name: "tries", label: "Tries", end: true, show: (row) => number(row.attempt_count) },
    { name: "took", label: "Took", end: true, show: (row) => html`<span class="nowrap">${row.duration_ms === null ? "–" : span(row.duration_ms / 1000)}</span>` },
    { name: "next", label: "Next try", show: (row) => html`<span class="nowrap"><${Next} delivery=${row} /></span>` },
    { name: "at", label: "Made", show: (row) => html`<span class="nowrap"><${Ago} at=${row.created_at} /></span>` },
    { name: "do", label: "", end: true, show: (row) => hook.is_active && row.status !== "pending" && html`<${Action} small icon="replay" run=${() => redeliver(row)} label=${`Redeliver: ${eventWords(row.event_type)}`}>Redeliver<//>` },
  ];
  return html`<section class="stack" aria-labelledby="deliveries"><h2 id="deliveries">What it was told</h2>
    <${List} path=${["webhooks", hook.id, "deliveries"]} filters=${FILTERS} columns=${columns} label="Deliveries" again=${again} seconds=${5}
      empty=${{ title: "It was told nothing yet.", text: "Send a test to see whether it answers." }} /></section>`;
}

/** What is due waits for a worker, or for its lane. */
function Next({ delivery }) {
  if (delivery.status !== "pending") return html`<span class="mute">–</span>`;
  return new Date(delivery.next_retry_at) > new Date() ? html`<${Ago} at=${delivery.next_retry_at} />` : "due";
}

function Delivery({ delivery }) {
  return html`<div class="stack"><${Facts} rows=${[
    ["Answer", answerWords(delivery) || "none yet"],
    ["Message", html`<${Copy} value=${delivery.message_id} />`],
    ["Notification", delivery.notification_id ? (can("read") ? html`<a href=${href(["notifications", delivery.notification_id])}>${delivery.notification_id}</a>` : html`<${Copy} value=${delivery.notification_id} />`) : undefined],
    ["Tries", number(delivery.attempt_count)],
    ["Took", delivery.duration_ms === null ? undefined : span(delivery.duration_ms / 1000)],
    ["Made", html`<${Time} at=${delivery.created_at} />`],
    ["Delivered", html`<${Time} at=${delivery.delivered_at} none="not delivered" />`],
    ["Next try", delivery.status === "pending" ? html`<${Next} delivery=${delivery} />` : undefined],
    ["Copy of", delivery.redelivery_of ? html`<${Copy} value=${delivery.redelivery_of} />` : undefined],
  ]} />${delivery.response_body && html`<div><h3>What it answered</h3><${Words} text=${delivery.response_body} /></div>`}
    <div><h3>What it was told</h3><${Json} value=${delivery.payload} label="What it was told" /></div></div>`;
}

const Words = ({ text }) => html`<div class="json"><pre tabindex="0" aria-label="Answer of the endpoint" dir="auto">${text}</pre></div>`;
