// Every version of a template, who published it and when, and what differs between any two.
import { all, get } from "./api.js";
import { Filters } from "./list.js";
import { sorted } from "./locales.js";
import { useLoaded } from "./poll.js";
import { setQuery } from "./router.js";
import { can } from "./session.js";
import { publish } from "./template-acts.js";
import { WordsDiff } from "./template-diff.js";
import { before, CHANNELS, TITLES, wordsOf } from "./templates.js";
import { Action, Badge, Card, Copy, Empty, SelectField, Table, Time } from "./ui.js";
import { html, useEffect, useRef } from "./view.js";

export function TemplateVersions({ name, rows, asked, refresh }) {
  const filters = [
    { name: "channel", label: "Channel", options: CHANNELS.filter((channel) => rows.some((row) => row.channel === channel)).map((channel) => [channel, TITLES[channel]]) },
    { name: "locale", label: "Locale", options: sorted(rows.map((row) => row.locale)).map((locale) => [locale, locale]) },
  ];
  const wanted = Object.fromEntries(filters.map(({ name: each }) => [each, asked[each] ?? ""]));
  const shown = rows.filter((row) => filters.every(({ name: each }) => !wanted[each] || row[each] === wanted[each]));
  const who = useAuthors();
  const again = (row) => publish(name, wordsOf(row), { done: refresh });
  const columns = [
    { name: "version", label: "Version", show: (row) => html`<span class="nowrap"><strong>${row.version}</strong> ${row.is_active && html`<${Badge} status="active" />`}</span>` },
    { name: "place", label: "For", show: (row) => html`<span class="nowrap">${TITLES[row.channel]}, <span class="mono">${row.locale}</span></span>` },
    { name: "subject", label: "Says", wide: true, show: (row) => html`<span class="clamp" dir="auto">${row.subject ?? row.body}</span>` },
    { name: "created_at", label: "Published", show: (row) => html`<span class="nowrap"><${Time} at=${row.created_at} /></span>` },
    { name: "who", label: "By", show: (row) => html`<${Author} row=${row} who=${who} />` },
    { name: "acts", label: "Actions", end: true, show: (row) => html`<div class="actions">
        ${before(rows, row) && html`<button type="button" class="button small ghost" onClick=${() => compare(before(rows, row).id, row.id)}>What changed</button>`}
        ${!row.is_active && html`<${Action} small run=${() => again(row)}>Publish again…<//>`}</div>` },
  ];
  return html`<div class="stack"><div class="list"><${Filters} filters=${filters} query=${wanted} />
      ${shown.length ? html`<${Table} columns=${columns} rows=${shown} label="Versions" />` : html`<${Empty} title="No version for these." />`}</div>
    ${rows.length > 1 && html`<${Compare} rows=${rows} query=${asked} />`}</div>`;
}

const compare = (from, to) => setQuery({ from, to }, { push: true });
const titleOf = (row) => `${TITLES[row.channel]}, ${row.locale}, version ${row.version}${row.is_active ? " (active)" : ""}`;

function Compare({ rows, query }) {
  const card = useRef(null);
  const known = (id) => rows.find((row) => row.id === id);
  const fallback = rows.find((row) => row.is_active && before(rows, row)) ?? rows[0];
  const to = known(query.to) ?? fallback;
  const from = known(query.from) ?? before(rows, to) ?? rows.find((row) => row !== to);
  useEffect(() => {
    if (query.from && query.to) card.current?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }, [query.from, query.to]);
  const options = rows.map((row) => [row.id, titleOf(row)]);
  return html`<div ref=${card}><${Card} title="What differs"><div class="stack">
    <div class="places"><${SelectField} label="From" value=${from.id} set=${(id) => compare(id, to.id)} options=${options} />
      <${SelectField} label="To" value=${to.id} set=${(id) => compare(from.id, id)} options=${options} /></div>
    <${WordsDiff} before=${wordsOf(from)} after=${wordsOf(to)} /></div><//></div>`;
}

/** The row knows the key; who held it stands in the audit log, for those who may read that. */
function useAuthors() {
  const loaded = useLoaded(async (signal) => {
    if (!can("admin")) return { people: new Map(), keys: new Map() };
    const [entries, keys] = await Promise.all([
      get(["audit-log"], { resource_type: "template", action: "create", limit: 200 }, { signal }),
      all(["api-keys"], {}, { signal }),
    ]);
    return { people: new Map(entries.data.map((one) => [one.resource_id, one.person])), keys: new Map(keys.map((one) => [one.id, one.name])) };
  }, []);
  return loaded.data ?? { people: new Map(), keys: new Map() };
}

function Author({ row, who }) {
  const [person, key] = [who.people.get(row.id), who.keys.get(row.created_by)];
  if (person) return html`<span>${person} <span class="mute">by ${key ?? "a key"}</span></span>`;
  if (key) return html`<span>${key}</span>`;
  return row.created_by ? html`<${Copy} value=${row.created_by}><span class="nowrap">key …${row.created_by.slice(-6)}</span><//>` : html`<span class="mute">–</span>`;
}
