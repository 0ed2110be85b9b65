// Diagnostics: every part is asked, and the first thing to mend is said first; the books beside it.
import { get } from "./api.js";
import { number, words } from "./format.js";
import { Icon } from "./icons.js";
import { useLoaded } from "./poll.js";
import { Action, Badge, Card, Copy, Loaded, Notice, PageHead, Table, Time } from "./ui.js";
import { html } from "./view.js";

const ORDER = ["failed", "warning", "unknown", "ok"];

export default function Diagnostics() {
  const found = useLoaded((signal) => get(["diagnostics"], {}, { signal }), []);
  const books = useLoaded((signal) => get(["books"], {}, { signal }), []);
  return html`<${PageHead} title="Diagnostics" actions=${html`<${Action} icon="replay" run=${() => Promise.all([found.refresh(), books.refresh()])}>Ask again<//>`}>
      Configuration, migrations, queues, SES, clocks and jobs, asked just now. From a terminal: <code>tocsin doctor</code><//>
    <${Loaded} of=${found}>${({ checks, at }) => {
      const sorted = [...checks].sort((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
      const first = sorted.find((check) => check.state !== "ok");
      return html`${
        first
          ? html`<${Notice} tone=${first.state === "failed" ? "bad" : "warn"} title=${`First: ${words(first.name).toLowerCase()}`}>${first.detail} ${first.fix && html`<strong>${first.fix}</strong>`}<//>`
          : html`<div class="verdict good" role="status"><${Icon} name="check" /><div><strong>Every check passed.</strong></div></div>`
      }
      <${Table} label="Checks" keyOf=${(check) => check.name} rows=${sorted} columns=${[
        { name: "name", label: "Check", show: (check) => html`<strong>${words(check.name)}</strong>` },
        { name: "state", label: "State", show: (check) => html`<${Badge} status=${check.state} tone=${check.state === "failed" ? "bad" : undefined} />` },
        { name: "detail", label: "What was found", wide: true, show: (check) => html`${check.detail}${check.fix && html`<div><strong>${check.fix}</strong></div>`}` },
      ]} /><p class="mute">Asked at <${Time} at=${at} />.</p>`;
    }}<//>
    <${Card} title="The books" flush><${Loaded} of=${books}>${({ balance, is_complete: isComplete, checks }) => html`<div class="card-body">${
        balance ? html`<span class="good-ink">They balance${isComplete ? "" : ", as far as was looked"}.</span>` : html`<span class="bad-ink">They do not balance.</span>`
      } What tables promise of each other: every notification has its work, its routes or its dead letter.</div>
      <${Table} label="Books" keyOf=${(check) => check.check} rows=${checks} columns=${[
        { name: "breach", label: "Would be a breach", wide: true, show: (check) => check.breach },
        { name: "count", label: "Found", end: true, show: (check) => html`<span class=${check.count ? "bad-ink" : ""}>${number(check.count)}</span>` },
        { name: "ids", label: "Which", show: (check) => check.ids.slice(0, 5).map((id) => html`<div key=${id}><${Copy} value=${String(id)} /></div>`) },
      ]} />`}<//><//>`;
}
