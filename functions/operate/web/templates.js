// What can be said of a template's versions without asking anybody. Pure.
import { sorted } from "./locales.js";

export const CHANNELS = ["email", "sms", "push", "in_app"];
export const TITLES = { email: "Email", sms: "SMS", push: "Push", in_app: "Inbox" };
export const hasSubject = (channel) => channel !== "sms";

/** Active versions as templates: `{name, channels, locales, newest, rows}`, the one that changed last first. */
export function grouped(rows) {
  const byName = new Map();
  for (const row of rows) byName.set(row.name, [...(byName.get(row.name) ?? []), row]);
  return [...byName]
    .map(([name, its]) => ({
      name,
      rows: its,
      channels: CHANNELS.filter((channel) => its.some((row) => row.channel === channel)),
      locales: sorted(its.map((row) => row.locale)),
      newest: its.reduce((one, other) => (Date.parse(other.created_at) > Date.parse(one.created_at) ? other : one)),
    }))
    .sort((one, other) => Date.parse(other.newest.created_at) - Date.parse(one.newest.created_at));
}

/** The versions of one channel and locale, newest first. */
export const versionsOf = (rows, channel, locale) =>
  rows.filter((row) => row.channel === channel && row.locale === locale).sort((one, other) => other.version - one.version);

export const activeOf = (rows, channel, locale) => versionsOf(rows, channel, locale).find((row) => row.is_active);

/** The version before this one, of its own channel and locale. */
export const before = (rows, row) => versionsOf(rows, row.channel, row.locale).find((one) => one.version < row.version);

/** The words as a form has them. */
export const draftOf = (row) => ({
  subject: row?.subject ?? "",
  body: row?.body ?? "",
  text: row?.text ?? "",
  layout: row?.layout ?? "",
  variables: (row?.variables ?? []).join(", "),
});

export const namesOf = (variables) => variables.split(/[\s,]+/).filter(Boolean);

/** What the API takes for a form's words; what a channel has no place for, or is left empty, is not said. */
export function bodyOf(draft, channel, locale) {
  return {
    channel,
    locale,
    ...(hasSubject(channel) && { subject: draft.subject }),
    body: draft.body,
    ...(channel === "email" && draft.text.trim() && { text: draft.text }),
    ...(channel === "email" && draft.layout?.trim() && { layout: draft.layout.trim() }),
    variables: namesOf(draft.variables),
  };
}

/** The words of a version as the API takes them: to publish it again, or to compare. */
export const wordsOf = (row) => bodyOf(draftOf(row), row.channel, row.locale);

const PARTS = [["subject", "Subject"], ["body", "Body"], ["text", "Plain text"], ["layout", "Layout"], ["variables", "Variables"]];

/** The parts in which two of them differ: `[{part, title, before, after}]`. */
export function differing(old, now) {
  const written = (words, part) => (Array.isArray(words?.[part]) ? words[part].join("\n") : (words?.[part] ?? ""));
  return PARTS.map(([part, title]) => ({ part, title, before: written(old, part), after: written(now, part) })).filter((one) => one.before !== one.after);
}
