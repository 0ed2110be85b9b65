// Tenants: who shares this installation; for administrators of its first tenant alone.
import { get, patch, post, remove } from "./api.js";
import { form, numberOrNull } from "./form.js";
import { many, words } from "./format.js";
import { List } from "./list.js";
import { useLoaded } from "./poll.js";
import { href } from "./router.js";
import { showOnce } from "./secret.js";
import { current } from "./session.js";
import { Action, ask, Badge, Card, Copy, Facts, Loaded, PageHead, TextField, Time, toast } from "./ui.js";
import { html, useState } from "./view.js";

const RETENTION = ["records", "malformed_intents", "dead_letters", "resolved_dead_letters", "abandoned_executions", "notifications", "hidden_notifications", "email_log", "webhook_deliveries", "domain_events", "audit_logs", "system_events", "kv_entries"].map((name) => `${name}_days`);
const CAPS = ["intents_per_minute", "api_calls_per_minute", "emails_per_user_per_hour"];
const TONES = { active: "good", suspended: "bad", deleting: "warn" };

export default function Tenants({ route }) {
  return route.parts[1] ? html`<${Tenant} key=${route.parts[1]} id=${route.parts[1]} />` : html`<${All} />`;
}

function All() {
  const [turn, setTurn] = useState(0);
  const columns = [
    { name: "name", label: "Name", wide: true, show: (one) => one.name },
    { name: "status", label: "Status", show: (one) => html`<${Badge} tone=${TONES[one.status]}>${one.status}<//>${one.suspended_reason ? html` <span class="mute">${one.suspended_reason}</span>` : ""}` },
    { name: "id", label: "Id", show: (one) => html`<${Copy} value=${one.id} />` },
    { name: "created", label: "Since", show: (one) => html`<${Time} at=${one.created_at} />` },
  ];
  return html`<${PageHead} title="Tenants" actions=${html`<${Action} tone="primary" icon="plus" run=${() => make(() => setTurn(turn + 1))}>Make a tenant<//>`}>
      Tenants never see each other's users, notifications or keys. Each may have its own retention and caps.<//>
    <${List} again=${turn} path=${["tenants"]} label="Tenants" columns=${columns} to=${(one) => href(["tenants", one.id])}
      filters=${[{ name: "name", label: "Name", wide: true }, { name: "status", label: "Status", options: [["active"], ["suspended"], ["deleting"]] }]} />`;
}

async function make(again) {
  const made = await form({
    title: "Make a tenant",
    verb: "Make it",
    names: ["name"],
    initial: { name: "" },
    save: ({ name }) => post(["tenants"], { name: name.trim() }),
    fields: ({ values, set, errors }) => html`<${TextField} label="Name" value=${values.name} set=${set("name")} error=${errors.name} required autofocus />`,
  });
  if (!made) return;
  again();
  await showOnce(`The first key of ${made.name}`, made.first_key.key, `It may: ${made.first_key.scopes.join(", ")}. Its holder makes the others.`);
}

function Tenant({ id }) {
  const found = useLoaded((signal) => get(["tenants", id], {}, { signal }), [id], { seconds: 15 });
  const isOwn = id === current().me.tenant.id;
  return html`<${Loaded} of=${found}>${(tenant) => html`
    <${PageHead} title=${tenant.name} crumbs=${[["Tenants", ["tenants"]]]} actions=${html`<${Action} run=${() => edit(tenant, found.refresh)}>Edit<//>
      ${!isOwn && tenant.status === "active" && html`<${Action} tone="danger" run=${() => suspend(tenant, found.refresh)}>Suspend<//>`}
      ${tenant.status === "suspended" && html`<${Action} tone="primary" run=${() => resume(tenant, found.refresh)}>Resume<//>`}
      ${!isOwn && tenant.status !== "deleting" && html`<${Action} tone="danger" run=${() => erase(tenant, found.refresh)}>Delete<//>`}`} />
    <div class="grid two"><${Card} title="Facts"><${Facts} rows=${[
      ["Id", html`<${Copy} value=${tenant.id} />`],
      ["Status", html`<${Badge} tone=${TONES[tenant.status]}>${tenant.status}<//>`],
      ["Suspended", tenant.suspended_at ? html`<${Time} at=${tenant.suspended_at} />: ${tenant.suspended_reason}` : undefined],
      ["Deletion asked for", tenant.deletion_requested_at ? html`<${Time} at=${tenant.deletion_requested_at} />` : undefined],
      ["Since", html`<${Time} at=${tenant.created_at} />`],
      ["Changed", html`<${Time} at=${tenant.updated_at} />`],
    ]} /><//>
    <${Card} title="Its own settings"><${Facts} rows=${[
      ...Object.entries(tenant.settings.caps ?? {}).map(([name, value]) => [words(name), value]),
      ...Object.entries(tenant.settings.retention ?? {}).map(([name, value]) => [`Keeps ${words(name.replace(/_days$/, "")).toLowerCase()}`, many(value, "day")]),
    ]} />${!Object.keys({ ...tenant.settings.caps, ...tenant.settings.retention }).length && html`<p class="mute">None: everything is as the installation has it.</p>`}<//></div>`}<//>`;
}

async function edit(tenant, refresh) {
  const { retention = {}, caps = {} } = tenant.settings;
  const initial = { name: tenant.name };
  for (const name of RETENTION) initial[name] = retention?.[name] ?? "";
  for (const name of CAPS) initial[name] = caps?.[name] ?? "";
  const chosen = (names, values) => Object.fromEntries(names.map((name) => [name, numberOrNull(values[name])]));
  const bodyOf = (values) => ({ name: values.name.trim(), settings: { retention: chosen(RETENTION, values), caps: chosen(CAPS, values) } });
  const field = (name, label, { values, set, errors }) => html`<${TextField} key=${name} type="number" min="1" label=${label} value=${values[name]} set=${set(name)} error=${errors[`settings/retention/${name}`] ?? errors[`settings/caps/${name}`]} />`;
  const done = await form({
    title: `Edit ${tenant.name}`,
    wide: true,
    names: ["name", ...RETENTION.map((name) => `settings/retention/${name}`), ...CAPS.map((name) => `settings/caps/${name}`)],
    initial,
    save: (values) => patch(["tenants", tenant.id], bodyOf(values)),
    fields: (tools) => html`<${TextField} label="Name" value=${tools.values.name} set=${tools.set("name")} error=${tools.errors.name} required />
      <h3>Caps</h3><p class="mute">Empty: as the installation has it.</p><div class="form-row">${CAPS.map((name) => field(name, words(name), tools))}</div>
      <h3>Days to keep</h3><div class="form-row">${RETENTION.map((name) => field(name, words(name.replace(/_days$/, "")), tools))}</div>`,
  });
  if (!done) return;
  refresh();
  toast("Saved.", { undo: () => patch(["tenants", tenant.id], bodyOf(initial)).then(refresh) });
}

async function suspend(tenant, refresh) {
  const done = await ask({
    title: `Suspend ${tenant.name}?`,
    says: html`<p>All its keys and its people's tokens are refused, and nothing of it is sent until it is resumed. What waits, waits; what expires meanwhile is skipped.</p>`,
    verb: "Suspend it",
    reason: true,
    run: (reason) => post(["tenants", tenant.id, "suspend"], { reason }),
  });
  if (!done) return;
  refresh();
  toast("It is suspended.", { undo: () => post(["tenants", tenant.id, "resume"]).then(refresh) });
}

async function resume(tenant, refresh) {
  await post(["tenants", tenant.id, "resume"]);
  refresh();
  toast("It goes on.");
}

async function erase(tenant, refresh) {
  const done = await ask({
    title: `Delete ${tenant.name} with everything?`,
    plan: async () => {
      const { would_delete: counts } = await remove(["tenants", tenant.id], { dry_run: true });
      const told = Object.entries(counts).filter(([, one]) => (one.count ?? one) > 0);
      return html`<p>This deletes, for good and with no way back:</p>
        <${Facts} rows=${told.map(([table, one]) => [words(table), `${one.at_least ? "at least " : ""}${many(one.count ?? one, "row")}`])} />
        ${!told.length && html`<p class="mute">It has no rows of its own.</p>`}`;
    },
    verb: "Delete the tenant",
    typed: tenant.name,
    run: () => remove(["tenants", tenant.id], {}, { body: { confirm: tenant.name } }),
  });
  if (done) {
    refresh();
    toast("The deletion has begun; retention finishes it.");
  }
}
