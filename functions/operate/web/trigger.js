// One trigger: what fires it, what it runs, how often that is tried, and what became of its runs.
import { get } from "./api.js";
import { many } from "./format.js";
import { loadLanes } from "./lanes.js";
import { useLoaded } from "./poll.js";
import { href, setQuery } from "./router.js";
import { Secret } from "./secrets.js";
import { can } from "./session.js";
import { dropTrigger, switchTrigger } from "./trigger-acts.js";
import { TriggerForm } from "./trigger-form.js";
import { firedBy, retryWords, runs } from "./trigger-words.js";
import { Action, Ago, Badge, Card, Copy, Facts, Json, Loaded, Notice, PageHead, Time } from "./ui.js";
import { html } from "./view.js";

/** How many of its runs died is asked of those who may see it. */
async function load(id, signal) {
  const [trigger, lanes, dead] = await Promise.all([
    get(["triggers", id], {}, { signal }),
    loadLanes(signal),
    can("operate") ? get(["dead-letters"], { trigger_id: id, limit: 100 }, { signal }) : null,
  ]);
  return { trigger, lane: lanes[`handler:${trigger.handler.id}`], dead };
}

export function Trigger({ id, query }) {
  const loaded = useLoaded((signal) => load(id, signal), [id], { seconds: 10 });
  const trigger = loaded.data?.trigger;
  const isEdited = query.edit === "1";
  const stop = () => {
    setQuery({ edit: undefined });
    loaded.refresh();
  };
  const actions = trigger && html`<${Action} run=${() => switchTrigger(trigger, loaded.refresh)} icon=${trigger.enabled ? undefined : "play"}>${trigger.enabled ? "Switch off" : "Switch on"}<//>
    ${!isEdited && html`<button type="button" class="button" onClick=${() => setQuery({ edit: "1" }, { push: true })}>Change it</button>`}
    <${Action} tone="danger" run=${() => dropTrigger(trigger)}>Delete it<//>`;
  return html`<${PageHead} title=${trigger ? trigger.name || "Trigger without a name" : "Trigger"} crumbs=${[["Triggers", ["triggers"]]]} actions=${actions}>
      ${trigger && html`<${Badge} tone=${trigger.enabled ? "good" : "mute"}>${trigger.enabled ? "on" : "off"}<//> ${firedBy(trigger)} ${runs(trigger)}`}<//>
    <${Secret} place=${`trigger ${id}`}>Every call of its endpoint is signed with it, as Standard Webhooks has it.<//>
    <${Loaded} of=${loaded}>${(data) => html`<${Died} ...${data} />
      ${isEdited ? html`<${TriggerForm} trigger=${data.trigger} done=${stop} />` : html`<div class="grid two"><${When} trigger=${data.trigger} /><${Runs} ...${data} /></div>`}`}<//>`;
}

function Died({ trigger, lane, dead }) {
  const count = dead?.data.length ?? 0;
  return html`${count > 0 && html`<${Notice} tone="bad" title=${`${dead.next_cursor ? "More than " : ""}${many(count, "run")} died`}
      actions=${html`<a class="button small" href=${href(["dead-letters"], { trigger_id: trigger.id })}>Look at them</a>`}>The last <${Ago} at=${dead.data[0].created_at} />: <span dir="auto">${dead.data[0].failure_message}</span><//>`}
    ${lane?.is_closed && html`<${Notice} tone="warn" title="Its handler rests">It failed ${many(lane.failures, "time")} in a row, and is tried again <${Ago} at=${lane.resume_at} />. ${many(lane.waiting.count, "run waits", "runs wait")} meanwhile, at no cost of tries.<//>`}`;
}

function When({ trigger }) {
  const exact = trigger.kind === "kv" && !trigger.collection_glob.endsWith("*");
  const link = exact && can("data") && html`<a class="button small" href=${href(["values", trigger.collection_glob])}>See the values</a>`;
  const letters = can("operate") && html`<a class="button small" href=${href(["dead-letters"], { trigger_id: trigger.id, state: "all" })}>All its dead letters</a>`;
  return html`<${Card} title="When" actions=${html`${link}${letters}`}><div class="stack"><p>${firedBy(trigger)}</p><${Facts} rows=${[
    ["Collections", trigger.kind === "kv" ? html`<${Copy} value=${trigger.collection_glob} />` : undefined],
    ["Trigger", trigger.trigger_id_filter ? html`<a href=${href(["triggers", trigger.trigger_id_filter])}><code>${trigger.trigger_id_filter}</code></a>` : undefined],
    ["Handler", trigger.script_id_filter ? html`<${Copy} value=${trigger.script_id_filter} />` : undefined],
    ["Tries", retryWords(trigger.retry)],
    ["When all fail", trigger.kind === "dead_letter" ? "the letter that fired it is marked as one that a trigger failed on" : "the run is a dead letter, which can be replayed"],
    ["Acts as", html`<${Copy} value=${trigger.registered_by}>key:${trigger.registered_by}<//>`],
    ["Added", html`<${Time} at=${trigger.created_at} />`],
    ["Id", html`<${Copy} value=${trigger.id} />`],
  ]} /></div><//>`;
}

function Runs({ trigger }) {
  const { handler } = trigger;
  return html`<${Card} title="What it runs"><div class="stack"><p>${runs(trigger)}</p><${Facts} rows=${[
    ["Address", handler.url ? html`<${Copy} value=${handler.url} />` : undefined],
    ["Time for a call", handler.timeout_seconds ? `${handler.timeout_seconds} s` : undefined],
    ["Function", handler.function_arn ? html`<${Copy} value=${handler.function_arn} />` : undefined],
    ["Handler", html`<${Copy} value=${handler.id} />`],
  ]} />${handler.intent && html`<${Json} value=${handler.intent} label="The intent, with Liquid in its texts" />`}</div><//>`;
}
