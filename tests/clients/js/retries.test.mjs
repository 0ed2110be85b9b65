/** When a call is made again, how long that waits, and that it stays the same call. */

import assert from "node:assert/strict";
import test from "node:test";
import { backoff, pause, retryAfterMs } from "../../../clients/js/client/lib/backoff.js";
import { TocsinUnreachable } from "../../../clients/js/client/index.js";
import { INTENT, RECEIPT, answer, client, hanging, lost, problem } from "./fake_fetch.mjs";

const accepted = answer(202, RECEIPT);
const ONCE = { failures: 1, isRepeatable: false, random: () => 1 };

test("a send that is said again has the key that it had at first", async () => {
  const { tocsin, sent } = client([lost, answer(503, null), problem(429, "rate-limited"), problem(409, "idempotency-key-in-flight"), accepted]);

  const { idempotency_key: told, replayed, ...receipt } = await tocsin.send(INTENT);

  const keys = sent.map(({ headers }) => headers.get("idempotency-key"));
  assert.equal(sent.length, 5);
  assert.deepEqual([receipt, told, replayed], [RECEIPT, keys[0], false]);
  assert.match(keys[0], /^[0-9a-f-]{36}$/);
  assert.equal(new Set(keys).size, 1);
  assert.deepEqual(new Set(sent.map(({ body }) => JSON.stringify(body))), new Set([JSON.stringify(INTENT)]));
});

test("two sends have two keys, and the caller's own is taken as it is", async () => {
  const { tocsin, sent } = client([accepted]);

  await tocsin.send(INTENT);
  await tocsin.send(INTENT);
  await tocsin.send(INTENT, { idempotencyKey: "order-17" });
  await tocsin.send(INTENT, { idempotencyKey: 'a, "b"' });

  const keys = sent.map(({ headers }) => headers.get("idempotency-key"));
  assert.equal(new Set(keys).size, 4);
  assert.deepEqual(keys.slice(2), ["order-17", '"a, \\"b\\""']);
});

test("the intents of a batch are given keys once", async () => {
  const { tocsin, sent } = client([lost, answer(200, { results: [] })]);

  await tocsin.sendBatch([INTENT, { ...INTENT, idempotency_key: "mine" }]);

  assert.deepEqual(sent[0].body, sent[1].body);
  assert.match(sent[0].body.intents[0].idempotency_key, /^[0-9a-f-]{36}$/);
  assert.equal(sent[0].body.intents[1].idempotency_key, "mine");
});

test("an event without an id is given one that stays", async () => {
  const { tocsin, sent } = client([answer(504, null), answer(202, {})]);

  await tocsin.event({ source: "/shop", type: "order.paid" });

  assert.deepEqual(sent[0].body, sent[1].body);
  assert.equal(sent[0].headers.get("content-type"), "application/cloudevents+json");
});

test("the wait is anything up to a bound that doubles, and the bound ends", () => {
  const most = [1, 2, 3, 4, 5, 6, 7, 20].map((failures) => backoff(failures, () => 1));

  assert.deepEqual(most, [250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
  assert.equal(backoff(3, () => 0), 0);
});

test("what the server asks for is the least that is waited", async () => {
  const { tocsin, waits } = client([problem(429, "rate-limited", { "Retry-After": "7" }), accepted]);

  await tocsin.send(INTENT);

  assert.deepEqual(waits, [7250]);
});

test("Retry-After is seconds or a date, and whatever else it says is passed over", () => {
  const now = Date.parse("2026-11-18T00:00:00Z");

  assert.equal(retryAfterMs("3", now), 3000);
  assert.equal(retryAfterMs("Wed, 18 Nov 2026 00:00:05 GMT", now), 5000);
  assert.equal(retryAfterMs("Tue, 17 Nov 2026 00:00:05 GMT", now), 0);
  assert.equal(retryAfterMs("soon", now), undefined);
  assert.equal(retryAfterMs(null, now), undefined);
});

test("who is asked to wait for longer than a minute is told at once", async () => {
  const { tocsin, waits } = client([problem(429, "rate-limited", { "Retry-After": "61" })]);

  await assert.rejects(tocsin.send(INTENT), { kind: "rate-limited", retryAfterMs: 61_000 });

  assert.deepEqual(waits, []);
});

test("what is in doubt is said again only if that does no harm; what was not taken, always", () => {
  const decided = (failure, isRepeatable) => pause(failure, { ...ONCE, isRepeatable }) !== null;

  for (const failure of [{}, { status: 500 }, { status: 502 }, { status: 503 }, { status: 504 }]) {
    assert.equal(decided(failure, true), true);
    assert.equal(decided(failure, false), false);
  }
  assert.equal(decided({ status: 429 }, false), true);
  assert.equal(decided({ status: 409, kind: "event-in-flight" }, false), true);
  for (const status of [400, 401, 403, 404, 409, 422, 501]) assert.equal(decided({ status, kind: "other" }, true), false);
});

test("it gives up after so many tries, with the last thing that went wrong", async () => {
  const { tocsin, sent, waits } = client([lost]);

  const error = await tocsin.send(INTENT).catch((each) => each);
  assert.ok(error instanceof TocsinUnreachable);
  assert.equal(error.idempotencyKey, sent[0].headers.get("idempotency-key"), "who caught it can go on later");
  assert.deepEqual([sent.length, waits], [5, [250, 500, 1000, 2000]]);

  await assert.rejects(tocsin.send(INTENT, { maxRetries: 0 }), TocsinUnreachable);
  assert.equal(sent.length, 6);
});

test("another POST is not made twice unless the caller says that it may", async () => {
  const { tocsin, sent } = client([lost]);

  await assert.rejects(tocsin.request("POST", "/v1/api-keys", { body: {} }), TocsinUnreachable);
  assert.equal(sent.length, 1);

  await assert.rejects(tocsin.request("POST", "/v1/api-keys", { body: {}, repeatable: true }), TocsinUnreachable);
  assert.equal(sent.length, 6);
});

test("a try that takes too long counts as one without an answer", async () => {
  const { tocsin, sent } = client([hanging, accepted], { timeoutMs: 5 });

  assert.equal((await tocsin.send(INTENT)).notification_id, "n-1");
  assert.equal(sent.length, 2);

  const slow = client([hanging], { timeoutMs: 5, maxRetries: 0 });
  await assert.rejects(slow.tocsin.users.get("ada"), { name: "TocsinUnreachable", isTimeout: true, message: /no answer within 5 ms/ });
});

test("who calls it off is answered with their own reason, while it is asked and while it waits", async () => {
  const reason = new Error("the page was left");
  const asked = new AbortController();
  const asking = client([(...call) => (asked.abort(reason), hanging(...call))]);
  await assert.rejects(asking.tocsin.send(INTENT, { signal: asked.signal }), reason);
  assert.equal(asking.sent.length, 1);

  const waited = new AbortController();
  const waiting = client([lost], { sleep: undefined, random: () => 1 });
  setTimeout(() => waited.abort(reason), 5);
  await assert.rejects(waiting.tocsin.send(INTENT, { signal: waited.signal }), reason);
  assert.equal(waiting.sent.length, 1);

  const before = client([accepted]);
  await assert.rejects(before.tocsin.send(INTENT, { signal: AbortSignal.abort(reason) }), reason);
  assert.equal(before.sent.length, 0);
});
