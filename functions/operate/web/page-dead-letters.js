// Dead letters: what automation gave up on, by cause; each of them; doing it once more or laying it aside.
import { replayMany } from "./acts.js";
import { get } from "./api.js";
import { DeadLetter } from "./dead-letter.js";
import { many, number } from "./format.js";
import { CHANNELS, CLASSIFICATIONS, KINDS, STATES, causeWords, classWords, filterOf, filtersOfCause, isOpen, isShown, stateWords, whatDied } from "./letters.js";
import { Recipient, layAsideSeveral, replaySeveral } from "./letter-acts.js";
import { List, SINCE_UNTIL } from "./list.js";
import { useLoaded } from "./poll.js";
import { href } from "./router.js";
import { Action, Ago, Badge, Empty, Loaded, PageHead } from "./ui.js";
import { html, useState } from "./view.js";

const FEW = 6;

export default function DeadLetters({ route }) {
  const id = route.parts[1];
  return id ? html`<${DeadLetter} key=${id} id=${id} />` : html`<${Letters} query=${route.query} />`;
}

function Letters({ query }) {
  const groups = useLoaded((signal) => get(["dead-letters", "groups"], { limit: 100 }, { signal }), [], { seconds: 10 });
  return html`<${PageHead} title="Dead letters">What automation gave up on. Each waits here until somebody has it done once more, or lays it aside with a reason.<//>
    <section class="stack" aria-labelledby="causes"><h2 id="causes">Why they died</h2>
      <${Loaded} of=${groups}>${({ data }) => html`<${Causes} causes=${data} query=${query} />`}<//></section>
    <section class="stack" aria-labelledby="letters"><h2 id="letters" tabindex="-1">Each of them</h2><${Each} query=${query} refreshCauses=${groups.refresh} /></section>`;
}

function Causes({ causes, query }) {
  const [isAll, setAll] = useState(false);
  if (!causes.length) return html`<${Empty} title="Nothing waits for you.">When a message, a webhook call or a trigger run is given up, its cause appears here.<//>`;
  const shown = isAll ? causes : causes.slice(0, FEW);
  return html`<ul class="causes">${shown.map((cause) => html`<${Cause} key=${Object.values(filtersOfCause(cause)).join(" ")} cause=${cause} isCurrent=${isShown(cause, query)} />`)}</ul>
    ${causes.length > FEW && html`<div><button type="button" class="button small" aria-expanded=${isAll} onClick=${() => setAll(!isAll)}>
      ${isAll ? "Show the commonest causes only" : `Show all ${number(causes.length)} causes`}</button></div>`}`;
}

function Cause({ cause, isCurrent }) {
  const filters = filtersOfCause(cause);
  const named = [cause.provider, cause.provider_code, cause.template && `${cause.template}${cause.template_version ? ` version ${cause.template_version}` : ""}`].filter(Boolean);
  const show = () => requestAnimationFrame(() => document.querySelector("#letters")?.focus());
  return html`<li class=${`cause${isCurrent ? " current" : ""}`} aria-current=${isCurrent ? "true" : undefined}>
    <div class="row"><b class="count">${number(cause.count)}</b><div class="grow"><h3>${causeWords(cause)}</h3>
      <div class="mute">${named.length > 0 && html`<span class="mono">${named.join(" · ")}</span>`}</div></div></div>
    <div class="stack small-gap"><p class="mute">${cause.count === 1 ? html`Died <${Ago} at=${cause.last_seen_at} />.` : html`The first <${Ago} at=${cause.first_seen_at} />, the last <${Ago} at=${cause.last_seen_at} />.`}</p>
      <p>${cause.recovery_hint}</p></div>
    <div class="actions"><a class="button small" href=${href(["dead-letters"], filters)} onClick=${show} aria-label=${`Look at them: ${causeWords(cause)}`}>Look at them</a>
      <${Action} small icon="replay" label=${`Replay the group: ${causeWords(cause)}`} run=${() => replayMany(filterOf(filters))}>Replay the group<//></div></li>`;
}

const FILTERS = [
  { name: "state", label: "State", options: STATES, initial: "unresolved" },
  { name: "source_kind", label: "Work", options: KINDS },
  { name: "channel", label: "Channel", options: CHANNELS },
  { name: "classification", label: "Why", options: CLASSIFICATIONS },
  { name: "user_id", label: "User", placeholder: "id of a user" },
  { name: "type", label: "Type", placeholder: "order.shipped" },
];
const FURTHER = [
  { name: "provider", label: "Provider", placeholder: "ses" },
  { name: "provider_code", label: "Provider's code", placeholder: "MessageRejected" },
  { name: "template", label: "Template", placeholder: "its name" },
  { name: "template_version", label: "Its version", placeholder: "1" },
  { name: "recipient", label: "Recipient", placeholder: "user:ada" },
  { name: "notification_id", label: "Notification", placeholder: "id", wide: true },
  { name: "trigger_id", label: "Trigger", placeholder: "id", wide: true },
  ...SINCE_UNTIL,
];

const COLUMNS = [
  { name: "what", label: "What died", show: (row) => html`${whatDied(row)}${row.type && html` <span class="mute">${row.type}</span>`}` },
  { name: "to", label: "Recipient", show: (row) => html`<${Recipient} recipient=${row.recipient} />` },
  { name: "why", label: "Why", wide: true, show: (row) => html`<div>${classWords(row.classification)}${row.provider_code && html` <code>${row.provider_code}</code>`}<div class="mute clamp" dir="auto">${row.failure_message}</div></div>` },
  { name: "tries", label: "Attempts", end: true, show: (row) => (row.max_attempts ? `${row.final_attempt_count} of ${row.max_attempts}` : number(row.final_attempt_count)) },
  { name: "state", label: "State", show: (row) => html`<${Badge} status=${row.resolution ?? "unresolved"} tone=${row.resolution ? undefined : "bad"}>${stateWords(row.resolution)}<//>` },
  { name: "at", label: "Died", show: (row) => html`<span class="nowrap"><${Ago} at=${row.created_at} /></span>` },
];

function Each({ query, refreshCauses }) {
  const [selected, setSelected] = useState(new Map());
  const [again, setAgain] = useState(0);
  const [isMore, setMore] = useState(false);
  const hasFurther = FURTHER.some(({ name }) => query[name]);
  const filters = isMore || hasFurther ? [...FILTERS, ...FURTHER] : FILTERS;
  const set = (rows, isOn) =>
    setSelected((old) => {
      const next = new Map(old);
      for (const row of rows.filter(isOpen)) isOn ? next.set(row.id, row) : next.delete(row.id);
      return next;
    });
  const done = () => {
    setSelected(new Map());
    setAgain(again + 1);
    refreshCauses();
  };
  const act = (what) => async () => (await what([...selected.values()])) && done();
  const mayReplay = !["resolved", "replayed", "ignored", "handled_by_script"].includes(query.state);
  const toolbar = html`<div class="actions">${!hasFurther && html`<button type="button" class="button small ghost" aria-expanded=${isMore} onClick=${() => setMore(!isMore)}>${isMore ? "Fewer filters" : "More filters"}</button>`}
    ${mayReplay && html`<${Action} small icon="replay" run=${() => replayMany(filterOf(query))}>Replay all that match<//>`}</div>`;
  return html`<${List} path=${["dead-letters"]} filters=${filters} columns=${COLUMNS} again=${again} seconds=${10} toolbar=${toolbar} label="Dead letters"
      to=${(row) => href(["dead-letters", row.id])} selected=${selected} toggle=${(row) => set([row], !selected.has(row.id))} toggleAll=${set}
      empty=${{ title: "No dead letter waits.", text: "What was replayed or laid aside is kept for a while: choose another state above to see it." }} />
    ${selected.size > 0 && html`<div class="selection" role="region" aria-label="Selected dead letters"><strong class="grow">${many(selected.size, "letter")} selected</strong>
      <${Action} small tone="primary" icon="replay" run=${act(replaySeveral)}>Replay them<//>
      <${Action} small run=${act(layAsideSeveral)}>Lay them aside<//>
      <button type="button" class="button small ghost" onClick=${() => setSelected(new Map())}>Clear</button></div>`}`;
}
