/** The client for servers against a running stack: TOCSIN_URL and TOCSIN_KEY are its own. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import test from "node:test";
import { setTimeout } from "node:timers/promises";
import { Tocsin, TocsinProblem, WebhookNotVerified, verifyWebhook } from "../../clients/js/client/index.js";

const tocsin = new Tocsin();
const name = (word) => `${word}-${randomUUID().slice(0, 8)}`;
const refusal = (promise) => promise.then(() => assert.fail("it was not refused"), (error) => error);
const note = (audience, more) => ({ type: "note", audience, channels: ["in_app"], payload: { title: "Hello" }, ...more });
const people = (...ids) => ({ kind: "users", user_ids: ids });

/** On a busy machine a wait may be over before the outcome is there. */
async function finished(id) {
  for (;;) {
    const found = await tocsin.explain(id);
    if (found.status === "finished") return found;
    await setTimeout(50);
  }
}

test("a person is made, sent to, explained and erased", async () => {
  const ada = name("ada");
  const made = await tocsin.users.put(ada, { email: `${ada}@example.com`, attributes: { plan: "pro" } });
  assert.deepEqual([made.id, made.attributes], [ada, { plan: "pro" }]);
  assert.equal((await tocsin.users.patch(ada, { phone: "+4915112345678" })).email, `${ada}@example.com`);

  const { notification_id: id } = await tocsin.send(note(people(ada)), { wait: 20 });

  const why = await finished(id);
  assert.deepEqual(why.routes.map(({ channel, status }) => [channel, status]), [["in_app", "published"]]);
  assert.ok(why.timeline.some(({ what, reason }) => what === "published" && reason === "in the inbox"), JSON.stringify(why.timeline));
  const found = [];
  for await (const one of tocsin.notifications.list({ user_id: ada, since: new Date(0) })) found.push(one.notification_id);
  assert.deepEqual(found, [id]);
  const listed = [];
  for await (const user of tocsin.users.list({ query: ada })) listed.push(user.id);
  assert.deepEqual(listed, [ada]);

  assert.equal((await tocsin.users.erase(ada, { dryRun: true })).dry_run, true);
  assert.equal((await tocsin.users.erase(ada)).status, "finished");
  assert.equal((await refusal(tocsin.users.get(ada))).kind, "not-found");
});

test("who is not known yet is made by the send itself, and what cannot reach them is said", async () => {
  const fay = name("fay");

  const receipt = await tocsin.send({ type: "note", to: { id: fay, email: `${fay}@example.com` }, title: "Hello", channels: ["email", "sms"] });

  assert.equal((await tocsin.users.get(fay)).email, `${fay}@example.com`);
  assert.deepEqual(receipt.warnings.map(({ pointer }) => pointer), ["/audience/user_ids/0"]);
  assert.match(receipt.warnings[0].message, /no phone/);
  const [taken] = await tocsin.sendBatch([{ type: "note", to: { id: name("gil"), email: `${fay}@example.com` }, title: "Hello" }]);
  assert.deepEqual([taken.status, taken.problem.kind], [409, "already-taken"]);
});

test("a send with the same key is the same send", async () => {
  const intent = note({ kind: "address", email: "bea@example.com" }, { channels: ["email"] });
  const idempotencyKey = name("a, b");

  const [first, second] = [await tocsin.send(intent, { idempotencyKey }), await tocsin.send(intent, { idempotencyKey })];

  assert.equal(first.notification_id, second.notification_id);
  assert.equal((await refusal(tocsin.send({ ...intent, type: "other" }, { idempotencyKey }))).kind, "idempotency-key-reused");
});

test("of a batch each has its own end", async () => {
  const cem = note({ kind: "address", email: "cem@example.com" }, { channels: ["email"] });

  const [good, bad] = await tocsin.sendBatch([cem, note(people(name("nobody")))]);

  assert.deepEqual([good.status, bad.status, bad.problem.kind], [202, 422, "unknown-users"]);
});

test("what was refused says what, where, and in which request", async () => {
  const nobody = name("nobody");

  const error = await refusal(tocsin.send(note(people(nobody))));

  assert.ok(error instanceof TocsinProblem);
  assert.deepEqual([error.status, error.kind, error.errors[0].pointer.startsWith("/audience/user_ids")], [422, "unknown-users", true]);
  assert.match(error.requestId, /^[\w-]+/);
  assert.ok(error.message.includes(nobody) && error.message.includes(error.requestId));
  assert.equal((await refusal(new Tocsin({ key: "tcn_live_wrong" }).users.get("ada"))).kind, "unauthorized");
});

test("what waits for its time is cancelled", async () => {
  const later = new Date(Date.now() + 3600e3).toISOString();
  const { notification_id: id } = await tocsin.send(note({ kind: "address", email: "dan@example.com" }, { channels: ["email"], send_at: later }));

  assert.equal((await tocsin.cancel(id)).status, "cancelled");
});

test("an event is recorded once", async () => {
  const event = { source: "/js", id: name("event"), type: name("nothing.routed"), data: { title: "Hm" } };

  const [first, again] = [await tocsin.event(event), await tocsin.event([event])];

  assert.deepEqual([first.status, first.routed, again[0].outcome.status], ["accepted", false, "duplicate"]);
  assert.equal(first.notification_id, again[0].outcome.notification_id);
});

test("a user token is good for that person's inbox, from a browser too", async () => {
  const eve = name("eve");
  await tocsin.users.put(eve, {});
  const { token, expires_at: until } = await tocsin.tokens.create(eve, { ttlSeconds: 600 });

  const asEve = new Tocsin({ key: token });

  assert.ok(Math.abs(Date.parse(until) - Date.now() - 600e3) < 60e3);
  assert.deepEqual((await asEve.request("GET", "/v1/inbox/unread-count")).data, { unread: 0, unseen: 0, capped: false });
});

test("a webhook that the service sends is verified, and one that was changed is not", async () => {
  const heard = [];
  let tell;
  const told = new Promise((resolve) => (tell = resolve));
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    heard.push({ headers: request.headers, body: Buffer.concat(parts) });
    response.writeHead(204).end(tell);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${server.address().port}/hook`;
    const { data: hook } = await tocsin.request("POST", "/v1/webhooks", { body: { url, events: ["notification.published"] } });
    await tocsin.request("POST", `/v1/webhooks/${hook.id}/test`);
    await told;
    await tocsin.request("DELETE", `/v1/webhooks/${hook.id}`);

    const event = await verifyWebhook({ ...heard[0], secret: hook.secret });

    assert.equal(event.type, "webhook.test");
    await assert.rejects(verifyWebhook({ ...heard[0], body: `${heard[0].body} `, secret: hook.secret }), WebhookNotVerified);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
