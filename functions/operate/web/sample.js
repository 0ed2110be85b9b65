// A payload that a template can be tried with, made from the names it uses and declares. Pure.
const MARK = /\{\{-?([\s\S]*?)-?\}\}|\{%-?\s*(\w+)([\s\S]*?)-?%\}/g;
const PATH = /(?<![\w.])[A-Za-z_]\w*(?:\.\w+|\[\d+\])*/g;
const KEYWORDS = new Set("and or contains true false nil null empty blank in reversed limit offset forloop".split(" "));

/** Names and what is known of them: `{name: {fields, item}}`. */
export function namesIn(source) {
  const root = { fields: {} };
  const scopes = [];
  const known = new Set();
  const look = (expression) => pathsOf(expression).forEach((path) => enter(root, scopes, known, path));
  for (const [, output, tag, rest] of withoutComments(source ?? "").matchAll(MARK)) {
    if (output !== undefined) look(output);
    else if (tag === "for") {
      const [, name, of] = /^\s*(\w+)\s+in\s+(.*)$/s.exec(rest) ?? [];
      const list = of && pathsOf(of)[0] && enter(root, scopes, known, pathsOf(of)[0]);
      if (list) list.item ??= { fields: {} };
      scopes.push([name, list?.item ?? { fields: {} }]);
    } else if (tag === "endfor") scopes.pop();
    else if (tag === "assign" || tag === "capture") {
      const [, name, value] = /^\s*(\w+)\s*=?(.*)$/s.exec(rest) ?? [];
      if (value) look(value);
      known.add(name);
    } else if (["if", "unless", "elsif", "case", "when"].includes(tag)) look(rest);
  }
  return root.fields;
}

const withoutComments = (source) => source.replace(/\{%-?\s*comment\s*-?%\}[\s\S]*?\{%-?\s*endcomment\s*-?%\}/g, "");

function pathsOf(expression) {
  const bare = expression.replace(/"[^"]*"|'[^']*'/g, " ").replace(/\|\s*\w+\s*:?/g, " ").replace(/\blimit\s*:|\boffset\s*:/g, " ");
  return (bare.match(PATH) ?? []).filter((path) => !KEYWORDS.has(path.split(/[.[]/)[0])).map((path) => path.replace(/\[\d+\]/g, ".first").split("."));
}

/** Walk to a name, making what is missing on the way; what a loop or an assignment has named is not the payload's. */
function enter(root, scopes, known, [first, ...rest]) {
  const scope = scopes.findLast(([name]) => name === first);
  if (!scope && known.has(first)) return null;
  let node = scope ? scope[1] : (root.fields[first] ??= { fields: {} });
  for (const step of rest) {
    if (["first", "last"].includes(step)) node = node.item ??= { fields: {} };
    else if (step === "size") node.item ??= { fields: {} };
    else node = node.fields[step] ??= { fields: {} };
  }
  return node;
}

/** The names that the sources take from the payload. */
export const usedNames = (...sources) => [...new Set(sources.flatMap((source) => Object.keys(namesIn(source))))];

export function sampleFor({ subject = "", body = "", text = "", variables = [] }) {
  const found = namesIn([subject, body, text].join("\n"));
  const names = [...variables, ...Object.keys(found).filter((name) => !variables.includes(name) && name !== "reason")];
  return Object.fromEntries(names.map((name) => [name, valueOf(name, found[name])]));
}

function valueOf(name, node = { fields: {} }) {
  if (node.item) return [1, 2].map((place) => listed(name, node.item, place));
  const fields = Object.keys(node.fields);
  return fields.length ? Object.fromEntries(fields.map((field) => [field, valueOf(field, node.fields[field])])) : wordFor(name);
}

/** One of a list; what names it is told apart from the next. */
function listed(name, item, place) {
  const single = name.replace(/ies$/, "y").replace(/s$/, "");
  const title = `${single[0].toUpperCase()}${single.slice(1)} ${place}`;
  const one = valueOf(single, item);
  if (typeof one !== "object") return title;
  return Object.fromEntries(Object.entries(one).map(([field, value]) => [field, ["title", "name", "label"].includes(field) ? title : value]));
}

const WORDS = [
  [/(^is_|^has_|paid|enabled|active)/, true],
  [/e?mail/, "ada@example.com"],
  [/(url|link|href)$/, "https://example.com/orders/A-17"],
  [/(image|photo|avatar|logo)/, "https://example.com/picture.png"],
  [/phone|mobile/, "+15550100"],
  [/(count|quantity|number_of|minutes|hours|days|size|age)$/, 3],
  [/(amount|total|price|sum|cost)$/, "42.00"],
  [/currency/, "EUR"],
  [/(code|otp|pin)$/, "471108"],
  [/(date|day|eta|_at|when|deadline)$/, "Friday, 21 November"],
  [/time$/, "14:30"],
  [/(^|_)(name|user|author|actor|customer|recipient)$/, "Ada Lovelace"],
  [/(company|organisation|organization|shop|team)/, "Analytical Engines Ltd"],
  [/(city|place)/, "Turin"],
  [/(street|address)/, "12 St James's Square"],
  [/(order|invoice|ticket|number|reference|id)$/, "A-17"],
  [/title|subject/, "Your order has shipped"],
  [/message|text|body|comment|description/, "It left the warehouse this morning."],
];

const wordFor = (name) => WORDS.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? `Sample ${name.replaceAll("_", " ")}`;
