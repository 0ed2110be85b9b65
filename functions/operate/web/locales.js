// Which of a template's locales answers somebody's: the same rule as content/render.distance on the server. Pure.
const LOCALE = /^(default|[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*)$/;

export const isLocale = (text) => text.length <= 35 && LOCALE.test(text);

/** 0 the very locale, 1 its language, 2 the default, 3 any other. */
export function distance(locale, wanted) {
  const [have, want] = [spelt(locale), spelt(wanted)];
  if (have === want) return 0;
  if (have === want.split("-")[0]) return 1;
  return locale === "default" ? 2 : 3;
}

const spelt = (locale) => String(locale ?? "").toLowerCase().replaceAll("_", "-");

/** `{row, distance}`: whichever of these active versions somebody with the locale gets; among equals the one that was made first. */
export function answering(rows, wanted) {
  const ranked = rows
    .map((row) => ({ row, distance: distance(row.locale, wanted) }))
    .sort((one, other) => one.distance - other.distance || Date.parse(one.row.created_at) - Date.parse(other.row.created_at));
  return ranked[0] ?? null;
}

const language = (locale) => locale.split(/[-_]/)[0];
const REASONS = [
  () => "There are words for the very locale.",
  (wanted) => `It is the language of ${wanted}.`,
  (wanted) => (language(wanted) === wanted ? `There are no words for ${wanted}.` : `There are no words for ${wanted}, and none for ${language(wanted)}.`),
  () => "There is nothing nearer, and no default: this was published first.",
];

/** Why this one answers. */
export const because = (found, wanted) => REASONS[found.distance](wanted);

/** default first, then by name: a language before its regions. */
export const sorted = (locales) => [...new Set(locales)].sort((one, other) => (other === "default") - (one === "default") || one.localeCompare(other));
