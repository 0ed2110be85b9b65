/** Which request each method makes, and what it makes of the answer. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { inspect } from "node:util";
import { Tocsin, TocsinProblem, kindOf } from "../../../clients/js/client/index.js";
import { VERSION } from "../../../clients/js/client/lib/transport.js";
import { INTENT, KEY, RECEIPT, answer, client, lost, problem } from "./fake_fetch.mjs";

const lines = (sent) => sent.map(({ line, body }) => [line, body]);

test("each method is one call of the API", async () => {
  const { tocsin, sent } = client([answer(200, { results: [] })]);

  await tocsin.send(INTENT, { wait: 5 });
  await tocsin.cancel("n-1");
  await tocsin.explain("n-1");
  await tocsin.users.put("a/b", { email: "a@example.com" });
  await tocsin.users.patch("ada", { phone: null });
  await tocsin.users.get("ada");
  await tocsin.users.erase("ada");
  await tocsin.users.erase("ada", { dryRun: true });
  await tocsin.tokens.create("ada");
  await tocsin.tokens.create("ada", { ttlSeconds: 60 });
  await tocsin.event([{ source: "/s", type: "t", id: "e-1" }]);

  assert.deepEqual(lines(sent), [
    ["POST /v1/intents/wait", INTENT],
    ["POST /v1/notifications/n-1/cancel", undefined],
    ["GET /v1/notifications/n-1", undefined],
    ["PUT /v1/users/a%2Fb", { email: "a@example.com" }],
    ["PATCH /v1/users/ada", { phone: null }],
    ["GET /v1/users/ada", undefined],
    ["POST /v1/users/ada/erase", { dry_run: false }],
    ["POST /v1/users/ada/erase", { dry_run: true }],
    ["POST /v1/users/ada/tokens", {}],
    ["POST /v1/users/ada/tokens", { ttl_seconds: 60 }],
    ["POST /v1/events", [{ specversion: "1.0", source: "/s", type: "t", id: "e-1" }]],
  ]);
  assert.equal(sent[0].headers.get("prefer"), "wait=5");
  assert.equal(sent[1].headers.get("content-type"), null);
  assert.equal(sent.at(-1).headers.get("content-type"), "application/cloudevents-batch+json");
  assert.ok(sent.every(({ headers }) => headers.get("authorization") === `Bearer ${KEY}`));
});

test("who waits no time does not wait", async () => {
  const { tocsin, sent } = client([answer(202, RECEIPT)]);

  for (const wait of [0, null, undefined]) await tocsin.send(INTENT, { wait });

  assert.deepEqual(sent.map(({ line, headers }) => [line, headers.get("prefer")]), Array(3).fill(["POST /v1/intents", null]));
});

test("an intent may be written the short way", async () => {
  const { tocsin, sent } = client([answer(200, { results: [] }, { "Idempotency-Replayed": "true" })]);
  const written = { type: "t", title: "Hello", message: "In full.", url: "https://x.example", payload: { order: 17 } };
  const payload = { order: 17, title: "Hello", message: "In full.", url: "https://x.example" };

  const { replayed } = await tocsin.send({ ...written, to: "ada" });
  await tocsin.sendBatch([{ type: "t", to: ["ada", { id: "bob", email: "bob@example.com" }], title: "Hello", idempotency_key: "k" }]);
  for (const to of [{ id: "bob", phone: null }, { email: "c@example.com" }, { kind: "scope", scope: "depot" }]) await tocsin.send({ type: "t", to });

  assert.equal(replayed, true);
  assert.deepEqual(sent[0].body, { type: "t", audience: { kind: "users", user_ids: ["ada"] }, payload });
  const both = { kind: "users", user_ids: ["ada", { id: "bob", email: "bob@example.com" }] };
  assert.deepEqual(sent[1].body.intents, [{ type: "t", audience: both, payload: { title: "Hello" }, idempotency_key: "k" }]);
  assert.deepEqual(sent.slice(2).map(({ body }) => body.audience), [
    { kind: "users", user_ids: [{ id: "bob", phone: null }] },
    { kind: "address", email: "c@example.com" },
    { kind: "scope", scope: "depot" },
  ]);
  await assert.rejects(tocsin.send({ ...INTENT, to: "ada" }), /not both/);
  for (const to of [null, 17, {}]) await assert.rejects(tocsin.send({ type: "t", to }), /`to` is/);
});

test("a list is read page by page, as far as it is looked at", async () => {
  const page = (ids, next) => answer(200, { data: ids.map((id) => ({ id })), next_cursor: next });
  const { tocsin, sent } = client([page(["a", "b"], "c1"), page(["c"], null)]);
  const found = [];

  for await (const user of tocsin.users.list({ query: "a" })) found.push(user.id);

  assert.deepEqual(found, ["a", "b", "c"]);
  assert.deepEqual(lines(sent), [
    ["GET /v1/users?query=a&limit=200", undefined],
    ["GET /v1/users?query=a&cursor=c1&limit=200", undefined],
  ]);
});

test("a list ends at its limit, and a time may be a Date", async () => {
  const { tocsin, sent } = client([answer(200, { data: [{}, {}], next_cursor: "c1" })]);
  let count = 0;

  for await (const _ of tocsin.notifications.list({ limit: 2, since: new Date(0), status: "published" })) count += 1;

  assert.equal(count, 2);
  assert.deepEqual(lines(sent), [["GET /v1/notifications?since=1970-01-01T00%3A00%3A00.000Z&status=published&limit=2", undefined]]);
});

test("any other call can be made, and what came with the answer is there", async () => {
  const { tocsin, sent } = client([answer(200, { ok: true }, { "X-Request-Id": "r-9", ETag: '"1"' })]);

  const { status, data, headers, requestId } = await tocsin.request("PUT", "/v1/kv/stock/a", { body: false, query: { x: 1, y: undefined } });

  assert.deepEqual([status, data, headers.get("etag"), requestId], [200, { ok: true }, '"1"', "r-9"]);
  assert.deepEqual(lines(sent), [["PUT /v1/kv/stock/a?x=1", false]]);
});

test("a problem is an exception that says what, where and which request", async () => {
  const errors = [{ pointer: "/audience/user_ids", message: "zoe is not known" }];
  const { tocsin } = client([problem(422, "unknown-users", {}, { errors })]);

  const error = await tocsin.send(INTENT).catch((each) => each);

  assert.ok(error instanceof TocsinProblem && error instanceof Error);
  const { status, kind, title, detail, requestId } = error;
  assert.deepEqual({ status, kind, title, detail, requestId }, { status: 422, kind: "unknown-users", title: "No", detail: "Because.", requestId: "r-1" });
  assert.deepEqual(error.errors, errors);
  assert.equal(error.message, "No. Because. /audience/user_ids zoe is not known (422, unknown-users, request r-1)");
});

test("the kind is what stands after the #, also where nothing stands before it", () => {
  assert.equal(kindOf({ type: "/errors#forbidden" }), "forbidden");
  assert.equal(kindOf({ type: "https://notify.example.com/errors#forbidden" }), "forbidden");
  assert.equal(kindOf({ type: "forbidden" }), "forbidden");
  assert.equal(kindOf({}), "");
});

test("a result of a batch that was refused has its problem", async () => {
  const refused = { type: "/errors#invalid-request", title: "No", status: 422, detail: "", request_id: "r" };
  const results = [{ idempotency_key: "a", status: 202, notification_id: "n" }, { idempotency_key: "b", status: 422, problem: refused }];
  const { tocsin } = client([answer(200, { results })]);

  const [good, bad] = await tocsin.sendBatch([INTENT, INTENT]);

  assert.deepEqual(good, results[0]);
  assert.ok(bad.problem instanceof TocsinProblem);
  assert.deepEqual([bad.problem.kind, bad.problem.requestId], ["invalid-request", "r"]);
});

test("what answers instead of Tocsin is told as it is", async () => {
  const gateway = client([answer(403, { message: "Forbidden" }, { "X-Request-Id": "g-1" })]);
  await assert.rejects(gateway.tocsin.users.get("ada"), { kind: "http-403", title: "Forbidden", requestId: "g-1" });

  const page = client([() => new Response("<html>", { status: 200, headers: { "Content-Type": "text/html" } })]);
  await assert.rejects(page.tocsin.users.get("ada"), /answered with text\/html, not with JSON/);
  assert.equal(page.sent.length, 1);

  const elsewhere = client([answer(307, {}, { Location: "https://elsewhere.example/" })]);
  await assert.rejects(elsewhere.tocsin.users.get("ada"), { status: 307 });
  assert.equal(elsewhere.sent[0].init.redirect, "manual");
});

test("nobody sees the key who looks at a client, at what went wrong, or at a request that failed", async () => {
  const { tocsin } = client([lost], { maxRetries: 0 });
  const refused = client([problem(401, "unauthorized")]);
  const shown = [tocsin, await tocsin.users.get("ada").catch((error) => error), await refused.tocsin.users.get("ada").catch((error) => error)];

  for (const each of shown) {
    for (const text of [inspect(each, { depth: 20, showHidden: true }), JSON.stringify(each), String(each), each.stack ?? ""]) {
      assert.ok(!text.includes("secret"), text);
    }
  }
  for (const key of ["tcn_secret\nsecret", "tcn_secret€"]) {
    assert.throws(() => new Tocsin({ url: "https://x.example", key }), (error) => error instanceof TypeError && !inspect(error).includes("secret"));
  }
});

test("address and key come from the environment where they are not given, and are asked for where they are nowhere", async () => {
  const { TOCSIN_URL, TOCSIN_KEY } = process.env;
  const sent = [];
  const fetch = async (url, { headers }) => (sent.push([url.href, headers.get("authorization")]), answer(202, RECEIPT)());
  try {
    Object.assign(process.env, { TOCSIN_URL: "https://env.example/prod/", TOCSIN_KEY: "tcn_env" });
    await new Tocsin({ fetch }).send(INTENT);
    assert.deepEqual(sent, [["https://env.example/prod/v1/intents", "Bearer tcn_env"]]);
    delete process.env.TOCSIN_KEY;
    assert.throws(() => new Tocsin(), /needs an API key/);
    delete process.env.TOCSIN_URL;
    assert.throws(() => new Tocsin({ key: KEY }), /needs the address/);
  } finally {
    for (const [name, value] of Object.entries({ TOCSIN_URL, TOCSIN_KEY })) if (value !== undefined) process.env[name] = value;
  }
  for (const url of ["ftp://x.example", "https://ada:pass@x.example"]) assert.throws(() => new Tocsin({ url, key: KEY }), /http or https/);
  assert.throws(() => new Tocsin({ url: "http://notify.example.com", key: KEY }), /Over http/);
  for (const url of ["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"]) assert.ok(new Tocsin({ url, key: KEY }));
  assert.ok(new Tocsin({ url: "http://notify.internal", key: KEY, allowHttp: true }));
});

test("in a browser a server key is refused, and a user token is not", () => {
  globalThis.document = {};
  try {
    const url = "https://notify.example.com";
    assert.throws(() => new Tocsin({ url, key: KEY }), /everybody who opens the page could read the API key/);
    assert.ok(new Tocsin({ url, key: KEY, dangerouslyAllowBrowser: true }));
    assert.ok(new Tocsin({ url, key: "header.payload.signature" }));
  } finally {
    delete globalThis.document;
  }
});

test("an id that would lead to another path is refused", async () => {
  const { tocsin, sent } = client([answer(200)]);

  for (const id of ["..", ".", "", undefined]) await assert.rejects(tocsin.users.get(id), /An id is a word/);
  await assert.rejects(tocsin.request("GET", "v1/me"), /begins with a slash/);

  assert.equal(sent.length, 0);
});

test("the version that is told is the package's", async () => {
  const { version } = JSON.parse(await readFile(new URL("../../../clients/js/client/package.json", import.meta.url)));

  assert.equal(VERSION, version);
});
