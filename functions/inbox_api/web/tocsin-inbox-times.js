/** Times in <tocsin-inbox>, as people say them and as they choose them. No DOM. */

import { languageOf } from "./tocsin-inbox-words.js?v=e69ae35b3df1c0f1";

const FARTHEST_SNOOZE_MS = 365 * 24 * 3600e3;

export const full = (iso, locale) => new Date(iso).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });

export function ago(iso, locale) {
  const seconds = (new Date(iso) - Date.now()) / 1000;
  const units = [["year", 31536e3], ["month", 2592e3], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  // The narrow French is "-3 h".
  const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: languageOf(locale) === "fr" ? "short" : "narrow" });
  return unit === "second" ? format.format(0, "second") : format.format(Math.trunc(seconds / size), unit);
}

/** When a snoozed row comes back: in an hour, or at nine in the morning of tomorrow or of next Monday, local time. */
export function snoozeTime(choice) {
  const at = new Date();
  if (choice === "hour") return new Date(at.getTime() + 3600e3).toISOString();
  at.setDate(at.getDate() + (choice === "tomorrow" ? 1 : (8 - at.getDay()) % 7 || 7));
  at.setHours(9, 0, 0, 0);
  return at.toISOString();
}

/** The moment that somebody chose, "2030-05-15T09:00" in local time; null if it is past, or farther than the server takes. */
export function chosenTime(local) {
  const until = new Date(local) - Date.now();
  return until > 0 && until <= FARTHEST_SNOOZE_MS ? new Date(local).toISOString() : null;
}
