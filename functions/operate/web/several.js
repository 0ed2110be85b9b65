// One act for each of several things, a few at a time: what was done, what was refused, and why. Pure but for `act`.

export async function eachOf(items, act, { atOnce = 4 } = {}) {
  const waiting = [...items];
  const done = [];
  const refused = [];
  const work = async () => {
    while (waiting.length) {
      const item = waiting.shift();
      try {
        done.push({ item, answer: await act(item) });
      } catch (error) {
        refused.push({ item, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return { done, refused };
}

/** How often each word occurs, the commonest first. */
export function tally(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one);
}
