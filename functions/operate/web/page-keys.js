// API keys: who may call, and what; made and shown once, rotated with an overlap, revoked.
import { post } from "./api.js";
import { form, numberOrNull } from "./form.js";
import { List } from "./list.js";
import { showOnce } from "./secret.js";
import { current } from "./session.js";
import { Action, Ago, ask, Badge, Choices, Copy, PageHead, SelectField, TextField, Time, toast } from "./ui.js";
import { html, useState } from "./view.js";

export const SCOPES = [
  ["send", "send: intents, events and cancelling"],
  ["read", "read: notifications and why"],
  ["inbox", "inbox: anybody's inbox, by naming them"],
  ["data", "data: values"],
  ["manage", "manage: users, templates, types, routing, webhooks, triggers"],
  ["operate", "operate: status, dead letters, lanes, metrics"],
  ["admin", "admin: keys, providers, tenants, audit log"],
];
const OVERLAPS = [["86400", "a day"], ["3600", "an hour"], ["604800", "a week"], ["2592000", "30 days"], ["0", "not at all"]];

const isOver = (key) => !key.is_active || (key.expires_at && Date.parse(key.expires_at) <= Date.now());

export default function Keys() {
  const [turn, setTurn] = useState(0);
  const again = () => setTurn((old) => old + 1);
  const own = current().me.key.id;
  const columns = [
    { name: "name", label: "Name", wide: true, show: (key) => html`<strong>${key.name}</strong> ${key.id === own && html`<${Badge} tone="info">yours<//>`}<div><${Copy} value=${key.key_prefix} /></div>` },
    { name: "state", label: "State", show: (key) => html`<${Badge} tone=${isOver(key) ? "mute" : "good"}>${key.revoked_at ? "revoked" : isOver(key) ? "expired" : "active"}<//>${key.mode === "test" ? html` <${Badge} tone="warn">test<//>` : ""}` },
    { name: "producer", label: "Sends as", show: (key) => key.producer },
    { name: "scopes", label: "May", show: (key) => key.scopes.join(", ") },
    { name: "used", label: "Last used", show: (key) => html`<${Ago} at=${key.last_used_at} none="never" />` },
    { name: "ends", label: "Ends", show: (key) => (key.revoked_at ? html`<${Time} at=${key.revoked_at} />` : html`<${Ago} at=${key.expires_at} none="never" />`) },
    { name: "acts", label: "", end: true, show: (key) => !isOver(key) && html`<div class="actions end">${!key.replaced_by && html`<${Action} small run=${() => rotate(key, again)}>Rotate<//>`}<${Action} small tone="danger" run=${() => revoke(key, own, again)}>Revoke<//></div>` },
  ];
  return html`<${PageHead} title="API keys" actions=${html`<${Action} tone="primary" icon="plus" run=${() => make(again)}>Make a key<//>`}>
      A key is shown once, when it is made. What it may do is its scopes; a revoked key stops working within five seconds.<//>
    <${List} again=${turn} path=${["api-keys"]} label="API keys" columns=${columns}
      filters=${[{ name: "is_active", label: "State", options: [["true", "active"], ["false", "revoked or expired"]] }, { name: "producer", label: "Sends as" }, { name: "user_id", label: "Owner" }]} />`;
}

async function make(again) {
  const made = await form({
    title: "Make an API key",
    verb: "Make the key",
    names: ["name", "producer", "scopes", "expires_at", "rate_limit", "user_id"],
    initial: { name: "", producer: "", scopes: ["send", "read"], mode: "live", expires_at: "", rate_limit: "", user_id: "" },
    save: (values) =>
      post(["api-keys"], {
        name: values.name.trim(),
        producer: values.producer.trim(),
        scopes: values.scopes,
        mode: values.mode,
        ...(values.expires_at && { expires_at: new Date(values.expires_at).toISOString() }),
        ...(values.rate_limit && { rate_limit: numberOrNull(values.rate_limit) }),
        ...(values.user_id && { user_id: values.user_id.trim() }),
      }),
    fields: ({ values, set, errors }) => html`
      <div class="form-row"><${TextField} label="Name" value=${values.name} set=${set("name")} error=${errors.name} hint="What it is for, in your own words." required />
        <${TextField} label="Sends as" value=${values.producer} set=${set("producer")} error=${errors.producer} hint="The producer that its notifications name." required /></div>
      <${Choices} label="May" options=${SCOPES} values=${values.scopes} set=${set("scopes")} error=${errors.scopes} />
      <div class="form-row"><${SelectField} label="Mode" value=${values.mode} set=${set("mode")} options=${[["live", "live"], ["test", "test: reaches no provider"]]} />
        <${TextField} label="Expires (optional)" type="datetime-local" value=${values.expires_at} set=${set("expires_at")} error=${errors.expires_at} /></div>
      <div class="form-row"><${TextField} label="Sends a minute (optional)" type="number" min="1" value=${values.rate_limit} set=${set("rate_limit")} error=${errors.rate_limit} />
        <${TextField} label="Owner (optional)" value=${values.user_id} set=${set("user_id")} error=${errors.user_id} hint="A user's id: the key ends with them." /></div>`,
  });
  if (!made) return;
  again();
  await showOnce(`The key ${made.name}`, made.key);
}

async function rotate(key, again) {
  const made = await form({
    title: `Rotate ${key.name}?`,
    verb: "Rotate it",
    names: [],
    initial: { overlap: "86400" },
    save: ({ overlap }) => post(["api-keys", key.id, "rotate"], { overlap_seconds: Number(overlap) }),
    fields: ({ values, set }) => html`<p>A new key with the same rights is made. The old one works on for a while, so that its callers can change over; then it ends.</p>
      <${SelectField} label="The old key works for" value=${values.overlap} set=${set("overlap")} options=${OVERLAPS} />`,
  });
  if (!made) return;
  again();
  await showOnce(`The new key of ${key.name}`, made.key, "Change over to it before the old one ends.");
}

async function revoke(key, own, again) {
  const done = await ask({
    title: `Revoke ${key.name}?`,
    says: html`<p>Every call with this key is refused within five seconds, for good. It was last used <${Ago} at=${key.last_used_at} none="never" />.
      Triggers that it registered are refused from now on.</p>${key.id === own && html`<p class="bad-ink">This is the key you are signed in with.</p>`}`,
    verb: "Revoke it",
    typed: key.name,
    run: () => post(["api-keys", key.id, "revoke"]),
  });
  if (done) {
    again();
    toast("The key is revoked.");
  }
}
