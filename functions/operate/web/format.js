// How values are written. Pure.
const pad = (number, digits = 2) => String(number).padStart(digits, "0");

/** Local, as short as it is clear: the time today, with the day before that, with the year before this one. */
export function localTime(at, now = new Date(), { seconds = true } = {}) {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return "";
  const time = moment.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", ...(seconds && { second: "2-digit" }) });
  if (moment.toDateString() === now.toDateString()) return time;
  const sameYear = moment.getFullYear() === now.getFullYear();
  const day = moment.toLocaleDateString(undefined, { day: "numeric", month: "short", ...(!sameYear && { year: "numeric" }) });
  return `${day}, ${time}`;
}

export function utcTime(at) {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return "";
  const day = `${moment.getUTCFullYear()}-${pad(moment.getUTCMonth() + 1)}-${pad(moment.getUTCDate())}`;
  return `${day} ${pad(moment.getUTCHours())}:${pad(moment.getUTCMinutes())}:${pad(moment.getUTCSeconds())}.${pad(moment.getUTCMilliseconds(), 3)} UTC`;
}

/** A span in its two largest useful units: 45 s, 12 min, 3 h 20 min, 5 d. */
export function span(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return "–";
  const rest = Math.max(0, seconds);
  if (rest < 1) return `${Math.round(rest * 1000)} ms`;
  if (rest < 90) return `${Math.round(rest)} s`;
  const minutes = Math.round(rest / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 36) return minutes % 60 && hours < 10 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.round(hours / 24)} d`;
}

export function ago(at, now = Date.now()) {
  const seconds = (now - new Date(at).getTime()) / 1000;
  if (Number.isNaN(seconds)) return "";
  if (Math.abs(seconds) < 5) return "just now";
  return seconds >= 0 ? `${span(seconds)} ago` : `in ${span(-seconds)}`;
}

export const number = (value) => (typeof value === "number" ? value.toLocaleString() : "–");
export const many = (count, one, more = `${one}s`) => `${number(count)} ${count === 1 ? one : more}`;

/** snake_case as words, its first letter large. */
export function words(name) {
  const said = String(name ?? "").replaceAll("_", " ").replaceAll(".", " ").trim();
  const cased = said.replace(/\b(ses|sns|sms|api|kv|url|dkim)\b/gi, (short) => short.toUpperCase());
  return cased ? cased[0].toUpperCase() + cased.slice(1) : "";
}

export const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(part === whole || part === 0 ? 0 : 1)} %` : "–");

export function bytes(text) {
  const size = new TextEncoder().encode(text).length;
  return size < 1024 ? `${size} B` : `${(size / 1024).toFixed(1)} KB`;
}

const TONES = {
  published: "good", delivered: "good", accepted: "info", finished: "good", complete: "good", ok: "good", open: "good", active: "good", accept: "good",
  pending: "info", in_progress: "info", queued: "info", running: "info", planned: "info", attempt_opened: "info", waiting: "info", replayed: "info",
  failed: "warn", deferred: "warn", delayed: "warn", soft_bounced: "warn", skipped: "mute", cancelled: "mute", warning: "warn", unknown: "warn",
  medium: "warn", low: "mute", ignored: "mute", recovering: "warn", probing: "warn", throttled: "warn", ambiguous: "warn",
  dead_letter: "bad", hard_bounced: "bad", complained: "bad", bounced: "bad", high: "bad", critical: "bad", stopped: "bad", broken: "bad",
  revoked: "mute", suspended: "bad", handler_failed: "bad", attempt_failed: "warn", transient: "warn", permanent: "bad",
};
export const toneOf = (status) => TONES[status] ?? "mute";
