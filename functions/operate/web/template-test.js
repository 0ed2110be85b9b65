// Sending a test of a template to oneself: into the sandbox unless one wants it to arrive.
import { get, post } from "./api.js";
import { audienceOf } from "./audience.js";
import { words as asWords } from "./format.js";
import { Icon } from "./icons.js";
import { readJson } from "./json-text.js";
import { href } from "./router.js";
import { sampleFor } from "./sample.js";
import { can, current } from "./session.js";
import { CHANNELS, TITLES, wordsOf } from "./templates.js";
import { Badge, dialog, errorsOf, Notice, SelectField, Switch, TextField, Trouble } from "./ui.js";
import { html, useEffect, useState } from "./view.js";

const FIELDS = ["audience", "payload", "template", "type", "channels", "mode"];
const PATIENCE = 30_000;
const SANDBOX = "success@sandbox.tocsin.example";
const HINTS = {
  email: "An email address, or a user's id.",
  sms: "A phone number (+15550100), or a user's id.",
  push: "A user's id; it goes to their devices.",
  in_app: "A user's id; it is a row in their inbox.",
};

/** `words`: the active version that a first payload is made for. */
export const sendTest = ({ name, rows, channel, using, words }) =>
  dialog({ title: `Send a test of ${name}`, body: ({ close }) => html`<${TestForm} name=${name} rows=${rows} first=${channel} using=${using} words=${words} close=${close} />` });

function TestForm({ name, rows, first, using, words, close }) {
  const channels = CHANNELS.filter((channel) => rows.some((row) => row.is_active && row.channel === channel));
  const [channel, setChannel] = useState(channels.includes(first) ? first : channels[0]);
  const isTestKey = current().me.key.mode === "test";
  const [form, setForm] = useState({ to: channel === "email" ? SANDBOX : "", type: using[0]?.name ?? "template.test", payload: null, isReal: false });
  const [state, setState] = useState({ isBusy: false, problem: null, sent: null });
  const set = (field) => (value) => setForm({ ...form, [field]: value });
  const version = words?.channel === channel ? words : rows.find((row) => row.is_active && row.channel === channel);
  const payload = form.payload ?? JSON.stringify(sampleFor(wordsOf(version)), null, 2);
  const wrong = faultIn(form.to, channel, payload);
  const errors = errorsOf(state.problem, FIELDS);

  const send = async (event) => {
    event.preventDefault();
    if (wrong.any) return;
    setState({ isBusy: true, problem: null, sent: null });
    const intent = { type: form.type.trim(), audience: audienceOf(form.to, channel), channels: [channel], template: name, payload: JSON.parse(payload) };
    try {
      const sent = await post(["intents"], form.isReal || isTestKey ? intent : { ...intent, mode: "test" }, { headers: { "Idempotency-Key": `console-test-${crypto.randomUUID()}` } });
      setState({ isBusy: false, problem: null, sent });
    } catch (problem) {
      setState({ isBusy: false, problem, sent: null });
    }
  };
  if (state.sent) return html`<${Sent} sent=${state.sent} to=${form.to.trim()} again=${() => setState({ isBusy: false, problem: null, sent: null })} close=${close} />`;
  return html`<form onSubmit=${send}>
    <p class="mute">It sends the active version, as any producer would. Edits that are not published are not in it.</p>
    ${channels.length > 1 && html`<${SelectField} label="Channel" value=${channel} set=${setChannel} options=${channels.map((each) => [each, TITLES[each]])} error=${errors.channels} />`}
    <${TextField} label="To" value=${form.to} set=${set("to")} hint=${HINTS[channel]} error=${(form.to && wrong.to) || errors.audience} autocomplete="off" autofocus />
    <${TextField} label="Type" value=${form.type} set=${set("type")} error=${errors.type} hint="Its own rules apply: expiry, limits, unsubscribing." maxlength="100" />
    <${TextField} label="Payload" value=${payload} set=${set("payload")} rows=${6} class="code" error=${wrong.payload ?? errors.payload} />
    <${Switch} label="Really send it" on=${form.isReal} set=${set("isReal")} disabled=${isTestKey}
      hint=${isTestKey ? "Your key is a test key: nothing leaves." : form.isReal ? "It goes to the provider and arrives." : "Off: everything happens but the sending. It ends in the sandbox."} />
    ${(errors[""] || errors.template || errors.mode) && html`<${Trouble} error=${state.problem} />`}
    <div class="dialog-actions"><button type="button" class="button" onClick=${() => close()}>Cancel</button>
      <button type="submit" class="button primary" disabled=${state.isBusy || wrong.any} aria-busy=${state.isBusy}>${form.isReal ? "Send it" : "Send it to the sandbox"}</button></div></form>`;
}

function faultIn(to, channel, payload) {
  const found = {};
  if (!to.trim() || !audienceOf(to, channel)) found.to = HINTS[channel];
  const { error } = readJson(payload);
  if (error) found.payload = error;
  return { ...found, any: Boolean(found.to || found.payload) };
}

/** What became of it, looked at until it has ended. */
function Sent({ sent, to, again, close }) {
  const [seen, setSeen] = useState({ found: null, error: null, isLate: false });
  useEffect(() => {
    if (!can("read")) return undefined;
    const begun = Date.now();
    let timer;
    const look = async () => {
      const found = await get(["notifications", sent.notification_id]).catch((error) => (setSeen((old) => ({ ...old, error })), null));
      if (found) setSeen({ found, error: null, isLate: Date.now() - begun > PATIENCE });
      if (!found || (!["finished", "dead_letter"].includes(found.status) && Date.now() - begun < PATIENCE)) timer = setTimeout(look, 700);
    };
    look();
    return () => clearTimeout(timer);
  }, []);
  const { found, isLate } = seen;
  return html`<div class="stack" aria-live="polite">
    <div class="row"><span class="grow">It is ${found ? html`<${Badge} status=${found.status} />` : "accepted"}.</span></div>
    ${(found?.routes ?? []).map((route) => html`<div class="row" key=${route.route_id}><${Badge} status=${route.status} /><span class="grow">${TITLES[route.channel] ?? route.channel} to <code>${route.recipient === "address" ? to : route.recipient}</code>
      ${route.provider ? ` by ${route.provider}` : ""}${route.reason ? html` <span class="mute">(${route.reason})</span>` : ""}
      ${route.last_error && html`<div class="bad-ink">${asWords(route.last_error.classification)}: ${route.last_error.message}</div>`}</span></div>`)}
    ${found?.status === "finished" && !found.routes.length && html`<${Notice}>It reached nobody.<//>`}
    ${isLate && html`<p class="mute">It takes longer than usual. Its own page shows how it goes on.</p>`}
    ${!can("read") && html`<p class="mute">Your key cannot read notifications, so what becomes of it is not shown.</p>`}
    <div class="dialog-actions"><button type="button" class="button" onClick=${again}>Another</button>
      ${can("read") && html`<a class="button primary" href=${href(["notifications", sent.notification_id])} onClick=${() => close()}><${Icon} name="eye" />Open the notification</a>`}</div></div>`;
}
