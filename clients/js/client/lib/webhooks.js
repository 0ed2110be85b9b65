/** What comes in by webhook: is it Tocsin's, and is it fresh? Standard Webhooks 1.0.0. */

import { crypto } from "#crypto";

const TOLERANCE_SECONDS = 300;

/** Somebody else wrote this, or it is too old: answer 401 and do nothing. */
export class WebhookNotVerified extends Error {
  name = "WebhookNotVerified";
}

/**
 * The event, if one of the secrets signed it; else throws WebhookNotVerified. `body` as it came in, byte for byte.
 * While a secret is changed, give the old and the new one.
 */
export async function verifyWebhook({ body, headers, secret, toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() }) {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => headerOf(headers, name));
  if (!id || !timestamp || !signatures) throw new WebhookNotVerified("The headers of a webhook are missing.");
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookNotVerified("The webhook is too old, or from the future.");
  }
  const bytes = bytesOf(body);
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const given = signatures.split(" ").filter((one) => one.startsWith("v1,")).map((one) => decoded(one.slice(3)));
  for (const one of [secret].flat()) {
    const key = await keyOf(one);
    for (const signature of given) {
      if (signature && (await crypto.subtle.verify("HMAC", key, signature, signed))) return JSON.parse(new TextDecoder().decode(bytes));
    }
  }
  throw new WebhookNotVerified("None of the secrets signed this webhook.");
}

function bytesOf(body) {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new Uint8Array(body.buffer ?? body, body.byteOffset, body.byteLength);
  throw new TypeError("The body is needed as it came in: text or bytes, not what was parsed from it.");
}

async function keyOf(secret) {
  const bytes = typeof secret === "string" ? decoded(secret.trim().replace(/^whsec_/, "")) : null;
  if (!bytes?.length) throw new TypeError("A webhook's secret is `whsec_` and Base64.");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function decoded(base64) {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function joined(first, second) {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** From a `Headers`, or from an object as Node's servers have it. */
function headerOf(headers, name) {
  if (typeof headers?.get === "function") return headers.get(name);
  const found = Object.entries(headers ?? {}).find(([each]) => each.toLowerCase() === name);
  return found && String(found[1]);
}
