// Providers: a tenant's own ways out, tried by priority; their secrets go in and never come back.
import { get, patch, post, remove } from "./api.js";
import { form, numberOrNull } from "./form.js";
import { useLoaded } from "./poll.js";
import { can } from "./session.js";
import { Action, ask, Badge, Copy, Empty, Loaded, PageHead, SelectField, Table, TextField, Time, toast } from "./ui.js";
import { html } from "./view.js";

const SERVES = { ses: ["email"], sns: ["sms", "push"], sendgrid: ["email"], twilio: ["sms"], fcm: ["push"] };
const NAMES = { ses: "Amazon SES", sns: "Amazon SNS", sendgrid: "SendGrid", twilio: "Twilio", fcm: "Firebase Cloud Messaging" };

export default function Providers() {
  const found = useLoaded((signal) => get(["providers"], {}, { signal }), [], { seconds: 30 });
  const lanes = useLoaded((signal) => (can("operate") ? get(["lanes"], {}, { signal }) : { data: [] }), [], { seconds: 15 });
  const laneOf = (row) => lanes.data?.data.find((lane) => lane.belongs_to.kind === "provider" && lane.belongs_to.id === row.id);
  const columns = [
    { name: "provider", label: "Provider", wide: true, show: (row) => html`<strong>${NAMES[row.provider_name] ?? row.provider_name}</strong> <span class="mute">${row.channel}</span><div><${Copy} value=${row.id} /></div>` },
    { name: "state", label: "State", show: (row) => html`<${Badge} tone=${row.is_active ? "good" : "mute"}>${row.is_active ? "active" : "off"}<//> ${laneOf(row) && html`<${Badge} status=${laneOf(row).state} />`}` },
    { name: "priority", label: "Priority", end: true, show: (row) => row.priority },
    { name: "rate", label: "A minute", end: true, show: (row) => row.rate_limit ?? "unlimited" },
    { name: "timeout", label: "Timeout", end: true, show: (row) => `${row.timeout_seconds} s` },
    { name: "secrets", label: "Secrets", show: (row) => [row.has_api_key && "key", row.has_api_secret && "secret"].filter(Boolean).join(", ") || html`<span class="mute">none</span>` },
    { name: "changed", label: "Changed", show: (row) => html`<${Time} at=${row.updated_at} />` },
    { name: "acts", label: "", end: true, show: (row) => html`<div class="actions end"><${Action} small run=${() => change(row, found.refresh)}>Edit<//>
      <${Action} small run=${() => flip(row, found.refresh)}>${row.is_active ? "Switch off" : "Switch on"}<//><${Action} small tone="danger" run=${() => drop(row, found.refresh)}>Remove<//></div>` },
  ];
  return html`<${PageHead} title="Providers" actions=${html`<${Action} tone="primary" icon="plus" run=${() => add(found.refresh)}>Add a provider<//>`}>
      Your own ways out. The highest priority goes first; one whose lane is stopped is passed over. Without any, the installation's SES and SNS send.<//>
    <${Loaded} of=${found}>${({ data }) =>
      data.length ? html`<${Table} columns=${columns} rows=${data} label="Providers" />` : html`<${Empty} title="No provider of your own.">The installation's SES and SNS send everything.<//>`}<//>`;
}

async function add(refresh) {
  const made = await form({
    title: "Add a provider",
    verb: "Add it",
    names: ["provider_name", "channel", "api_key", "api_secret", "config", "rate_limit", "timeout_seconds", "priority"],
    initial: { provider_name: "sendgrid", channel: "email", api_key: "", api_secret: "", config: "{}", rate_limit: "", timeout_seconds: "10", priority: "10" },
    save: async (values) => {
      let config;
      try {
        config = JSON.parse(values.config || "{}");
      } catch {
        throw Object.assign(new Error("The configuration is not valid JSON."), { errors: [{ pointer: "/config", message: "is not valid JSON" }] });
      }
      const { provider_name, api_key, api_secret } = values;
      const channel = SERVES[provider_name].includes(values.channel) ? values.channel : SERVES[provider_name][0];
      return post(["providers"], {
        provider_name, channel, config, rate_limit: numberOrNull(values.rate_limit), timeout_seconds: Number(values.timeout_seconds), priority: Number(values.priority),
        ...(api_key && { api_key }), ...(api_secret && { api_secret }),
      });
    },
    fields: ({ values, set, errors }) => html`
      <div class="form-row"><${SelectField} label="Provider" value=${values.provider_name} set=${set("provider_name")} options=${Object.entries(NAMES)} error=${errors.provider_name} />
        <${SelectField} label="Channel" value=${values.channel} set=${set("channel")} options=${SERVES[values.provider_name].map((each) => [each, each])} error=${errors.channel} /></div>
      <${TextField} label="API key" type="password" autocomplete="off" value=${values.api_key} set=${set("api_key")} error=${errors.api_key} hint="Encrypted under the tenant's own context; never shown again." />
      <${TextField} label="API secret" type="password" autocomplete="off" value=${values.api_secret} set=${set("api_secret")} error=${errors.api_secret} />
      <${TextField} label="Configuration (JSON)" rows="3" class="code" value=${values.config} set=${set("config")} error=${errors.config} hint="Such as the sender, as docs/providers.md says for each." />
      <${Tuning} values=${values} set=${set} errors=${errors} />`,
  });
  if (made) {
    refresh();
    toast("The provider is added.");
  }
}

const Tuning = ({ values, set, errors }) => html`<div class="form-row">
  <${TextField} label="Priority" type="number" value=${values.priority} set=${set("priority")} error=${errors.priority} hint="Higher goes first." />
  <${TextField} label="At most a minute" type="number" min="1" value=${values.rate_limit} set=${set("rate_limit")} error=${errors.rate_limit} hint="Empty: no limit." />
  <${TextField} label="Timeout, seconds" type="number" min="1" max="10" value=${values.timeout_seconds} set=${set("timeout_seconds")} error=${errors.timeout_seconds} /></div>`;

async function change(row, refresh) {
  const before = { priority: row.priority, rate_limit: row.rate_limit, timeout_seconds: row.timeout_seconds };
  const done = await form({
    title: `Edit ${NAMES[row.provider_name]}`,
    names: Object.keys(before),
    initial: { priority: String(row.priority), rate_limit: row.rate_limit ? String(row.rate_limit) : "", timeout_seconds: String(row.timeout_seconds) },
    save: async (values) => {
      if (row.rate_limit && !values.rate_limit) throw Object.assign(new Error("A limit cannot be lifted."), { errors: [{ pointer: "/rate_limit", message: "can be changed, not lifted: choose a high one" }] });
      return patch(["providers", row.id], { priority: Number(values.priority), timeout_seconds: Number(values.timeout_seconds), ...(values.rate_limit && { rate_limit: Number(values.rate_limit) }) });
    },
    fields: (tools) => html`<${Tuning} ...${tools} />`,
  });
  if (!done) return;
  refresh();
  const told = Object.fromEntries(Object.entries(before).filter(([, value]) => value !== null));
  const hasWayBack = row.rate_limit !== null || done.rate_limit === null; // a limit that was set cannot be lifted
  toast("Saved.", hasWayBack ? { undo: () => patch(["providers", row.id], told).then(refresh) } : {});
}

async function flip(row, refresh) {
  await patch(["providers", row.id], { is_active: !row.is_active });
  refresh();
  toast(row.is_active ? "It is switched off: the next one by priority sends." : "It is switched on.", { undo: () => patch(["providers", row.id], { is_active: row.is_active }).then(refresh) });
}

async function drop(row, refresh) {
  const done = await ask({
    title: `Remove ${NAMES[row.provider_name]}?`,
    says: html`<p>Nothing is sent through it any more, and its secrets are gone for good. What waits for it goes by the next provider of the channel, or by the installation's.</p>`,
    verb: "Remove it",
    run: () => remove(["providers", row.id]),
  });
  if (done) {
    refresh();
    toast("The provider is removed.");
  }
}

