/** One call over HTTP: the key, the time it may take, and the tries after the first. */

import { pause, retryAfterMs } from "./backoff.js";
import { TocsinProblem, TocsinUnreachable } from "./problems.js";

export const VERSION = "0.1.0";

export class Transport {
  #base;
  #key;
  #options;

  constructor({ url, key, allowHttp, ...options }) {
    this.#base = baseOf(url, allowHttp);
    this.#key = keyOf(key);
    this.#options = { timeoutMs: 30_000, maxRetries: 4, sleep, random: Math.random, now: Date.now, ...present(options) };
  }

  /** Answers {status, headers, requestId, data}. A call that is not repeatable is made again only if it surely was not taken. */
  async request(method, path, options = {}) {
    const { body, query, headers, signal, repeatable: isRepeatable = method !== "POST" } = options;
    const { timeoutMs, maxRetries, random, sleep } = { ...this.#options, ...present(options) };
    const url = this.#url(path, query);
    const init = { method, redirect: "manual", headers: this.#headers(headers, body), body: JSON.stringify(body) };
    for (let failures = 1; ; failures += 1) {
      signal?.throwIfAborted();
      try {
        return await this.#once(url, init, { signal, timeoutMs, what: `${method} ${path}` });
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        const isOurs = error instanceof TocsinProblem || error instanceof TocsinUnreachable;
        const wait = isOurs && failures <= maxRetries ? pause(error, { failures, isRepeatable, random }) : null;
        if (wait === null) throw error;
        await sleep(wait, signal);
      }
    }
  }

  async #once(url, init, { signal, timeoutMs, what }) {
    const { signal: both, isTimeout, done } = within(timeoutMs, signal);
    let answer, raw;
    try {
      answer = await (this.#options.fetch ?? fetch)(url, { ...init, signal: both });
      raw = await answer.text();
    } catch (cause) {
      const why = isTimeout() ? `no answer within ${timeoutMs} ms` : (cause?.cause?.code ?? cause?.message ?? "no answer");
      throw new TocsinUnreachable(`${what}: ${url.origin} cannot be reached (${why})`, { cause, isTimeout: isTimeout() });
    } finally {
      done();
    }
    return this.#read(answer, raw, `${what}: ${url.origin}`);
  }

  #read(answer, raw, what) {
    const { status, headers } = answer;
    const data = json(raw);
    const requestId = headers.get("x-request-id") ?? data?.request_id ?? undefined;
    if (status >= 200 && status < 300 && data !== undefined) return { status, headers, requestId, data };
    if (status >= 200 && status < 300) {
      throw new TypeError(`${what} answered with ${headers.get("content-type")}, not with JSON. Is a Tocsin installation there?`);
    }
    const problem = typeof data?.title === "string" ? data : { title: data?.message };
    throw new TocsinProblem(problem, { status, requestId, retryAfterMs: retryAfterMs(headers.get("retry-after"), this.#options.now()) });
  }

  #headers(more = {}, body) {
    const headers = new Headers({ Accept: "application/json, application/problem+json", "User-Agent": `tocsin-client-js/${VERSION}` });
    if (body !== undefined) headers.set("Content-Type", "application/json");
    for (const [name, value] of Object.entries(more)) if (value !== undefined) headers.set(name, value);
    headers.set("Authorization", `Bearer ${this.#key}`);
    return headers;
  }

  #url(path, query = {}) {
    if (!path.startsWith("/")) throw new TypeError("The path begins with a slash, such as /v1/me.");
    const url = new URL(this.#base + path);
    for (const [name, value] of Object.entries(present(query))) {
      url.searchParams.set(name, value instanceof Date ? value.toISOString() : String(value));
    }
    return url;
  }
}

/** A word of the caller's as one segment of a path. */
export function segment(word) {
  if (typeof word !== "string" || !word || word === "." || word === "..") throw new TypeError("An id is a word that can stand in a path.");
  return encodeURIComponent(word);
}

export const present = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== null));

function baseOf(text, allowHttp = false) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError("Tocsin needs the address of the installation: `url`, or TOCSIN_URL in the environment.");
  }
  if (!/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new TypeError("The address of the installation is http or https, without a name or password in it.");
  }
  if (url.protocol === "http:" && !allowHttp && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname)) {
    throw new TypeError("Over http: everybody on the way could read the API key. Use https, or `allowHttp` where nobody is on the way.");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

function keyOf(key) {
  if (typeof key !== "string" || !key.trim()) throw new TypeError("Tocsin needs an API key: `key`, or TOCSIN_KEY in the environment.");
  // What cannot be a header would be told, whole, by the exception of fetch.
  if (!/^[\x21-\x7e]+$/.test(key.trim())) throw new TypeError("The API key has characters that no key has.");
  return key.trim();
}

function json(raw) {
  try {
    return raw ? JSON.parse(raw) : null;
  } catch {
    return undefined; // something on the way may answer in HTML
  }
}

/** A signal that ends with the caller's, or when the time is up. (`AbortSignal.any` is not in Node 18.) */
function within(milliseconds, signal) {
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  let isLate = false;
  const timer = setTimeout(() => ((isLate = true), controller.abort()), milliseconds);
  signal?.addEventListener("abort", stop, { once: true });
  const done = () => (clearTimeout(timer), signal?.removeEventListener("abort", stop));
  return { signal: controller.signal, isTimeout: () => isLate, done };
}

function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => (clearTimeout(timer), reject(signal.reason));
    const timer = setTimeout(() => (signal?.removeEventListener("abort", stop), resolve()), milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
