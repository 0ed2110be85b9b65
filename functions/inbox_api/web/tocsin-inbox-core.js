/** What <tocsin-inbox> knows and does: session, rows, and changes that are shown before they are made. No DOM, and no words. */

const PAGE_SIZE = 25;
const ACTIVE_MS = 5 * 60_000; // how long after the last movement a person counts as there
const POLL_MS = 30_000;
const PACE_MS = 400; // at least this long between two live questions, so that a burst of news is one refresh

/** The server said no, with details of the problem: `errors` are [{pointer, message}] of single fields. */
export class Refused extends Error {
  constructor(status, raw = "", retryAfter = 0) {
    let problem = {};
    try {
      problem = JSON.parse(raw) ?? {}; // a proxy on the way may answer in HTML
    } catch {}
    super(problem.detail || problem.title || "");
    Object.assign(this, { status, retryAfter, errors: problem.errors ?? [] });
  }
}

/** The sessions of a page, which answers isHidden() and isOnline(). */
export class Sessions {
  joined = new Set();
  #movedAt = Date.now();

  constructor(page) {
    this.page = page;
  }

  of(api, token, provider) {
    const same = [...this.joined].find((one) => !one.signedOut && one.api === api && one.given === token && one.provider === provider);
    return same ?? new Session(this, api, token, provider);
  }

  get isActive() {
    return Date.now() - this.#movedAt < ACTIVE_MS;
  }

  moved() {
    const wasIdle = !this.isActive;
    this.#movedAt = Date.now();
    if (wasIdle) for (const session of this.joined) session.wake();
  }

  // A hidden tab asks nothing: what it waits for is let go, and asked again when it is looked at.
  looked() {
    for (const session of this.joined) this.page.isHidden() ? session.letGo() : session.wake();
  }

  weather() {
    for (const session of this.joined) session.weather();
  }
}

/** One person at one server: asks with their token, and listens for news once for all elements of the page. */
class Session {
  #sessions;
  #listeners = new Set();
  #etags = {};
  #news = null;
  #renewing = null;
  #asking = null;
  #running = false;
  #wake = () => {};

  constructor(sessions, api, token, provider) {
    this.#sessions = sessions;
    Object.assign(this, { api, token, provider, given: token, signedOut: !token && !provider });
  }

  get isOnline() {
    return this.#sessions.page.isOnline();
  }

  /** `listener` has news({unread, capped}), expired() and weather(), called when the line or the server goes or comes back. */
  join(listener) {
    this.#sessions.joined.add(this);
    this.#listeners.add(listener);
    if (this.#news) listener.news(this.#news);
    if (!this.#running) this.#run();
  }

  leave(listener) {
    this.#listeners.delete(listener);
    if (this.#listeners.size) return;
    this.#sessions.joined.delete(this);
    this.letGo();
    this.wake(true);
  }

  wake(evenFromBackoff = false) {
    this.#wake(evenFromBackoff);
  }

  letGo() {
    this.#asking?.abort();
  }

  weather() {
    for (const listener of this.#listeners) listener.weather();
    this.wake(true);
  }

  /** One request; a 401 renews the token once and asks again. Answers {status, etag, data} or throws. */
  async ask(method, path, { body, etag, signal } = {}) {
    for (let renewed = false; ; renewed = true) {
      const token = this.token || (await this.#renew());
      if (!token) throw this.#expire(new Refused(401));
      const headers = { Authorization: `Bearer ${token}` };
      if (body) headers["Content-Type"] = "application/json";
      if (etag) headers["If-None-Match"] = etag;
      // A row that is opened leaves the page: its PATCH must survive that.
      const options = { method, headers, signal, cache: "no-store", credentials: "omit", keepalive: method === "PATCH" };
      const answer = await fetch(`${this.api}/v1/inbox${path}`, body ? { ...options, body: JSON.stringify(body) } : options);
      const raw = await answer.text();
      if (answer.ok || answer.status === 304) {
        return { status: answer.status, etag: answer.headers.get("ETag") ?? etag, data: raw ? JSON.parse(raw) : null };
      }
      if (answer.status === 401 && !renewed && (this.token !== token || (await this.#renew()))) continue;
      const refused = new Refused(answer.status, raw, Number(answer.headers.get("Retry-After")) || 0);
      throw answer.status === 401 ? this.#expire(refused) : refused;
    }
  }

  async #renew() {
    this.#renewing ??= Promise.resolve(this.provider?.()).finally(() => (this.#renewing = null));
    return (this.token = await this.#renewing);
  }

  #expire(refused) {
    const isNews = !this.signedOut;
    this.signedOut = true;
    if (isNews) for (const listener of this.#listeners) listener.expired();
    return refused;
  }

  async #run() {
    this.#running = true;
    let failures = 0;
    while (this.#listeners.size && !this.signedOut) {
      if (this.#sessions.page.isHidden() || !this.isOnline) await this.#rest(2 ** 30);
      else failures = await this.#round(failures);
    }
    this.#running = false;
  }

  /** Ask once and rest as long as is right. After a failure the cheap question comes first: it works when no place to wait is free. */
  async #round(failures) {
    const isLive = this.#sessions.isActive;
    try {
      if (failures || !isLive) await this.#look("/unread-count");
      if (failures) for (const listener of this.#listeners) listener.weather();
      const isWorthIt = !isLive || (await this.#look("/live?wait=20"));
      await this.#rest(this.#sessions.isActive && isWorthIt ? PACE_MS : POLL_MS);
      return 0;
    } catch (error) {
      if (error.name === "AbortError") return failures;
      const seconds = Math.min(30, 2 ** failures) * (0.5 + Math.random() / 2);
      await this.#rest(Math.max(seconds, (error.retryAfter ?? 0) + Math.random()) * 1000, true);
      return failures + 1;
    }
  }

  /** Tell the listeners what is new. False if the server does not really wait (an answer without ETag, a 304 at once). */
  async #look(path) {
    const began = Date.now();
    this.#asking = new AbortController();
    const { status, etag, data } = await this.ask("GET", path, { etag: this.#etags[path], signal: this.#asking.signal });
    this.#etags[path] = etag;
    if (status === 200) for (const listener of this.#listeners) listener.news((this.#news = data));
    return etag && (status === 200 || Date.now() - began > 1000);
  }

  #rest(milliseconds, firmly = false) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = (even) => (even || !firmly) && (clearTimeout(timer), resolve());
    });
  }
}

const emptyList = (tab) => ({ tab, rows: [], cursor: null, state: "loading", why: "" });

export const isSnoozed = (row) => new Date(row.snoozed_until ?? 0) > Date.now();
const isHere = (row) => !row.hidden && !row.done_at && !isSnoozed(row);
const countsAs = (row) => (row.unread && isHere(row) ? 1 : 0);
const belongs = {
  all: isHere,
  unread: countsAs,
  saved: (row) => !row.hidden && row.saved_at,
  snoozed: (row) => !row.hidden && !row.done_at && isSnoozed(row),
  done: (row) => !row.hidden && row.done_at,
};

const threadPath = ({ thread }) => thread && `/threads/${encodeURIComponent(thread.kind)}/${encodeURIComponent(thread.id)}`;

/** When a snoozed row comes back: in an hour, or at nine in the morning of tomorrow or of next Monday, local time. */
export function snoozeTime(choice) {
  const at = new Date();
  if (choice === "hour") return new Date(at.getTime() + 3600e3).toISOString();
  at.setDate(at.getDate() + (choice === "tomorrow" ? 1 : (8 - at.getDay()) % 7 || 7));
  at.setHours(9, 0, 0, 0);
  return at.toISOString();
}

/** What the server will make of a row when it is sent this change. */
function foreseen(row, change) {
  const now = new Date().toISOString();
  const next = { ...row };
  if ("read" in change) next.unread = !change.read;
  if ("done" in change) next.done_at = change.done ? now : null;
  if ("saved" in change) next.saved_at = change.saved ? now : null;
  if ("snoozed_until" in change) next.snoozed_until = change.snoozed_until;
  return next;
}

/** Unread rows that were not there before, or that something was added to. */
function arrivals(before, after) {
  const known = new Map(before.map((row) => [row.id, row.last_event_at]));
  return after.filter((row) => row.unread && known.get(row.id) !== row.last_event_at);
}

/**
 * The rows of a tab and the count. `view` answers isOpen() and explain(error), and is told changed(), counted(isNew), forgot(),
 * expired(), undone(error), arrived(row), and grew(unread, capped) while it is closed.
 */
export class Inbox {
  list = emptyList("all");
  unread = 0;
  capped = false;
  #view;
  #session = null;
  #known = false; // whether the count was ever told
  #muted = new Set(); // the paths of threads that were muted here
  #wasSubscribed = new Map(); // and what they were before
  #queue = Promise.resolve();
  #busy = 0;
  #missed = null; // a count that came while a change was on its way

  constructor(view) {
    this.#view = view;
  }

  /** Nothing of what one person saw is left for the next. */
  use(session) {
    if (session === this.#session) return;
    this.leave();
    this.#session = session;
    this.#known = false;
    this.#muted.clear();
    this.#count(0);
    this.#forget();
    if (!session.signedOut) session.join(this.#listener);
    if (this.#view.isOpen()) this.refresh();
  }

  leave() {
    this.#session?.leave(this.#listener);
    this.#session = null;
  }

  get isSignedOut() {
    return this.#session?.signedOut ?? false;
  }

  ask(...request) {
    return this.#session.ask(...request);
  }

  #listener = {
    news: ({ unread, capped }) => {
      const isMore = this.#known && unread > this.unread;
      this.#known = true;
      if (this.#busy) this.#missed = [unread, capped];
      else this.#count(unread, capped);
      if (this.#view.isOpen()) this.refresh();
      else if (isMore) this.#view.grew(unread, capped);
    },
    expired: () => {
      this.#count(0);
      this.#forget();
      this.#view.expired();
    },
    weather: () => {
      this.#view.changed();
      if (this.#view.isOpen() && this.list.why && this.#session.isOnline) this.refresh();
    },
  };

  #forget() {
    this.list = emptyList(this.list.tab);
    this.#missed = null;
    this.#view.forgot();
  }

  #count(unread, capped = false) {
    const isNew = Math.max(0, unread) !== this.unread;
    Object.assign(this, { unread: Math.max(0, unread), capped });
    this.#view.counted(isNew);
  }

  switchTo(tab) {
    this.list = emptyList(tab);
  }

  /** Load what is shown again, as many rows as there are; quietly, if there are any. */
  async refresh() {
    const { list } = this;
    if (!this.#session || this.#session.signedOut) return;
    list.isStale = true;
    if (this.#busy || list.isLoading) return; // who is at work comes back here
    Object.assign(list, { isLoading: true, isStale: false });
    try {
      const limit = Math.min(200, Math.max(PAGE_SIZE, list.rows.length));
      const { data } = await this.ask("GET", `?status=${list.tab}&limit=${limit}`);
      if (this.#busy) list.isStale = true;
      else this.#take(list, data);
    } catch (error) {
      Object.assign(list, { state: list.rows.length ? "ready" : "error", why: this.#view.explain(error) });
    }
    list.isLoading = false;
    if (list !== this.list) return;
    this.#view.changed();
    if (list.isStale && !this.#busy) this.refresh();
  }

  #take(list, { data, next_cursor: cursor }) {
    const [first] = list.state === "ready" ? arrivals(list.rows, data) : [];
    Object.assign(list, { rows: data, cursor, state: "ready", why: "" });
    if (first && list === this.list) this.#view.arrived(first);
  }

  retry() {
    this.#session.wake(true);
    this.refresh();
  }

  /** Answers the first row of the next page, if it is still shown. */
  async loadMore() {
    const { list } = this;
    if (list.isPaging) return;
    list.isPaging = true;
    try {
      const { data } = await this.ask("GET", `?status=${list.tab}&limit=${PAGE_SIZE}&cursor=${encodeURIComponent(list.cursor)}`);
      const known = new Set(list.rows.map((row) => row.id));
      const more = data.data.filter((row) => !known.has(row.id));
      Object.assign(list, { rows: [...list.rows, ...more], cursor: data.next_cursor });
      this.#view.changed();
      if (list === this.list) return more[0];
    } finally {
      list.isPaging = false;
    }
  }

  /** Answers the row as it is shown from now on. */
  change(row, change) {
    const { list } = this;
    const next = foreseen(row, change);
    const send = async (session) => {
      const { data } = await session.ask("PATCH", `/${row.id}`, { body: change });
      if (this.#busy === 1) this.#put(list, data);
    };
    this.#try(() => this.#swap(list, row, next), send, () => this.#swap(list, next, row));
    return next;
  }

  hide(row) {
    const { list } = this;
    const gone = { ...row, hidden: true };
    const send = (session) => session.ask("DELETE", `/${row.id}`);
    this.#try(() => this.#swap(list, row, gone), send, () => this.#swap(list, gone, row));
  }

  isMuted(row) {
    return this.#muted.has(threadPath(row));
  }

  toggleMute(row) {
    const path = threadPath(row);
    const on = () => this.#muted.add(path);
    const off = () => this.#muted.delete(path);
    const choose = (session, subscribed) => session.ask("PUT", path, { body: { subscribed } });
    const unmute = (session) => (this.#wasSubscribed.get(path) ? choose(session, true) : session.ask("DELETE", path));
    const mute = async (session) => {
      this.#wasSubscribed.set(path, (await session.ask("GET", path)).data.subscribed);
      await choose(session, false);
    };
    if (this.#muted.has(path)) this.#try(off, unmute, on);
    else this.#try(on, mute, off);
  }

  readAll() {
    const { list, unread } = this;
    const { rows } = list;
    if (!rows.length) return;
    const before = rows.map((row) => row.last_event_at).reduce((a, b) => (new Date(a) > new Date(b) ? a : b));
    const apply = () => {
      list.rows = rows.map((row) => ({ ...row, unread: false })).filter(belongs[list.tab]);
      this.#count(0);
    };
    const send = async (session) => {
      let more = true;
      while (more) ({ more } = (await session.ask("POST", "/read-all", { body: { before } })).data);
      list.isStale = true;
    };
    this.#try(apply, send, () => ((list.rows = rows), this.#count(unread)));
  }

  /** Show a change at once, send it after those before it, and take it back if the server refuses. */
  async #try(apply, send, revert) {
    const session = this.#session;
    apply();
    this.#busy += 1;
    this.#view.changed();
    try {
      await (this.#queue = this.#queue.catch(() => {}).then(() => send(session)));
    } catch (error) {
      if (session === this.#session && !session.signedOut) {
        revert();
        this.#view.undone(error);
      }
    }
    this.#busy -= 1;
    if (!this.#busy) this.#settle();
    this.#view.changed();
  }

  #settle() {
    if (this.#missed) this.#count(...this.#missed);
    this.#missed = null;
    if (this.list.isStale) this.refresh();
  }

  #swap(list, from, to) {
    this.#put(list, to);
    this.#count(this.unread + countsAs(to) - countsAs(from));
  }

  /** The row in its place by time, or out of the list if it is no longer one of these. */
  #put(list, row) {
    const rows = list.rows.filter((each) => each.id !== row.id);
    const at = rows.findIndex((each) => new Date(each.last_event_at) < new Date(row.last_event_at));
    if (belongs[list.tab](row)) rows.splice(at < 0 ? rows.length : at, 0, row);
    list.rows = rows;
  }
}
