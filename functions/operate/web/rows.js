// Rows of a list that is asked for again while more than its first page is shown. Pure.

/** Those of the first page as it `was` that newer rows have pushed out of it as it `is`; what is missing further up is gone. */
export function pushedOut(was, is, idOf) {
  if (!is.length) return [];
  const last = was.findIndex((row) => idOf(row) === idOf(is.at(-1)));
  return was.slice(last + 1);
}
