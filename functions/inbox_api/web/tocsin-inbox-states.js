/** What a row of <tocsin-inbox> is: its title, whether it is here, and what a change makes of it. Pure. */

/** Strangers' words without the characters that turn around what stands after them (U+202E and its kin). */
export const plain = (words) => String(words ?? "").replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
export const titleOf = (row) => plain(row.title || row.type_title || row.kind);

export const isSnoozed = (row) => new Date(row.snoozed_until ?? 0) > Date.now();
const isHere = (row) => !row.hidden && !row.done_at && !isSnoozed(row);
export const countsAs = (row) => (row.unread && isHere(row) ? 1 : 0);
export const belongs = {
  all: isHere,
  unread: countsAs,
  saved: (row) => !row.hidden && row.saved_at,
  snoozed: (row) => !row.hidden && !row.done_at && isSnoozed(row),
  done: (row) => !row.hidden && row.done_at,
};
export const isStatus = (name) => Object.hasOwn(belongs, name);

export const newest = (rows) => rows.map((row) => row.last_event_at).reduce((a, b) => (new Date(a) >= new Date(b) ? a : b));

/** What the server will make of a row when it is sent this change. */
export function foreseen(row, change) {
  const now = new Date().toISOString();
  const next = { ...row };
  if ("read" in change) next.unread = !change.read;
  if ("done" in change) next.done_at = change.done ? now : null;
  if ("saved" in change) next.saved_at = change.saved ? now : null;
  if ("snoozed_until" in change) next.snoozed_until = change.snoozed_until;
  return next;
}

/** Unread rows that were not there before, or that something was added to. */
export function arrivals(before, after) {
  const known = new Map(before.map((row) => [row.id, row.last_event_at]));
  return after.filter((row) => row.unread && known.get(row.id) !== row.last_event_at);
}
