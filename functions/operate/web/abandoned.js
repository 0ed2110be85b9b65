// Abandoned executions: outcomes that came when whoever had waited for them was gone.
import { get } from "./api.js";
import { words } from "./format.js";
import { KINDS, kindWords } from "./letters.js";
import { List, SINCE_UNTIL } from "./list.js";
import { useLoaded } from "./poll.js";
import { href } from "./router.js";
import { can } from "./session.js";
import { Ago, Badge, Card, Copy, Facts, Json, Loaded, PageHead, Time } from "./ui.js";
import { html } from "./view.js";

const FILTERS = [
  { name: "source_kind", label: "Work", options: KINDS.filter(([kind]) => kind !== "replay") },
  { name: "notification_id", label: "Notification", placeholder: "id", wide: true },
  ...SINCE_UNTIL,
];
const outcomeOf = (row) => row.outcome.status ?? "";
const COLUMNS = [
  { name: "kind", label: "Work", show: (row) => kindWords(row.source_kind) },
  { name: "outcome", label: "Outcome", show: (row) => (outcomeOf(row) ? html`<${Badge} status=${outcomeOf(row)} />` : "–") },
  { name: "reason", label: "Why", wide: true, show: (row) => (row.outcome.reason ? words(row.outcome.reason) : "–") },
  { name: "notification", label: "Notification", show: (row) => html`<${Copy} value=${row.notification_id} />` },
  { name: "at", label: "Came", show: (row) => html`<span class="nowrap"><${Ago} at=${row.abandoned_at} /></span>` },
];

export function AbandonedExecutions() {
  return html`<${List} path=${["abandoned-executions"]} filters=${FILTERS} columns=${COLUMNS} to=${(row) => href(["malformed", "abandoned", row.id])} label="Abandoned executions"
    empty=${{ title: "Everybody who waited got their answer.", text: html`A producer that sends with <code>Prefer: wait=10</code> and leaves before the outcome is there leaves it here, for a week.` }} />`;
}

export function Abandoned({ id }) {
  const loaded = useLoaded((signal) => get(["abandoned-executions", id], {}, { signal }), [id]);
  const row = loaded.data;
  const link = row?.notification_id && can("read") && html`<a class="button" href=${href(["notifications", row.notification_id])}>Open the notification</a>`;
  return html`<${PageHead} title="An outcome that nobody waited for" crumbs=${[["Abandoned executions", ["malformed"], { tab: "abandoned" }]]} actions=${link}>
      ${row && html`It came <${Ago} at=${row.abandoned_at} />. Nothing is to be done: the outcome stands. If this happens often, let the producer wait longer, or not at all.`}<//>
    <${Loaded} of=${loaded}>${(one) => html`<${Card} title="The outcome"><div class="stack"><${Facts} rows=${[
      ["Work", kindWords(one.source_kind)],
      ["Came", html`<${Time} at=${one.abandoned_at} />`],
      ["Notification", html`<${Copy} value=${one.notification_id} />`],
      ["Route", html`<${Copy} value=${one.route_id} />`],
      ["Work id", html`<${Copy} value=${one.outbox_id} />`],
      ["Who waited", html`<${Copy} value=${one.reply_to} />`],
    ]} /><${Json} value=${one.outcome} label="Outcome" /></div><//>`}<//>`;
}
