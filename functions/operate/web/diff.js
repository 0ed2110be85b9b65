// What differs between two texts, line by line (Myers' greedy way), within bounds. Pure.
const MOST_EDITS = 600; // beyond that nobody reads line by line, and it would take long

/** `[{kind: "same" | "gone" | "added", text}, …]`. Texts that have little in common are shown as one gone and one added. */
export function diffLines(before, after, mostEdits = MOST_EDITS) {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const as = (kind, lines) => lines.map((text) => ({ kind, text }));
  const [gone, added] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const between = shortest(gone, added, mostEdits) ?? [...as("gone", gone), ...as("added", added)];
  return [...as("same", old.slice(0, start)), ...between, ...as("same", old.slice(old.length - end))];
}

const linesOf = (text) => (text ? String(text).replaceAll("\r\n", "\n").split("\n") : []);

/** Furthest-reaching paths, one more edit a round; undefined when it takes more edits than allowed. */
function shortest(old, now, mostEdits) {
  const rounds = [];
  let furthest = new Map([[1, 0]]);
  for (let edits = 0; edits <= Math.min(mostEdits, old.length + now.length); edits++) {
    rounds.push(furthest);
    const reached = new Map();
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = comesFromAbove(furthest, diagonal, edits) ? furthest.get(diagonal + 1) : furthest.get(diagonal - 1) + 1;
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x++;
      reached.set(diagonal, x);
      if (x >= old.length && x - diagonal >= now.length) return walkedBack(rounds, old, now);
    }
    furthest = reached;
  }
  return undefined;
}

const comesFromAbove = (furthest, diagonal, edits) =>
  diagonal === -edits || (diagonal !== edits && (furthest.get(diagonal - 1) ?? -1) < (furthest.get(diagonal + 1) ?? -1));

function walkedBack(rounds, old, now) {
  const found = [];
  let [x, y] = [old.length, now.length];
  for (let edits = rounds.length - 1; edits >= 0; edits--) {
    const furthest = rounds[edits];
    const diagonal = x - y;
    const from = comesFromAbove(furthest, diagonal, edits) ? diagonal + 1 : diagonal - 1;
    const fromX = furthest.get(from) ?? 0;
    const fromY = fromX - from;
    while (x > Math.max(fromX, 0) && y > Math.max(fromY, 0)) found.push({ kind: "same", text: old[(y--, --x)] });
    if (edits === 0) break;
    if (x === fromX) found.push({ kind: "added", text: now[--y] });
    else found.push({ kind: "gone", text: old[--x] });
  }
  return found.reverse();
}

/** Long stretches without a change become `{kind: "fold", count}`, with some lines kept around what changed. */
export function folded(lines, around = 3) {
  const near = new Set();
  lines.forEach((line, index) => {
    if (line.kind === "same") return;
    for (let each = index - around; each <= index + around; each++) near.add(each);
  });
  const shown = [];
  lines.forEach((line, index) => {
    if (near.has(index)) shown.push(line);
    else if (shown.at(-1)?.kind === "fold") shown.at(-1).count++;
    else shown.push({ kind: "fold", count: 1 });
  });
  return shown;
}

export const countsOf = (lines) => ({
  added: lines.filter((line) => line.kind === "added").length,
  gone: lines.filter((line) => line.kind === "gone").length,
});
