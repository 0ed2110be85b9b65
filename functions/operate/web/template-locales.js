// Which words answer whom: channels by locales, what falls back to what, and any locale to try.
import { Icon } from "./icons.js";
import { answering, because, isLocale, sorted } from "./locales.js";
import { href, setQuery } from "./router.js";
import { CHANNELS, TITLES } from "./templates.js";
import { Card, TextField } from "./ui.js";
import { html } from "./view.js";

export function TemplateLocales({ name, rows, query }) {
  const active = rows.filter((row) => row.is_active);
  const channels = CHANNELS.filter((channel) => rows.some((row) => row.channel === channel));
  const tried = (query.try ?? "").trim();
  const locales = sorted(active.map((row) => row.locale));
  const of = (channel) => active.filter((row) => row.channel === channel);
  return html`<div class="stack">
    <${Card} title="Who gets which words" flush>
      <p class="card-note">Somebody gets the words of their own locale (<code>pt-BR</code>), else of its language (<code>pt</code>), else <code>default</code>, else any there are: then those that were published first.
        Who has no locale, and an address that belongs to nobody, gets <code>default</code>.</p>
      ${active.length > 0 && html`<div class="table-box" role="region" aria-label="Channels by locales" tabindex="0"><table class="matrix"><thead><tr><th scope="col">Channel</th>
        ${locales.map((locale) => html`<th key=${locale} scope="col" class="mono">${locale}</th>`)}</tr></thead>
        <tbody>${channels.map((channel) => html`<tr key=${channel}><td data-label="Channel"><strong>${TITLES[channel]}</strong></td>
          ${locales.map((locale) => html`<td key=${locale} data-label=${locale}><${Cell} name=${name} channel=${channel} locale=${locale} found=${answering(of(channel), locale)} /></td>`)}</tr>`)}</tbody></table></div>`}
    <//>
    <${Card} title="Try a locale"><div class="stack">
      <div class="narrow"><${TextField} label="Somebody's locale" value=${query.try ?? ""} set=${(typed) => setQuery({ try: typed })} maxlength="35" placeholder="pt-BR"
        error=${tried && !isLocale(tried) ? "A locale is a language (pt), or one with a region or script (pt-BR, zh-Hant-TW)." : ""} /></div>
      ${tried && isLocale(tried) && html`<ul class="answers">${channels.map((channel) => html`<li key=${channel}><${Answer} name=${name} channel=${channel} found=${answering(of(channel), tried)} wanted=${tried} /></li>`)}</ul>`}
    </div><//></div>`;
}

const editor = (name, channel, locale) => href(["templates", name], { tab: "edit", channel, locale });

function Cell({ name, channel, locale, found }) {
  if (!found) return html`<span class="bad-ink">out of use</span>`;
  const { row, distance } = found;
  if (distance === 0) return html`<a class="served" href=${editor(name, channel, row.locale)}><${Icon} name="check" />version ${row.version}</a>`;
  return html`<a class="fallback" href=${editor(name, channel, locale)} title=${`${locale} has no words of its own here: ${row.locale} answers. Open the editor to write them.`}>
    <span aria-hidden="true">→ </span><span class="hidden">falls back to </span>${row.locale} <span class="mute">${row.version}</span></a>`;
}

function Answer({ name, channel, found, wanted }) {
  if (!found) return html`<strong>${TITLES[channel]}</strong>: nothing is sent, there are no active words.`;
  return html`<strong>${TITLES[channel]}</strong>: <a href=${editor(name, channel, found.row.locale)}><code>${found.row.locale}</code>, version ${found.row.version}</a>.
    <span class="mute"> ${because(found, wanted)}</span>`;
}
