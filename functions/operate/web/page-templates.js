// Templates: which there are, in which channels and locales; and the way to each.
import { all } from "./api.js";
import { many } from "./format.js";
import { Icon } from "./icons.js";
import { Filters } from "./list.js";
import { isLocale } from "./locales.js";
import { useLoaded } from "./poll.js";
import { go, href, setQuery } from "./router.js";
import { TemplateDetail } from "./template-detail.js";
import { CHANNELS, grouped, TITLES } from "./templates.js";
import { Ago, Card, Empty, Loaded, PageHead, SelectField, Table, TextField } from "./ui.js";
import { html, useState } from "./view.js";

const MOST_LOCALES = 6;
const FILTERS = [
  { name: "name", label: "Name", placeholder: "parcel-sent", wide: true },
  { name: "channel", label: "Channel", options: CHANNELS.map((channel) => [channel, TITLES[channel]]) },
  { name: "locale", label: "Locale", placeholder: "pt-BR" },
];

export default function Templates({ route }) {
  if (route.parts[1]) return html`<${TemplateDetail} key=${route.parts[1]} name=${route.parts[1]} query=${route.query} />`;
  if (route.query.new) return html`<${NewTemplate} />`;
  return html`<${TemplateList} query=${route.query} />`;
}

function TemplateList({ query }) {
  const loaded = useLoaded((signal) => all(["templates"], {}, { signal }), [], { seconds: 30 });
  const add = html`<a class="button primary" href=${href(["templates"], { new: 1 })}><${Icon} name="plus" />New template</a>`;
  return html`<${PageHead} title="Templates" actions=${add}>The words, for each channel and locale. A version is never changed: new words are a new version, and the newest is sent.<//>
    <div class="list"><${Filters} filters=${FILTERS} query=${query} />
    <${Loaded} of=${loaded}>${(rows) => html`<${Found} templates=${grouped(rows).filter(matches(query))} isFiltered=${FILTERS.some(({ name }) => query[name])} />`}<//></div>`;
}

const matches = (query) => (one) =>
  (!query.name || one.name.toLowerCase().includes(query.name.toLowerCase())) &&
  (!query.channel || one.channels.includes(query.channel)) &&
  (!query.locale || one.locales.some((locale) => locale.toLowerCase() === query.locale.toLowerCase()));

function Found({ templates, isFiltered }) {
  if (!templates.length && isFiltered) return html`<${Empty} title="Nothing matches these filters."><button type="button" class="button small" onClick=${clear}>Clear the filters</button><//>`;
  if (!templates.length) {
    return html`<${Empty} title="No template yet.">Without one a notification shows its payload's <code>title</code> and <code>message</code>, plainly. With one, producers send
      facts and you choose the words, by channel and language.<//>`;
  }
  const columns = [
    { name: "name", label: "Name", wide: true, show: (one) => html`<span class="mono">${one.name}</span>` },
    { name: "channels", label: "Channels", show: (one) => html`<span>${one.channels.map((channel) => html`<span class="badge mute chip" key=${channel}>${TITLES[channel]}</span>`)}</span>` },
    { name: "locales", label: "Locales", show: (one) => html`<span>${one.locales.slice(0, MOST_LOCALES).join(", ")}${one.locales.length > MOST_LOCALES ? html` <span class="mute">and ${one.locales.length - MOST_LOCALES} more</span>` : ""}</span>` },
    { name: "subject", label: "Says", wide: true, show: (one) => html`<span class="clamp" dir="auto">${(one.rows.find((row) => row.subject) ?? one.newest).subject ?? one.newest.body}</span>` },
    { name: "newest", label: "Newest version", show: (one) => html`<span>${one.newest.version} <span class="mute">${TITLES[one.newest.channel]}, ${one.newest.locale}</span></span>` },
    { name: "created_at", label: "Changed", end: true, show: (one) => html`<${Ago} at=${one.newest.created_at} />` },
  ];
  return html`<${Table} columns=${columns} rows=${templates} keyOf=${(one) => one.name} to=${(one) => href(["templates", one.name])} label="Templates" />
    <p class="mute">${many(templates.length, "template")} in use. One that was taken out of use opens by its name: <${OpenByName} /></p>`;
}

const clear = () => setQuery(Object.fromEntries(FILTERS.map(({ name }) => [name, undefined])));

function OpenByName() {
  const [name, setName] = useState("");
  const open = (event) => (event.preventDefault(), name.trim() && go(["templates", name.trim()]));
  return html`<form class="inline" onSubmit=${open}><input aria-label="Name of a template" value=${name} maxlength="100" onInput=${(event) => setName(event.currentTarget.value)} />
    <button type="submit" class="button small">Open</button></form>`;
}

/** Only where it will stand; the words are written in the editor, and nothing is kept before it is published. */
function NewTemplate() {
  const [draft, setDraft] = useState({ name: "", channel: "email", locale: "default" });
  const [wrong, setWrong] = useState({});
  const set = (field) => (value) => setDraft({ ...draft, [field]: value });
  const begin = (event) => {
    event.preventDefault();
    const [name, locale] = [draft.name.trim(), draft.locale.trim()];
    const found = {
      ...((!name || name.includes("/")) && { name: name ? "No slash: it stands in addresses." : "A template needs a name." }),
      ...(!isLocale(locale) && { locale: "A language (pt), a language with a region (pt-BR), or default." }),
    };
    setWrong(found);
    if (!Object.keys(found).length) go(["templates", name], { tab: "edit", channel: draft.channel, locale, new: 1 });
  };
  return html`<${PageHead} title="New template" crumbs=${[["Templates", ["templates"]]]}>Where it will stand. You write the words next; nothing is kept before you publish them.<//>
    <${Card}><form class="stack narrow" onSubmit=${begin}>
      <${TextField} label="Name" value=${draft.name} set=${set("name")} error=${wrong.name} maxlength="100" placeholder="parcel-sent" autocomplete="off" hint="What intents and types call it. The template named digest has the words of digests." />
      <${SelectField} label="First channel" value=${draft.channel} set=${set("channel")} options=${CHANNELS.map((channel) => [channel, TITLES[channel]])} hint="Others can follow." />
      <${TextField} label="First locale" value=${draft.locale} set=${set("locale")} error=${wrong.locale} maxlength="35" hint="default answers everybody whose locale or language has no words of its own." />
      <div class="actions"><button type="submit" class="button primary">Write it</button><a class="button" href=${href(["templates"])}>Cancel</a></div></form><//>`;
}
