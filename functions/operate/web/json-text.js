// JSON as people type it: read, or a sentence about where it goes wrong. Pure.

export const written = (value) => JSON.stringify(value, null, 2);

/** `{value}`, or `{error}` with the line and column at fault where the browser tells its place. */
export function readJson(text) {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (!text.trim()) return { error: "This is empty: write a JSON value." };
    const at = placeOf(text, error.message);
    return { error: at ? `This is no JSON yet: something is wrong at line ${at.line}, column ${at.column}.` : "This is no JSON yet." };
  }
}

function placeOf(text, message) {
  const [, line, column] = message.match(/line (\d+) column (\d+)/) ?? [];
  if (line) return { line: Number(line), column: Number(column) };
  const [, position] = message.match(/position (\d+)/) ?? [];
  if (position === undefined) return /end of JSON|Unexpected end/i.test(message) ? placeAt(text, text.length) : null;
  return placeAt(text, Number(position));
}

function placeAt(text, position) {
  const before = text.slice(0, position).split("\n");
  return { line: before.length, column: before.at(-1).length + 1 };
}

export function isSame(one, other) {
  return canonical(one) === canonical(other);
}

const canonical = (value) => JSON.stringify(value, (_, part) => (part && typeof part === "object" && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part));
