/** Tocsin for servers: see README.md. */

export { TocsinProblem, TocsinUnreachable, kindOf } from "./lib/problems.js";
export { Tocsin } from "./lib/tocsin.js";
export { WebhookNotVerified, verifyWebhook } from "./lib/webhooks.js";
