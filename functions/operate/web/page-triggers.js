// Triggers: what happens by itself when a value changes, or when work has died.
import { List } from "./list.js";
import { href } from "./router.js";
import { can } from "./session.js";
import { switchTrigger } from "./trigger-acts.js";
import { TriggerForm } from "./trigger-form.js";
import { firedBy, runs } from "./trigger-words.js";
import { Trigger } from "./trigger.js";
import { Action, Ago, Badge, PageHead } from "./ui.js";
import { html, useState } from "./view.js";

export default function Triggers({ route }) {
  const id = route.parts[1];
  if (id === "new") return html`<${PageHead} title="Add a trigger" crumbs=${[["Triggers", ["triggers"]]]}>It acts as your key, and stops when that key is revoked or loses a scope that it needs.<//><${TriggerForm} />`;
  return id ? html`<${Trigger} key=${id} id=${id} query=${route.query} />` : html`<${AllTriggers} />`;
}

function AllTriggers() {
  const [again, setAgain] = useState(0);
  const columns = [
    { name: "name", label: "Trigger", show: (row) => html`<bdi>${row.name || "without a name"}</bdi>` },
    { name: "state", label: "State", show: (row) => html`<${Badge} tone=${row.enabled ? "good" : "mute"}>${row.enabled ? "on" : "off"}<//>` },
    { name: "when", label: "When", wide: true, show: (row) => firedBy(row) },
    { name: "runs", label: "It", wide: true, show: (row) => html`<span class="clamp">${runs(row)}</span>` },
    { name: "at", label: "Changed", show: (row) => html`<span class="nowrap"><${Ago} at=${row.updated_at} /></span>` },
    { name: "do", label: "", end: true, show: (row) => html`<${Action} small run=${() => switchTrigger(row, () => setAgain((turn) => turn + 1))} label=${`Switch ${row.enabled ? "off" : "on"}: ${row.name}`}>${row.enabled ? "Switch off" : "Switch on"}<//>` },
  ];
  return html`<${PageHead} title="Triggers" actions=${html`<a class="button primary" href=${href(["triggers", "new"])}>Add a trigger</a>`}>What happens by itself when a ${can("data") ? html`<a href=${href(["values"])}>value</a>` : "value"} changes, or when work has become a dead letter: a notification is sent, an endpoint called or a function invoked.<//>
    <${List} path=${["triggers"]} columns=${columns} to=${(row) => href(["triggers", row.id])} label="Triggers" again=${again}
      empty=${{ title: "Nothing happens by itself yet.", text: html`Add a trigger, and somebody is told when a stock level changes, or your own function is invoked when a message dies.` }} />`;
}
