// Values: small JSON that producers keep by collection and key, and whose changes fire triggers.
import { number } from "./format.js";
import { List } from "./list.js";
import { href } from "./router.js";
import { can } from "./session.js";
import { Ago, PageHead } from "./ui.js";
import { NewValue } from "./value-new.js";
import { Value } from "./value.js";
import { html } from "./view.js";

export default function Values({ route }) {
  const [, collection, key] = route.parts;
  if (route.query.add === "1") return html`<${NewValue} key=${`add ${collection}`} collection=${collection} />`;
  if (key) return html`<${Value} key=${`${collection}/${key}`} collection=${collection} name=${key} />`;
  return collection ? html`<${Entries} key=${collection} collection=${collection} />` : html`<${Collections} />`;
}

const addButton = (collection) => html`<a class="button primary" href=${href(collection ? ["values", collection] : ["values"], { add: "1" })}>Add a value</a>`;

const COLLECTIONS = [
  { name: "collection", label: "Collection", show: (row) => row.collection },
  { name: "count", label: "Values", end: true, show: (row) => `${number(row.count)}${row.at_least ? " or more" : ""}` },
  { name: "at", label: "Changed", show: (row) => html`<span class="nowrap"><${Ago} at=${row.updated_at} /></span>` },
];

function Collections() {
  return html`<${PageHead} title="Values" actions=${addButton()}>Small JSON values that your systems keep here, by collection and key: a stock level, an order's state, a flag. Every change of one can fire a ${can("manage") ? html`<a href=${href(["triggers"])}>trigger</a>` : "trigger"}.<//>
    <${List} path=${["kv"]} columns=${COLLECTIONS} keyOf=${(row) => row.collection} to=${(row) => href(["values", row.collection])} label="Collections"
      empty=${{ title: "No values are kept yet.", text: html`Add one here, or let a producer write it: <code>PUT /v1/kv/stock/A-17</code> with any JSON.` }} />`;
}

const FILTERS = [{ name: "prefix", label: "Keys that begin with", placeholder: "A-", wide: true }];
const ENTRIES = [
  { name: "key", label: "Key", show: (row) => row.key },
  { name: "value", label: "Value", wide: true, show: (row) => html`<code class="clamp" dir="auto">${JSON.stringify(row.value)}</code>` },
  { name: "version", label: "Version", end: true, show: (row) => number(row.version) },
  { name: "at", label: "Changed", show: (row) => html`<span class="nowrap"><${Ago} at=${row.updated_at} /></span>` },
];

function Entries({ collection }) {
  return html`<${PageHead} title=${collection} crumbs=${[["Values", ["values"]]]} actions=${addButton(collection)}>In the order of their keys.<//>
    <${List} path=${["kv", collection]} filters=${FILTERS} columns=${ENTRIES} keyOf=${(row) => row.key} to=${(row) => href(["values", collection, row.key])} label=${`Values of ${collection}`} seconds=${10}
      empty=${{ title: "Nothing is kept in this collection.", text: "A collection is there as soon as it has its first value." }} />`;
}
