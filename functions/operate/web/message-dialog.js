// The message of a route as it was sent, or would be, in a dialog.
import { get } from "./api.js";
import { MessagePreview } from "./message-preview.js";
import { useLoaded } from "./poll.js";
import { channelTitle, explain, person } from "./reasons.js";
import { href } from "./router.js";
import { can } from "./session.js";
import { Badge, Facts, Loaded, Notice, Time, dialog } from "./ui.js";
import { html } from "./view.js";

export const showMessage = (notificationId, route) =>
  dialog({
    title: `${channelTitle(route.channel)} to ${person(route.recipient)}`,
    wide: true,
    body: ({ close }) => html`<${Message} notificationId=${notificationId} route=${route} close=${close} />`,
  });

function Message({ notificationId, route, close }) {
  const loaded = useLoaded((signal) => get(["notifications", notificationId, "routes", route.route_id, "message"], {}, { signal }), []);
  if (loaded.error?.status === 409) return html`<${Notice} tone="warn" title=${loaded.error.title}>${loaded.error.message}<//>`;
  return html`<${Loaded} of=${loaded}>${(message) => html`<div class="stack">
    <div class="row"><${Badge} tone=${message.as_sent ? "good" : "warn"}>${message.as_sent ? "as sent" : "not as sent"}<//><span class="grow" dir="auto">${coded(plainNote(message.note, route))}</span></div>
    <${MessagePreview} channel=${message.channel} subject=${message.subject} html=${message.html} text=${message.text} url=${message.url} sms=${message.sms}
      label=${`The ${channelTitle(message.channel)} message`} />
    <${Facts} rows=${[
      ["Sent", message.sent_at ? html`<${Time} at=${message.sent_at} />` : undefined],
      ["Copies to", message.cc?.length ? html`<span dir="auto">${message.cc.join(", ")}</span>` : undefined],
      ["Answers go to", message.reply_to ? html`<span dir="auto">${message.reply_to}</span>` : undefined],
      ["Files", message.attachments?.length ? html`<span dir="auto">${message.attachments.join(", ")}</span>` : undefined],
      ["Template", message.template ? html`<${Template} of=${message.template} close=${close} />` : undefined],
      ...Object.entries(message.headers ?? {}).map(([name, value]) => [name, html`<span class="mono" dir="auto">${value}</span>`]),
    ]} /></div>`}<//>`;
}

function Template({ of, close }) {
  const named = `${of.name}, version ${of.version}${of.locale && of.locale !== "default" ? `, ${of.locale}` : ""}`;
  return can("manage") ? html`<a href=${href(["templates", of.name])} onClick=${() => close()}>${named}</a>` : named;
}

/** The API's note names the reason as the service writes it; here it is explained. */
const plainNote = (note, route) => (route.reason ? note.replace(`${route.status}: ${route.reason}`, explain(route.reason, route).says) : note).replace("(dead_letter", "(dead letter");
const coded = (note) => note.split("`").map((part, index) => (index % 2 ? html`<code key=${index}>${part}</code>` : part));
