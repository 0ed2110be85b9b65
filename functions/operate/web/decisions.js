// What was decided lately, gathered from overlapping pages: each once, the newest first, and no more than can be looked at. Pure.
export const MOST_ROWS = 500;
const MOST_SEEN = 5_000; // pages overlap by some seconds only: what is older cannot come again

export const nothing = () => ({ rows: [], seen: new Set(), since: undefined });

/** `page` as GET /v1/decisions answers, oldest first. What was seen before is dropped; `added` says how many were not. */
export function taken(state, page) {
  const fresh = page.data.filter((row) => !state.seen.has(row.id));
  const seen = new Set([...state.seen, ...fresh.map((row) => row.id)].slice(-MOST_SEEN));
  const rows = fresh.length ? [...fresh.reverse(), ...state.rows].sort(newestFirst).slice(0, MOST_ROWS) : state.rows;
  return { rows, seen, since: page.next_since ?? state.since, added: fresh.length };
}

/** What commits late stands where it belongs; of one instant, the later step first. */
const newestFirst = (one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0);
