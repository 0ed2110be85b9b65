// The editor of a template's words, with what they make of a payload beside it.
import { dropDraft, draftFor, draftsOf, keepDraft } from "./drafts.js";
import { Icon } from "./icons.js";
import { isLocale, sorted } from "./locales.js";
import { parse, setQuery } from "./router.js";
import { sampleFor, usedNames } from "./sample.js";
import { hasChanges, publish } from "./template-acts.js";
import { PayloadPicker, useFilling } from "./template-payload.js";
import { PreviewPane, useDraftPreview } from "./template-preview.js";
import { activeOf, bodyOf, CHANNELS, draftOf, hasSubject, namesOf, TITLES, versionsOf } from "./templates.js";
import { Action, Ago, Badge, Card, Notice, SelectField, TextField } from "./ui.js";
import { html, useEffect, useState } from "./view.js";

export function TemplateEdit(shared) {
  const { channel, locale } = shared.query;
  return html`<div class="stack"><${Places} ...${shared} />
    <${Editor} key=${`${channel} ${locale}`} ...${shared} channel=${channel} locale=${locale} /></div>`;
}

/** Which words are edited: a channel, and one of its locales or one more. */
function Places({ name, rows, query }) {
  const [added, setAdded] = useState("");
  const unpublished = draftsOf(name);
  const locales = sorted([...rows.map((row) => row.locale), query.locale, ...unpublished.map(([, locale]) => locale)]);
  const about = (channel, locale) => {
    const active = activeOf(rows, channel, locale);
    const mark = unpublished.some(([one, other]) => one === channel && other === locale) ? ", edited" : "";
    return `${active ? `version ${active.version}` : "no words yet"}${mark}`;
  };
  const add = (event) => {
    event.preventDefault();
    if (isLocale(added.trim())) (setQuery({ locale: added.trim() }, { push: true }), setAdded(""));
  };
  return html`<div class="places">
    <${SelectField} label="Channel" value=${query.channel} set=${(channel) => setQuery({ channel, locale: undefined }, { push: true })}
      options=${CHANNELS.map((each) => [each, `${TITLES[each]}${rows.some((row) => row.channel === each && row.is_active) ? "" : " (none yet)"}`])} />
    <${SelectField} label="Locale" value=${query.locale} set=${(locale) => setQuery({ locale }, { push: true })}
      options=${locales.map((each) => [each, `${each} (${about(query.channel, each)})`])} />
    <form class="inline" onSubmit=${add}><${TextField} label="Another locale" value=${added} set=${setAdded} maxlength="35" placeholder="pt-BR"
      error=${added && !isLocale(added.trim()) ? "Such as pt or pt-BR." : ""} /><button type="submit" class="button" disabled=${!isLocale(added.trim())}>Write it</button></form></div>`;
}

function Editor({ name, rows, channel, locale, using, refresh }) {
  const active = activeOf(rows, channel, locale);
  const [draft, setDraft] = useState(() => draftFor(name, channel, locale) ?? { ...draftOf(active ?? nearest(rows, channel, locale)), basis: active?.id });
  const words = bodyOf(draft, channel, locale);
  const filling = useFilling(words);
  const preview = useDraftPreview(words, filling);
  const errors = preview.errors;
  const isChanged = hasChanges(words, active);
  const set = (field) => (value) => {
    const next = { ...draft, [field]: value };
    setDraft(next);
    if (hasChanges(bodyOf(next, channel, locale), active)) keepDraft(name, channel, locale, next);
    else dropDraft(name, channel, locale);
  };
  const start = (row) => {
    dropDraft(name, channel, locale);
    setDraft({ ...draftOf(row), basis: row?.id });
  };
  const go = () =>
    publish(name, words, {
      basis: draft.basis,
      done: async (made) => {
        if (made) start(made);
        await refresh();
        if (parse(location.hash).parts[1] === name) setQuery({ new: undefined }); // an undo may come from another page
      },
    });
  useEffect(() => {
    const basis = rows.find((row) => row.id === draft.basis);
    if (active && basis && basis !== active && !hasChanges(words, basis)) start(active); // nobody wrote here, so follow what others publish
  }, [active?.id]);
  return html`<${Behind} active=${active} draft=${draft} start=${start} isChanged=${isChanged} />
    <div class="split">
      <${Card} title=${active ? html`Version ${active.version} <span class="mute">since <${Ago} at=${active.created_at} /></span>` : "New words"}
        actions=${html`${isChanged && active && html`<${Badge} tone="warn">edited<//><button type="button" class="button small ghost" onClick=${() => start(active)}>Discard the edits</button>`}`}>
        <div class="stack">
          ${hasSubject(channel) && html`<${TextField} label=${channel === "email" ? "Subject" : "Title"} value=${draft.subject} set=${set("subject")} error=${errors.subject} maxlength="1000" dir="auto" />`}
          <${TextField} label=${channel === "email" ? "HTML body" : "Text"} value=${draft.body} set=${set("body")} error=${errors.body} rows=${channel === "email" ? 16 : 6} class="code" dir="auto"
            hint=${channel === "sms" ? "Beyond ten parts an SMS is not sent." : html`Liquid: <code>${"{{ order }}"}</code>, <code>${"{% if paid %}"}</code>. The payload's keys are its variables.`} />
          ${channel === "email" && html`<${TextField} label="Plain text (made from the HTML if you leave it empty)" value=${draft.text} set=${set("text")} error=${errors.text} rows=${4} class="code" dir="auto" />`}
          ${channel === "email" && html`<${TextField} label="Layout" value=${draft.layout} set=${set("layout")} error=${errors.layout} maxlength="100" spellcheck=${false}
            hint="The name of what the body stands in; none: it goes out as it is." />`}
          <${TextField} label="Required variables" value=${draft.variables} set=${set("variables")} error=${errors.variables} placeholder="order, eta" spellcheck=${false}
            hint=${html`<${Undeclared} words=${words} declare=${(names) => set("variables")([...namesOf(draft.variables), ...names].join(", "))} />`} />
          ${errors.locale && html`<${Notice} tone="bad">Locale: ${errors.locale}<//>`}
          <div class="actions"><${Action} tone="primary" run=${go} disabled=${!isChanged || !draft.body.trim() || preview.hasFaults}>Publish…<//>
            <span class="mute">${advice(isChanged, active, preview)}</span></div>
        </div><//>
      <div class="stack">
        <${PreviewPane} preview=${preview} channel=${channel} />
        <${PayloadPicker} name=${name} using=${using} filling=${filling} error=${errors.payload} missing=${preview.missing} shown=${preview.recorded}
          sample=${() => sampleFor(words)} />
      </div></div>`;
}

/** A new locale begins with the words it falls back to: they are what would be sent. */
function nearest(rows, channel, locale) {
  const active = rows.filter((row) => row.is_active && row.channel === channel);
  return active.find((row) => locale.toLowerCase().startsWith(`${row.locale.toLowerCase()}-`)) ?? active.find((row) => row.locale === "default") ?? active[0] ?? versionsOf(rows, channel, locale)[0];
}

const advice = (isChanged, active, preview) => {
  if (!isChanged) return "Nothing differs from the active version.";
  if (preview.hasFaults) return "The faults beside the fields come first.";
  return active ? "You see what changes before it does." : "You see it once more before it counts.";
};

function Behind({ active, draft, start, isChanged }) {
  if (!active || !draft.basis || draft.basis === active.id || !isChanged) return null;
  return html`<${Notice} tone="warn" title="Somebody published since you began" actions=${html`<button type="button" class="button small" onClick=${() => start(active)}>Start from version ${active.version}</button>`}>
    Version ${active.version} is active now. Publishing shows the differences to it.<//>`;
}

function Undeclared({ words, declare }) {
  const names = usedNames(words.subject, words.body, words.text).filter((name) => !words.variables.includes(name) && name !== "reason");
  if (!names.length) return "An intent whose payload lacks one of these is refused.";
  return html`Used, not required: ${names.join(", ")}. They render as nothing where they are absent. <button type="button" class="button small ghost" onClick=${() => declare(names)}><${Icon} name="plus" />Require them</button>`;
}
