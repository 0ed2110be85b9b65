// Fills a local stack, or a test key's tenant, with a lively demo, so that a newcomer sees everything working in a minute.
import { call as callApi } from "./api.js";
import { callsOf } from "./demo.js";
import { useLoaded } from "./poll.js";
import { href } from "./router.js";
import { current } from "./session.js";
import { Action, Card, Loaded, Notice, PageHead, Progress } from "./ui.js";
import { html, useRef, useState } from "./view.js";

const isLocal = async () => {
  try {
    return (await fetch(new URL("/_local/faults", location.href), { headers: { "Tocsin-Local": "demo" } })).ok;
  } catch {
    return false;
  }
};

async function loaded() {
  const answer = await fetch(new URL("console/demo.json", document.baseURI), { cache: "no-store" });
  return { scenario: await answer.json(), local: await isLocal() };
}

export default function Demo() {
  const demo = useLoaded(loaded, []);
  return html`<${PageHead} title="A lively demo">People, threads, templates, a failing provider and dead letters: everything the console can show, made by some hundred calls of the API.<//>
    <${Loaded} of=${demo}>${({ scenario, local }) =>
      local || current().me.key.mode === "test"
        ? html`<${Run} scenario=${scenario} local=${local} />`
        : html`<${Notice} tone="warn" title="Not here">This key is live and the stack is not on this machine: the demo would send real messages to made-up people.
            Sign in with a test key, or run <code>make dev</code>.<//>`}<//>`;
}

function Run({ scenario, local }) {
  const steps = scenario.steps.filter((step) => !step.only || local);
  const [at, setAt] = useState(null);
  const [done, setDone] = useState([]);
  const [failed, setFailed] = useState([]);
  const stop = useRef(false);
  const run = async () => {
    const word = Math.random().toString(36).slice(2, 8);
    stop.current = false;
    setDone([]);
    setFailed([]);
    for (const [index, step] of steps.entries()) {
      setAt(index);
      for (const call of callsOf(step, word)) {
        if (stop.current) return setAt(null);
        if (step.pause_seconds) await new Promise((resolve) => setTimeout(resolve, step.pause_seconds * 1000));
        try {
          await carryOut(call);
        } catch (error) {
          setFailed((old) => [...old, `${step.say}: ${error.message}`]);
          if (!step.may_fail) throw error;
        }
      }
      setDone((old) => [...old, step.say]);
    }
    setAt(null);
  };
  const isRunning = at !== null;
  return html`<${Card} title="Lantern, a small shop" actions=${html`
      ${isRunning && html`<button type="button" class="button" onClick=${() => (stop.current = true)}>Stop</button>`}
      <${Action} tone="primary" icon="play" run=${run} disabled=${isRunning}>${done.length && !isRunning ? "Once more" : "Fill this stack"}<//>`}>
      <div class="stack"><p>${scenario.says}</p>
      ${(isRunning || done.length > 0) && html`<${Progress} done=${done.length} total=${steps.length} label="Steps of the demo" />`}
      ${isRunning && html`<p role="status">${steps[at].say} …</p>`}
      ${!isRunning && done.length === steps.length && html`<${Notice} tone="good" title="Done">
        <a href="#/">See what is happening now</a>, <a href=${href(["dead-letters"])}>what died</a>, <a href=${href(["users", "jun"])}>what Jun sees</a>, or
        <a href=${href(["search"], { q: "hana" })}>why Hana got no mail</a>.${local && html` What was sent is in <a href="/_local/mailbox">the mailbox</a>.`}<//>`}
      ${failed.length > 0 && html`<ul class="mute">${failed.map((one) => html`<li key=${one}>${one}</li>`)}</ul>`}
      ${!isRunning && !done.length && html`<p class="mute">The same from a terminal: <code>tocsin demo</code></p>`}</div><//>`;
}

/** `/_local` is beside the API, not in it. */
async function carryOut({ method, path, headers, body }) {
  const [place, query] = path.split("?");
  if (place.startsWith("/v1/")) {
    const steps = place.slice(4).split("/").map(decodeURIComponent);
    return callApi(method, steps, { query: Object.fromEntries(new URLSearchParams(query ?? "")), body, headers });
  }
  const answer = await fetch(new URL(path, location.href), { method, headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}`);
  return answer.json();
}
