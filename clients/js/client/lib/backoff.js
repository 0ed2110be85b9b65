/** When a call that failed is made again, and how long that waits. No clock, no chance and no network of its own. */

const BASE_MS = 250;
const CAP_MS = 8_000;
/** Who is asked to wait longer is told so, instead of hanging. */
export const LONGEST_WAIT_MS = 60_000;

const IN_DOUBT = new Set([500, 502, 503, 504]); // 500: API Gateway says so of a function that crashed

/** Full jitter: anything from nothing to a bound that doubles. */
export function backoff(failures, random) {
  return random() * Math.min(CAP_MS, BASE_MS * 2 ** (failures - 1));
}

/** Whether another try can end better, and cannot do twice what is to be done once. No status: there was no answer. */
export function mayPass({ status, kind = "" }, isRepeatable) {
  if (status === 429) return true; // it was not taken
  if (status === 409) return kind.endsWith("-in-flight");
  return isRepeatable && (status === undefined || IN_DOUBT.has(status));
}

/** Milliseconds until the next try, or null when there is no use in one. What the server asks for is the least. */
export function pause(failure, { failures, isRepeatable, random }) {
  const asked = failure.retryAfterMs ?? 0;
  if (!mayPass(failure, isRepeatable) || asked > LONGEST_WAIT_MS) return null;
  return asked + backoff(failures, random);
}

/** `Retry-After` is seconds or a date. */
export function retryAfterMs(header, now) {
  if (!header) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
