// Malformed intents in words: what is wrong, what to do, and the text that is repaired. Pure.
import { words } from "./format.js";
import { written } from "./json-text.js";

export const CODES = [
  ["schema", "does not have the shape of an intent"],
  ["invalid_json", "is no JSON"],
  ["too_large", "is too large"],
  ["recipient_not_found", "names a user who is not known"],
  ["already_taken", "gives a user an email or username that another one has"],
  ["unknown_template", "names a template that is not known"],
  ["missing_variables", "lacks what its template needs"],
  ["nothing_to_say", "has nothing to say"],
  ["idempotency_conflict", "has the key of another message"],
  ["unknown_tenant", "names a tenant that is not known"],
  ["tenant_suspended", "is for a tenant that is suspended"],
];
export const codeWords = (code) => Object.fromEntries(CODES)[code] ?? words(code).toLowerCase();

const ADVICE = {
  recipient_not_found: "Make the user known, then accept it as it came.",
  already_taken: "Correct the address below, or take it from the user who has it; then accept it.",
  unknown_template: "Publish the template, then accept it as it came.",
  idempotency_conflict: "Its key belongs to another message: give it a new idempotency_key, or put it aside.",
  unknown_tenant: "It was for another tenant: have it sent again once there is one, and put this aside.",
};
export const adviceOn = (code) => ADVICE[code] ?? "Repair it below and accept it, or put it aside.";

export const standing = (row) =>
  ({ accepted: { word: "accepted", tone: "good" }, ignored: { word: "ignored", tone: "mute" } })[row.resolution] ?? (row.resolution ? { word: words(row.resolution).toLowerCase(), tone: "mute" } : { word: "unresolved", tone: "warn" });

/** Of what was too long or unreadable only the beginning was kept. */
export const isFragment = (raw) => Object.keys(raw).sort().join() === "beginning,length";

/** What is repaired: the text as it came, without the envelope, which stays the message's own. */
export function textOf(raw) {
  if (isFragment(raw)) return raw.beginning;
  const { producer, tenant_id, ...intent } = raw;
  return written(intent);
}

/** The envelope has no place in a repaired intent, also where it stood in an unreadable text. */
export function withoutEnvelope(intent) {
  if (!intent || typeof intent !== "object" || Array.isArray(intent)) return intent;
  const { producer, tenant_id, ...rest } = intent;
  return rest;
}
