// Notification types: what a kind of notification means, so that producers need not repeat it.
import { get, put, remove } from "./api.js";
import { span } from "./format.js";
import { Icon } from "./icons.js";
import { List } from "./list.js";
import { useLoaded } from "./poll.js";
import { go, href } from "./router.js";
import { can } from "./session.js";
import { TITLES } from "./templates.js";
import { TypeForm } from "./type-form.js";
import { valueOf } from "./types.js";
import { Action, Ago, ask, Badge, Copy, Loaded, PageHead, toast } from "./ui.js";
import { html } from "./view.js";

export default function Types({ route }) {
  if (route.parts[1]) return html`<${TypeDetail} key=${route.parts[1]} name=${route.parts[1]} />`;
  if (route.query.new) {
    return html`<${PageHead} title="New type" crumbs=${[["Types", ["types"]]]} /><${TypeForm} initialName=${route.query.name ?? ""} type=${null} done=${(saved) => go(["types", saved.name])} />`;
  }
  const add = html`<a class="button primary" href=${href(["types"], { new: 1 })}><${Icon} name="plus" />New type</a>`;
  const wanted = (route.query.name ?? "").toLowerCase();
  return html`<${PageHead} title="Types" actions=${add}>What a kind of notification means to you: its channels, words and rules. An intent's own words always win over its type's.<//>
    <${List} path=${["notification-types"]} columns=${COLUMNS} label="Notification types" keyOf=${(type) => type.name} to=${(type) => href(["types", type.name])} seconds=${30}
      filters=${[{ name: "name", label: "Name", placeholder: "parcel.sent", wide: true, local: true }]}
      take=${(page) => page.data.filter((type) => `${type.name}\n${type.title ?? ""}`.toLowerCase().includes(wanted))}
      empty=${{ title: "No type yet.", text: html`An intent may name any type, known here or not. One that is known brings its channels, template and rules along, so that producers send only facts.` }} />`;
}

const COLUMNS = [
  { name: "name", label: "Name", show: (type) => html`<span class="mono">${type.name}</span>${type.title && html`<div class="mute" dir="auto">${type.title}</div>`}` },
  { name: "channels", label: "Channels", show: (type) => (type.channels ? html`<span>${type.channels.map((channel) => html`<span class="badge mute chip" key=${channel}>${TITLES[channel]}</span>`)}</span>` : html`<span class="mute">the template's</span>`) },
  { name: "template", label: "Template", show: (type) => (type.template ? html`<a class="mono" href=${href(["templates", type.template])}>${type.template}</a>` : html`<span class="mute">none</span>`) },
  { name: "priority", label: "Priority", show: (type) => html`<${Badge} tone=${{ critical: "bad", high: "warn" }[type.priority] ?? "mute"}>${type.priority}<//>` },
  { name: "rules", label: "Rules", wide: true, show: (type) => rules(type).join(", ") || html`<span class="mute">the usual</span>` },
  { name: "updated_at", label: "Changed", end: true, show: (type) => html`<${Ago} at=${type.updated_at} />` },
];

const rules = (type) =>
  [
    !type.transactional && "can be unsubscribed",
    type.ambiguous_policy && { retry: "retried when an answer is lost", hold: "held when an answer is lost" }[type.ambiguous_policy],
    type.expires_after_seconds && `expires after ${span(type.expires_after_seconds)}`,
    type.over_sending && `at most ${type.over_sending.limit} in ${span(type.over_sending.window_seconds)}`,
  ].filter(Boolean);

function TypeDetail({ name }) {
  const loaded = useLoaded((signal) => get(["notification-types", name], {}, { signal }), [name]);
  const actions = loaded.data && html`<${Copy} value=${name} mono=${false}><span class="mute">Name</span><//>
    ${can("read") && html`<a class="button" href=${href(["notifications"], { type: name })}><${Icon} name="bell" />Its notifications</a>`}
    <${Action} icon="block" run=${() => forget(loaded.data)}>Forget it<//>`;
  return html`<${PageHead} title=${name} crumbs=${[["Types", ["types"]]]} actions=${actions}>${loaded.data && html`Changed <${Ago} at=${loaded.data.updated_at} />.`}<//>
    <${Loaded} of=${loaded}>${(type) => html`<${TypeForm} key=${type.updated_at} type=${type} done=${loaded.refresh} />`}<//>`;
}

async function forget(type) {
  const gone = await ask({
    title: `Forget the type ${type.name}?`,
    says: html`<p>Notifications of this type go on being accepted, with nothing but what their intents say: no channels, template, expiry or limits of the type.
      What is planned already stays as it is.</p>`,
    verb: "Forget it",
    run: () => remove(["notification-types", type.name]),
  });
  if (!gone) return;
  toast(`The type ${type.name} is forgotten.`, { undo: async () => (await put(["notification-types", type.name], valueOf(type)), go(["types", type.name])) });
  go(["types"]);
}
