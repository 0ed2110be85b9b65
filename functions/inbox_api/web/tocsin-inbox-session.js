/** How <tocsin-inbox> speaks with the server: tokens, requests, and the line on which it hears of news. No DOM, and no words. */

const ACTIVE_MS = 5 * 60_000; // how long after the last movement a person counts as there
const POLL_MS = 30_000;
const PACE_MS = 400; // at least this long between two live questions, so that a burst of news is one refresh
const EARLY_MS = 120_000; // a token is renewed so long before its end, or in the last fifth of its life
const RENEW_PAUSE_MS = 30_000; // at least this long between two tries to renew a token that is still good

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

/** An API key opens everything of a tenant. In a page it is an accident, and it is not sent on. */
function withoutKey(token) {
  if (!/^\s*tcn_/.test(token ?? "")) return token;
  console.error(
    "<tocsin-inbox> was given an API KEY (tcn_…) as its token. It was not sent, but everybody who can see this page can read it: " +
      "REVOKE THAT KEY NOW, and let your server make a user token with POST /v1/users/{id}/tokens.",
  );
  return null;
}

/** When to renew a token, by the clock of this machine however wrong that is: a token says how long it lasts. NaN: nobody knows. */
function renewalTime(token) {
  try {
    const { iat, exp } = JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
    const lasts = (exp - iat) * 1000;
    return Date.now() + lasts - Math.min(EARLY_MS, lasts / 5);
  } catch {
    return NaN;
  }
}

/** The sessions of a page, which answers isHidden() and isOnline(). */
export class Sessions {
  joined = new Set();
  #movedAt = Date.now();

  constructor(page) {
    this.page = page;
  }

  of(api, given, provider) {
    const token = withoutKey(given);
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
  #renewAt = NaN;
  #asking = null;
  #running = false;
  #wake = () => {};

  constructor(sessions, api, token, provider) {
    this.#sessions = sessions;
    Object.assign(this, { api, token, provider, given: token, signedOut: !token && !provider });
    this.#renewAt = renewalTime(token);
  }

  get isOnline() {
    return this.#sessions.page.isOnline();
  }

  /** `listener` has news({unread, unseen, capped}), expired() and weather(), called when the line or the server goes or comes back. */
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

  /** One request; a token near its end is renewed first, and a 401 renews it once. Answers {status, etag, data} or throws. */
  async ask(method, path, { body, etag, signal } = {}) {
    for (let renewed = false; ; renewed = true) {
      const token = this.token && !this.#isOld ? this.token : await this.#fresh();
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

  get #isOld() {
    return this.provider && Date.now() >= this.#renewAt;
  }

  /** A token that is still good outlives a provider in trouble. */
  async #fresh() {
    if (!this.token) return this.#renew();
    this.#renewAt = Date.now() + RENEW_PAUSE_MS;
    return this.#renew().catch(() => this.token);
  }

  async #renew() {
    this.#renewing ??= Promise.resolve(this.provider?.()).finally(() => (this.#renewing = null));
    const token = withoutKey(await this.#renewing);
    if (token !== this.token) this.#renewAt = renewalTime(token);
    return (this.token = token);
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
