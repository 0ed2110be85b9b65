// The HTTP API: everything the console knows and does goes through here.
import { current, signOut } from "./session.js";

const BASE = new URL("v1/", document.baseURI);
const TRIES = 3;

/** What the API said no with (RFC 9457). */
export class Problem extends Error {
  constructor(status, body = {}) {
    super(body.detail || body.title || body.message || `The service answered ${status}.`);
    Object.assign(this, { status, type: body.type ?? "", title: body.title ?? "", errors: body.errors ?? [], requestId: body.request_id ?? "" });
    this.help = /^\/errors#[\w-]+$/.test(body.type) ? new URL(body.type, BASE).href : ""; // the page of the installation that says what it means
  }
}

export const get = (path, query, more) => call("GET", path, { query, ...more });
export const post = (path, body, more) => call("POST", path, { body, ...more });
export const put = (path, body, more) => call("PUT", path, { body, ...more });
export const patch = (path, body, more) => call("PATCH", path, { body, ...more });
export const remove = (path, query, more) => call("DELETE", path, { query, ...more });

/**
 * `path` is its steps, without /v1: `["users", id, "erase"]`; each is spelt as an address needs it. `heard` gets the headers of the answer, for
 * whoever needs its ETag.
 */
export async function call(method, path, { query, body, headers, signal, heard, key = current().key, person = current().person } = {}) {
  if ([path].flat().some((part) => [".", ".."].includes(part))) throw new Problem(0, { title: "A browser cannot name this", detail: "“.” and “..” mean another address to a browser. The command line can reach it." });
  const url = new URL([path].flat().map((part) => encodeURIComponent(part)).join("/"), BASE);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, value);
  }
  const sent = { Authorization: `Bearer ${key}`, ...headers };
  if (person) sent["Tocsin-Person"] = encodeURIComponent(person);
  if (body !== undefined) sent["Content-Type"] ??= "application/json";
  const options = { method, headers: sent, signal, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" };
  if (body !== undefined) options.body = JSON.stringify(body);
  for (let tried = 1; ; tried++) {
    const answer = await answered(url, options);
    if (mayTryAgain(method, sent, answer) && tried < TRIES) {
      await pause(retryAfter(answer, tried), signal);
      continue;
    }
    heard?.(answer.headers);
    return settled(answer, key);
  }
}

async function answered(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw unreachable();
  }
}

const unreachable = () => new Problem(0, { title: "The service cannot be reached", detail: "The service cannot be reached just now. Is the network up?" });

async function settled(answer, key) {
  const text = await answer.text().catch((error) => {
    throw error.name === "AbortError" ? error : unreachable(); // it broke off in the middle
  });
  let read;
  try {
    read = text ? JSON.parse(text) : null;
  } catch {
    read = { detail: answer.ok ? undefined : `The service answered ${answer.status}.` };
  }
  if (answer.ok) return read;
  if (answer.status === 401 && key === current().key) signOut("The key is not accepted any more: it was revoked, replaced or has expired.");
  throw new Problem(answer.status, read ?? {});
}

/** What was surely not done, or may be done twice. */
const mayTryAgain = (method, headers, answer) =>
  answer.status === 429 || (answer.status === 503 && (method === "GET" || headers["Idempotency-Key"]));

const retryAfter = (answer, tried) => Math.min(10, Number(answer.headers.get("retry-after")) || 0.4 * 2 ** tried) * 1000;

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)));
  });
}

/** Every page of a list, one after the other, until there are as many rows as wanted. */
export async function all(path, query = {}, { most = 2000, signal } = {}) {
  const rows = [];
  let cursor;
  do {
    const page = await get(path, { limit: 200, ...query, cursor }, { signal });
    rows.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor && rows.length < most);
  return rows;
}
