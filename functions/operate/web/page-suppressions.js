// Suppressions: addresses that get nothing, and why; added and lifted by hand.
import { post, remove } from "./api.js";
import { form } from "./form.js";
import { List } from "./list.js";
import { href } from "./router.js";
import { can } from "./session.js";
import { Action, Ago, ask, Badge, Copy, PageHead, SelectField, TextField, Time, toast } from "./ui.js";
import { html, useState } from "./view.js";

const REASONS = { hard_bounce: "The mailbox does not exist", complaint: "A person marked it as spam", unsubscribe: "They unsubscribed", manual: "Put here by hand", soft_bounces: "Bounced too often lately" };
const CHANNELS = [["email", "email"], ["sms", "sms"]];

export default function Suppressions() {
  const [turn, setTurn] = useState(0);
  const again = () => setTurn((old) => old + 1);
  const columns = [
    { name: "address", label: "Address", wide: true, show: (one) => (one.address ? html`<${Copy} value=${one.address} />` : html`<span class="mute">erased; its hash still holds</span>`) },
    { name: "channel", label: "Channel", show: (one) => one.channel },
    { name: "type", label: "Of type", show: (one) => one.notification_type || html`<span class="mute">everything</span>` },
    { name: "reason", label: "Why", show: (one) => html`<${Badge} tone=${one.reason === "complaint" ? "bad" : "mute"}>${one.reason.replaceAll("_", " ")}<//> <span class="mute">${REASONS[one.reason] ?? ""}</span>` },
    { name: "from", label: "Caused by", show: (one) => (one.source_notification_id && can("read") ? html`<a href=${href(["notifications", one.source_notification_id])}>notification</a>` : null) },
    { name: "created", label: "Since", show: (one) => html`<${Time} at=${one.created_at} />` },
    { name: "until", label: "Until", show: (one) => (one.expires_at ? html`<${Ago} at=${one.expires_at} />` : html`<span class="mute">for good</span>`) },
    { name: "lift", label: "", end: true, show: (one) => (one.reason === "complaint" && !can("operate") ? null : html`<${Action} small run=${() => lift(one, again)}>Lift<//>`) },
  ];
  return html`<${PageHead} title="Suppressions" actions=${html`<${Action} tone="primary" icon="plus" run=${() => add(again)}>Suppress an address<//>`}>
      Nothing is sent to these addresses. Hard bounces, complaints and unsubscribing put them here; an inbox is never suppressed.<//>
    <${List} again=${turn} path=${["suppressions"]} label="Suppressed addresses" columns=${columns} seconds=${30}
      filters=${[{ name: "address", label: "Address", wide: true }, { name: "channel", label: "Channel", options: CHANNELS }]}
      empty=${{ title: "No address is suppressed.", text: "The first hard bounce, complaint or unsubscription appears here." }} />`;
}

async function add(again) {
  const made = await form({
    title: "Suppress an address",
    verb: "Suppress it",
    names: ["address", "notification_type"],
    initial: { channel: "email", address: "", notification_type: "" },
    save: ({ channel, address, notification_type }) => post(["suppressions"], { channel, address: address.trim(), ...(notification_type && { notification_type }) }),
    fields: ({ values, set, errors }) => html`
      <${SelectField} label="Channel" value=${values.channel} set=${set("channel")} options=${CHANNELS} />
      <${TextField} label="Address" value=${values.address} set=${set("address")} error=${errors.address} hint="An email address, or a phone number such as +14155550100." required />
      <${TextField} label="Only this type (optional)" value=${values.notification_type} set=${set("notification_type")} error=${errors.notification_type} hint="Empty: everything by this channel." />`,
  });
  if (!made) return;
  again();
  toast("The address is suppressed.", { undo: () => remove(["suppressions", made.id], { reason: "undone" }).then(again) });
}

async function lift(one, again) {
  const complained = one.reason === "complaint";
  const done = await ask({
    title: "Lift this suppression?",
    says: html`<p><code>${one.address ?? "This address"}</code> gets ${one.notification_type || "everything"} by ${one.channel} again.</p>
      ${complained && html`<p class="warn-ink">A person marked a message as spam. Mailing them again without their word harms everybody's delivery.</p>`}`,
    verb: "Lift it",
    reason: complained,
    run: async (reason) => {
      await remove(["suppressions", one.id], reason ? { reason } : {});
      return true;
    },
  });
  if (!done) return;
  again();
  const back = { channel: one.channel, address: one.address, ...(one.notification_type && { notification_type: one.notification_type }) };
  toast("Lifted.", one.address ? { undo: () => post(["suppressions"], back).then(again) } : {});
}
