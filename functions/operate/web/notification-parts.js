// What lists and pages of notifications share.
import { many, number, words } from "./format.js";
import { Badge } from "./ui.js";
import { html } from "./view.js";

/** The troubled first. */
export const ORDER = ["dead_letter", "failed", "pending", "skipped", "cancelled", "published"];

/** What filters take, in the words that badges show: of a route, and of a notification or one of its routes. */
export const ROUTE_STATUSES = ["pending", "failed", "published", "dead_letter", "skipped", "cancelled"].map((each) => [each, words(each).toLowerCase()]);
export const STATUSES = [
  ...["accepted", "in_progress", "finished"].map((each) => [each, words(each).toLowerCase()]),
  ...ROUTE_STATUSES.map(([each, title]) => [each, each === "dead_letter" ? "dead letter, or with one" : `with a route ${title}`]),
];

/** How many routes are where, the troubled first. */
export function Counts({ counts }) {
  const told = ORDER.filter((status) => counts[status]);
  if (!told.length) return html`<span class="mute">none yet</span>`;
  return html`<span class="badges">${told.map((status) => html`<${Badge} key=${status} status=${status}>${number(counts[status])} ${words(status).toLowerCase()}<//>`)}</span>`;
}

export function Audience({ of }) {
  const ids = of.user_ids ?? [];
  if (ids.length) return html`<span dir="auto">${ids[0]}</span>${ids.length > 1 ? html` <span class="mute">and ${many(ids.length - 1, "other")}</span>` : ""}`;
  const named = { address: "an address", tenant: "everyone", thread: "a thread", scope: "a scope", event: "an event's audience", digest: "a digest", users: "users" };
  return html`<span class="mute">${named[of.kind] ?? words(of.kind).toLowerCase()}${of.scope ? html` <code>${of.scope}</code>` : ""}</span>`;
}
