/** The calls that a server makes. Bodies and answers have the names that the API has. */

import { crypto } from "#crypto";
import { intentOf } from "./intents.js";
import { TocsinProblem, TocsinUnreachable } from "./problems.js";
import { Transport, present, segment } from "./transport.js";

const LARGEST_PAGE = 200;

export class Tocsin {
  #transport;

  /** Without `url` and `key`: TOCSIN_URL and TOCSIN_KEY of the environment. */
  constructor({ url, key, dangerouslyAllowBrowser = false, ...options } = {}) {
    const environment = globalThis.process?.env ?? {};
    key ??= environment.TOCSIN_KEY;
    if (isBrowser() && !dangerouslyAllowBrowser && String(key).startsWith("tcn_")) {
      throw new Error(
        "This is a browser, and everybody who opens the page could read the API key. Call Tocsin from your server, and give the page " +
          "a user token (tokens.create). If nobody else opens this page: dangerouslyAllowBrowser.",
      );
    }
    this.#transport = new Transport({ ...options, url: url ?? environment.TOCSIN_URL, key });
  }

  /** Ask for a notification. However often it has to be said, it is sent once. `wait`: seconds to wait for the outcome. */
  async send(intent, { idempotencyKey = crypto.randomUUID(), wait, ...options } = {}) {
    const headers = { "Idempotency-Key": headerOf(idempotencyKey), Prefer: wait ? `wait=${wait}` : undefined };
    const path = wait ? "/v1/intents/wait" : "/v1/intents";
    const more = { timeoutMs: wait ? (wait + 10) * 1000 : undefined, ...options, headers, body: intentOf(intent), repeatable: true };
    const answer = await this.#transport.request("POST", path, more).catch(rethrowWith({ idempotencyKey }));
    const replayed = answer.headers.get("idempotency-replayed") === "true";
    return { ...answer.data, idempotency_key: idempotencyKey, replayed };
  }

  /** Up to 500 at once: a result for each, in order. An intent without `idempotency_key` is given one. */
  async sendBatch(intents, options) {
    const named = intents.map((intent) => ({ ...intentOf(intent), idempotency_key: intent.idempotency_key ?? crypto.randomUUID() }));
    const { results } = await this.#write("POST", "/v1/intents/batch", { intents: named }, { ...options, repeatable: true });
    return results.map(withProblem);
  }

  /** Tell what happened (CloudEvents 1.0); who cares is found out. One event, or a list of them with a result for each. */
  async event(event, options) {
    const whole = (one) => ({ specversion: "1.0", ...one, id: one.id ?? crypto.randomUUID() });
    const type = `application/cloudevents${Array.isArray(event) ? "-batch" : ""}+json`;
    const sent = { ...options, headers: { "Content-Type": type }, repeatable: true };
    if (!Array.isArray(event)) return this.#write("POST", "/v1/events", whole(event), sent);
    const { results } = await this.#write("POST", "/v1/events", event.map(whole), sent);
    return results.map(withProblem);
  }

  /** Stop what has not been sent. */
  async cancel(notificationId, options) {
    return this.#write("POST", `/v1/notifications/${segment(notificationId)}/cancel`, undefined, { ...options, repeatable: true });
  }

  /** Why it went as it did: the routes with every attempt, and the timeline. */
  async explain(notificationId, options) {
    return this.#write("GET", `/v1/notifications/${segment(notificationId)}`, undefined, options);
  }

  notifications = {
    list: (filters, options) => this.#rows("/v1/notifications", filters, options),
  };

  users = {
    /** Replaces: what is not named is cleared. */
    put: async (id, user, options) => this.#write("PUT", userPath(id), user, options),
    /** Changes what is named; null clears. */
    patch: async (id, changes, options) => this.#write("PATCH", userPath(id), changes, options),
    get: async (id, options) => this.#write("GET", userPath(id), undefined, options),
    list: (filters, options) => this.#rows("/v1/users", filters, options),
    /** Everything of theirs, everywhere; the answer is the receipt. `dryRun` counts, and erases nothing. */
    erase: async (id, { dryRun = false, ...options } = {}) =>
      this.#write("POST", `${userPath(id)}/erase`, { dry_run: dryRun }, { ...options, repeatable: true }),
  };

  tokens = {
    /** What a page shows instead of a key: good for this person's inbox, for a while. */
    create: async (userId, { ttlSeconds, ...options } = {}) =>
      this.#write("POST", `${userPath(userId)}/tokens`, present({ ttl_seconds: ttlSeconds }), { ...options, repeatable: true }),
  };

  /** Any other call: answers {status, headers, requestId, data}. `repeatable: true` where doing it twice does no harm. */
  async request(method, path, options) {
    return this.#transport.request(method, path, options);
  }

  async #write(method, path, body, options) {
    return (await this.#transport.request(method, path, { ...options, body })).data;
  }

  async *#rows(path, { limit = Infinity, ...filters } = {}, options) {
    for (let cursor, left = limit; left > 0; ) {
      const query = { ...filters, cursor, limit: Math.min(left, LARGEST_PAGE) };
      const { data, next_cursor: next } = await this.#write("GET", path, undefined, { ...options, query });
      yield* data;
      if (!next) return;
      cursor = next;
      left -= data.length;
    }
  }
}

/** Who catches it can go on later, with the same key. */
const rethrowWith = (more) => (error) => {
  throw error instanceof TocsinProblem || error instanceof TocsinUnreachable ? Object.assign(error, more) : error;
};

const userPath = (id) => `/v1/users/${segment(id)}`;

const withProblem = (result) => (result.problem ? { ...result, problem: new TocsinProblem(result.problem) } : result);

/** A comma or a quote in a header's value needs quotes around it. */
const headerOf = (key) => (/[",\\]/.test(key) ? `"${key.replace(/["\\]/g, "\\$&")}"` : key);

const isBrowser = () => typeof document !== "undefined" || typeof importScripts === "function";
