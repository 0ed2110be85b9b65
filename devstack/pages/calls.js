// Calls of the API and of the local stack: made, shown as curl, and their refusals in words. The key stays with the stack.
const LOCAL = { "Tocsin-Local": "start" };

/** A call that was not answered, or not with yes; `message` is for people, `more` are the single faults. */
export class Refusal extends Error {
  constructor(message, { status = 0, more = [] } = {}) {
    super(message);
    this.status = status;
    this.more = more;
  }
}

/** Carry out `{method, path, headers, body}`: the answer `{status, body}`, or a Refusal. */
export async function make({ method, path, headers = {}, body }) {
  const place = path.startsWith("/_local/") ? path : `/_local/api${path}`;
  const sent = { ...LOCAL, ...(body !== undefined && { "Content-Type": "application/json" }), ...headers };
  let answer;
  try {
    answer = await fetch(place, { method, headers: sent, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store" });
  } catch {
    throw new Refusal("The local stack does not answer. Is “make dev” still running?");
  }
  const said = await answer.text();
  const found = asJson(said);
  if (!answer.ok) throw refusal(answer.status, found ?? said);
  return { status: answer.status, body: found };
}

function asJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal(status, said) {
  const told = typeof said === "object" && said ? said : {};
  const words = told.detail ?? told.title ?? told.message ?? told.error ?? "There is no explanation.";
  const more = (told.errors ?? []).map(({ pointer, message }) => [pointer, message].filter(Boolean).join(": "));
  return new Refusal(`The answer was ${status}. ${words}`, { status, more });
}

/** The same call for a terminal, where $TOCSIN_KEY is set. */
export function asCurl({ method, path, headers = {}, body }, { url, origin }) {
  const isLocal = path.startsWith("/_local/");
  const line = [`curl -sS ${method === "GET" || method === "POST" ? "" : `-X ${method} `}${quoted((isLocal ? origin : url) + path)}`];
  line.push(isLocal ? "-H 'Tocsin-Local: 1'" : '-H "Authorization: Bearer $TOCSIN_KEY"');
  for (const [name, value] of Object.entries(headers)) line.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== undefined) line.push("-H 'Content-Type: application/json'", `-d ${quoted(written(body))}`);
  return line.join(" \\\n  ");
}

/** JSON on one line, with room to read. */
function written(value) {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${written(one)}`).join(", ")}}`;
}

const quoted = (text) => (/^[\w:/.?=&-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
