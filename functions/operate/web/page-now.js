// What is happening now: is anything wrong, what, since when, and what to do; then how much comes in, goes out, waits and fails.
import { openLane, replayMany, switchWebhook } from "./acts.js";
import { get } from "./api.js";
import { Chart } from "./chart.js";
import { many, number, percent, span } from "./format.js";
import { Icon } from "./icons.js";
import { useLoaded } from "./poll.js";
import { href } from "./router.js";
import { can } from "./session.js";
import { Action, Ago, Badge, Card, Empty, For, Loaded, Notice, PageHead, Progress, Table } from "./ui.js";
import { html, useEffect, useMemo, useRef, useState } from "./view.js";

const MOST_SAMPLES = 720; // an hour of one every five seconds

export default function Now() {
  if (!can("operate")) return html`<${PageHead} title="Now" /><${Start} />`;
  return html`<${Watching} />`;
}

/** For those who may not see how the service does: where they can go. */
function Start() {
  return html`<${Notice} title="Your key does not show how the service is doing">That needs the scope <code>operate</code>.
    ${can("read") ? html` You can search for people and notifications above, or <a href=${href(["notifications"])}>list the newest</a>.` : ""}
    ${can("manage") ? html` <a href=${href(["templates"])}>Templates</a>, <a href=${href(["users"])}>users</a> and types are yours to edit.` : ""}<//>`;
}

function Watching() {
  const status = useLoaded((signal) => get(["status"], {}, { signal }), [], { seconds: 5 });
  const recent = useLoaded((signal) => get(["metrics", "recent"], { minutes: 60 }, { signal }), [], { seconds: 15 });
  const jobs = useLoaded((signal) => get(["jobs"], { limit: 5 }, { signal }), [], { seconds: 5 });
  const backlog = useBacklog(status.data);
  return html`<${PageHead} title="Now">Refreshed every few seconds. ${status.at && html`<span class="mute">As of <${Ago} at=${new Date(status.at).toISOString()} />.</span>`}<//>
    <${Loaded} of=${status}>${(facts) => html`
      <${Verdict} facts=${facts} refresh=${status.refresh} />
      <${Running} jobs=${jobs.data?.data ?? []} />
      <${Numbers} facts=${facts} recent=${recent.data} />
      <${Loaded} of=${recent}>${(lately) => html`<${Charts} lately=${lately} backlog=${backlog} />`}<//>
      <div class="grid two">
        <${Providers} recent=${recent.data} lanes=${facts.lanes} />
        <${Waiting} facts=${facts} />
      </div>`}<//>`;
}

function Verdict({ facts, refresh }) {
  const { problems } = facts;
  if (!problems.length) {
    return html`<div class="verdict good" role="status"><${Icon} name="check" /><div><strong>Everything is well.</strong>Nothing waits for you.</div></div>`;
  }
  const oldest = problems.map((one) => one.since).filter(Boolean).sort()[0];
  return html`<div class="verdict bad" role="status"><${Icon} name="alert" /><div>
      <strong>${many(problems.length, "thing needs you", "things need you")}.</strong>${oldest && html`The first for <${For} at=${oldest} />.`}</div></div>
    <ul class="problems" aria-label="What is wrong">${problems.map((problem) => html`<${Problem} key=${problem.what} problem=${problem} facts=${facts} refresh=${refresh} />`)}</ul>`;
}

const MILD = ["unknown_attempts", "malformed_intents"];

function Problem({ problem, facts, refresh }) {
  return html`<li class=${`problem${MILD.includes(problem.kind) ? " warn" : ""}`}><div class="grow">
    <strong>${problem.what}</strong> ${problem.since && html`<span class="mute nowrap">for <${For} at=${problem.since} /></span>`}
    <p>${adviceOn(problem, facts)}</p></div><div class="actions"><${Remedy} problem=${problem} facts=${facts} refresh=${refresh} /></div></li>`;
}

/** What to do, for somebody with buttons; the API's own sentence names the calls. */
function adviceOn({ kind, about, do: calls }, facts) {
  switch (kind) {
    case "lane": {
      const lane = facts.lanes.find((one) => one.id === about.lane);
      return html`Remove the cause${lane ? ` (${lane.reason})` : ""}, then open the lane. ${lane?.resume_at && html`It is tried again by itself <${Ago} at=${lane.resume_at} />.`}`;
    }
    case "dead_letters":
      return "See why they died, remove the cause, then replay the group; or lay each aside.";
    case "webhook":
      return "Mend the endpoint, then resume the hook and redeliver what it missed.";
    case "malformed_intents":
      return "Repair and accept each, or put it aside.";
    case "system_events":
      return "Read what happened; resolve it when its cause is gone.";
    case "unknown_attempts":
      return "Wait: the provider's own event decides, or the type's policy after 15 minutes.";
    default:
      return calls;
  }
}

/** Each kind of trouble has its button. */
function Remedy({ problem, facts, refresh }) {
  const { kind, about } = problem;
  const then = (act) => async () => (await act()) && refresh();
  switch (kind) {
    case "lane": {
      const lane = facts.lanes.find((one) => one.id === about.lane);
      const hook = lane?.belongs_to.kind === "webhook" && can("manage") ? lane.belongs_to.id : null;
      return html`${hook && html`<a class="button" href=${href(["webhooks", hook])}>Look at the hook</a>`}
        <${Action} icon="play" run=${then(() => openLane(about.lane, lane?.waiting.count))}>Open the lane<//>`;
    }
    case "dead_letters": {
      const filter = about;
      return html`<a class="button" href=${href(["dead-letters"], filter)}>Look at them</a>
        <${Action} icon="replay" run=${then(() => replayMany(filter))}>Replay the group<//>`;
    }
    case "webhook":
      if (!can("manage")) return null;
      return html`<a class="button" href=${href(["webhooks", about.webhook_id])}>Look at it</a>
        <${Action} icon="play" run=${then(() => switchWebhook(about.webhook_id, true))}>Resume the hook<//>`;
    case "malformed_intents":
      return html`<a class="button" href=${href(["malformed"], { is_resolved: "false" })}>Look at them</a>`;
    case "system_events":
      return html`<a class="button" href=${href(["system-events"], { is_resolved: "false", severity: about.severity })}>Look at them</a>`;
    case "unknown_attempts":
      return can("read") ? html`<a class="button" href=${href(["notifications"], { status: "failed" })}>Look at them</a>` : null;
    default:
      return html`<a class="button" href=${href(["diagnostics"])}>Run the diagnostics</a>`;
  }
}

/** Long work goes on when the page is left, and is found again here. */
function Running({ jobs }) {
  const running = jobs.filter((job) => ["queued", "running"].includes(job.status));
  if (!running.length) return null;
  return html`<${Card} title="Under way">${running.map(
    (job) => html`<div class="row" key=${job.id}><a class="grow" href=${href(["jobs", job.id])}>${job.kind === "replay" ? "Replaying dead letters" : job.kind}</a>
      <${Progress} done=${job.done + job.skipped + job.failed} total=${job.total ?? 0} label="How far the job has come" /></div>`
  )}<//>`;
}

function Numbers({ facts, recent }) {
  const total = (name) => (recent ? recent[name].reduce((sum, each) => sum + each, 0) : null);
  const due = facts.backlog.reduce((sum, pile) => sum + pile.due + pile.leased, 0);
  const waiting = facts.backlog.reduce((sum, pile) => sum + pile.waiting, 0);
  const dead = facts.dead_letters.reduce((sum, cause) => sum + cause.count, 0);
  const stats = [
    [number(total("accepted")), "accepted, last hour", can("read") && href(["notifications"])],
    [number(total("published")), "published, last hour", can("read") && href(["live"])],
    [number(due), "due or being sent", null],
    [number(waiting), "waiting for their time", null],
    [number(dead), "unresolved dead letters", href(["dead-letters"])],
    [number(Object.values(facts.system_events).reduce((sum, one) => sum + one.open, 0)), "open system events", href(["system-events"], { is_resolved: "false" })],
  ];
  return html`<div class="stats">${stats.map(([value, label, to]) =>
    to ? html`<a class="stat" key=${label} href=${to}><b>${value}</b><span>${label}</span></a>` : html`<div class="stat" key=${label}><b>${value}</b><span>${label}</span></div>`
  )}</div>`;
}

/** The backlog of the last hour, as far as this page has seen it. */
function useBacklog(facts) {
  const samples = useRef([]);
  const [shown, setShown] = useState({ times: [], due: [], waiting: [] });
  useEffect(() => {
    if (!facts) return;
    const due = facts.backlog.reduce((sum, pile) => sum + pile.due + pile.leased, 0);
    const waiting = facts.backlog.reduce((sum, pile) => sum + pile.waiting, 0);
    samples.current = [...samples.current, [Date.parse(facts.at) / 1000, due, waiting]].slice(-MOST_SAMPLES);
    const [times, dues, waitings] = [0, 1, 2].map((place) => samples.current.map((one) => one[place]));
    setShown({ times, due: dues, waiting: waitings });
  }, [facts?.at]);
  return shown;
}

function Charts({ lately, backlog }) {
  const drawn = useMemo(() => {
    const times = lately.minutes.map((at) => Date.parse(at) / 1000);
    const channels = [...new Set(lately.by.map((one) => one.channel))].sort();
    const adding = (rows, name) => times.map((_, minute) => rows.reduce((sum, row) => sum + row[name][minute], 0));
    const of = (channel) => lately.by.filter((one) => one.channel === channel);
    return {
      times,
      throughput: [{ label: "accepted", values: lately.accepted }, ...channels.map((channel) => ({ label: channel, values: adding(of(channel), "published") }))],
      failures: [
        { label: "dead letters", values: lately.dead_lettered, bad: true },
        ...lately.by.filter((one) => one.provider && one.failed_attempts.some(Boolean)).map((one) => ({ label: `${one.channel} by ${one.provider}: failed attempts`, values: one.failed_attempts })),
      ],
    };
  }, [lately]);
  const waiting = useMemo(() => [{ label: "due", values: backlog.due }, { label: "waiting for their time", values: backlog.waiting }], [backlog]);
  return html`<div class="grid charts">
    <${Card} title="Throughput, a minute"><${Chart} times=${drawn.times} series=${drawn.throughput} label="Accepted, and published by channel, in each of the last 60 minutes" /><//>
    <${Card} title="Failures, a minute"><${Chart} times=${drawn.times} series=${drawn.failures} label="Dead letters and failed attempts in each of the last 60 minutes" /><//>
    <${Card} title="Backlog, since you are here">${backlog.times.length > 1 ? html`<${Chart} times=${backlog.times} series=${waiting} label="Work that is due, and work that waits for its time" />` : html`<div class="chart mute">Drawn from now on, every five seconds.</div>`}<//>
  </div>`;
}

function Providers({ recent, lanes }) {
  const sums = (recent?.by ?? []).map((one) => {
    const total = (name) => one[name].reduce((sum, each) => sum + each, 0);
    return { id: `${one.channel} ${one.provider}`, channel: one.channel, provider: one.provider, published: total("published"), failed: total("failed_attempts"), dead: total("dead_lettered") };
  });
  const columns = [
    { name: "provider", label: "Provider", show: (row) => html`${row.provider || "–"} <span class="mute">${row.channel}</span>` },
    { name: "published", label: "Published", end: true, show: (row) => number(row.published) },
    { name: "failed", label: "Failed", end: true, show: (row) => html`<span class=${row.failed ? "warn-ink" : ""}>${number(row.failed)}</span>` },
    { name: "dead", label: "Dead", end: true, show: (row) => html`<span class=${row.dead ? "bad-ink" : ""}>${number(row.dead)}</span>` },
    { name: "rate", label: "Accepted", end: true, show: (row) => percent(row.published, row.published + row.failed) },
  ];
  return html`<${Card} title="Providers, last hour" flush>
    ${sums.length ? html`<${Table} columns=${columns} rows=${sums} label="Providers in the last hour" />` : html`<${Empty} title="Nothing was sent in the last hour." />`}
    ${lanes.length > 0 && html`<div class="card-body stack">${lanes.map((lane) => html`<${Lane} key=${lane.id} lane=${lane} />`)}</div>`}<//>`;
}

function Lane({ lane }) {
  return html`<div class="row"><div class="grow"><code>${lane.id}</code> <${Badge} status=${lane.state} /> <span class="mute">${lane.reason}; for <${For} at=${lane.since} />; ${many(lane.waiting.count, "message waits", "messages wait")}${lane.resume_at ? html`, tried again <${Ago} at=${lane.resume_at} />` : ""}</span></div>
    <${Action} small icon="play" run=${() => openLane(lane.id, lane.waiting.count)}>Open<//></div>`;
}

function Waiting({ facts }) {
  const columns = [
    { name: "queue", label: "Queue", show: (pile) => html`${pile.queue} <span class="mute">${pile.kind}</span>` },
    { name: "due", label: "Due", end: true, show: (pile) => number(pile.due) },
    { name: "leased", label: "In hand", end: true, show: (pile) => number(pile.leased) },
    { name: "waiting", label: "Waiting", end: true, show: (pile) => number(pile.waiting) },
    { name: "oldest", label: "Due for", end: true, show: (pile) => span(pile.oldest_due_seconds) },
  ];
  const behind = facts.events_behind_fan_out;
  return html`<${Card} title="What waits" flush>
    ${facts.backlog.length ? html`<${Table} columns=${columns} rows=${facts.backlog} keyOf=${(pile) => pile.queue + pile.kind} label="Work that waits, by queue" />` : html`<${Empty} title="Nothing waits." />`}
    ${behind.count > 0 && html`<div class="card-body">${many(behind.count, "event waits", "events wait")} to be fanned out, the first <${Ago} at=${behind.oldest_at} />.</div>`}<//>`;
}
