// Event routing: which events tell whom, and on which channels. What is not routed tells nobody.
import { get, put, remove } from "./api.js";
import { Icon } from "./icons.js";
import { List } from "./list.js";
import { useLoaded } from "./poll.js";
import { go, href, setQuery } from "./router.js";
import { matching, REASONS, valueOf } from "./routing.js";
import { RoutingForm } from "./routing-form.js";
import { TITLES } from "./templates.js";
import { Action, Ago, ask, Card, Copy, Loaded, PageHead, TextField, toast } from "./ui.js";
import { html } from "./view.js";

export default function Routing({ route }) {
  if (route.parts[1]) return html`<${RoutingDetail} key=${route.parts[1]} eventType=${route.parts[1]} />`;
  if (route.query.new) {
    return html`<${PageHead} title="New routing" crumbs=${[["Event routing", ["routing"]]]}>Whom an event of this type tells, and on which channels.<//>
      <${RoutingForm} routing=${null} initialType=${route.query.type ?? ""} done=${(saved) => go(["routing", saved.event_type])} />`;
  }
  const add = html`<a class="button primary" href=${href(["routing"], { new: 1 })}><${Icon} name="plus" />New routing</a>`;
  const wanted = (route.query.event_type ?? "").toLowerCase();
  return html`<${PageHead} title="Event routing" actions=${add}>Producers tell what happened; here you say whom it concerns and how they hear of it. An event that nothing here matches is kept and tells nobody.<//>
    <${List} path=${["event-routing"]} columns=${COLUMNS} label="Event routing" keyOf=${(one) => one.event_type} to=${(one) => href(["routing", one.event_type])} seconds=${30}
      filters=${[{ name: "event_type", label: "Event type", placeholder: "comment.created", wide: true, local: true }]}
      take=${(page) => page.data.filter((one) => one.event_type.toLowerCase().includes(wanted))}
      empty=${{ title: "Nothing is routed: events tell nobody.", text: html`A routing says, for an event type such as <code>comment.created</code> or <code>comment.*</code>, which people are told (those who were mentioned, those who watch, …) and on which channels.` }} />
    <${Try} query=${route.query} />`;
}

const COLUMNS = [
  { name: "event_type", label: "Event type", wide: true, show: (one) => html`<span class="mono">${one.event_type}</span>` },
  { name: "rules", label: "Tells", show: (one) => html`<${Told} rules=${one.rules} />` },
  { name: "subscribe_actor", label: "Who acts", show: (one) => (one.subscribe_actor ? "takes part" : html`<span class="mute">does not take part</span>`) },
  { name: "updated_at", label: "Changed", end: true, show: (one) => html`<${Ago} at=${one.updated_at} />` },
];

function Told({ rules }) {
  return html`<ul class="tells">${REASONS.filter(([reason]) => reason in rules).map(
    ([reason, title]) => html`<li key=${reason}>${title}: <span class="mute">${rules[reason].map((channel) => TITLES[channel].toLowerCase().replace("sms", "SMS")).join(", ") || "nothing"}</span></li>`
  )}</ul>`;
}

/** Which routing an event of a type gets. */
function Try({ query }) {
  const loaded = useLoaded((signal) => get(["event-routing"], {}, { signal }), [], { seconds: 30 });
  const typed = (query.try ?? "").trim();
  const found = typed && matching(loaded.data?.data ?? [], typed);
  return html`<${Card} title="Which routing does an event get?"><div class="stack"><div class="narrow">
    <${TextField} label="Type of an event" value=${query.try ?? ""} set=${(value) => setQuery({ try: value })} maxlength="100" placeholder="comment.created" hint="The exact one wins, then the longest beginning." /></div>
    ${typed && loaded.data && html`<p role="status">${found
      ? html`<a class="mono" href=${href(["routing", found.event_type])}>${found.event_type}</a> answers${found.event_type === typed ? "." : html`: the longest beginning of <code>${typed}</code>. <a href=${href(["routing"], { new: 1, type: typed })}>Route it by itself</a>.`}`
      : html`Nothing matches: the event is kept and tells nobody (<code>not_routed</code>). <a href=${href(["routing"], { new: 1, type: typed })}>Route it</a>.`}</p>`}</div><//>`;
}

function RoutingDetail({ eventType }) {
  const loaded = useLoaded((signal) => get(["event-routing", eventType], {}, { signal }), [eventType]);
  const actions = loaded.data && html`<${Copy} value=${eventType} mono=${false}><span class="mute">Event type</span><//><${Action} icon="block" run=${() => stop(loaded.data)}>Tell nobody any more<//>`;
  return html`<${PageHead} title=${eventType} crumbs=${[["Event routing", ["routing"]]]} actions=${actions}>
      ${eventType.endsWith("*") ? "Every event whose type begins so, unless a longer beginning or the exact type is routed." : "Events of exactly this type."} ${loaded.data && html`Changed <${Ago} at=${loaded.data.updated_at} />.`}<//>
    <${Loaded} of=${loaded}>${(routing) => html`<${RoutingForm} key=${routing.updated_at} routing=${routing} done=${loaded.refresh} />`}<//>`;
}

async function stop(routing) {
  const gone = await ask({
    title: `Take the routing of ${routing.event_type} away?`,
    plan: async () => {
      const others = (await get(["event-routing"])).data.filter((one) => one.event_type !== routing.event_type);
      const next = matching(others, routing.event_type.replace(/\*$/, "x"));
      return html`<p>Events of this type go on being kept. ${next
        ? html`From now on <code>${next.event_type}</code> says whom they tell.`
        : "From now on they tell nobody."} What was told already stays.</p>`;
    },
    verb: "Take it away",
    run: () => remove(["event-routing", routing.event_type]),
  });
  if (!gone) return;
  toast(`The routing of ${routing.event_type} is gone.`, { undo: async () => (await put(["event-routing", routing.event_type], valueOf(routing)), go(["routing", routing.event_type])) });
  go(["routing"]);
}
