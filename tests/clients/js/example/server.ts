/** A producer in TypeScript: what is right compiles, and what is wrong does not. */

import { Tocsin, TocsinProblem, TocsinUnreachable, WebhookNotVerified, verifyWebhook, type Intent, type Receipt } from "@tocsin/client";

const tocsin = new Tocsin({ url: "https://notify.example.com", key: "tcn_…", timeoutMs: 5_000, maxRetries: 2 });

const intent: Intent = {
  type: "order.shipped",
  audience: { kind: "users", user_ids: ["ada", { id: "bob", email: "bob@example.com", phone: null, attributes: { plan: "pro" } }] },
  channels: ["email", "in_app"],
  payload: { title: "Shipped", order: 17 },
};

export async function everything(signal: AbortSignal): Promise<string> {
  const receipt: Receipt = await tocsin.send(intent, { idempotencyKey: "order-17", signal });
  const short = await tocsin.send({ type: "hello", to: { id: "bob", email: "bob@example.com" }, title: "Hello", url: "https://x.example" });
  await tocsin.send({ type: "hello", to: ["ada", { id: "bob" }], payload: { name: "Bob" } });
  await tocsin.send({ type: "hello", to: { phone: "+4915112345678" }, message: short.idempotency_key });
  await tocsin.send({ type: "hello", to: { kind: "scope", scope: "depot" }, title: short.replayed ? "Again" : "Hello" });
  const outcome = await tocsin.send(intent, { wait: 5 });
  if ("routes" in outcome) console.log(outcome.routes.map((route) => route.reason));
  const results = await tocsin.sendBatch([{ ...intent, idempotency_key: "a" }, intent]);
  console.log(results.map((result) => result.problem?.kind ?? result.notification_id));
  const told = await tocsin.event({ source: "/shop", type: "order.paid", data: { mentions: ["ada"], amount: 3 } });
  const many = await tocsin.event([{ source: "/shop", type: "order.paid" }]);
  console.log(told.routed, many[0]?.outcome?.event_id);
  for await (const user of tocsin.users.list({ query: "ada", limit: 10 })) console.log(user.email?.length);
  for await (const one of tocsin.notifications.list({ since: new Date(0), channel: "sms" })) console.log(one.route_counts.published);
  const { timeline } = await tocsin.explain(receipt.notification_id);
  const erased = await tocsin.users.erase("ada");
  const counted = await tocsin.users.erase("ada", { dryRun: true });
  console.log(timeline.map(({ what, reason }) => `${what}: ${reason}`), erased.status, counted.would_erase, receipt.warnings?.[0]?.message);
  const { data } = await tocsin.request<{ scopes: string[] }>("GET", "/v1/me", { query: { verbose: true } });
  return (await tocsin.tokens.create("ada", { ttlSeconds: 600 })).token + data.scopes.join();
}

export async function receive(request: Request): Promise<Response> {
  try {
    const event = await verifyWebhook({ body: await request.text(), headers: request.headers, secret: ["whsec_old", "whsec_new"] });
    return Response.json(event.data);
  } catch (error) {
    if (error instanceof WebhookNotVerified) return new Response(null, { status: 401 });
    if (error instanceof TocsinProblem) console.log(error.kind, error.errors[0]?.pointer, error.requestId);
    if (error instanceof TocsinUnreachable) console.log(error.isTimeout, error.cause);
    throw error;
  }
}

// @ts-expect-error  there is no such audience
void tocsin.send({ type: "x", audience: { kind: "nobody" }, payload: {} });
// @ts-expect-error  a payload is required
void tocsin.send({ type: "x", audience: { kind: "tenant" } });
// @ts-expect-error  no such channel
void tocsin.send({ ...intent, channels: ["pigeon"] });
// @ts-expect-error  a user is not made without an id
void tocsin.send({ ...intent, audience: { kind: "users", user_ids: [{ email: "x@example.com" }] } });
// @ts-expect-error  nobody is named
void tocsin.send({ type: "x", title: "Hello" });
// @ts-expect-error  an event has a source
void tocsin.event({ type: "order.paid" });
