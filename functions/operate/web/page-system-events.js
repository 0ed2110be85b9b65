// System events: what whoever operates the service should know of, and what was done about it.
import { resolveEvent } from "./acts.js";
import { get, post } from "./api.js";
import { words } from "./format.js";
import { readJson } from "./json-text.js";
import { List, SINCE_UNTIL } from "./list.js";
import { useLoaded } from "./poll.js";
import { go, href } from "./router.js";
import { can, isInstallation } from "./session.js";
import { Action, Ago, Badge, Card, Copy, Facts, Json, Loaded, Notice, PageHead, SelectField, TextField, Time, Trouble, errorsOf, toast } from "./ui.js";
import { Kept, useDraft } from "./unsaved.js";
import { html, useState } from "./view.js";

const CRUMBS = [["System events", ["system-events"]]];
const SEVERITIES = [["critical", "critical"], ["high", "high"], ["medium", "medium"], ["low", "low"]];

export default function SystemEvents({ route }) {
  const id = route.parts[1];
  if (id === "new") return html`<${NewEvent} />`;
  return id ? html`<${SystemEvent} key=${id} id=${id} />` : html`<${Events} />`;
}

const FILTERS = [
  { name: "is_resolved", label: "State", options: [["false", "open"], ["true", "resolved"]] },
  { name: "severity", label: "Severity", options: SEVERITIES },
  { name: "event_type", label: "Type", placeholder: "lane_stopped" },
  ...SINCE_UNTIL,
];

function Events() {
  const [again, setAgain] = useState(0);
  const resolve = async (event) => (await resolveEvent(event)) && setAgain(again + 1);
  const columns = [
    { name: "what", label: "What", show: (row) => words(row.event_type) },
    { name: "severity", label: "Severity", show: (row) => html`<${Badge} status=${row.severity} />` },
    { name: "says", label: "What happened", wide: true, show: (row) => html`<div><div class="clamp" dir="auto">${row.description}</div>${row.is_shared && html`<span class="mute">of the whole installation</span>`}</div>` },
    { name: "state", label: "State", show: (row) => html`<${Badge} tone=${row.is_resolved ? "good" : "warn"}>${row.is_resolved ? "resolved" : "open"}<//>` },
    { name: "at", label: "Since", show: (row) => html`<span class="nowrap"><${Ago} at=${row.created_at} /></span>` },
    { name: "do", label: "", end: true, show: (row) => mayResolve(row) && html`<${Action} small run=${() => resolve(row)} label=${`Resolve: ${words(row.event_type)}`}>Resolve<//>` },
  ];
  const add = html`<a class="button" href=${href(["system-events", "new"])}>Note one by hand</a>`;
  return html`<${PageHead} title="System events" actions=${add}>What the service, or a colleague, wants whoever operates it to know. An event is open until its cause is gone or somebody resolves it.<//>
    <${List} path=${["system-events"]} filters=${FILTERS} columns=${columns} to=${(row) => href(["system-events", row.id])} label="System events" again=${again}
      empty=${{ title: "Nothing has happened.", text: "A lane that stops, a webhook that keeps failing or a job that fails is told of here, and resolved by itself where its cause ends." }} />`;
}

/** An event of the whole installation is resolved by those who run it. */
const mayResolve = (event) => !event.is_resolved && (!event.is_shared || isInstallation());

function SystemEvent({ id }) {
  const loaded = useLoaded((signal) => get(["system-events", id], {}, { signal }), [id], { seconds: 10 });
  const event = loaded.data;
  const resolve = async () => (await resolveEvent(event)) && loaded.refresh();
  return html`<${PageHead} title=${event ? words(event.event_type) : "System event"} crumbs=${CRUMBS} actions=${event && mayResolve(event) && html`<${Action} tone="primary" icon="check" run=${resolve}>Resolve it<//>`}>
      ${event && html`<${Badge} status=${event.severity} /> <${Badge} tone=${event.is_resolved ? "good" : "warn"}>${event.is_resolved ? "resolved" : "open"}<//> Since <${Ago} at=${event.created_at} />.`}<//>
    <${Loaded} of=${loaded}>${(one) => html`
      ${one.is_resolved && html`<${Notice} tone="good" title="It is resolved"><${Time} at=${one.resolved_at} /> by ${one.resolved_by ? html`<code>key:${one.resolved_by}</code>` : "the service itself"}.
        ${one.resolution_reason && html` <q dir="auto">${one.resolution_reason}</q>`}<//>`}
      <${Card} title="What happened" actions=${html`<${Leads} event=${one} />`}><div class="stack"><p dir="auto" class="said">${one.description}</p><${Facts} rows=${[
        ["About", one.subject ? html`<${Copy} value=${one.subject} />` : undefined],
        ["User", one.user_id ? (can("manage") ? html`<a href=${href(["users", one.user_id])}>${one.user_id}</a>` : one.user_id) : undefined],
        ["Whose", one.is_shared ? "the whole installation's" : "this tenant's"],
        ["Told by", one.created_by ? html`<code>key:${one.created_by}</code>` : "the service itself"],
        ["Type", html`<${Copy} value=${one.event_type} />`],
        ["At", html`<${Time} at=${one.created_at} />`],
      ]} />${one.details && html`<${Json} value=${one.details} label="Details" />`}</div><//>`}<//>`;
}

/** Where to look, by what the event is about. */
function Leads({ event }) {
  const [, hook] = event.subject.match(/^webhook:([0-9a-f-]{36})$/) ?? [];
  const leads = [
    hook && can("manage") && ["Open the webhook", ["webhooks", hook]],
    event.details?.job_id && ["Open the job", ["jobs", event.details.job_id]],
    event.details?.lane && !hook && ["See the lanes", []],
    event.subject.startsWith("api_key:") && can("admin") && ["See the keys", ["keys"]],
  ].filter(Boolean);
  return leads.map(([title, to]) => html`<a key=${title} class="button small" href=${href(to)}>${title}</a>`);
}

const FIELDS = ["event_type", "severity", "description", "subject", "details", "user_id"];

function NewEvent() {
  const form = useDraft("system-event", { event_type: "", severity: "medium", description: "", subject: "", user_id: "", details: "" });
  const [problem, setProblem] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const { draft, change } = form;
  const details = draft.details.trim() ? readJson(draft.details) : { value: undefined };
  const errors = errorsOf(problem, FIELDS);
  const save = async (event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      const told = Object.fromEntries(Object.entries({ ...draft, details: details.value }).filter(([, value]) => value !== "" && value !== undefined));
      const made = await post(["system-events"], told);
      form.drop();
      toast("It is noted, and open until somebody resolves it.");
      go(["system-events", made.id]);
    } catch (refused) {
      setProblem(refused);
      setBusy(false);
    }
  };
  const set = (name) => (value) => change({ [name]: value });
  return html`<${PageHead} title="Note an event by hand" crumbs=${CRUMBS}>For what the service cannot see: maintenance of a provider, a campaign that is about to begin, a fault that you work on.<//>
    <${Card}><form class="form" onSubmit=${save}><${Kept} of=${form} />
      <div class="form-row"><${TextField} label="Type" value=${draft.event_type} set=${set("event_type")} error=${errors.event_type} hint="A short name in small letters, such as provider.maintenance" required maxlength="100" />
        <${SelectField} label="Severity" value=${draft.severity} set=${set("severity")} options=${SEVERITIES} error=${errors.severity} /></div>
      <${TextField} label="What happened" rows="4" value=${draft.description} set=${set("description")} error=${errors.description} dir="auto" required maxlength="2000" />
      <div class="form-row"><${TextField} label="What it is about (optional)" value=${draft.subject} set=${set("subject")} error=${errors.subject} hint="One event is open for each type and subject" maxlength="200" />
        <${TextField} label="Whom it concerns (optional)" value=${draft.user_id} set=${set("user_id")} error=${errors.user_id} hint="The id of a user" maxlength="255" /></div>
      <${TextField} label="Details (optional)" rows="4" class="code" value=${draft.details} set=${set("details")} error=${details.error ?? errors.details} hint="A JSON object of up to 8 KiB" />
      ${problem && errors[""] && html`<${Trouble} error=${problem} />`}
      <div class="actions"><button type="submit" class="button primary" disabled=${isBusy || Boolean(details.error)} aria-busy=${isBusy}>Note it</button><a class="button ghost" href=${href(["system-events"])}>Cancel</a></div></form><//>`;
}
