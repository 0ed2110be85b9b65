// Malformed intents: what came by queue and could not be accepted; and outcomes that came when nobody waited for them any more.
import { Abandoned, AbandonedExecutions } from "./abandoned.js";
import { words } from "./format.js";
import { List, SINCE_UNTIL } from "./list.js";
import { MalformedIntent } from "./malformed-intent.js";
import { CODES, codeWords, standing } from "./malformed-words.js";
import { go, href } from "./router.js";
import { Ago, Badge, PageHead, Tabs } from "./ui.js";
import { html } from "./view.js";

export default function Malformed({ route }) {
  const [, id, execution] = route.parts;
  if (id === "abandoned" && execution) return html`<${Abandoned} key=${execution} id=${execution} />`;
  if (id) return html`<${MalformedIntent} key=${id} id=${id} />`;
  return html`<${Both} tab=${route.query.tab === "abandoned" ? "abandoned" : "malformed"} />`;
}

function Both({ tab }) {
  const choose = (name) => go(["malformed"], name === "abandoned" ? { tab: name } : {});
  return html`<${PageHead} title="Malformed intents">${
      tab === "malformed"
        ? "What came by queue or event bus and could not be accepted. Nobody could be told, so it is kept for 30 days: repair and accept it, or put it aside."
        : "Outcomes that came when whoever had waited for them was gone. Nothing is wrong with them: the notification took its course."
    }<//>
    <${Tabs} tabs=${[["malformed", "Malformed intents"], ["abandoned", "Abandoned executions"]]} current=${tab} choose=${choose} />
    ${tab === "malformed" ? html`<${Intents} key="malformed" />` : html`<${AbandonedExecutions} key="abandoned" />`}`;
}

const FILTERS = [
  { name: "is_resolved", label: "State", options: [["false", "unresolved"], ["true", "resolved"]] },
  { name: "failure_code", label: "What is wrong", options: CODES },
  { name: "producer", label: "Producer", placeholder: "billing" },
  { name: "type", label: "Type", placeholder: "order.shipped" },
  { name: "idempotency_key", label: "Idempotency key", wide: true },
  ...SINCE_UNTIL,
];
const COLUMNS = [
  { name: "what", label: "Type", show: (row) => html`<bdi>${row.type || "not readable"}</bdi>` },
  { name: "producer", label: "Producer", show: (row) => html`<bdi>${row.producer}</bdi>` },
  { name: "why", label: "What is wrong", wide: true, show: (row) => html`<div>${codeWords(row.failure_code)}<div class="mute clamp" dir="auto">${row.failure_message}</div></div>` },
  { name: "state", label: "State", show: (row) => html`<${Badge} tone=${standing(row).tone}>${standing(row).word}<//>` },
  { name: "at", label: "Came", show: (row) => html`<span class="nowrap"><${Ago} at=${row.recorded_at} /></span>` },
];

function Intents() {
  return html`<${List} path=${["malformed-intents"]} filters=${FILTERS} columns=${COLUMNS} to=${(row) => href(["malformed", row.id])} label=${words("malformed intents")}
    empty=${{ title: "Everything that came by queue was accepted.", text: "An intent on the queue that names an unknown user, has a field that does not exist or is no JSON would be kept here, with what came in." }} />`;
}
