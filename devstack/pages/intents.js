// The calls of the steps, as they are sent and as they are shown. Pure.

/**
 * Telling somebody: email, SMS and inbox. `isNew`: with their addresses, so that the same call makes them known.
 * Retries come soon, so that there is something to watch.
 */
export const telling = ({ id, email, phone }, words, idempotencyKey, { isNew }) => ({
  method: "POST",
  path: "/v1/intents",
  headers: { "Idempotency-Key": idempotencyKey },
  body: {
    type: "first.steps",
    audience: { kind: "users", user_ids: [isNew ? { id, email, phone } : id] },
    channels: ["email", "sms", "in_app"],
    payload: { title: "Hello from Tocsin", message: words },
    retry: { max_attempts: 10, base_ms: 2000 },
  },
});

export const asking = (notificationId) => ({ method: "GET", path: `/v1/notifications/${notificationId}` });
export const breaking = ({ email }) => ({ method: "PUT", path: "/_local/faults", body: { channel: "email", mode: "unavailable", match: email } });
export const mending = () => ({ method: "DELETE", path: "/_local/faults" });
export const faults = () => ({ method: "GET", path: "/_local/faults" });
export const letters = ({ email, phone }) => ({ method: "GET", path: `/_local/mailbox?${new URLSearchParams([["to", email], ["to", phone]])}` });
