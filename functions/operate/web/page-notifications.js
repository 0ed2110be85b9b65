// Notifications: the list, and the way to one of them or to an event.
import { EventDetail } from "./event-detail.js";
import { List, SINCE_UNTIL } from "./list.js";
import { NotificationDetail } from "./notification-detail.js";
import { Audience, Counts, STATUSES } from "./notification-parts.js";
import { channelTitle } from "./reasons.js";
import { href } from "./router.js";
import { Ago, Badge, PageHead } from "./ui.js";
import { html } from "./view.js";

const FILTERS = [
  { name: "user_id", label: "User", placeholder: "exact id" },
  { name: "type", label: "Type", placeholder: "exact name" },
  { name: "status", label: "Status", options: STATUSES },
  { name: "channel", label: "Channel", options: ["email", "sms", "push", "in_app", "webhook"].map((each) => [each, channelTitle(each)]) },
  { name: "producer", label: "Producer", placeholder: "exact name" },
  ...SINCE_UNTIL,
];

const COLUMNS = [
  { name: "type", label: "Type", show: (row) => html`<span dir="auto">${row.type}</span>${row.mode === "test" ? html` <${Badge} tone="warn">test<//>` : ""}` },
  { name: "audience", label: "To", show: (row) => html`<${Audience} of=${row.audience} />` },
  { name: "status", label: "Status", show: (row) => html`<${Badge} status=${row.status} tone=${row.status === "finished" ? "mute" : undefined} />` },
  { name: "routes", label: "Routes", wide: true, show: (row) => html`<${Counts} counts=${row.route_counts} />` },
  { name: "producer", label: "Producer", show: (row) => html`<span class="mute">${row.producer}</span>` },
  { name: "accepted_at", label: "Accepted", end: true, show: (row) => html`<span class="nowrap"><${Ago} at=${row.accepted_at} /></span>` },
];

export default function Notifications({ route }) {
  if (route.parts[1] === "event") return html`<${EventDetail} key=${route.parts[2]} id=${route.parts[2] ?? ""} />`;
  if (route.parts[1]) return html`<${NotificationDetail} key=${route.parts[1]} id=${route.parts[1]} query=${route.query} />`;
  return html`<${PageHead} title="Notifications">Newest first. Open one to read in sentences what became of it, for whom, and why. To begin with a person or an address, use the search above.<//>
    <${List} path=${["notifications"]} filters=${FILTERS} columns=${COLUMNS} keyOf=${(row) => row.notification_id} to=${(row) => href(["notifications", row.notification_id])}
      label="Notifications" empty=${{ title: "No notification yet.", text: html`Producers send them with <code>POST /v1/intents</code>, or tell of events with <code>POST /v1/events</code>.` }} />`;
}
