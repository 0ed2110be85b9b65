// Retention: how long what is kept, what the last runs forgot, what was archived before; and receipts of erasures.
import { get } from "./api.js";
import { many, number, words } from "./format.js";
import { List } from "./list.js";
import { useLoaded } from "./poll.js";
import { href, setQuery } from "./router.js";
import { can, current, isInstallation } from "./session.js";
import { Badge, Copy, Loaded, PageHead, Table, Tabs, Time } from "./ui.js";
import { html } from "./view.js";

export default function Retention({ route }) {
  const tabs = [["rules", "Rules"], ["runs", "Runs"], ["archives", "Archive"], ...(can("manage") ? [["erasures", "Erasures"]] : [])];
  const tab = tabs.some(([name]) => name === route.query.tab) ? route.query.tab : "rules";
  return html`<${PageHead} title="Retention">Everything is forgotten on schedule, every hour, in small steps.
      ${can("admin") && isInstallation() ? html` A tenant's own ages are in <a href=${href(["tenants", current().me.tenant.id])}>its settings</a>.` : ""}<//>
    <${Tabs} tabs=${tabs} current=${tab} choose=${(name) => setQuery({ tab: name }, { push: true })} />
    ${{ rules: html`<${Rules} />`, runs: html`<${Runs} />`, archives: html`<${Archives} />`, erasures: html`<${Erasures} />` }[tab]}`;
}

function Rules() {
  const found = useLoaded((signal) => get(["retention"], {}, { signal }), [], { seconds: 60 });
  const columns = [
    { name: "says", label: "What", wide: true, show: (rule) => html`${rule.says}<div class="mute">${words(rule.name)}</div>` },
    { name: "days", label: "Kept", end: true, show: (rule) => (rule.days === null ? html`<span class="mute">its own time</span>` : many(rule.days, "day")) },
    { name: "own", label: "", show: (rule) => rule.days !== rule.default_days && html`<${Badge} tone="info">this tenant's own<//>` },
    { name: "setting", label: "Parameter", show: (rule) => rule.setting && html`<${Copy} value=${rule.setting} />` },
    { name: "last", label: "Last run", end: true, show: (rule) => (rule.forgotten_in_last_run === null ? "–" : number(rule.forgotten_in_last_run)) },
  ];
  return html`<${Loaded} of=${found}>${({ rules, last_run: last, archives_records: archives }) => html`
    <p class="mute">${last ? html`The last run began <${Time} at=${last.started_at} /> and was ${last.outcome}.` : "It has not run yet."} ${archives ? "Notifications are written to the archive before they are deleted." : ""}</p>
    <${Table} columns=${columns} rows=${rules} keyOf=${(rule) => rule.name} label="Rules of retention" />`}<//>`;
}

const counts = (told) => Object.entries(told ?? {}).filter(([, count]) => count).map(([name, count]) => `${words(name).toLowerCase()} ${number(count)}`).join(", ");

function Runs() {
  const columns = [
    { name: "started", label: "Began", show: (run) => html`<${Time} at=${run.started_at} />` },
    { name: "outcome", label: "Outcome", show: (run) => html`<${Badge} status=${run.outcome} />` },
    { name: "finished", label: "Ended", show: (run) => html`<${Time} at=${run.finished_at} />` },
    { name: "forgotten", label: "Forgotten", wide: true, show: (run) => counts(run.forgotten) || html`<span class="mute">nothing</span>` },
  ];
  return html`<${List} path=${["retention", "runs"]} columns=${columns} label="Runs of retention" empty=${{ title: "No run yet.", text: "It runs every hour." }} />`;
}

function Archives() {
  const columns = [
    { name: "key", label: "Object", wide: true, show: (one) => html`<${Copy} value=${one.object_key} />` },
    { name: "records", label: "Notifications", end: true, show: (one) => number(one.records) },
    { name: "bytes", label: "Bytes", end: true, show: (one) => number(one.bytes) },
    { name: "sha", label: "SHA-256", show: (one) => html`<${Copy} value=${one.sha256}>${one.sha256.slice(0, 12)}…<//>` },
    { name: "created", label: "Written", show: (one) => html`<${Time} at=${one.created_at} />` },
  ];
  return html`<${List} path=${["retention", "archives"]} columns=${columns} label="Archived objects" empty=${{ title: "Nothing is archived.", text: "With the parameter ArchiveRecords, notifications are written to a bucket before they are deleted." }} />`;
}

function Erasures() {
  const columns = [
    { name: "id", label: "Receipt", show: (one) => html`<${Copy} value=${one.id} />` },
    { name: "kind", label: "Of", show: (one) => `a ${one.kind}` },
    { name: "status", label: "Status", show: (one) => html`<${Badge} status=${one.status} />` },
    { name: "erased", label: "Erased", wide: true, show: (one) => counts(one.erased) },
    { name: "by", label: "Asked by", show: (one) => html`<${Copy} value=${one.requested_by} />` },
    { name: "at", label: "Asked", show: (one) => html`<${Time} at=${one.requested_at} />` },
    { name: "done", label: "Finished", show: (one) => html`<${Time} at=${one.finished_at} none="goes on" />` },
  ];
  return html`<${List} path=${["erasures"]} columns=${columns} label="Receipts of erasures" seconds=${5} empty=${{ title: "Nobody was erased.", text: "Erasing a user leaves a receipt here that names nobody." }} />`;
}
