// A trigger's form: a new one, or one that there is.
import { all, patch, post } from "./api.js";
import { readJson } from "./json-text.js";
import { useLoaded } from "./poll.js";
import { go, href } from "./router.js";
import { showSecret } from "./secrets.js";
import { can } from "./session.js";
import { BACKOFFS, EXAMPLES, HANDLERS, OPS, SOURCES, bodyOf, changesOf, draftOf, retryWords } from "./trigger-words.js";
import { Card, Choices, Notice, SelectField, Switch, TextField, Trouble, errorsOf, toast } from "./ui.js";
import { Kept, useDraft } from "./unsaved.js";
import { html, useState } from "./view.js";

const NAMES = ["name", "kind", "collection_glob", "ops", "source_filter", "trigger_id_filter", "script_id_filter", "handler/url", "handler/intent", "handler/function_arn", "handler/timeout_seconds", "handler/id", "retry/max_attempts", "retry/base_ms", "retry/backoff"];

export function TriggerForm({ trigger, done }) {
  const form = useDraft(`trigger ${trigger?.id ?? "new"}`, draftOf(trigger));
  const others = useLoaded((signal) => all(["triggers"], {}, { most: 200, signal }), []);
  const [problem, setProblem] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const { draft, change } = form;
  const intent = draft.handler === "intent" && !draft.handler_id ? readJson(draft.intent) : {};
  const save = async (event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await (trigger ? saveChanges(trigger, draft, intent.value, form, done) : saveNew(draft, intent.value, form));
    } catch (refused) {
      setProblem(refused);
      setBusy(false);
    }
  };
  const shared = { draft, change, set: (name) => (value) => change({ [name]: value }), errors: errorsOf(problem, NAMES), trigger, others: (others.data ?? []).filter((one) => one.id !== trigger?.id) };
  return html`<form class="stack" onSubmit=${save}><${Kept} of=${form} />
    <${Needs} draft=${draft} />
    <${When} ...${shared} /><${Runs} ...${shared} intent=${intent} /><${Tries} ...${shared} />
    ${problem && html`<${Trouble} error=${problem} />`}
    <div class="actions"><button type="submit" class="button primary" disabled=${isBusy || (trigger && !form.isChanged) || Boolean(intent.error && draft.intent)} aria-busy=${isBusy}>${trigger ? "Save" : "Add the trigger"}</button>
      ${trigger ? html`<button type="button" class="button ghost" onClick=${() => (form.drop(), done())}>Cancel</button>` : html`<a class="button ghost" href=${href(["triggers"])}>Cancel</a>`}</div></form>`;
}

async function saveNew(draft, intent, form) {
  const made = await post(["triggers"], bodyOf(draft, intent));
  form.drop();
  if (made.handler.secret) showSecret(`trigger ${made.id}`, made.handler.secret);
  toast("The trigger is added.");
  go(["triggers", made.id]);
}

async function saveChanges(trigger, draft, intent, form, done) {
  const changes = changesOf(trigger, draft, intent);
  const back = changesOf({ ...trigger, ...changes, handler: { ...trigger.handler, ...changes.handler } }, draftOf(trigger), trigger.handler.intent);
  await patch(["triggers", trigger.id], changes);
  form.drop();
  toast("The trigger is changed.", { undo: () => patch(["triggers", trigger.id], back).then(done) });
  done();
}

/** A trigger acts as the key that registers it: what that lacks is said before the form is filled in. */
function Needs({ draft }) {
  const needed = [draft.kind === "kv" ? "data" : "operate", draft.handler === "intent" && "send"].filter((scope) => scope && !can(scope));
  if (!needed.length) return null;
  return html`<${Notice} tone="warn" title="Your key cannot add this trigger">It would act as your key, which lacks the ${needed.length === 1 ? "scope" : "scopes"} ${needed.map((scope, index) => html`${index > 0 && " and "}<code>${scope}</code>`)}.<//>`;
}

const nameOf = (trigger) => trigger.name || `trigger ${trigger.id.slice(0, 8)}`;

function When({ draft, change, set, errors, trigger, others }) {
  const kinds = [["kv", "a value changes"], ["dead_letter", "work becomes a dead letter"]];
  return html`<${Card} title="When"><div class="form">
    <div class="form-row"><${SelectField} label="It is fired when" value=${draft.kind} set=${set("kind")} options=${kinds} error=${errors.kind} disabled=${Boolean(trigger)} />
      <${TextField} label="Name (optional)" value=${draft.name} set=${set("name")} error=${errors.name} dir="auto" maxlength="100" hint="For people" /></div>
    ${draft.kind === "kv"
      ? html`<${TextField} label="Collections" value=${draft.collection_glob} set=${set("collection_glob")} error=${errors.collection_glob} required maxlength="100" placeholder="stock" hint=${html`One (<code>orders</code>), those that begin so (<code>orders:*</code>), or all (<code>*</code>)`} />
        <${Choices} label="When a value" options=${OPS} values=${draft.ops} set=${set("ops")} error=${errors.ops} hint="None chosen means any of them." />`
      : html`<div class="form-row"><${SelectField} label="What died" value=${draft.source_filter} set=${set("source_filter")} options=${[["", "any work"], ...SOURCES]} error=${errors.source_filter} />
          <${SelectField} label="Of which trigger" value=${draft.trigger_id_filter} set=${set("trigger_id_filter")} options=${[["", "any, or none"], ...known(others, draft.trigger_id_filter, (one) => [one.id, nameOf(one)])]} error=${errors.trigger_id_filter} />
          <${SelectField} label="Of which handler" value=${draft.script_id_filter} set=${set("script_id_filter")} options=${[["", "any, or none"], ...known(others, draft.script_id_filter, (one) => [one.handler.id, `that of ${nameOf(one)}`])]} error=${errors.script_id_filter} /></div>`}
    <${Switch} label="On" on=${draft.enabled} set=${(enabled) => change({ enabled })} hint="Switched off, nothing fires it." /></div><//>`;
}

/** What is chosen already stays among the choices, known or not; each stands there once. */
function known(others, chosen, pair) {
  const pairs = new Map(others.map(pair).reverse());
  if (chosen && !pairs.has(chosen)) pairs.set(chosen, chosen);
  return [...pairs];
}

function Runs({ draft, change, set, errors, trigger, others, intent }) {
  const choose = (value) => (value.startsWith("=") ? change({ handler_id: value.slice(1) }) : change({ handler: value, handler_id: "" }));
  const options = [...HANDLERS.map(([kind, title]) => [kind, `It ${title}`]), ...(trigger ? [] : known(others, "", (one) => [`=${one.handler.id}`, `The same as ${nameOf(one)}`]))];
  return html`<${Card} title="What it runs"><div class="form">
    <${SelectField} label="What happens then" value=${draft.handler_id ? `=${draft.handler_id}` : draft.handler} set=${choose} options=${options} disabled=${Boolean(trigger)} error=${errors["handler/id"]}
      hint=${trigger ? "What you change here changes for every trigger that shares this handler." : draft.handler_id ? "Both triggers share the handler: a change of it is one for both." : undefined} />
    ${!draft.handler_id && draft.handler === "intent" && html`<${TextField} label="The intent" rows="12" class="code" value=${draft.intent} set=${set("intent")} error=${(draft.intent && intent.error) || errors["handler/intent"]}
        hint=${html`JSON with Liquid in its texts, which finds what fired it as <code>event</code>. It needs no idempotency key.`} required />
      ${!draft.intent && html`<div><button type="button" class="button small" onClick=${() => change({ intent: JSON.stringify(EXAMPLES[draft.kind], null, 2) })}>Begin with an example</button></div>`}`}
    ${!draft.handler_id && draft.handler === "webhook" && html`<div class="form-row"><${TextField} label="Address" type="url" value=${draft.url} set=${set("url")} error=${errors["handler/url"]} hint="https, with a public name. Its secret is shown once, when the trigger is added." required maxlength="500" />
      <${TextField} label="Seconds for one call" type="number" min="1" max="15" value=${draft.timeout_seconds} set=${set("timeout_seconds")} error=${errors["handler/timeout_seconds"]} /></div>`}
    ${!draft.handler_id && draft.handler === "lambda" && html`<${TextField} label="Function" value=${draft.function_arn} set=${set("function_arn")} error=${errors["handler/function_arn"]} placeholder="arn:aws:lambda:…" required hint=${html`One of those that the installation may invoke (<code>TriggerFunctionArns</code>). A run is done when Lambda has taken the event.`} />`}</div><//>`;
}

function Tries({ draft, set, errors, trigger }) {
  const retry = { max_attempts: Number(draft.max_attempts), backoff: draft.backoff, base_ms: Number(draft.base_seconds) * 1000 };
  const isSaid = retry.max_attempts && retry.backoff && retry.base_ms;
  const usual = trigger ? undefined : "the usual";
  return html`<${Card} title="When a run fails"><div class="form"><div class="form-row">
    <${TextField} label="Tries in all" type="number" min="1" max="20" value=${draft.max_attempts} set=${set("max_attempts")} error=${errors["retry/max_attempts"]} placeholder=${usual} required=${Boolean(trigger)} />
    <${TextField} label="First pause, in seconds" type="number" min="0.1" max="3600" step="any" value=${draft.base_seconds} set=${set("base_seconds")} error=${errors["retry/base_ms"]} placeholder=${usual} required=${Boolean(trigger)} />
    <${SelectField} label="Further pauses" value=${draft.backoff} set=${set("backoff")} options=${trigger ? BACKOFFS : [["", "the usual"], ...BACKOFFS]} error=${errors["retry/backoff"]} /></div>
    <p class="mute" role="status">${isSaid ? retryWords(retry) : "What you leave empty is as the installation has it now: usually five tries, with pauses of 1 s, 2 s, 4 s and 8 s."} A pause is an hour at most.</p></div><//>`;
}
