/**
 * The core in a worker, where there is no page: with a clock that stands still until it is told to go, a server that answers when it is
 * told to, and no chance. Each message is a script; when nothing is left to do but wait, its value goes back, or null if that waits too.
 */
import * as rows from "/inbox/tocsin-inbox-core.js";
import * as states from "/inbox/tocsin-inbox-states.js";
import * as tabs from "/inbox/tocsin-inbox-tabs.js";
import * as times from "/inbox/tocsin-inbox-times.js";

const core = { ...rows, ...states, ...tabs, ...times };
const realWait = setTimeout;
const nothingLeft = () => new Promise((done) => realWait(done));
let now = Date.parse("2030-05-15T15:30:00Z");
let timers = [];
let requests = [];
let passing = null; // while time passes

globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length ? given : [now]));
  }
  static now() {
    return now;
  }
};
Math.random = () => 0;
globalThis.setTimeout = (run, milliseconds) => {
  const timer = { run, at: now + milliseconds };
  timers.push(timer);
  return timer;
};
globalThis.clearTimeout = (timer) => (timers = timers.filter((each) => each !== timer));
globalThis.fetch = (url, { method, headers, body, signal, ...options }) =>
  new Promise((resolve, reject) => {
    const path = url.replace("https://notify.example/v1/inbox", "");
    const request = { line: `${method} ${path || "/"}`, headers, body: body && JSON.parse(body), options, resolve, reject };
    requests.push(request);
    signal?.addEventListener("abort", () => (taken(request), reject(new DOMException("let go", "AbortError"))));
  });

function taken(request) {
  requests = requests.filter((each) => each !== request);
  return request;
}

function first(line) {
  const found = requests.find((each) => each.line.startsWith(line));
  if (!found) throw new Error(`nobody asks ${line}, only: ${requests.map((each) => each.line)}`);
  return taken(found);
}

async function passed(end) {
  for (let next; (next = timers.filter((each) => each.at <= end).sort((a, b) => a.at - b.at)[0]); ) {
    now = next.at;
    clearTimeout(next);
    next.run();
    await nothingLeft();
  }
  now = end;
}

const world = {
  core,
  told: [],
  uncaught: [],
  page: { isHidden: false, isOnline: true },
  view: { isOpen: false },

  /** The requests that wait for an answer. */
  waiting: () => requests.map((each) => each.line),
  asked: (line) => requests.find((each) => each.line.startsWith(line)),
  answer(line, status, data, headers = {}) {
    const raw = typeof data === "string" ? data : data == null ? "" : JSON.stringify(data);
    first(line).resolve({ status, ok: status >= 200 && status < 300, headers: new Headers(headers), text: async () => raw });
  },
  lose: (line) => first(line).reject(new TypeError("no line")),

  /** How many seconds until the core does something by itself; null if it does not. */
  rest: () => (timers.length ? Math.min(...timers.map((each) => each.at - now)) / 1000 : null),
  pass: (seconds) => void (passing = passed(now + seconds * 1000)),

  row: (id, more = {}) => ({ id, unread: true, last_event_at: `2030-05-15T12:00:${String(60 - id).padStart(2, "0")}Z`, ...more }),
  listener: (name = "") => ({
    news: ({ unread }) => told.push(`${name}news ${unread}`),
    expired: () => told.push(`${name}expired`),
    weather: () => told.push(`${name}weather`),
  }),
  session: (token = "good", provider = null) => sessions.of("https://notify.example", token, provider),
  shown: () => [inbox.list.rows.map((row) => row.id).join(" "), inbox.unread],
};
Object.assign(globalThis, world, {
  sessions: new core.Sessions({ isHidden: () => page.isHidden, isOnline: () => page.isOnline }),
  inbox: new core.Inbox({
    isOpen: () => view.isOpen,
    explain: (error) => error.message || "it failed",
    changed: () => {},
    counted: (isNew) => isNew && told.push(`counted ${inbox.unread}`),
    grew: (more) => told.push(`grew by ${more}`),
    arrived: (row) => told.push(`arrived ${row.id}`),
    forgot: () => told.push("forgot"),
    expired: () => told.push("expired"),
    undone: (error) => told.push(`undone ${error.message}`),
  }),
});

addEventListener("unhandledrejection", ({ reason }) => uncaught.push(String(reason?.stack ?? reason)));
onmessage = async ({ data }) => {
  try {
    const answer = (0, eval)(data);
    await passing;
    await nothingLeft();
    const value = await Promise.race([answer, null]);
    postMessage({ value: JSON.stringify(value ?? null) });
  } catch (error) {
    postMessage({ error: String(error.stack ?? error) });
  }
};
postMessage({ value: "null" });
