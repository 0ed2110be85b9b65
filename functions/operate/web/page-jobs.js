// Jobs: long work that somebody asked for. It goes on when the page is left, and is found again here.
import { get, post } from "./api.js";
import { many, number, words } from "./format.js";
import { estimateOf, isRunning, jobWords, leftLetters, seenOf } from "./job-words.js";
import { skippedWords } from "./letters.js";
import { List } from "./list.js";
import { useLoaded } from "./poll.js";
import { href } from "./router.js";
import { Action, Ago, ask, Badge, Card, Copy, Facts, For, Loaded, Notice, PageHead, Progress, span, Time, toast } from "./ui.js";
import { html, useEffect, useState } from "./view.js";

export default function Jobs({ route }) {
  const id = route.parts[1];
  return id ? html`<${Job} key=${id} id=${id} />` : html`<${AllJobs} />`;
}

const FILTERS = [{ name: "status", label: "Status", options: ["queued", "running", "complete", "cancelled", "failed"].map((one) => [one, one]) }];
const COLUMNS = [
  { name: "kind", label: "Job", show: (job) => jobWords(job.kind) },
  { name: "status", label: "Status", show: (job) => html`<${Badge} status=${job.status} tone=${job.status === "failed" ? "bad" : undefined} />` },
  { name: "far", label: "How far", show: (job) => html`<${Progress} done=${seenOf(job)} total=${job.total ?? 0} label="How far the job has come" />` },
  { name: "counts", label: "Skipped, failed", end: true, show: (job) => `${number(job.skipped)}, ${number(job.failed)}` },
  { name: "at", label: "Asked for", show: (job) => html`<span class="nowrap"><${Ago} at=${job.created_at} /></span>` },
];

function AllJobs() {
  return html`<${PageHead} title="Jobs">Long work that somebody asked for, such as a replay of many dead letters. It goes on whether or not this page is open; jobs are kept for 30 days after their end.<//>
    <${List} path=${["jobs"]} filters=${FILTERS} columns=${COLUMNS} to=${(job) => href(["jobs", job.id])} label="Jobs" seconds=${5}
      empty=${{ title: "No job was asked for yet.", text: html`When you replay a group of <a href=${href(["dead-letters"])}>dead letters</a>, how far it has come is here.` }} />`;
}

function Job({ id }) {
  const [isLive, setLive] = useState(true);
  const loaded = useLoaded((signal) => get(["jobs", id], {}, { signal }), [id, isLive], { seconds: isLive ? 1 : 0 });
  const job = loaded.data;
  useEffect(() => {
    if (job) setLive(isRunning(job));
  }, [job?.status]);
  const cancel = async () => (await cancelJob(job)) && loaded.refresh();
  const actions = job && isRunning(job) && html`<${Action} tone="danger" run=${cancel}>Cancel the job<//>`;
  return html`<${PageHead} title=${job ? jobWords(job.kind) : "Job"} crumbs=${[["Jobs", ["jobs"]]]} actions=${actions}>
      ${job && html`<${Badge} status=${job.status} tone=${job.status === "failed" ? "bad" : undefined} /> Asked for <${Ago} at=${job.created_at} />${job.arguments.person && html` by <bdi>${job.arguments.person}</bdi>`}.`}<//>
    <${Loaded} of=${loaded}>${(one) => html`<${Far} job=${one} /><div class="grid two"><${Counts} job=${one} /><${Asked} job=${one} /></div>`}<//>`;
}

function Far({ job }) {
  const left = estimateOf(job);
  return html`<${Card} title="How far it has come"><div class="stack"><div class="big-progress"><${Progress} done=${seenOf(job)} total=${job.total ?? 0} label="How far the job has come" /></div>
    <p role="status">${storyOf(job)}</p>
    ${isRunning(job) && html`<p class="mute">${left !== null && html`About ${span(left)} to go. `}You can leave this page or close it: the job goes on, and is found again under Jobs.</p>`}</div><//>
    ${job.status === "failed" && html`<${Notice} tone="bad" title="The job failed" actions=${html`<a class="button small" href=${href(["dead-letters"], { source_kind: "replay" })}>See its dead letter</a>`}>
      What it had done stays done. It left a dead letter of its own that says why: replay that one, and the job goes on.<//>`}`;
}

function storyOf(job) {
  switch (job.status) {
    case "queued":
      return "It waits for a worker.";
    case "running":
      return html`It has been running for <${For} at=${job.started_at ?? job.created_at} />.`;
    case "complete":
      return job.total === 0 ? "Nothing matched, so there was nothing to do." : `All ${many(job.total ?? seenOf(job), "letter was", "letters were")} gone through.`;
    case "cancelled":
      return "It was cancelled. What it had done by then stays done.";
    default:
      return "It stopped before its end.";
  }
}

function Counts({ job }) {
  const reasons = Object.entries(job.skipped_reasons).sort(([, one], [, other]) => other - one);
  const took = job.started_at && job.finished_at ? (new Date(job.finished_at) - new Date(job.started_at)) / 1000 : null;
  return html`<${Card} title="What it did"><div class="stack"><div class="stats">
      <div class="stat"><b>${number(job.done)}</b><span>done once more</span></div>
      <div class="stat"><b>${number(job.skipped)}</b><span>left as they were</span></div>
      <div class="stat"><b class=${job.failed ? "bad-ink" : ""}>${number(job.failed)}</b><span>could not be tried</span></div></div>
    ${reasons.length > 0 && html`<div><h3>Why some were left as they were</h3><ul class="plain">${reasons.map(([reason, count]) => html`<li key=${reason}><b>${number(count)}</b> ${skippedWords(reason)}</li>`)}</ul></div>`}
    ${job.failed > 0 && html`<p class="mute">What could not be tried is in the log of the dispatcher, with the id of this job.</p>`}
    <${Facts} rows=${[["Began", html`<${Time} at=${job.started_at} none="not yet" />`], ["Ended", html`<${Time} at=${job.finished_at} none="not yet" />`], ["Took", took === null ? undefined : span(took)]]} /></div><//>`;
}

function Asked({ job }) {
  const filter = job.arguments.filter ?? {};
  return html`<${Card} title="What it was asked for"><div class="stack"><${Facts} rows=${[
    ...Object.entries(filter).map(([name, value]) => [words(name), ["since", "until"].includes(name) ? html`<${Time} at=${value} />` : html`<code>${String(value)}</code>`]),
    ["Expired ones", job.arguments.past_expiry ? "are sent all the same" : "are left as they are"],
    ["Letters", "those that were there when it was asked for"],
    ["By key", html`<${Copy} value=${job.created_by} />`],
    ["Job", html`<${Copy} value=${job.id} />`],
  ]} /><div class="actions"><a class="button small" href=${href(["dead-letters"], leftLetters(job))}>What is left of them</a>
    <a class="button small" href=${href(["dead-letters"], { since: job.created_at })}>What died since</a></div></div><//>`;
}

const cancelJob = (job) =>
  ask({
    title: "Cancel this job?",
    plan: async () => {
      const now = await get(["jobs", job.id]);
      if (!isRunning(now)) throw new Error("The job has ended meanwhile: there is nothing left to cancel.");
      const rest = Math.max(0, (now.total ?? 0) - seenOf(now));
      return html`<p>It stops after the page of letters that it works on. ${number(now.done)} ${now.done === 1 ? "is" : "are"} done once more and ${now.done === 1 ? "stays" : "stay"} so${now.total === null ? "" : html`; <strong>${many(rest, "letter stays", "letters stay")}</strong> as ${rest === 1 ? "it is" : "they are"}`}.</p>
        <p class="mute">To go on later, ask for the same replay again.</p>`;
    },
    verb: "Cancel the job",
    run: async () => {
      const done = await post(["jobs", job.id, "cancel"]);
      toast("The job is cancelled.");
      return done;
    },
  });
