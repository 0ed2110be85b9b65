// One template: its words, its locales, its versions, and a test of it.
import { get } from "./api.js";
import { many } from "./format.js";
import { Icon } from "./icons.js";
import { useLoaded } from "./poll.js";
import { go, href, setQuery } from "./router.js";
import { can } from "./session.js";
import { versionsNow, withdraw } from "./template-acts.js";
import { TemplateEdit } from "./template-edit.js";
import { TemplateLocales } from "./template-locales.js";
import { sendTest } from "./template-test.js";
import { TemplateVersions } from "./template-versions.js";
import { activeOf, CHANNELS } from "./templates.js";
import { Action, Copy, Empty, Loaded, Notice, PageHead, Tabs } from "./ui.js";
import { html } from "./view.js";

const TABS = [["edit", "Edit"], ["locales", "Locales"], ["versions", "Versions"]];

export function TemplateDetail({ name, query }) {
  const loaded = useLoaded((signal) => versionsNow(name, signal), [name], { seconds: 30 });
  const types = useLoaded((signal) => get(["notification-types"], {}, { signal }), []);
  const using = (types.data?.data ?? []).filter((type) => type.template === name);
  const tab = TABS.some(([each]) => each === query.tab) ? query.tab : "edit";
  return html`<${Loaded} of=${loaded}>${(rows) => {
    if (!rows.length && !query.new) return html`<${Unknown} name=${name} />`;
    const active = rows.filter((row) => row.is_active);
    const shared = { name, rows, query: placed(rows, query), asked: query, using, refresh: loaded.refresh };
    return html`<${PageHead} title=${name} crumbs=${[["Templates", ["templates"]]]} actions=${html`<${HeadActions} ...${shared} active=${active} />`}>
        ${said(active, rows)} ${using.length > 0 && html`Used by the ${using.length === 1 ? "type" : "types"} ${using.map((type, place) => html`${place ? ", " : ""}<a href=${href(["types", type.name])}>${type.name}</a>`)}.`}<//>
      ${rows.length > 0 && !active.length && html`<${Notice} tone="warn" title="This template is out of use">Nothing is sent with it. Publish words, old or new, to use it again.<//>`}
      ${rows.length > 0 && html`<${Tabs} label="Views of the template" tabs=${TABS} current=${tab} choose=${(chosen) => setQuery({ tab: chosen }, { push: true })} />`}
      <div role="tabpanel">${tab === "edit" && html`<${TemplateEdit} ...${shared} />`}
        ${tab === "locales" && html`<${TemplateLocales} ...${shared} />`}
        ${tab === "versions" && html`<${TemplateVersions} ...${shared} />`}</div>`;
  }}<//>`;
}

const said = (active, rows) => (rows.length ? `${many(active.length, "active version")} of ${rows.length}.` : "Not published yet.");

/** The channel and locale that are looked at: what the address says, else the first that there is. */
function placed(rows, query) {
  const active = rows.filter((row) => row.is_active);
  const from = active.length ? active : rows;
  const channel = CHANNELS.includes(query.channel) ? query.channel : (CHANNELS.find((each) => from.some((row) => row.channel === each)) ?? "email");
  const its = from.filter((row) => row.channel === channel).map((row) => row.locale);
  return { ...query, channel, locale: query.locale || (its.includes("default") ? "default" : (its[0] ?? "default")) };
}

function HeadActions({ name, rows, active, query, using, refresh }) {
  const test = () => sendTest({ name, rows, channel: query.channel, using, words: activeOf(rows, query.channel, query.locale) });
  return html`<${Copy} value=${name} mono=${false}><span class="mute">Name</span><//>
    ${active.length > 0 && can("send") && html`<${Action} icon="play" run=${test}>Send a test<//>`}
    ${active.length > 0 && html`<${Action} icon="block" run=${() => withdraw(name, { done: refresh })}>Take out of use<//>`}`;
}

function Unknown({ name }) {
  return html`<${PageHead} title=${name} crumbs=${[["Templates", ["templates"]]]} />
    <${Empty} title="There is no template of this name.">It was never published, or its versions are forgotten.
      <div class="actions center"><button type="button" class="button" onClick=${() => go(["templates", name], { tab: "edit", new: 1 })}><${Icon} name="plus" />Write it</button></div><//>`;
}
