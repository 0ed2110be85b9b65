// The pieces that every page is made of.
import { ago, localTime, number, span, toneOf, utcTime, words } from "./format.js";
import { Icon } from "./icons.js";
import { useNow } from "./poll.js";
import { href } from "./router.js";
import { html, useEffect, useRef, useState } from "./view.js";

/** Local time; the UTC of it, and how long ago, on hover. */
export function Time({ at, none = "–" }) {
  if (!at) return html`<span class="mute">${none}</span>`;
  return html`<time datetime=${at} title=${`${utcTime(at)} (${ago(at)})`}>${localTime(at)}</time>`;
}

/** How long ago, with the local time and UTC on hover. */
export function Ago({ at, none = "–" }) {
  const now = useNow();
  if (!at) return html`<span class="mute">${none}</span>`;
  return html`<time datetime=${at} title=${`${localTime(at)} · ${utcTime(at)}`}>${ago(at, now)}</time>`;
}

/** How long already. */
export function For({ at }) {
  const now = useNow();
  return html`<time datetime=${at} title=${`since ${localTime(at)} · ${utcTime(at)}`}>${span((now - new Date(at).getTime()) / 1000)}</time>`;
}

export function Badge({ status, tone, children }) {
  return html`<span class=${`badge ${tone ?? toneOf(status)}`}>${children ?? words(status).toLowerCase()}</span>`;
}

/** A value that can be copied. */
export function Copy({ value, children, mono = true }) {
  const [isDone, setDone] = useState(false);
  if (value === null || value === undefined || value === "") return html`<span class="mute">–</span>`;
  const copy = async (event) => {
    event.preventDefault();
    event.stopPropagation();
    await copyText(String(value));
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<span class=${`copy${mono ? " mono" : ""}`}>
    <span class="copied-value">${children ?? String(value)}</span>
    <button type="button" class="bare" onClick=${copy} aria-label=${isDone ? "Copied" : `Copy ${String(value).slice(0, 60)}`} title="Copy">
      <${Icon} name=${isDone ? "check" : "copy"} /></button></span>`;
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    (document.querySelector("dialog[open]") ?? document.body).append(area); // nothing outside of an open dialog can be selected
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

export function Json({ value, label = "JSON" }) {
  const text = JSON.stringify(value, null, 2) ?? "null";
  return html`<div class="json"><pre tabindex="0" aria-label=${label}>${text}</pre>
    <${CopyButton} text=${text} label=${`Copy ${label}`} /></div>`;
}

export function CopyButton({ text, label = "Copy" }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    await copyText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<button type="button" class="bare" onClick=${copy} aria-label=${label} title=${label}>
    <${Icon} name=${isDone ? "check" : "copy"} /></button>`;
}

/** Names and values, side by side. `rows`: [[name, value], …]; what is undefined is left out. */
export function Facts({ rows }) {
  return html`<dl class="facts">${rows
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value ?? html`<span class="mute">–</span>`}</dd></div>`)}</dl>`;
}

/** A button that says when its work is under way, and what went wrong with it. While busy it is not `disabled`: that would take the focus from it. */
export function Action({ run, children, tone = "", icon, label, disabled, small }) {
  const [isBusy, setBusy] = useState(false);
  const press = async (event) => {
    event.stopPropagation();
    if (isBusy) return;
    setBusy(true);
    try {
      await run();
    } catch (error) {
      toast(error.message, { tone: "bad" });
    }
    setBusy(false);
  };
  return html`<button type="button" class=${`button ${tone}${small ? " small" : ""}`} disabled=${disabled && !isBusy} aria-disabled=${isBusy ? "true" : undefined} aria-busy=${isBusy}
    aria-label=${label} onClick=${press}>${icon && html`<${Icon} name=${icon} />`}${children}</button>`;
}

export const Link = ({ to, query, children, ...more }) => html`<a href=${href(to, query)} ...${more}>${children}</a>`;

export function Notice({ tone = "info", title, children, actions }) {
  return html`<div class=${`notice ${tone}`} role=${tone === "bad" ? "alert" : "status"}>
    <${Icon} name=${tone === "good" ? "check" : "alert"} />
    <div class="grow">${title && html`<strong>${title}</strong>`}<div>${children}</div></div>
    ${actions && html`<div class="actions">${actions}</div>`}</div>`;
}

export function Trouble({ error, retry }) {
  return html`<${Notice} tone="bad" title=${error.title || "That did not work"}
    actions=${retry && html`<button type="button" class="button small" onClick=${retry}>Try again</button>`}>
    ${error.message}
    ${error.errors?.length > 0 && html`<ul>${error.errors.map((each) => html`<li><code>${each.pointer}</code> ${each.message}</li>`)}</ul>`}
    ${error.help && html`<div><a href=${error.help} target="_blank" rel="noreferrer">What this means, and what to do</a></div>`}
    ${error.requestId && html`<div class="mute">Request <${Copy} value=${error.requestId} /></div>`}
  <//>`;
}

/** What a loaded page shows: the first time a sketch, then the data; trouble beside what is known already. */
export function Loaded({ of, children }) {
  if (of.data === undefined) return of.error ? html`<${Trouble} error=${of.error} retry=${of.refresh} />` : html`<${Sketch} />`;
  return html`${of.error && html`<${Trouble} error=${of.error} retry=${of.refresh} />`}${children(of.data)}`;
}

export const Sketch = () => html`<div class="sketch" aria-busy="true" aria-label="Loading"><i></i><i></i><i></i></div>`;

export const Empty = ({ title, children }) => html`<div class="empty"><strong>${title}</strong><div>${children}</div></div>`;

export function Progress({ done, total, label }) {
  const part = total ? Math.min(1, done / total) : 0;
  return html`<div class="progress"><progress value=${done} max=${total || 1} aria-label=${label}></progress>
    <span>${number(done)} of ${number(total)}${total ? ` (${Math.floor(part * 100)} %)` : ""}</span></div>`;
}

/** One card of the page. */
export function Card({ title, actions, children, id, flush }) {
  return html`<section class=${`card${flush ? " flush" : ""}`} id=${id} aria-label=${typeof title === "string" ? title : undefined}>
    ${(title || actions) && html`<header><h2>${title}</h2><div class="actions">${actions}</div></header>`}
    <div class="card-body">${children}</div></section>`;
}

export function PageHead({ title, children, actions, crumbs = [] }) {
  const said = typeof title === "string" ? title : "";
  useEffect(() => {
    if (said) document.title = `${said} · Tocsin console`;
  }, [said]);
  return html`<header class="page-head"><div class="grow">
    ${crumbs.length > 0 && html`<nav class="crumbs" aria-label="Breadcrumb">${crumbs.map(([name, to, query]) => html`<a key=${name} href=${href(to, query)}>${name}</a>`)}</nav>`}
    <h1 tabindex="-1" id="page-title">${title}</h1>${children && html`<p class="lead">${children}</p>`}</div>
    <div class="actions">${actions}</div></header>`;
}

export function Tabs({ tabs, current, choose, label = "Views" }) {
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const names = tabs.map(([name]) => name);
    choose(names[(names.indexOf(current) + step + names.length) % names.length]);
    event.currentTarget.querySelectorAll("button")[(names.indexOf(current) + step + names.length) % names.length]?.focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} onKeyDown=${move}>${tabs.map(
    ([name, title]) => html`<button key=${name} type="button" role="tab" aria-selected=${name === current} tabindex=${name === current ? 0 : -1}
      onClick=${() => choose(name)}>${title}</button>`
  )}</div>`;
}

/**
 * `columns`: [{name, label, show(row), wide?, end?}]. A row with `to(row)` opens by a click anywhere; its first cell is the link.
 * `selected` (has a key?) and `toggle(row)` put a tick before each row, `toggleAll(rows, isOn)` one before all of them.
 */
export function Table({ columns, rows, to, keyOf = (row) => row.id, label, selected, toggle, toggleAll }) {
  const isAll = Boolean(toggleAll) && rows.every((row) => selected.has(keyOf(row)));
  return html`<div class="table-box" role="group" aria-label=${label} tabindex="0"><table><thead><tr>
    ${toggle && html`<th class="tick">${toggleAll ? html`<input type="checkbox" aria-label="Select all that are shown" checked=${isAll} onChange=${() => toggleAll(rows, !isAll)} />` : html`<span class="hidden">Selected</span>`}</th>`}
    ${columns.map((column) => html`<th key=${column.name} class=${column.end ? "end" : ""} scope="col">${column.label || html`<span class="hidden">Actions</span>`}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => {
      const target = to?.(row);
      const open = (event) => {
        if (target && !event.target.closest("a, button, input, label, summary") && !String(getSelection())) location.hash = target;
      };
      return html`<tr key=${keyOf(row)} class=${target ? "opens" : ""} onClick=${open}>
        ${toggle && html`<td class="tick"><input type="checkbox" aria-label="Select" checked=${selected.has(keyOf(row))} onChange=${() => toggle(row)} /></td>`}
        ${columns.map(
          (column, index) => html`<td key=${column.name} data-label=${column.label} class=${`${column.end ? "end" : ""}${column.wide ? " wide" : ""}`}>${
            index === 0 && target ? html`<a href=${target}>${column.show(row)}</a>` : column.show(row)
          }</td>`
        )}</tr>`;
    })}</tbody></table></div>`;
}

// Forms

let fieldId = 0;

export function Field({ label, hint, error, children }) {
  const [id] = useState(() => `field-${++fieldId}`);
  return html`<div class=${`field${error ? " wrong" : ""}`}><label for=${id}>${label}</label>
    ${children(id, `${id}-more`)}
    <div class="field-more" id=${`${id}-more`}>${error ? html`<span class="error">${error}</span>` : hint}</div></div>`;
}

export function TextField({ label, value, set, hint, error, type = "text", rows, ...more }) {
  const shared = { value: value ?? "", onInput: (event) => set(event.currentTarget.value), "aria-invalid": error ? "true" : undefined };
  return html`<${Field} label=${label} hint=${hint} error=${error}>${(id, about) =>
    rows
      ? html`<textarea id=${id} aria-describedby=${about} rows=${rows} spellcheck=${false} ...${shared} ...${more}></textarea>`
      : html`<input id=${id} aria-describedby=${about} type=${type} ...${shared} ...${more} />`}<//>`;
}

export function SelectField({ label, value, set, options, hint, error, ...more }) {
  return html`<${Field} label=${label} hint=${hint} error=${error}>${(id, about) => html`<select id=${id} aria-describedby=${about}
    value=${value ?? ""} onChange=${(event) => set(event.currentTarget.value)} ...${more}>
    ${options.map(([each, title]) => html`<option key=${each} value=${each} selected=${each === (value ?? "")}>${title ?? each}</option>`)}</select>`}<//>`;
}

export function Switch({ label, on, set, disabled, hint }) {
  return html`<label class="switch"><input type="checkbox" role="switch" checked=${on} disabled=${disabled} onChange=${(event) => set(event.currentTarget.checked)} />
    <span>${label}${hint && html`<small>${hint}</small>`}</span></label>`;
}

/** Which of several are wanted. `options`: [[value, title], …]. */
export function Choices({ label, options, values, set, hint, error }) {
  return html`<fieldset class=${`choices${error ? " wrong" : ""}`}><legend>${label}</legend>${options.map(
    ([each, title]) => html`<label key=${each}><input type="checkbox" checked=${values.includes(each)}
      onChange=${(event) => set(event.currentTarget.checked ? [...values, each] : values.filter((one) => one !== each))} />${title ?? each}</label>`
  )}<div class="field-more">${error ? html`<span class="error">${error}</span>` : hint}</div></fieldset>`;
}

/** The errors of a refused form by the names of its fields; what belongs to none of them under "". */
export function errorsOf(problem, names) {
  const found = {};
  if (!problem) return found;
  const rest = [];
  for (const each of problem.errors ?? []) {
    const name = names.find((one) => each.pointer === `/${one}` || each.pointer.startsWith(`/${one}/`));
    if (name) found[name] ??= each.message;
    else rest.push(`${each.pointer} ${each.message}`.trim());
  }
  if (!Object.keys(found).length) found[""] = problem.message;
  else if (rest.length) found[""] = rest.join(" ");
  return found;
}

// Toasts and dialogs: one host each, in app.js.

const hosts = { toast: null, dialog: null, leave: null };
export const host = (name, take) => (hosts[name] = take);

/** A word about what was done; with `undo`, a way back for some seconds. What went wrong stays until somebody closes it. */
export function toast(message, { tone = "good", undo } = {}) {
  hosts.toast?.({ message, tone, undo });
}

export function Toasts() {
  const [toasts, setToasts] = useState([]);
  const next = useRef(0);
  useEffect(
    () =>
      host("toast", (one) => {
        const id = ++next.current;
        setToasts((old) => [...old.slice(-3), { ...one, id }]);
        if (one.tone !== "bad") setTimeout(() => setToasts((old) => old.filter((each) => each.id !== id)), one.undo ? 12_000 : 6_000);
      }),
    []
  );
  const drop = (id) => setToasts((old) => old.filter((each) => each.id !== id));
  const undo = async (one) => {
    drop(one.id);
    try {
      await one.undo();
      toast("Undone.");
    } catch (error) {
      toast(`That could not be undone: ${error.message}`, { tone: "bad" });
    }
  };
  return html`<div class="toasts" role="status" aria-live="polite">${toasts.map(
    (one) => html`<div key=${one.id} class=${`toast ${one.tone}`}><span>${one.message}</span>
      ${one.undo && html`<button type="button" class="button small" onClick=${() => undo(one)}>Undo</button>`}
      <button type="button" class="bare" aria-label="Close" onClick=${() => drop(one.id)}><${Icon} name="close" /></button></div>`
  )}</div>`;
}

/**
 * Open a dialog; `body({close, guard})` draws it. Resolves with what `close` was given, or undefined when it is left or another takes its place.
 * `guard(mayLeave)`: asked before Escape, the cross or moving to another page closes it. `stays`: only a person closes it.
 */
export const dialog = (one) => new Promise((resolve) => hosts.dialog?.({ ...one, resolve }));

/**
 * Before something is done: what it will do, found out first where the API can tell (`plan`, which gives what to show, or throws), then done.
 * `typed`: the word to type first. `reason`: asks for one, given to `run`. Resolves with what `run` gave, or undefined.
 */
export const ask = (one) => dialog({ ...one, body: (tools) => html`<${Asked} ...${one} ...${tools} />` });

function Asked({ plan, says, run, verb = "Do it", tone = "danger", typed, reason, close, guard }) {
  const [planned, setPlanned] = useState(plan ? null : says);
  const [error, setError] = useState(null);
  const [word, setWord] = useState("");
  const [why, setWhy] = useState("");
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (plan) plan().then(setPlanned, setError);
  }, []);
  guard(() => !isBusy);
  const may = planned !== null && !isBusy && (!typed || word === typed) && (!reason || why.trim());
  const go = async (event) => {
    event.preventDefault();
    if (!may) return;
    setBusy(true);
    setError(null);
    try {
      close((await run(why.trim())) ?? true);
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return html`<form onSubmit=${go}>
    ${planned === null && !error ? html`<${Sketch} />` : html`<div class="asked">${planned}</div>`}
    ${reason && html`<${TextField} label=${reason === true ? "Reason (kept in the audit log)" : reason} value=${why} set=${setWhy} maxlength="500" autofocus />`}
    ${typed && html`<${TextField} label=${html`Type <code>${typed}</code> to go on`} value=${word} set=${setWord} autocomplete="off" autofocus=${!reason} />`}
    ${error && html`<${Trouble} error=${error} />`}
    <div class="dialog-actions"><button type="button" class="button" disabled=${isBusy} onClick=${() => close()}>Cancel</button>
      <button type="submit" class=${`button ${tone}`} disabled=${!may} aria-busy=${isBusy}>${verb}</button></div></form>`;
}

/** Whoever signs out leaves no question open. */
export const leaveDialog = () => hosts.leave?.();

export function Dialogs() {
  const [shown, setShown] = useState(null);
  const element = useRef(null);
  const latest = useRef(null);
  const turn = useRef(0);
  const close = (one, value) => {
    if (latest.current === one) {
      latest.current = null;
      element.current?.close();
      setShown(null);
    }
    one.resolve(value);
  };
  const leave = (one) => (one.mayLeave() ? close(one) : element.current?.open || element.current?.showModal());
  useEffect(() => {
    host("dialog", (one) => {
      latest.current?.resolve();
      latest.current = { ...one, id: ++turn.current, mayLeave: () => true };
      setShown(latest.current);
    });
    const moved = (event) => event.isTrusted && latest.current && !latest.current.stays && leave(latest.current); // a filter that is put into the address moves nobody
    host("leave", () => latest.current && !latest.current.stays && close(latest.current));
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  useEffect(() => {
    if (shown && !element.current.open) element.current.showModal();
  }, [shown]);
  if (!shown) return null;
  const tools = { close: (value) => close(shown, value), guard: (mayLeave) => (shown.mayLeave = mayLeave) };
  return html`<dialog key=${shown.id} ref=${element} class=${shown.wide ? "wide" : ""} aria-labelledby="dialog-title" onCancel=${(event) => (event.preventDefault(), leave(shown))}
      onClose=${() => latest.current === shown && leave(shown)}>
    <header><h2 id="dialog-title">${shown.title}</h2>
      <button type="button" class="bare" aria-label="Close" onClick=${() => leave(shown)}><${Icon} name="close" /></button></header>
    <div class="dialog-body">${shown.body(tools)}</div></dialog>`;
}

export { span };
