/** Which webhooks are taken for Tocsin's. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import test from "node:test";
import { WebhookNotVerified, verifyWebhook } from "../../../clients/js/client/index.js";

const OLD = `whsec_${Buffer.from("the old secret, 24 bytes").toString("base64")}`;
const NEW = `whsec_${Buffer.from("the new secret, 24 bytes").toString("base64")}`;
const EVENT = { type: "notification.published", timestamp: "2026-11-18T00:00:00Z", data: { notification_id: "n-1", title: "Grüße" } };
const BODY = JSON.stringify(EVENT);
const NOW = 1_800_000_000_000;

function signed(secrets, { body = BODY, at = NOW / 1000 } = {}) {
  const sign = (secret) => createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`msg-1.${at}.${body}`).digest("base64");
  return { "webhook-id": "msg-1", "webhook-timestamp": String(at), "webhook-signature": secrets.map((secret) => `v1,${sign(secret)}`).join(" ") };
}

const verify = (more) => verifyWebhook({ body: BODY, headers: signed([NEW]), secret: NEW, now: NOW, ...more });

test("what a secret signed is the event, however body and headers come", async () => {
  const bytes = new TextEncoder().encode(BODY);
  for (const body of [BODY, bytes, bytes.buffer, Buffer.from(BODY)]) assert.deepEqual(await verify({ body }), EVENT);
  assert.deepEqual(await verify({ headers: new Headers(signed([NEW])) }), EVENT);
  const shouted = Object.entries(signed([NEW])).map(([name, value]) => [name.toUpperCase(), value]);
  assert.deepEqual(await verify({ headers: Object.fromEntries(shouted) }), EVENT);
});

test("while a secret is changed, either of them will do on either side", async () => {
  assert.deepEqual(await verify({ headers: signed([NEW, OLD]), secret: OLD }), EVENT);
  assert.deepEqual(await verify({ headers: signed([OLD]), secret: [NEW, OLD] }), EVENT);
  await assert.rejects(verify({ headers: signed([OLD]), secret: NEW }), WebhookNotVerified);
});

test("what was changed on the way, is old, or has no signature of ours is refused", async () => {
  const refused = (more) => assert.rejects(verify(more), WebhookNotVerified);

  await refused({ body: BODY.replace("n-1", "n-2") });
  await refused({ headers: { ...signed([NEW]), "webhook-id": "msg-2" } });
  await refused({ headers: signed([NEW], { at: NOW / 1000 - 301 }) });
  await refused({ headers: signed([NEW], { at: NOW / 1000 + 301 }) });
  await refused({ headers: { ...signed([NEW]), "webhook-timestamp": "NaN" } });
  await refused({ headers: {} });
  for (const signature of ["", "v1,", "v1,***", "v1a,AAAA", "nonsense"]) await refused({ headers: { ...signed([NEW]), "webhook-signature": signature } });
});

test("how old is too old can be said", async () => {
  assert.deepEqual(await verify({ headers: signed([NEW], { at: NOW / 1000 - 301 }), toleranceSeconds: 600 }), EVENT);
});

test("a secret that is none, or a body that was parsed, is the caller's mistake and says so", async () => {
  for (const secret of [undefined, "", "whsec_", "whsec_***"]) await assert.rejects(verify({ secret }), /A webhook's secret/);
  await assert.rejects(verify({ body: EVENT }), /as it came in/);
});
