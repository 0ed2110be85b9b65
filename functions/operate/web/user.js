// One person: how they are reached, what was sent to them, what they see, what they want; and erasing them.
import { get, post, put, remove } from "./api.js";
import { many, words } from "./format.js";
import { form, numberOrNull } from "./form.js";
import { List } from "./list.js";
import { STATUSES } from "./notification-parts.js";
import { edit } from "./page-users.js";
import { useLoaded } from "./poll.js";
import { go, href, setQuery } from "./router.js";
import { can } from "./session.js";
import { Action, ask, Badge, Card, Copy, Empty, Facts, Json, Loaded, Notice, PageHead, SelectField, Switch, Table, Tabs, TextField, Time, toast } from "./ui.js";
import { html } from "./view.js";

export function Person({ id, route }) {
  const found = useLoaded((signal) => get(["users", id], {}, { signal }), [id], { seconds: 30 });
  const tabs = [["about", "About"], ...(can("read") ? [["notifications", "Notifications"]] : []), ...(can("inbox") ? [["inbox", "Inbox"], ["preferences", "Preferences"]] : []), ...(can("operate") ? [["sent", "What was sent"]] : [])];
  const tab = tabs.some(([name]) => name === route.query.tab) ? route.query.tab : "about";
  if (found.error?.status === 404) {
    return html`<${PageHead} title=${id} crumbs=${[["Users", ["users"]]]} /><${Empty} title="Nobody is known by this id.">They may have been erased. <a href=${href(["users"], { query: id })}>Search for it</a><//>`;
  }
  return html`<${Loaded} of=${found}>${(user) => html`
    <${PageHead} title=${user.id} crumbs=${[["Users", ["users"]]]} actions=${html`<${Action} run=${() => edit(user, found.refresh)}>Edit<//><${Action} tone="danger" run=${() => erase(user)}>Erase<//>`}>
      ${[user.username, user.email, user.phone].filter(Boolean).join(" · ")}<//>
    <${Tabs} tabs=${tabs} current=${tab} choose=${(name) => setQuery({ tab: name }, { push: true })} label="About this user" />
    ${{
      about: html`<${About} user=${user} />`,
      notifications: html`<${Notifications} id=${user.id} />`,
      inbox: html`<${Inbox} id=${user.id} />`,
      preferences: html`<${Preferences} id=${user.id} />`,
      sent: html`<${Sent} id=${user.id} />`,
    }[tab]}`}<//>`;
}

function About({ user }) {
  const devices = useLoaded((signal) => get(["users", user.id, "devices"], {}, { signal }), [user.id]);
  const watches = useLoaded((signal) => get(["users", user.id, "watches"], {}, { signal }), [user.id]);
  return html`<div class="grid two">
    <${Card} title="How they are reached"><${Facts} rows=${[
      ["Id", html`<${Copy} value=${user.id} />`],
      ["Email", html`<${Copy} value=${user.email} />`],
      ["Phone", html`<${Copy} value=${user.phone} />`],
      ["Name", user.username],
      ["Locale", user.locale],
      ["Time zone", user.timezone],
      ["Picture", user.avatar_url && html`<${Copy} value=${user.avatar_url} />`],
      ["Known since", html`<${Time} at=${user.created_at} />`],
      ["Changed", html`<${Time} at=${user.updated_at} />`],
    ]} />${Object.keys(user.attributes ?? {}).length > 0 && html`<h3>Attributes</h3><${Json} value=${user.attributes} label="Attributes" />`}<//>
    <div class="stack">
      <${Card} title="Devices" flush><${Loaded} of=${devices}>${({ data }) => data.length
        ? html`<${Table} label="Devices" rows=${data} columns=${[
            { name: "platform", label: "Platform", show: (one) => one.platform },
            { name: "token", label: "Token", wide: true, show: (one) => html`<${Copy} value=${one.token}>${one.token.slice(0, 24)}${one.token.length > 24 ? "…" : ""}<//>` },
            { name: "state", label: "State", show: (one) => html`<${Badge} tone=${one.enabled ? "good" : "mute"}>${one.enabled ? "on" : one.disabled_reason || "off"}<//>` },
            { name: "drop", label: "", end: true, show: (one) => html`<${Action} small run=${() => forget(user, one, devices.refresh)}>Forget<//>` },
          ]} />`
        : html`<${Empty} title="No device." />`}<//><//>
      <${Card} title="Watches" flush actions=${html`<${Action} small icon="plus" run=${() => watch(user, watches.refresh)}>Watch a scope<//>`}><${Loaded} of=${watches}>${({ data }) => data.length
        ? html`<${Table} label="Watches" keyOf=${(one) => one.scope} rows=${data} columns=${[
            { name: "scope", label: "Scope", wide: true, show: (one) => html`<${Copy} value=${one.scope} />` },
            { name: "level", label: "Level", show: (one) => one.level },
            { name: "drop", label: "", end: true, show: (one) => html`<${Action} small run=${() => unwatch(user, one, watches.refresh)}>Stop<//>` },
          ]} />`
        : html`<${Empty} title="Watches nothing." />`}<//><//>
    </div></div>`;
}

async function forget(user, device, refresh) {
  await remove(["users", user.id, "devices", device.token]);
  refresh();
  toast("The device is forgotten.", { undo: () => put(["users", user.id, "devices", device.token], { platform: device.platform }).then(refresh) });
}

async function unwatch(user, one, refresh) {
  await remove(["users", user.id, "watches", one.scope]);
  refresh();
  toast("They watch it no longer.", { undo: () => put(["users", user.id, "watches", one.scope], { level: one.level }).then(refresh) });
}

async function watch(user, refresh) {
  const done = await form({
    title: `What shall ${user.id} watch?`,
    names: ["scope"],
    initial: { scope: "", level: "all" },
    save: ({ scope, level }) => put(["users", user.id, "watches", scope.trim()], { level }),
    fields: ({ values, set, errors }) => html`<${TextField} label="Scope" value=${values.scope} set=${set("scope")} error=${errors.scope} hint="A project, a shop, a repository: as events name it." required autofocus />
      <${SelectField} label="Level" value=${values.level} set=${set("level")} options=${[["all", "all: everything"], ["participating", "participating: only where they take part"], ["ignore", "ignore: nothing but mentions"]]} />`,
  });
  if (done) refresh();
}

function Notifications({ id }) {
  const columns = [
    { name: "at", label: "Accepted", show: (one) => html`<${Time} at=${one.accepted_at} />` },
    { name: "type", label: "Type", wide: true, show: (one) => one.type },
    { name: "status", label: "Status", show: (one) => html`<${Badge} status=${one.status} />` },
    { name: "routes", label: "Routes", show: (one) => Object.entries(one.route_counts).map(([status, count]) => html`<${Badge} key=${status} status=${status}>${count} ${words(status).toLowerCase()}<//> `) },
    { name: "id", label: "Id", show: (one) => html`<${Copy} value=${one.notification_id} />` },
  ];
  return html`<${List} path=${["notifications"]} fixed=${{ user_id: id }} columns=${columns} keyOf=${(one) => one.notification_id} label="Their notifications" to=${(one) => href(["notifications", one.notification_id])}
    filters=${[{ name: "status", label: "Status", options: STATUSES }, { name: "channel", label: "Channel", options: [["email"], ["sms"], ["push"], ["in_app"]] }]}
    empty=${{ title: "Nothing was sent to them yet." }} />`;
}

const VIEWS = ["all", "unread", "read", "saved", "done", "snoozed"].map((each) => [each, each]);

function Inbox({ id }) {
  const columns = [
    { name: "at", label: "Last event", show: (row) => html`<${Time} at=${row.last_event_at} />` },
    { name: "title", label: "Title", wide: true, show: (row) => html`<span dir="auto">${row.unread ? html`<strong>${row.title}</strong>` : row.title}</span>${row.event_count > 1 ? html` <span class="mute">${many(row.event_count, "event")}</span>` : ""}<div class="mute clamp" dir="auto">${row.message}</div>` },
    { name: "reason", label: "Because", show: (row) => (row.reason ? words(row.reason).toLowerCase() : "–") },
    { name: "thread", label: "Thread", show: (row) => (row.thread ? html`<${Copy} value=${`${row.thread.kind}:${row.thread.id}`} />` : "–") },
    { name: "state", label: "State", show: (row) => html`<${Badge} tone=${row.unread ? "info" : "mute"}>${row.unread ? "unread" : "read"}<//>${row.done_at ? html` <${Badge}>done<//>` : ""}${row.snoozed_until ? html` <${Badge} tone="warn">snoozed<//>` : ""}` },
    { name: "from", label: "", end: true, show: (row) => (row.source_notification_id && can("read") ? html`<a href=${href(["notifications", row.source_notification_id])}>why</a>` : null) },
  ];
  return html`<p class="mute">As ${id} sees it. Looking changes nothing: nothing is marked as read.</p>
    <${List} path=${["inbox"]} fixed=${{ user_id: id }} columns=${columns} label="Their inbox" filters=${[{ name: "status", label: "Show", options: VIEWS, initial: "all" }, { name: "thread", label: "Thread", placeholder: "order:A-17" }]} empty=${{ title: "The inbox is empty." }} />`;
}

function Preferences({ id }) {
  const found = useLoaded((signal) => get(["inbox", "preferences"], { user_id: id }, { signal }), [id], { seconds: 30 });
  const save = async (rule, changes) => {
    const before = bodyOf(rule);
    const query = { user_id: id, type: rule.notification_type };
    await put(["inbox", "preferences", rule.channel], { ...before, ...changes }, { query });
    found.refresh();
    toast("Saved.", { undo: () => put(["inbox", "preferences", rule.channel], before, { query }).then(found.refresh) });
  };
  return html`<${Notice}>These are ${id}'s own wishes. What you change here stands in the audit log under your name.<//>
    <${Loaded} of=${found}>${({ data }) => html`<${Table} label="Preferences" keyOf=${(rule) => `${rule.channel} ${rule.notification_type}`} rows=${data} columns=${[
      { name: "channel", label: "Channel", show: (rule) => rule.channel },
      { name: "type", label: "Type", wide: true, show: (rule) => rule.notification_type ?? html`<span class="mute">everything</span>` },
      { name: "on", label: "Wanted", show: (rule) => html`<${Switch} label=${html`<span class="hidden">${rule.channel} ${rule.notification_type ?? ""}</span>${rule.enabled ? "yes" : "no"}`} on=${rule.enabled} set=${(enabled) => save(rule, { enabled }).catch((error) => (told(error), found.refresh()))} />` },
      { name: "quiet", label: "Quiet hours", show: (rule) => (rule.quiet_hours_start ? `${rule.quiet_hours_start} to ${rule.quiet_hours_end}` : "–") },
      { name: "cap", label: "A day", end: true, show: (rule) => rule.frequency_cap ?? "no cap" },
      { name: "zone", label: "Time zone", show: (rule) => rule.timezone ?? "–" },
      { name: "acts", label: "", end: true, show: (rule) => html`<div class="actions end"><${Action} small run=${() => change(rule, save)}>Edit<//>
        ${rule.created_at && html`<${Action} small run=${() => reset(id, rule, found.refresh)}>Reset<//>`}</div>` },
    ]} />`}<//>`;
}

const told = (error) => toast(error.message, { tone: "bad" });
const bodyOf = ({ enabled, frequency_cap, quiet_hours_start, quiet_hours_end, timezone }) => ({ enabled, frequency_cap, quiet_hours_start, quiet_hours_end, timezone });

async function change(rule, save) {
  await form({
    title: `${words(rule.channel)}${rule.notification_type ? `, ${rule.notification_type}` : ""}`,
    names: ["quiet_hours_start", "quiet_hours_end", "frequency_cap", "timezone"],
    initial: { ...bodyOf(rule), frequency_cap: rule.frequency_cap ?? "" },
    save: async (values) => {
      await save(rule, { quiet_hours_start: values.quiet_hours_start || null, quiet_hours_end: values.quiet_hours_end || null, timezone: values.timezone || null, frequency_cap: numberOrNull(values.frequency_cap) });
      return true;
    },
    fields: ({ values, set, errors }) => html`<div class="form-row">
        <${TextField} label="Quiet from" type="time" value=${values.quiet_hours_start} set=${set("quiet_hours_start")} error=${errors.quiet_hours_start} />
        <${TextField} label="until" type="time" value=${values.quiet_hours_end} set=${set("quiet_hours_end")} error=${errors.quiet_hours_end} /></div>
      <div class="form-row"><${TextField} label="At most a day" type="number" min="0" value=${values.frequency_cap} set=${set("frequency_cap")} error=${errors.frequency_cap} hint="Empty: no cap." />
        <${TextField} label="Time zone" value=${values.timezone} set=${set("timezone")} error=${errors.timezone} /></div>`,
  });
}

async function reset(id, rule, refresh) {
  const query = { user_id: id, type: rule.notification_type };
  await remove(["inbox", "preferences", rule.channel], query);
  refresh();
  toast("Back to the default.", { undo: () => put(["inbox", "preferences", rule.channel], bodyOf(rule), { query }).then(refresh) });
}

function Sent({ id }) {
  const columns = [
    { name: "at", label: "Sent", show: (row) => html`<${Time} at=${row.sent_at} />` },
    { name: "type", label: "Type", wide: true, show: (row) => row.notification_type ?? "–" },
    { name: "thread", label: "Thread", show: (row) => (row.thread ? html`<${Copy} value=${`${row.thread.kind}:${row.thread.id}`} />` : "–") },
    { name: "message", label: "Provider's message id", show: (row) => html`<${Copy} value=${row.message_id} />` },
    { name: "notification", label: "", end: true, show: (row) => (row.notification_id && can("read") ? html`<a href=${href(["notifications", row.notification_id])}>notification</a>` : null) },
  ];
  return html`<${List} path=${["email-log"]} fixed=${{ user_id: id }} columns=${columns} keyOf=${(row) => `${row.notification_id} ${row.sent_at}`} label="What was sent to them"
    filters=${[{ name: "channel", label: "Channel", options: [["email"], ["sms"], ["push"]], initial: "email" }, { name: "thread", label: "Thread", placeholder: "order:A-17" }]} empty=${{ title: "Nothing was sent by this channel." }} />`;
}

/** Says how much of theirs there is before anything is erased; what takes long goes on without this page, and its receipt tells. */
async function erase(user) {
  const receipt = await ask({
    title: `Erase ${user.id} everywhere?`,
    plan: async () => {
      const { would_erase: counts } = await post(["users", user.id, "erase"], { dry_run: true });
      const rows = Object.entries(counts).filter(([, count]) => (count.count ?? count) > 0);
      return html`<p>Everything of theirs goes, for good: addresses, inbox, words of their messages. What must never be mailed again stays as a hash, and a receipt says what was done.</p>
        <${Facts} rows=${rows.map(([table, count]) => [words(table), `${count.at_least ? "at least " : ""}${many(count.count ?? count, "row")}`])} />`;
    },
    verb: "Erase them",
    typed: user.id,
    run: () => post(["users", user.id, "erase"]),
  });
  if (!receipt) return;
  toast(receipt.status === "finished" ? "They are erased; here is the receipt." : "It has begun, and goes on by itself; the receipt tells how far.");
  go(["retention"], { tab: "erasures" });
}

