// The demo's steps (demo.json) as calls of the API; the command line carries out the same file. Pure but for `call`.
const MOST_GATHERED = 100;

/** Every string of a value with its names replaced. */
export function filled(value, names, now = Date.now()) {
  if (typeof value === "string") return value.replace(/\{(\w+(?:[+-]\d+[smhd])?)\}/g, (whole, name) => replaced(whole, name, names, now));
  if (Array.isArray(value)) return value.map((each) => filled(each, names, now));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, names, now)]));
  return value;
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function replaced(whole, name, names, now) {
  const [, sign, amount, unit] = name.match(/^now(?:([+-])(\d+)([smhd]))?$/) ?? [];
  if (name.startsWith("now") && (name === "now" || unit)) {
    const shift = unit ? (sign === "-" ? -1 : 1) * Number(amount) * UNITS[unit] : 0;
    return new Date(now + shift).toISOString();
  }
  return name in names ? String(names[name]) : whole;
}

/** The calls that a step stands for: `{method, path, headers, body}`. */
export function callsOf(step, run) {
  const items = typeof step.each === "number" ? Array.from({ length: step.each }, (_, index) => index + 1) : (step.each ?? [""]);
  const made = items.map((item, index) => {
    const names = { run, n: index + 1, n0: index % 10, [step.as ?? "item"]: item };
    return { method: step.method, path: filled(step.path, names), headers: filled(step.headers ?? {}, names), body: filled(step.body, names) };
  });
  if (!step.gather) return made;
  const calls = [];
  for (let from = 0; from < made.length; from += MOST_GATHERED) {
    const some = made.slice(from, from + MOST_GATHERED);
    calls.push({ ...some[0], body: { [step.gather]: some.map((each) => each.body) } });
  }
  return calls;
}
