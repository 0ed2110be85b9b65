// Words that were written and not published. They stay while the tab is open, whichever page is looked at meanwhile.
import { current } from "./session.js";

const kept = new Map();
const keyOf = (name, channel, locale) => JSON.stringify([current().me?.tenant.id, name, channel, locale]);

export const draftFor = (name, channel, locale) => kept.get(keyOf(name, channel, locale));

export function keepDraft(name, channel, locale, draft) {
  kept.set(keyOf(name, channel, locale), draft);
}

export function dropDraft(name, channel, locale) {
  kept.delete(keyOf(name, channel, locale));
}

/** `[channel, locale]` of every unpublished draft of the template. */
export const draftsOf = (name) => [...kept.keys()].map((key) => JSON.parse(key)).filter(([tenant, its]) => tenant === current().me?.tenant.id && its === name).map(([, , channel, locale]) => [channel, locale]);

addEventListener("beforeunload", (event) => {
  if (kept.size) event.preventDefault();
});
