// Importing users from a file: looked at first, then sent in batches; stopped or reloaded, it goes on where it was.
import { post } from "./api.js";
import { batches, usersOf } from "./csv.js";
import { many, number } from "./format.js";
import { current } from "./session.js";
import { Action, Card, Notice, PageHead, Progress, Table } from "./ui.js";
import { html, useEffect, useRef, useState } from "./view.js";

const kept = () => `tocsin-import ${current().me.tenant.id}`; // how far the last file got: its hash and a number, nothing of what is in it
const SHOWN = 200;

const remembered = () => {
  try {
    return JSON.parse(localStorage.getItem(kept()));
  } catch {
    return null;
  }
};
const remember = (state) => {
  try {
    if (state) localStorage.setItem(kept(), JSON.stringify(state));
    else localStorage.removeItem(kept());
  } catch {
    // then it begins anew after a reload, which changes nothing: the same users are written again
  }
};

async function hashOf(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((each) => each.toString(16).padStart(2, "0")).join("");
}

export function Import() {
  const [file, setFile] = useState(null);
  const [state, setState] = useState({ done: 0, made: 0, changed: 0, refused: [], isRunning: false });
  const stop = useRef(false);
  useEffect(() => () => (stop.current = true), []); // whoever leaves finds it where it was
  const left = remembered();

  const choose = async (event) => {
    const chosen = event.currentTarget.files[0];
    if (!chosen) return;
    const text = await chosen.text();
    const hash = await hashOf(text);
    const read = usersOf(text, chosen.name);
    const from = left?.hash === hash ? left.done : 0;
    setFile({ name: chosen.name, hash, ...read });
    setState({ done: from, made: 0, changed: 0, refused: [], isRunning: false, from });
  };

  const run = async () => {
    stop.current = false;
    let now = { ...state, isRunning: true };
    setState(now);
    try {
      for (const some of batches(file.users.slice(now.done))) {
        if (stop.current) break;
        const { results } = await post(["users", "batch"], { users: some });
        const refused = results.flatMap((one, index) => (one.status >= 400 ? [{ line: now.done + index + 1, id: one.id, why: wordsOf(one.problem) }] : []));
        now = {
          ...now,
          done: now.done + some.length,
          made: now.made + results.filter((one) => one.status === 201).length,
          changed: now.changed + results.filter((one) => one.status === 200).length,
          refused: [...now.refused, ...refused],
        };
        remember({ name: file.name, hash: file.hash, done: now.done, total: file.users.length });
        setState(now);
      }
      if (now.done >= file.users.length) remember(null);
    } finally {
      setState({ ...now, isRunning: false });
    }
  };

  const total = file?.users.length ?? 0;
  const isOver = file && total > 0 && state.done >= total;
  return html`<${PageHead} title="Import users" crumbs=${[["Users", ["users"]]]}>
      A CSV file whose first line names the columns (<code>id</code>, <code>email</code>, <code>phone</code>, <code>username</code>, <code>locale</code>, <code>timezone</code>, <code>avatar_url</code>; any other becomes an attribute),
      or JSON, one user a line. Each user is written whole: who is known already is replaced. From a terminal: <code>tocsin users import</code><//>
    ${left && !file && html`<${Notice} title=${`The import of ${left.name} stopped at ${number(left.done)} of ${number(left.total)}`}>Choose the same file, and it goes on from there.<//>`}
    <${Card} title="The file"><div class="stack"><div class="field"><label for="import-file">CSV, NDJSON or JSON</label>
      <input id="import-file" type="file" accept=".csv,.json,.ndjson,.jsonl,.txt" disabled=${state.isRunning} onChange=${choose} /></div>
      ${file && html`<p>${many(file.users.length, "user")} in <code>${file.name}</code>${state.from ? html`; ${number(state.from)} were imported before and are passed over` : ""}.
        ${file.faults.length > 0 && html`<span class="bad-ink"> ${many(file.faults.length, "line")} cannot be read: ${file.faults.slice(0, 3).join(" ")}</span>`}</p>
        ${total > 0 && html`<div class="row">
          ${!isOver && html`<${Action} tone="primary" icon="play" disabled=${state.isRunning} run=${run}>Write ${many(total - state.done, "user")}<//>`}
          ${state.isRunning && html`<button type="button" class="button" onClick=${() => (stop.current = true)}>Stop</button>`}
          <${Progress} done=${state.done} total=${total} label="Users imported" /></div>`}`}
      ${isOver && html`<${Notice} tone=${state.refused.length ? "warn" : "good"} title="Imported">${many(state.made, "user is", "users are")} new, ${number(state.changed)} replaced, ${number(state.refused.length)} refused.<//>`}</div><//>
    ${state.refused.length > 0 && html`<${Card} title=${`Refused (${number(state.refused.length)})`} flush><${Table} label="Refused rows" keyOf=${(one) => one.line}
      rows=${state.refused.slice(0, SHOWN)} columns=${[
        { name: "line", label: "Row", end: true, show: (one) => number(one.line) },
        { name: "id", label: "User", show: (one) => one.id ?? "–" },
        { name: "why", label: "Why", wide: true, show: (one) => one.why },
      ]} />${state.refused.length > SHOWN && html`<div class="card-body mute">The first ${SHOWN} are shown.</div>`}<//>`}`;
}

const wordsOf = (problem) => [problem.detail, ...(problem.errors ?? []).map((one) => `${one.pointer.slice(1)} ${one.message}`)].join(" ");
