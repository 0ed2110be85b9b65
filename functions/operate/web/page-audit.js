// The audit log: who changed what, from where, before and after; and whether it is still what was written.
import { get } from "./api.js";
import { many, words } from "./format.js";
import { List, SINCE_UNTIL } from "./list.js";
import { href } from "./router.js";
import { Action, Copy, dialog, Facts, Json, Notice, PageHead, Time } from "./ui.js";
import { html, useState } from "./view.js";

export default function Audit({ route }) {
  const columns = [
    { name: "at", label: "When", show: (row) => html`<${Time} at=${row.created_at} />` },
    { name: "who", label: "Who", show: (row) => html`${row.person ? html`<strong>${row.person}</strong> ` : ""}${row.user_id ? `user ${row.user_id} ` : ""}<div class="mute"><${Copy} value=${row.actor} /></div>` },
    { name: "action", label: "Did", show: (row) => words(row.action) },
    { name: "what", label: "To", wide: true, show: (row) => html`${words(row.resource_type)} <${Copy} value=${row.resource_id} />` },
    { name: "from", label: "From", show: (row) => html`<${Copy} value=${row.ip_address} />` },
    { name: "changes", label: "", end: true, show: (row) => html`<${Action} small icon="eye" run=${() => show(row)} label="Show the change">Change<//>` },
  ];
  return html`<${PageHead} title="Audit log" actions=${html`<${Verify} />`}>Every change that somebody made, in the transaction of the change. A person's name is what they said; the key is the proof.<//>
    <${List} path=${["audit-log"]} label="Audit log" columns=${columns} fixed=${route.parts[1] ? { resource_id: route.parts[1] } : {}}
      filters=${[{ name: "person", label: "Person" }, { name: "actor", label: "Actor", placeholder: "key:…" }, { name: "action", label: "Did" }, { name: "resource_type", label: "To what" }, { name: "resource_id", label: "Its id" }, ...SINCE_UNTIL]} />`;
}

const show = (row) =>
  dialog({
    title: `${words(row.action)} ${words(row.resource_type).toLowerCase()}`,
    wide: true,
    body: () => html`<div class="stack"><${Facts} rows=${[
      ["When", html`<${Time} at=${row.created_at} />`],
      ["Person", row.person],
      ["Actor", html`<${Copy} value=${row.actor} />`],
      ["From", html`${row.ip_address} <span class="mute">${row.user_agent}</span>`],
      ["Of", html`<a href=${href(["audit"], { resource_type: row.resource_type, resource_id: row.resource_id })}>${row.resource_type} ${row.resource_id}</a>`],
      ["In the chain", row.seq ? html`<${Copy} value=${`${row.seq}:${row.hash}`}>no. ${row.seq}<//>` : "not chained"],
    ]} /><${Json} value=${row.changes} label="The change" /></div>`,
  });

/** Walks the whole chain, page by page, and says how far it is. */
function Verify() {
  const [state, setState] = useState(null);
  const run = async () => {
    let cursor;
    let checked = 0;
    let verdict;
    do {
      verdict = await get(["audit-log", "verify"], { cursor, limit: 5000 });
      checked += verdict.checked;
      setState({ checked });
      cursor = verdict.next_cursor;
    } while (cursor && verdict.holds);
    setState(null);
    await dialog({
      title: verdict.holds ? "The log is what was written" : "The log is not what was written",
      body: () =>
        verdict.holds
          ? html`<${Notice} tone="good">${many(checked, "row")} checked, none missing, altered or moved.<//>
              <p class="mute">Keep the head elsewhere, and compare with it next time: <${Copy} value=${`${verdict.head.seq}:${verdict.head.hash}`} /></p>`
          : html`<${Notice} tone="bad" title=${`Row ${verdict.broken.seq ?? "?"}: ${verdict.broken.problem}`}>${verdict.broken.detail} ${verdict.broken.id && html`<${Copy} value=${verdict.broken.id} />`}<//>`,
    });
  };
  return html`${state && html`<span class="mute" role="status">${many(state.checked, "row")} checked</span>`}<${Action} icon="check" run=${run} disabled=${Boolean(state)}>Verify<//>`;
}
