// Search: what an id, a key, an address or a name means, by kind, and by what it was found.
import { get } from "./api.js";
import { many, words } from "./format.js";
import { Icon } from "./icons.js";
import { useLoaded } from "./poll.js";
import { channelTitle, explain, person } from "./reasons.js";
import { href } from "./router.js";
import { can } from "./session.js";
import { Ago, Badge, Card, Loaded, Notice, PageHead, Table } from "./ui.js";
import { html } from "./view.js";

const MATCHED = {
  notification_id: "the notification's id", dead_letter_id: "the dead letter's id", event_id: "the event's id", idempotency_key: "the idempotency key",
  provider_message_id: "the provider's message id", address: "the address it went to", recipient: "the person it went to",
  user_id: "the user's id", email: "the email address", phone: "the phone number", username: "the username",
};
const matchedBy = (row) => html`<span class="mute">${MATCHED[row.matched] ?? words(row.matched).toLowerCase()}</span>`;

const MATCH = { name: "matched", label: "Found by", show: matchedBy };

const KINDS = {
  user: {
    title: "People",
    to: (row) => ["users", row.id],
    columns: [
      { name: "id", label: "User", show: (row) => html`<span dir="auto">${row.id}</span>` },
      { name: "email", label: "Email", show: (row) => html`<span dir="auto">${row.email ?? "–"}</span>` },
      { name: "phone", label: "Phone", show: (row) => row.phone ?? "–" },
      { name: "username", label: "Username", show: (row) => html`<span dir="auto">${row.username ?? "–"}</span>` },
      MATCH,
      { name: "more", label: "More", show: (row) => html`<a href=${href(["notifications"], { user_id: row.id })}>their notifications</a>` },
    ],
  },
  notification: {
    title: "Notifications",
    to: (row) => ["notifications", row.id],
    query: (row) => ({ route: row.route_id }),
    columns: [
      { name: "type", label: "Type", show: (row) => html`<span dir="auto">${row.type}</span>${row.mode === "test" ? html` <${Badge} tone="warn">test<//>` : ""}` },
      { name: "recipient", label: "To", show: (row) => html`<span dir="auto">${row.recipient ? person(row.recipient) : "several"}</span>${row.channel ? html` <span class="mute">by ${channelTitle(row.channel)}</span>` : ""}` },
      { name: "status", label: "Status", show: (row) => html`<${Badge} status=${row.status} tone=${row.status === "finished" ? "mute" : undefined} />` },
      { name: "accepted_at", label: "Accepted", show: (row) => html`<${Ago} at=${row.accepted_at} />` },
      MATCH,
    ],
  },
  dead_letter: {
    title: "Dead letters",
    to: (row) => ["dead-letters", row.id],
    columns: [
      { name: "type", label: "Type", show: (row) => html`<span dir="auto">${row.type ?? "–"}</span>` },
      { name: "recipient", label: "To", show: (row) => html`<span dir="auto">${row.recipient ? person(row.recipient) : "–"}</span>` },
      { name: "why", label: "Why", wide: true, show: (row) => html`<span title=${row.classification}>${explain(row.classification, row).says}</span>` },
      { name: "resolution", label: "Now", show: (row) => html`<${Badge} status=${row.resolution ?? "dead_letter"}>${row.resolution ? words(row.resolution).toLowerCase() : "unresolved"}<//>` },
      { name: "created_at", label: "Since", show: (row) => html`<${Ago} at=${row.created_at} />` },
      MATCH,
    ],
  },
  event: {
    title: "Events",
    to: (row) => ["notifications", "event", row.id],
    columns: [
      { name: "type", label: "Type", show: (row) => html`<span dir="auto">${row.type}</span>` },
      { name: "source", label: "Source", show: (row) => row.source },
      { name: "outcome", label: "Outcome", show: (row) => html`<${Badge} status=${row.outcome} />` },
      { name: "recorded_at", label: "Recorded", show: (row) => html`<${Ago} at=${row.recorded_at} />` },
      MATCH,
    ],
  },
};

export default function Search({ route }) {
  const q = (route.query.q ?? "").trim();
  if (!q) return html`<${PageHead} title="Search">Type into the field above; the key <kbd>/</kbd> brings you there.<//><${Guide} />`;
  return html`<${Found} key=${q} q=${q} />`;
}

function Found({ q }) {
  const loaded = useLoaded((signal) => get(["search"], { q }, { signal }), [q]);
  const rows = loaded.data?.data;
  return html`<${PageHead} title="Search"><span dir="auto">${rows ? counted(rows) : "Looking for"} <strong>${q}</strong></span><//>
    <${Loaded} of=${loaded}>${({ data }) => (data.length ? html`<${Groups} rows=${data} />` : html`<${None} q=${q} />`)}<//>`;
}

const counted = (rows) => (rows.length ? `${rows.length >= 50 ? "The first 50 of what" : many(rows.length, "thing")} ${rows.length === 1 ? "matches" : rows.length >= 50 ? "matches" : "match"}` : "Nothing matches");
const address = (row) => href(KINDS[row.kind].to(row), KINDS[row.kind].query?.(row));

function Groups({ rows }) {
  const known = rows.filter((row) => KINDS[row.kind]);
  const [only] = known;
  return html`${known.length === 1 && html`<${Notice} title=${`One ${words(only.kind).toLowerCase()}, found by ${MATCHED[only.matched] ?? words(only.matched).toLowerCase()}`}
      actions=${html`<a class="button primary" href=${address(only)}>Open it<${Icon} name="right" /></a>`}>There is nothing else that this could mean.<//>`}
    ${Object.entries(KINDS).map(([kind, { title, columns }]) => {
      const those = known.filter((row) => row.kind === kind);
      return those.length > 0 && html`<${Card} key=${kind} title=${`${title} (${those.length})`} flush><${Table} columns=${columns} rows=${those} keyOf=${(row) => `${row.kind} ${row.id}`} to=${address} label=${title} /><//>`;
    })}`;
}

function None({ q }) {
  return html`<${Notice} tone="warn" title="Nothing matches">Nothing of this tenant is known by <code dir="auto">${q}</code>. Ids, keys, addresses and phone numbers must be whole; of a user's id, email or username the
    beginning is enough. What is older than retention keeps is gone.<//><${Guide} />`;
}

const ASKED = [
  ["A person", "their id or username, or how it begins", "mia", "manage"],
  ["An email address", "whole, or how a user's begins", "mia@example.com", null],
  ["A phone number", "whole, in its international form", "+4915112345678", null],
  ["An idempotency key", "as the producer sent it", "order-1001-shipped", null],
  ["A provider's message id", "from a mail's header or the provider's own log", "0100018f2a…-000000", null],
  ["A notification or an event", "its id", "01a1eb5e-a390-794a-b57f-85777901e8ef", null],
  ["A dead letter", "its id", "01a1eb5e-b8a1-7188-89ba-6efed9578f70", "operate"],
];

function Guide() {
  const rows = ASKED.filter(([, , , scope]) => !scope || can(scope));
  return html`<${Card} title="What can be searched for"><dl class="facts guide">${rows.map(
    ([what, how, example]) => html`<div key=${what}><dt>${what}</dt><dd>${how} <span class="mute">such as <code>${example}</code></span></dd></div>`
  )}</dl>${!can("manage") && html`<p class="mute">Your key does not show people; that needs the scope <code>manage</code>.</p>`}<//>`;
}
