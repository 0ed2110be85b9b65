// Webhooks: where one's own systems hear what became of notifications, and how each of them does.
import { switchWebhook } from "./acts.js";
import { get } from "./api.js";
import { eventWords, healthOf } from "./hook-words.js";
import { loadLanes } from "./lanes.js";
import { useLoaded } from "./poll.js";
import { href } from "./router.js";
import { Action, Ago, Badge, Empty, For, Loaded, PageHead, Table } from "./ui.js";
import { html } from "./view.js";
import { HookForm } from "./webhook-form.js";
import { Webhook } from "./webhook.js";

export default function Webhooks({ route }) {
  const id = route.parts[1];
  if (id === "new") return html`<${PageHead} title="Add a webhook" crumbs=${[["Webhooks", ["webhooks"]]]}>A signed POST goes to its address for every end of a notification that it wants to hear of.<//><${HookForm} />`;
  return id ? html`<${Webhook} key=${id} id=${id} query=${route.query} />` : html`<${AllWebhooks} />`;
}

async function loadHooks(signal) {
  const [{ data }, lanes] = await Promise.all([get(["webhooks"], {}, { signal }), loadLanes(signal)]);
  return data.map((hook) => ({ ...hook, lane: lanes[`webhook:${hook.id}`] }));
}

function AllWebhooks() {
  const loaded = useLoaded(loadHooks, [], { seconds: 5 });
  const flip = (hook) => async () => {
    await switchWebhook(hook.id, !hook.is_active);
    await loaded.refresh();
  };
  const columns = [
    { name: "url", label: "Address", wide: true, show: (hook) => html`<span class="clamp">${hook.url}</span>` },
    { name: "about", label: "For", show: (hook) => html`<bdi>${hook.description || "–"}</bdi>` },
    { name: "health", label: "How it does", show: (hook) => html`<div><${Badge} tone=${healthOf(hook, hook.lane).tone}>${healthOf(hook, hook.lane).word}<//><${Since} hook=${hook} /></div>` },
    { name: "success", label: "Last success", show: (hook) => html`<span class="nowrap"><${Ago} at=${hook.last_success_at} none="never" /></span>` },
    { name: "events", label: "Hears of", wide: true, show: (hook) => html`<span class="mute">${hook.events.map(eventWords).join(", ")}</span>` },
    { name: "do", label: "", end: true, show: (hook) => html`<${Action} small run=${flip(hook)} label=${`Switch ${hook.is_active ? "off" : "on"}: ${hook.url}`}>${hook.is_active ? "Switch off" : "Switch on"}<//>` },
  ];
  return html`<${PageHead} title="Webhooks" actions=${html`<a class="button primary" href=${href(["webhooks", "new"])}>Add a webhook</a>`}>Your own systems hear what became of each notification: a signed call for every end, to every webhook that wants it.<//>
    <${Loaded} of=${loaded}>${(hooks) =>
      hooks.length
        ? html`<${Table} columns=${columns} rows=${hooks} to=${(hook) => href(["webhooks", hook.id])} label="Webhooks" />`
        : html`<${Empty} title="No system of yours listens yet."><p>Add the address of an endpoint, and it is told when a notification is published, delivered, bounced or dead.</p><a class="button" href=${href(["webhooks", "new"])}>Add a webhook</a><//>`}<//>`;
}

function Since({ hook }) {
  const at = hook.is_active ? hook.failing_since : hook.disabled_at;
  return at ? html` <span class="mute nowrap">for <${For} at=${at} /></span>` : null;
}
