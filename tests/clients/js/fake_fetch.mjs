/** A client whose network, clock and chance the test writes. */

import { Tocsin } from "../../../clients/js/client/index.js";

export const KEY = "tcn_live_secretsecretsecret";

/** An answer as the server would give it. */
export function answer(status, body = {}, headers = {}) {
  return () => new Response(body === null ? null : JSON.stringify(body), { status, headers });
}

export const problem = (status, kind, headers = {}, more = {}) =>
  answer(status, { type: `/errors#${kind}`, title: "No", status, detail: "Because.", request_id: "r-1", ...more }, headers);

export const lost = () => {
  throw new TypeError("fetch failed", { cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }) });
};

/** Until it is called off, as `fetch` does it. */
export const hanging = (_, { signal }) =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });

/** `sent` are the calls as they went out, `waits` how long was waited between them. The last answer stays. */
export function client(answers, options = {}) {
  const sent = [];
  const waits = [];
  const fetch = async (url, init) => {
    sent.push({ line: `${init.method} ${url.pathname}${url.search}`, headers: init.headers, body: init.body && JSON.parse(init.body), init });
    return (answers.length > 1 ? answers.shift() : answers[0])(url, init);
  };
  const sleep = async (milliseconds) => void waits.push(milliseconds);
  const tocsin = new Tocsin({ url: "https://notify.example.com", key: KEY, fetch, sleep, random: () => 1, ...options });
  return { tocsin, sent, waits };
}

export const INTENT = { type: "welcome", audience: { kind: "users", user_ids: ["ada"] }, payload: { title: "Hello" } };
export const RECEIPT = { notification_id: "n-1", status: "accepted", accepted_at: "2026-11-18T00:00:00Z" };
