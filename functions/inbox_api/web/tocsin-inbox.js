/**
 * <tocsin-inbox>: a bell with a badge, and the inbox behind it. No dependencies and no build step.
 * What strangers wrote reaches the page as text, never as markup. How to embed it: docs/inbox-component.md.
 */

/** Every word a person sees. A page may put its own in their place: `Object.assign(text, {done: "Erledigt"})`. */
export const text = {
  locale: "en",
  label: "Notifications",
  unread: (n, capped) => `${n}${capped ? " or more" : ""} unread`,
  tabs: { all: "Inbox", unread: "Unread", saved: "Saved", snoozed: "Snoozed", done: "Done" },
  empty: {
    all: ["All caught up", "New notifications will show up here by themselves."],
    unread: ["Nothing unread", "You have seen everything."],
    saved: ["Nothing saved", "Save what you want to come back to."],
    snoozed: ["Nothing snoozed", "What you snooze waits here until its time."],
    done: ["Nothing done yet", "What you finish is kept here."],
  },
  reasons: {
    mention: "mentioned you",
    review_requested: "review requested",
    assign: "assigned to you",
    author: "you started this",
    comment: "you commented",
    subscribed: "subscribed",
    watching: "watching",
  },
  channels: { email: "Email", sms: "Text message", push: "Push", in_app: "In this inbox" },
  isUnread: "Unread.",
  everyone: "for everyone",
  muted: "muted",
  updates: (n) => `${n} updates`,
  until: (when) => `until ${when}`,
  noScope: "Other",
  markRead: "Mark as read",
  markUnread: "Mark as unread",
  markAllRead: "Mark all as read",
  save: "Save",
  unsave: "Remove from saved",
  done: "Done",
  undone: "Move to inbox",
  more: "More actions",
  snooze: { hour: "Snooze for 1 hour", tomorrow: "Snooze until tomorrow, 9:00", monday: "Snooze until Monday, 9:00" },
  unsnooze: "Stop snoozing",
  mute: "Mute this thread",
  unmute: "Unmute this thread",
  hide: "Hide",
  undo: "Undo",
  isDone: "Done.",
  isSnoozed: "Snoozed.",
  isMuted: "Thread muted.",
  isHidden: "Hidden.",
  loading: "Loading…",
  loadMore: "Load more",
  retry: "Try again",
  failed: "This did not work",
  unreachable: "The server cannot be reached.",
  rolledBack: (why) => `Not changed. ${why}`,
  offline: "You are offline.",
  signedOut: ["Signed out", "Sign in again to see your notifications."],
  arrived: (title) => `New notification: ${title}`,
  preferences: "Preferences",
  back: "Back to the inbox",
  close: "Close",
  cap: "At most per day",
  noCap: "No limit",
  quietFrom: "Quiet from",
  quietUntil: "Quiet until",
  zone: "Time zone",
  limits: "Limits and quiet hours",
  saved: "Saved.",
  shortcuts: "Keyboard shortcuts",
  keys: [
    ["↑ ↓", "Previous, next"],
    ["Home End", "First, last"],
    ["Enter", "Open"],
    ["r", "Read or unread"],
    ["d", "Done"],
    ["s", "Save"],
    ["z", "Snooze"],
    ["m", "Mute the thread"],
    ["?", "This list"],
    ["Esc", "Close"],
  ],
};

const PAGE_SIZE = 25;
const ACTIVE_MS = 5 * 60_000; // how long after the last movement a person counts as there
const POLL_MS = 30_000;
const PACE_MS = 400; // at least this long between two live questions, so that a burst of news is one refresh
const TOAST_MS = 8_000;
const HOME = new URL(import.meta.url).origin;

const ICONS = {
  bell: "M6 9.5a6 6 0 0 1 12 0c0 5.5 2.5 7 2.5 7h-17S6 15 6 9.5M10 20a2.2 2.2 0 0 0 4 0",
  mail: "M3.5 6h17v12h-17zM4 7l8 6 8-6",
  opened: "M3.5 10L12 4.5l8.5 5.5v9.5h-17zM4 10.5l8 5.5 8-5.5",
  check: "M5 12.5l4.5 4.5L19 7",
  checks: "M2 12.5L6.5 17 15 7.5M12.5 16l1 1L22 7.5",
  save: "M7 4h10v16l-5-4-5 4z",
  dots: "M5.5 12h.01M12 12h.01M18.5 12h.01",
  sliders: "M4 7.5h9M19 7.5h1M4 16.5h1M11 16.5h9M13 7.5a3 3 0 1 0 6 0 3 3 0 1 0-6 0M5 16.5a3 3 0 1 0 6 0 3 3 0 1 0-6 0",
  back: "M14.5 5.5L8 12l6.5 6.5",
  close: "M6.5 6.5l11 11M17.5 6.5l-11 11",
  clock: "M12 7.5V12l3 2M20.5 12a8.5 8.5 0 1 1-17 0 8.5 8.5 0 0 1 17 0",
  mute: "M6 9.5a6 6 0 0 1 12 0c0 5.5 2.5 7 2.5 7h-17S6 15 6 9.5M4 3.5l16 17",
  hide: "M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7",
};

const sheet = new CSSStyleSheet();
sheet.replaceSync(`
:host { display: inline-block; position: relative; --accent: var(--tocsin-accent, light-dark(#3056d3, #8ea9ff));
  --bg: var(--tocsin-background, light-dark(#fff, #17191f)); --fg: var(--tocsin-text, light-dark(#1b1e25, #e9ebf0));
  --muted: var(--tocsin-muted, light-dark(#5c6370, #9ca3b2)); --line: var(--tocsin-line, light-dark(#e7e9ee, #2b2f39));
  --soft: var(--tocsin-surface, light-dark(#f4f5f8, #22262f)); --bad: light-dark(#b3261e, #ffa199); --r: var(--tocsin-radius, 14px) }
:host([hidden]), [hidden] { display: none !important }
:host([theme=light]) { color-scheme: light } :host([theme=dark]) { color-scheme: dark } :host([theme=auto]) { color-scheme: light dark }
* { box-sizing: border-box; margin: 0 }
button, input { font: inherit; color: inherit; letter-spacing: inherit }
button { border: 0; background: none; padding: 0; cursor: pointer }
svg { inline-size: 18px; block-size: 18px; fill: none; stroke: currentColor; stroke-width: 1.7; stroke-linecap: round; stroke-linejoin: round; flex: none }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px }
.sr { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.bell, .icon { display: inline-grid; place-items: center; border-radius: 9px }
.bell { position: relative; inline-size: var(--tocsin-bell-size, 40px); block-size: var(--tocsin-bell-size, 40px) }
.bell svg { inline-size: 55%; block-size: 55% }
.bell:hover, .bell[aria-expanded=true] { background: color-mix(in srgb, currentColor 9%, transparent) }
.badge { position: absolute; inset-block-start: 1px; inset-inline-end: 0; min-inline-size: 18px; padding: 0 5px; border-radius: 9px; border: 1px solid transparent;
  background: var(--tocsin-badge, #c62f3b); color: var(--tocsin-badge-text, #fff); font: 650 11px/16px var(--tocsin-font, system-ui, sans-serif); text-align: center; font-variant-numeric: tabular-nums }
.panel { position: fixed; inset: auto; margin: 0; padding: 0; inline-size: var(--tocsin-width, 430px); max-inline-size: calc(100vw - 16px); min-block-size: min(440px, 60vh);
  flex-direction: column; overflow: hidden; border: 1px solid var(--line); border-radius: var(--r); background: var(--bg); color: var(--fg);
  font: 14px/1.45 var(--tocsin-font, system-ui, sans-serif); text-align: left; box-shadow: 0 2px 6px #0f121a14, 0 16px 48px #0f121a33 }
.panel:popover-open { display: flex }
.panel:focus { outline: none } .panel:dir(rtl) { text-align: right } .title, .message, .fact, h3 { unicode-bidi: plaintext }
.head { display: flex; align-items: center; gap: 2px; padding-block: 12px 8px; padding-inline: 18px 10px }
.head .icon:first-child { margin-inline: -8px 4px } .head h2 { flex: 1; font-size: 16px; font-weight: 650; letter-spacing: -.01em }
.icon { inline-size: 32px; block-size: 32px; color: var(--muted) }
.icon:hover, .icon[aria-expanded=true] { background: color-mix(in srgb, currentColor 12%, transparent); color: var(--fg) }
.more svg { stroke-width: 3 } .icon.on svg { fill: currentColor; color: var(--accent) }
.head, .tabs { flex: none }
.tabs { display: flex; gap: 2px; padding: 0 12px; border-block-end: 1px solid var(--line); overflow-x: auto; scrollbar-width: none }
.tab { padding: 7px 8px 9px; color: var(--muted); font-weight: 500; white-space: nowrap; border-block-end: 2px solid transparent; outline-offset: -3px }
.tab:hover { color: var(--fg) } .tab[aria-selected=true] { color: var(--fg); border-color: var(--accent) }
.body { flex: 1; overflow-y: auto; scrollbar-width: thin; scrollbar-color: var(--line) transparent; overscroll-behavior: contain; min-block-size: 0 }
.body h3 { position: sticky; inset-block-start: 0; z-index: 2; padding: 10px 18px 6px; background: var(--bg); color: var(--muted); font-size: 12px; font-weight: 600; overflow-wrap: anywhere }
ul { list-style: none; padding: 0 }
.row { position: relative; padding-block: 11px 12px; padding-inline: 34px 18px; border-block-end: 1px solid var(--line) }
.row:hover, .row:focus-within { background: var(--soft) }
.dot { position: absolute; inset-inline-start: 16px; inset-block-start: 18px; inline-size: 8px; block-size: 8px; border-radius: 50%; background: var(--accent) }
.open { display: block; scroll-margin-block: 44px 16px; inline-size: 100%; text-align: inherit; color: inherit; text-decoration: none; outline: none; min-inline-size: 0; overflow-wrap: anywhere }
.open::after { content: ""; position: absolute; inset: 0 } .open:focus-visible::after { outline: 2px solid var(--accent); outline-offset: -3px; border-radius: 8px }
.title { display: block; padding-inline-end: 84px; font-weight: 500; color: var(--muted) } .is-unread .title { font-weight: 620; color: var(--fg) }
.message { color: var(--muted); margin-block-start: 1px; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden } .whole { display: block; white-space: pre-line }
time { position: absolute; inset-block-start: 11px; inset-inline-end: 18px; color: var(--muted); font-size: 12px; line-height: 20px; white-space: nowrap }
.meta { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; margin-block-start: 6px; color: var(--muted); font-size: 12px; overflow-wrap: anywhere }
.meta:empty { display: none } .fact { display: inline-flex; gap: 4px } .fact + .fact { margin-inline-start: -4px } .fact + .fact::before { content: "·" }
.chip { padding: 1px 7px; border-radius: 6px; border: 1px solid transparent; background: color-mix(in srgb, var(--fg) 7%, transparent); color: var(--fg) }
.chip.you { background: color-mix(in srgb, var(--accent) 14%, transparent); color: color-mix(in srgb, var(--accent) 75%, var(--fg)) }
.acts { position: absolute; z-index: 1; inset-block-start: 8px; inset-inline-end: 12px; display: flex; border-radius: 9px; background: var(--soft); opacity: 0; pointer-events: none }
.row:hover .acts, .row:focus-within .acts, .acts:has([aria-expanded=true]) { opacity: 1; pointer-events: auto }
.acts .icon { inline-size: 30px; block-size: 26px }
.menu { position: absolute; z-index: 5; min-inline-size: 230px; padding: 5px; border: 1px solid var(--line); border-radius: 11px; background: var(--bg); box-shadow: 0 8px 28px #0f121a40 }
.menu button { display: flex; align-items: center; gap: 10px; inline-size: 100%; padding: 6px 9px; border-radius: 7px; text-align: start }
.menu svg { color: var(--muted) } .menu button:hover, .menu button:focus { background: var(--soft); outline-offset: -2px }
.menu hr { border: 0; border-block-start: 1px solid var(--line); margin: 5px }
.state { display: grid; justify-items: center; gap: 4px; padding: 64px 32px; text-align: center; color: var(--muted) }
.state svg { inline-size: 34px; block-size: 34px; margin-block-end: 8px; stroke-width: 1.3 } .state strong { color: var(--fg); font-weight: 600 }
.button { padding: 6px 14px; border: 1px solid var(--line); border-radius: 9px; font-weight: 550; background: var(--bg) } .button:hover { background: var(--soft) }
.state .button { margin-block-start: 12px } .load { display: block; margin: 12px auto 16px }
.note { display: flex; align-items: center; gap: 10px; padding: 8px 18px; background: var(--soft); font-size: 13px } .note span { flex: 1 }
.toast { position: absolute; z-index: 4; inset-inline: 12px; inset-block-end: 12px; border-radius: 10px; background: light-dark(#22262f, #eceef3); color: light-dark(#fff, #17191f); font-size: 13px }
.toast > div { display: flex; align-items: center; gap: 12px; padding: 9px 14px } .toast span { flex: 1; overflow-wrap: anywhere }
.toast button { font-weight: 650; text-decoration: underline; text-underline-offset: 3px } .toast :focus-visible { outline-color: currentColor }
.skeleton { padding-block: 14px; padding-inline: 34px 18px; border-block-end: 1px solid var(--line) }
.skeleton i { display: block; block-size: 10px; border-radius: 5px; background: var(--soft); margin-block: 5px; inline-size: 88% } .skeleton i:first-child { inline-size: 54% }
form { padding: 14px 18px; border-block-end: 1px solid var(--line) }
.switch { display: flex; align-items: center; gap: 10px; font-weight: 600; cursor: pointer } .switch span { flex: 1 }
.switch input { appearance: none; position: relative; inline-size: 36px; block-size: 21px; border-radius: 11px; border: 1px solid transparent; background: light-dark(#aab0bc, #4a505e); cursor: pointer }
.switch input::before { content: ""; position: absolute; inset-block-start: 2px; inset-inline-start: 2px; inline-size: 15px; block-size: 15px; border-radius: 50%; background: #fff }
.switch input:checked { background: var(--accent) } .switch input:checked::before { inset-inline-start: 17px; background: var(--bg) }
details { margin-block-start: 6px } summary { color: var(--muted); font-size: 13px; cursor: pointer; border-radius: 5px; inline-size: fit-content }
.fields { display: grid; grid-template-columns: 1fr 1fr; gap: 10px 12px; margin-block: 12px; align-items: start }
.fields label { display: block; font-size: 12px; color: var(--muted) }
.fields input { display: block; inline-size: 100%; min-inline-size: 0; block-size: 34px; margin-block-start: 3px; padding: 0 9px; border: 1px solid light-dark(#c3c8d2, #464c59); border-radius: 8px; background: var(--bg); color: var(--fg); font-size: 14px }
.fields input[aria-invalid] { border-color: var(--bad) } .error { color: var(--bad); font-size: 12px; margin-block-start: 3px }
dl { display: grid; grid-template-columns: auto 1fr; gap: 9px 16px; padding: 16px 18px; align-items: center }
kbd { font: 600 12px/1 ui-monospace, monospace; padding: 3px 6px; margin-inline-end: 4px; border: 1px solid var(--line); border-block-end-width: 2px; border-radius: 6px; background: var(--soft) }
@media (pointer: coarse) { .bell, .icon, .tab, .button, .menu button, .toast button { min-block-size: 44px; min-inline-size: 44px } .acts .icon:not(.more) { display: none }
  .acts { opacity: 1; pointer-events: auto; background: none; inset-block-start: 2px; inset-inline-end: 6px } time { inset-inline-end: 50px } .title { padding-inline-end: 112px } .fields input { block-size: 44px; font-size: 16px } .switch { min-block-size: 44px } }
@media (max-width: 480px) { .panel { inset: auto 0 0 0 !important; inline-size: 100vw; max-inline-size: none; block-size: 92dvh; max-block-size: 92dvh !important; border-radius: var(--r) var(--r) 0 0; border-inline: 0 }
  .panel::backdrop { background: #0f121a73 } }
@media (prefers-reduced-motion: no-preference) { .panel:popover-open { animation: in .14s ease-out } @keyframes in { from { opacity: 0; translate: 0 -6px } }
  .skeleton i { animation: pulse 1.4s ease-in-out infinite alternate } @keyframes pulse { to { opacity: .45 } } .acts { transition: opacity .1s } .switch input::before { transition: inset-inline-start .12s } }
@media (forced-colors: active) { .dot, .badge, .switch input:checked { forced-color-adjust: none; background: Highlight; color: HighlightText } .chip, .badge, .switch input { border-color: CanvasText } .tab { border-color: Canvas } .tab[aria-selected=true] { border-color: Highlight } }
`);

/** An element with attributes, `on…` listeners and children; strings become text nodes, nothing becomes markup. */
function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(2).filter((child) => child != null && child !== false && child !== ""));
  return node;
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS(svg.namespaceURI, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

const iconButton = (name, label, onclick, more = {}) =>
  h("button", { type: "button", class: "icon", "aria-label": label, title: label, onclick, ...more }, icon(name));

/** Make these the children of `parent`, moving nothing that is already in its place: focus and scrolling survive. */
function place(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, at) => parent.childNodes[at] === node || parent.insertBefore(node, parent.childNodes[at] ?? null));
}

/** Only http and https become links; anything else strangers send (javascript:, data:) stays text. */
function safeUrl(value) {
  try {
    const url = new URL(value, document.baseURI);
    return typeof value === "string" && /^https?:$/.test(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

const full = (iso) => new Date(iso).toLocaleString(text.locale, { dateStyle: "medium", timeStyle: "short" });

function ago(iso) {
  const seconds = (new Date(iso) - Date.now()) / 1000;
  const units = [["year", 31536e3], ["month", 2592e3], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  const format = new Intl.RelativeTimeFormat(text.locale, { numeric: "auto", style: "narrow" });
  return unit === "second" ? format.format(0, "second") : format.format(Math.trunc(seconds / size), unit);
}

/** When a snoozed row comes back: in an hour, or at nine in the morning of tomorrow or of next Monday, local time. */
function snoozeTime(choice) {
  const at = new Date();
  if (choice === "hour") return new Date(at.getTime() + 3600e3).toISOString();
  at.setDate(at.getDate() + (choice === "tomorrow" ? 1 : (8 - at.getDay()) % 7 || 7));
  at.setHours(9, 0, 0, 0);
  return at.toISOString();
}

/** What the server will make of a row when it is sent this change. */
function foreseen(row, change) {
  const now = new Date().toISOString();
  const next = { ...row };
  if ("read" in change) next.unread = !change.read;
  if ("done" in change) next.done_at = change.done ? now : null;
  if ("saved" in change) next.saved_at = change.saved ? now : null;
  if ("snoozed_until" in change) next.snoozed_until = change.snoozed_until;
  return next;
}

const isSnoozed = (row) => new Date(row.snoozed_until ?? 0) > Date.now();
const isHere = (row) => !row.hidden && !row.done_at && !isSnoozed(row);
const countsAs = (row) => (row.unread && isHere(row) ? 1 : 0);
const belongs = {
  all: isHere,
  unread: countsAs,
  saved: (row) => !row.hidden && row.saved_at,
  snoozed: (row) => !row.hidden && !row.done_at && isSnoozed(row),
  done: (row) => !row.hidden && row.done_at,
};

/** The server said no, in a problem document: `errors` are [{pointer, message}] of single fields. */
class Refused extends Error {
  constructor(answer, raw) {
    let problem = {};
    try {
      problem = JSON.parse(raw); // a proxy on the way may answer in HTML
    } catch {}
    super(problem.detail || problem.title || text.failed);
    this.status = answer.status;
    this.errors = problem.errors ?? [];
    this.retryAfter = Number(answer.headers.get("Retry-After")) || 0;
  }
}

function reasonOf(error) {
  if (error instanceof Refused) return error.message;
  return navigator.onLine ? text.unreachable : text.offline;
}

const emptyList = (tab) => ({ tab, rows: [], cursor: null, state: "loading", why: "" });

/** Unread rows that were not there before, or that something was added to. */
function arrivals(before, after) {
  const known = new Map(before.map((row) => [row.id, row.last_event_at]));
  return after.filter((row) => row.unread && known.get(row.id) !== row.last_event_at);
}

let activeAt = Date.now();
const isActive = () => Date.now() - activeAt < ACTIVE_MS;
const sessions = new Set();
function noticeActivity() {
  const wasIdle = !isActive();
  activeAt = Date.now();
  if (wasIdle) for (const session of sessions) session.wake();
}
for (const type of ["pointerdown", "pointermove", "keydown", "scroll"]) {
  addEventListener(type, noticeActivity, { capture: true, passive: true });
}

/** One person at one server: asks with their token, and listens for news once for all elements of the page. */
class Session {
  #listeners = new Set();
  #etags = {};
  #news = null;
  #renewing = null;
  #asking = null;
  #running = false;
  #wake = () => {};

  static of(api, token, provider) {
    const same = [...sessions].find((one) => !one.signedOut && one.api === api && one.given === token && one.provider === provider);
    return same ?? new Session(api, token, provider);
  }

  constructor(api, token, provider) {
    Object.assign(this, { api, token, provider, given: token, signedOut: !token && !provider });
  }

  /** `listener` has news({unread, capped}), expired() and weather(), called when the line or the server goes or comes back. */
  join(listener) {
    if (!sessions.has(this)) for (const type of ["online", "offline"]) addEventListener(type, this.#weather);
    document.addEventListener("visibilitychange", this.#looked);
    sessions.add(this);
    this.#listeners.add(listener);
    if (this.#news) listener.news(this.#news);
    if (!this.#running) this.#run();
  }

  leave(listener) {
    this.#listeners.delete(listener);
    if (this.#listeners.size) return;
    sessions.delete(this);
    for (const type of ["online", "offline"]) removeEventListener(type, this.#weather);
    document.removeEventListener("visibilitychange", this.#looked);
    this.#asking?.abort();
    this.wake(true);
  }

  wake(evenFromBackoff = false) {
    this.#wake(evenFromBackoff);
  }

  #weather = () => {
    for (const listener of this.#listeners) listener.weather();
    this.wake(true);
  };

  // A hidden tab asks nothing: what it waits for is let go, and asked again when it is looked at.
  #looked = () => (document.hidden ? this.#asking?.abort() : this.wake());

  /** One request; a 401 renews the token once and asks again. Answers {status, etag, data} or throws. */
  async ask(method, path, { body, etag, signal } = {}) {
    for (let renewed = false; ; renewed = true) {
      const token = this.token || (await this.#renew());
      if (!token) throw this.#expire(new Refused(new Response(null, { status: 401 }), ""));
      const headers = { Authorization: `Bearer ${token}` };
      if (body) headers["Content-Type"] = "application/json";
      if (etag) headers["If-None-Match"] = etag;
      // A row that is opened leaves the page: its PATCH must survive that.
      const options = { method, headers, signal, cache: "no-store", credentials: "omit", keepalive: method === "PATCH" };
      const answer = await fetch(`${this.api}/v1/inbox${path}`, body ? { ...options, body: JSON.stringify(body) } : options);
      const raw = await answer.text();
      if (answer.ok || answer.status === 304) {
        return { status: answer.status, etag: answer.headers.get("ETag") ?? etag, data: raw ? JSON.parse(raw) : null };
      }
      if (answer.status === 401 && !renewed && (this.token !== token || (await this.#renew()))) continue;
      const refused = new Refused(answer, raw);
      throw answer.status === 401 ? this.#expire(refused) : refused;
    }
  }

  async #renew() {
    this.#renewing ??= Promise.resolve(this.provider?.()).finally(() => (this.#renewing = null));
    return (this.token = await this.#renewing);
  }

  #expire(refused) {
    const isNews = !this.signedOut;
    this.signedOut = true;
    if (isNews) for (const listener of this.#listeners) listener.expired();
    return refused;
  }

  async #run() {
    this.#running = true;
    let failures = 0;
    while (this.#listeners.size && !this.signedOut) {
      if (document.hidden || !navigator.onLine) await this.#rest(2 ** 30);
      else failures = await this.#round(failures);
    }
    this.#running = false;
  }

  /** Ask once and rest as long as is right. After a failure the cheap question comes first: it works when no place to wait is free. */
  async #round(failures) {
    const isLive = isActive();
    try {
      if (failures || !isLive) await this.#look("/unread-count");
      if (failures) for (const listener of this.#listeners) listener.weather();
      const isWorthIt = !isLive || (await this.#look("/live?wait=20"));
      await this.#rest(isActive() && isWorthIt ? PACE_MS : POLL_MS);
      return 0;
    } catch (error) {
      if (error.name === "AbortError") return failures;
      const seconds = Math.min(30, 2 ** failures) * (0.5 + Math.random() / 2);
      await this.#rest(Math.max(seconds, (error.retryAfter ?? 0) + Math.random()) * 1000, true);
      return failures + 1;
    }
  }

  /** Tell the listeners what is new. False if the server does not really wait (an answer without ETag, a 304 at once). */
  async #look(path) {
    const began = Date.now();
    this.#asking = new AbortController();
    const { status, etag, data } = await this.ask("GET", path, { etag: this.#etags[path], signal: this.#asking.signal });
    this.#etags[path] = etag;
    if (status === 200) for (const listener of this.#listeners) listener.news((this.#news = data));
    return etag && (status === 200 || Date.now() - began > 1000);
  }

  #rest(milliseconds, firmly = false) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = (even) => (even || !firmly) && (clearTimeout(timer), resolve());
    });
  }
}

export class TocsinInbox extends HTMLElement {
  static observedAttributes = ["api", "token", "label"];

  #root = this.attachShadow({ mode: "open" });
  #token = null;
  #provider = null;
  #session = null;
  #unread = 0;
  #starting = false;
  #isOpen = false;
  #known = false; // whether the count was ever told
  #view = "list";
  #list = emptyList("all");
  #current = null; // the row that Tab and the keys act on
  #whole = null; // the row whose message is shown to its end
  #cache = new Map();
  #muted = new Set(); // the paths of threads that were muted here
  #wasSubscribed = new Map(); // and what they were before
  #queue = Promise.resolve();
  #busy = 0;
  #missed = null; // a count that came while a change was on its way
  #ticker = 0;
  #toastTimer = 0;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [sheet];
    this.#root.append(...this.#shell());
  }

  connectedCallback() {
    for (const name of ["token", "tokenProvider"]) this.#upgrade(name);
    this.#relabel();
    this.#start();
  }

  disconnectedCallback() {
    this.close();
    this.#session?.leave(this.#listener);
    this.#session = null;
  }

  attributeChangedCallback(name, _, value) {
    if (name === "token") this.#token = value;
    if (name === "label") this.#relabel();
    else this.#start();
  }

  get token() {
    return this.#token;
  }
  set token(value) {
    this.#token = value;
    this.#start();
  }
  /** An async function that answers a fresh user token, or nothing when the person is no longer signed in. */
  get tokenProvider() {
    return this.#provider;
  }
  set tokenProvider(value) {
    this.#provider = value;
    this.#start();
  }
  get unread() {
    return this.#unread;
  }
  get isOpen() {
    return this.#isOpen;
  }

  open() {
    if (this.#isOpen || !this.isConnected) return;
    this.#isOpen = true;
    this.#panel.showPopover();
    this.#bell.setAttribute("aria-expanded", "true");
    document.addEventListener("pointerdown", this.#outside, true);
    for (const type of ["resize", "scroll"]) addEventListener(type, this.#position, true);
    this.#ticker = setInterval(() => this.#tick(), 30e3);
    this.#show("list");
    this.#fire("tocsin-open");
    this.refresh();
  }

  close() {
    if (!this.#isOpen) return;
    const hadFocus = this.#panel.contains(this.#root.activeElement);
    this.#closeMenu();
    this.#isOpen = false;
    if (this.#panel.matches(":popover-open")) this.#panel.hidePopover(); // taken out of the page, it is closed already
    this.#bell.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", this.#outside, true);
    for (const type of ["resize", "scroll"]) removeEventListener(type, this.#position, true);
    clearInterval(this.#ticker);
    this.#hideToast();
    if (hadFocus) this.#bell.focus();
  }

  /** Load what is shown again, as many rows as there are; quietly, if there are any. */
  async refresh() {
    const list = this.#list;
    if (!this.#session || this.#session.signedOut) return;
    list.isStale = true;
    if (this.#busy || list.isLoading) return; // who is at work comes back here
    Object.assign(list, { isLoading: true, isStale: false });
    try {
      const limit = Math.min(200, Math.max(PAGE_SIZE, list.rows.length));
      const { data } = await this.#session.ask("GET", `?status=${list.tab}&limit=${limit}`);
      if (this.#busy) list.isStale = true;
      else this.#take(list, data);
    } catch (error) {
      Object.assign(list, { state: list.rows.length ? "ready" : "error", why: reasonOf(error) });
    }
    list.isLoading = false;
    if (list !== this.#list) return;
    this.#render();
    if (list.isStale && !this.#busy) this.refresh();
  }

  #take(list, { data, next_cursor: cursor }) {
    const [first] = list.state === "ready" ? arrivals(list.rows, data) : [];
    Object.assign(list, { rows: data, cursor, state: "ready", why: "" });
    if (first && list === this.#list) this.#say(text.arrived(first.title || first.kind));
  }

  // --- the session

  #listener = {
    news: ({ unread, capped }) => {
      const isMore = this.#known && unread > this.#unread;
      this.#known = true;
      if (this.#busy) this.#missed = [unread, capped];
      else this.#count(unread, capped);
      if (this.#isOpen) this.refresh();
      else if (isMore) this.#say(`${this.#label}, ${text.unread(unread, capped)}`);
    },
    expired: () => {
      this.#count(0);
      this.#forget();
      this.#fire("tocsin-token-expired");
    },
    weather: () => {
      this.#render();
      if (this.#isOpen && this.#list.why && navigator.onLine) this.refresh();
    },
  };

  #upgrade(name) {
    if (!Object.hasOwn(this, name)) return;
    const value = this[name];
    delete this[name];
    this[name] = value;
  }

  /** Soon, and once for everything that is set together: the token must not go to an address that is about to change. */
  #start() {
    if (!this.#starting) queueMicrotask(() => this.#begin());
    this.#starting = true;
  }

  #begin() {
    this.#starting = false;
    if (!this.isConnected) return;
    const api = (this.getAttribute("api") || HOME).replace(/\/+$/, "");
    const next = Session.of(api, this.#token, this.#provider);
    if (next === this.#session) return;
    this.#session?.leave(this.#listener);
    this.#session = next;
    this.#known = false;
    this.#muted.clear();
    this.#count(0);
    if (!next.signedOut) next.join(this.#listener);
    this.#forget();
    if (this.#isOpen) this.refresh();
  }

  /** Nothing of what one person saw is left for the next. */
  #forget() {
    this.#list = emptyList(this.#list.tab);
    this.#cache.clear();
    if (this.#isOpen && this.#view !== "list") this.#show("list");
    this.#render();
  }

  #fire(name, detail = {}, cancelable = false) {
    return this.dispatchEvent(new CustomEvent(name, { detail, cancelable, bubbles: true, composed: true }));
  }

  #count(unread, capped = false) {
    unread = Math.max(0, unread);
    const isNew = unread !== this.#unread;
    this.#unread = unread;
    this.#badge.textContent = unread > 99 ? "99+" : String(unread);
    this.#badge.hidden = !unread;
    this.#bell.setAttribute("aria-label", unread ? `${this.#label}, ${text.unread(unread, capped)}` : this.#label);
    if (isNew) this.#fire("tocsin-unread", { unread, capped });
  }

  // --- the frame

  #bell = h(
    "button",
    { type: "button", class: "bell", part: "bell", "aria-haspopup": "dialog", "aria-expanded": "false", "aria-controls": "panel" },
    icon("bell"),
  );
  #badge = h("span", { class: "badge", part: "badge", "aria-hidden": "true", hidden: true });
  #head = h("div", { class: "head", part: "header" });
  #tabs = h("div", { class: "tabs", part: "tabs", role: "tablist" });
  #body = h("div", { class: "body", part: "body", id: "body" });
  #toastBox = h("div", { class: "toast", part: "toast", role: "status" });
  #menu = h("div", { class: "menu", part: "menu", role: "menu", hidden: true });
  #panel = h(
    "div",
    { id: "panel", class: "panel", part: "panel", popover: "manual", role: "dialog", "aria-modal": "true", tabindex: "-1" },
    ...[this.#head, this.#tabs, this.#body, this.#toastBox, this.#menu],
  );
  // One voice outside the dialog and one inside: a screen reader may not hear what is behind a modal dialog.
  #voices = [this.#root, this.#panel].map((home) => home.appendChild(h("span", { class: "sr", role: "status" })));

  #shell() {
    this.#bell.append(this.#badge);
    this.#bell.addEventListener("click", () => (this.#isOpen ? this.close() : this.open()));
    this.#panel.addEventListener("keydown", (event) => this.#pressed(event));
    this.#panel.addEventListener("pointerdown", (event) => this.#menu.contains(event.target) || this.#closeMenu());
    this.#tabs.append(...Object.keys(text.tabs).map((tab) => this.#tab(tab)));
    return [this.#bell, this.#panel];
  }

  #tab(tab) {
    const aria = { id: `tab-${tab}`, role: "tab", "aria-controls": "body" };
    return h("button", { type: "button", class: "tab", part: "tab", ...aria, onclick: () => this.#switch(tab) }, text.tabs[tab]);
  }

  get #label() {
    return this.getAttribute("label") || text.label;
  }

  #relabel() {
    this.#panel.setAttribute("aria-label", this.#label);
    this.#tabs.setAttribute("aria-label", this.#label);
    this.#count(this.#unread);
  }

  #outside = (event) => event.composedPath().includes(this) || this.close();

  /** Beside the bell and inside the window: on the side that `placement` names, unless the other has more room. */
  #position = () => {
    const { style, offsetWidth } = this.#panel;
    const bell = this.#bell.getBoundingClientRect();
    const [side, align] = (this.getAttribute("placement") || "bottom-end").split("-");
    const room = { bottom: innerHeight - bell.bottom - 14, top: bell.top - 14 };
    const other = side === "top" ? "bottom" : "top";
    const isBelow = (room[side] < 360 && room[other] > room[side] ? other : side) !== "top";
    const isRightAligned = (align !== "start") === (getComputedStyle(this).direction === "ltr");
    const left = isRightAligned ? bell.right - offsetWidth : bell.left;
    style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - offsetWidth - 8))}px`;
    style.top = isBelow ? `${bell.bottom + 6}px` : "auto";
    style.bottom = isBelow ? "auto" : `${innerHeight - bell.top + 6}px`;
    style.maxHeight = `${Math.min(680, isBelow ? room.bottom : room.top)}px`;
  };

  #say(words) {
    this.#voices[this.#isOpen ? 1 : 0].textContent = words;
  }

  #toast(words, undo) {
    clearTimeout(this.#toastTimer);
    const button = undo && h("button", { type: "button", onclick: () => (this.#hideToast(), undo()) }, text.undo);
    this.#toastBox.replaceChildren(h("div", {}, h("span", {}, words), button));
    // Not while somebody is about to press its button.
    const hide = () => (this.#toastBox.matches(":hover, :focus-within") ? wait() : this.#hideToast());
    const wait = () => (this.#toastTimer = setTimeout(hide, TOAST_MS));
    wait();
  }

  #hideToast() {
    if (this.#toastBox.contains(this.#root.activeElement)) this.#focusRow(this.#current) || this.#panel.focus();
    this.#toastBox.replaceChildren();
  }

  // --- what is shown

  /** The node made for this key before, if it was made of the same stuff. */
  #keep(key, stuff, make) {
    const stamp = JSON.stringify(stuff);
    const kept = this.#cache.get(key);
    if (kept?.stamp === stamp) return kept.node;
    const node = make();
    this.#cache.set(key, { stamp, node });
    return node;
  }

  #show(view) {
    const isList = view === "list";
    const title = isList ? this.#label : text[view];
    const buttons = isList
      ? [iconButton("checks", text.markAllRead, () => this.#readAll()), iconButton("sliders", text.preferences, () => this.#showPreferences())]
      : [];
    this.#view = view;
    this.#tabs.hidden = !isList;
    this.#body.role = isList ? "tabpanel" : null;
    this.#head.replaceChildren(
      ...(isList ? [] : [iconButton("back", text.back, () => this.#show("list"))]),
      ...[h("h2", {}, title), ...buttons, iconButton("close", text.close, () => this.close())],
    );
    this.#body.replaceChildren(...(view === "shortcuts" ? [shortcutList()] : []));
    this.#render();
    this.#position();
    if (isList) this.#focusRow(this.#current) || this.#selectedTab.focus();
    else this.#head.firstChild.focus();
  }

  #render() {
    if (!this.#isOpen || this.#view !== "list") return;
    const { tab, state } = this.#list;
    const spot = this.#spot();
    for (const each of this.#tabs.children) {
      const isSelected = each.id === `tab-${tab}`;
      each.setAttribute("aria-selected", isSelected);
      each.tabIndex = isSelected ? 0 : -1;
    }
    this.#body.setAttribute("aria-labelledby", `tab-${tab}`);
    this.#body.setAttribute("aria-busy", state === "loading");
    this.#head.querySelector(".icon").hidden = !["all", "unread"].includes(tab); // elsewhere, all is more than what is shown
    place(this.#body, this.#content());
    this.#tick();
    this.#rove(this.#current);
    this.#position();
    if (spot && !this.#root.activeElement) this.#focusRow(spot.id, spot.act) || this.#focusAt(spot.at) || this.#selectedTab.focus();
  }

  #tick() {
    for (const time of this.#body.querySelectorAll("time")) time.textContent = ago(time.dateTime);
  }

  get #selectedTab() {
    return this.#root.getElementById(`tab-${this.#list.tab}`);
  }

  #content() {
    const { tab, rows, cursor, state, why } = this.#list;
    const retry = [text.retry, () => (this.#session.wake(true), this.refresh())];
    if (this.#session?.signedOut) return [this.#state("bell", text.signedOut)];
    if (state === "loading") return [this.#keep("loading", 0, skeleton)];
    if (state === "error") return [this.#state("bell", [text.failed, why], retry)];
    if (!rows.length) return [this.#state("check", text.empty[tab])];
    const trouble = navigator.onLine ? why : text.offline;
    return [
      ...(trouble ? [this.#keep("note", trouble, () => h("div", { class: "note", role: "status" }, h("span", {}, trouble), button(...retry)))] : []),
      ...this.#groups(rows),
      ...(cursor ? [this.#keep("load", 0, () => button(text.loadMore, () => this.#loadMore(), "button load"))] : []),
    ];
  }

  #state(name, words, action) {
    const [title, more] = words;
    return this.#keep("state", [name, words], () =>
      h("div", { class: "state", part: "state" }, icon(name), h("strong", {}, title), h("p", {}, more), action && button(...action)),
    );
  }

  /** Rows under a heading for each scope; the scope with the newest row comes first. */
  #groups(rows) {
    const scopes = [...new Set(rows.map((row) => row.scope ?? ""))];
    return scopes.map((scope) => {
      const name = scope || (scopes.length > 1 ? text.noScope : "");
      const heading = () => name && h("h3", { part: "group" }, name);
      const group = this.#keep(`scope ${scope}`, name, () =>
        h("div", { role: "group", "aria-label": name || this.#label }, heading(), h("ul", { role: "list" })),
      );
      const own = rows.filter((row) => (row.scope ?? "") === scope);
      place(group.lastChild, own.map((row) => this.#keep(row.id, this.#shown(row), () => this.#row(row))));
      return group;
    });
  }

  /** All that a person can see of a row. If only more exact times come back from the server, a button that is just being pressed stays. */
  #shown({ read_at, done_at, saved_at, ...row }) {
    return [row, !done_at, !saved_at, this.#muted.has(threadPath(row)), this.#whole === row.id];
  }

  #row(row) {
    const url = safeUrl(row.summary?.url);
    const title = row.title || row.kind;
    const message = row.message && h("span", { class: this.#whole === row.id ? "message whole" : "message" }, row.message);
    const content = [row.unread && h("span", { class: "sr" }, `${text.isUnread} `), h("span", { class: "title" }, title), " ", message];
    const kind = url ? { href: url, rel: "noopener" } : { type: "button" };
    return h(
      "li",
      { class: row.unread ? "row is-unread" : "row", part: row.unread ? "row row-unread" : "row", "data-id": row.id, onfocusin: () => this.#rove(row.id) },
      row.unread && h("span", { class: "dot", part: "dot" }),
      h(url ? "a" : "button", { class: "open", ...kind, onclick: (event) => this.#select(event, row, url) }, content),
      h("time", { datetime: row.last_event_at, title: full(row.last_event_at) }),
      h("div", { class: "meta" }, this.#facts(row)),
      h("div", { class: "acts" }, this.#buttons(row, title)),
    );
  }

  #facts(row) {
    const chip = (words, kind = "") => words && h("span", { class: `chip ${kind}`, part: "chip" }, words);
    const isPersonal = ["mention", "review_requested", "assign"].includes(row.reason);
    return [
      chip(text.reasons[row.reason], isPersonal ? "you" : ""),
      row.for_everyone && chip(text.everyone),
      this.#muted.has(threadPath(row)) && chip(text.muted),
      isSnoozed(row) && chip(text.until(full(row.snoozed_until))),
      ...[row.thread && `${row.thread.kind} ${row.thread.id}`, row.event_count > 1 && text.updates(row.event_count), row.last_actor]
        .filter(Boolean)
        .map((words) => h("span", { class: "fact" }, words)),
    ];
  }

  #buttons(row, title) {
    const one = (act, name, label, more = {}) =>
      iconButton(name, label, (event) => this.#act(act, row, event.currentTarget), { "aria-label": `${label}: ${title}`, "data-act": act, ...more });
    return [
      one("read", row.unread ? "opened" : "mail", row.unread ? text.markRead : text.markUnread),
      one("save", "save", row.saved_at ? text.unsave : text.save, { class: row.saved_at ? "icon on" : "icon" }),
      one("done", row.done_at ? "back" : "check", row.done_at ? text.undone : text.done),
      one("more", "dots", text.more, { class: "icon more", "aria-haspopup": "menu", "aria-expanded": "false" }),
    ];
  }

  // --- moving about

  get #rowNodes() {
    return [...this.#body.querySelectorAll(".row")];
  }

  /** Where the focus is in the list: the row, its place, and which of its buttons. */
  #spot() {
    const focused = this.#root.activeElement;
    const row = focused?.closest(".row");
    return row && { id: row.dataset.id, at: this.#rowNodes.indexOf(row), act: focused.dataset.act };
  }

  #focusRow(id, act) {
    const row = this.#rowNodes.find((node) => node.dataset.id === id);
    (row?.querySelector(`[data-act="${act}"]`) ?? row?.querySelector(".open"))?.focus();
    return row;
  }

  #focusAt(index) {
    const rows = this.#rowNodes;
    return this.#focusRow(rows[Math.max(0, Math.min(index, rows.length - 1))]?.dataset.id);
  }

  /** Only one row, and its buttons, can be reached by Tab. */
  #rove(id) {
    const rows = this.#rowNodes;
    const current = rows.find((node) => node.dataset.id === id) ?? rows[0];
    this.#current = current?.dataset.id;
    for (const row of rows) for (const node of row.querySelectorAll("a, button")) node.tabIndex = row === current ? 0 : -1;
  }

  #pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target.matches("input:not([type=checkbox])");
    const isHandled = !this.#menu.hidden
      ? this.#pressedInMenu(event)
      : this.#pressedAnywhere(event) || (!isTyping && this.#view === "list" && this.#pressedInList(event));
    if (isHandled) event.preventDefault();
    if (isHandled || event.key === "Escape") event.stopPropagation();
  }

  #pressedAnywhere({ key, shiftKey, target }) {
    if (key === "Escape") return this.#view === "list" ? (this.close(), true) : (this.#show("list"), true);
    if (key === "?" && !target.matches("input")) return this.#show(this.#view === "shortcuts" ? "list" : "shortcuts"), true;
    if (key !== "Tab") return false;
    const stops = [...this.#panel.querySelectorAll("a, button, input, summary")].filter((node) => node.tabIndex >= 0 && node.checkVisibility());
    const [edge, other] = shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
    return target === edge || target === this.#panel ? (other.focus(), true) : false;
  }

  #pressedInList({ key, target }) {
    const inRow = target.closest(".row");
    const rows = this.#rowNodes;
    const at = rows.findIndex((node) => node.dataset.id === this.#current);
    const step = { ArrowDown: inRow ? at + 1 : at, ArrowUp: inRow ? at - 1 : at, Home: 0, End: rows.length - 1 }[key];
    if (step !== undefined) return this.#focusAt(step), true;
    const turn = { ArrowRight: 1, ArrowLeft: -1 }[key] * (getComputedStyle(this).direction === "rtl" ? -1 : 1);
    if (turn && target.matches(".tab")) return this.#nextTab(turn), true;
    const act = { r: "read", d: "done", s: "save", m: "mute", z: "more" }[key.toLowerCase()];
    if (!act || !inRow) return false;
    this.#act(act, this.#list.rows.find((row) => row.id === this.#current), inRow.querySelector(".more"), key.toLowerCase() === "z");
    return true;
  }

  #nextTab(turn) {
    const names = Object.keys(text.tabs);
    this.#switch(names[(names.indexOf(this.#list.tab) + turn + names.length) % names.length]);
    this.#selectedTab.focus();
  }

  #switch(tab) {
    if (tab === this.#list.tab) return;
    this.#cache.clear();
    this.#list = emptyList(tab);
    this.#render();
    this.#body.scrollTop = 0;
    this.refresh();
  }

  // --- what a person does

  #select(event, row, url) {
    if (!this.#fire("tocsin-select", { row: structuredClone(row), url }, true)) event.preventDefault();
    if (!url) this.#whole = this.#whole === row.id ? null : row.id;
    if (row.unread) this.#change(row, { read: true });
    else this.#render();
  }

  #act(act, row, anchor, toSnooze) {
    if (act === "more") return this.#openMenu(row, anchor, toSnooze);
    if (act === "mute") return row.thread && this.#mute(row);
    if (act === "read") return this.#change(row, { read: row.unread });
    if (act === "save") return this.#change(row, { saved: !row.saved_at });
    if (act === "done") return this.#change(row, { done: !row.done_at }, !row.done_at && text.isDone, { done: false });
    if (act === "unsnooze") return this.#change(row, { snoozed_until: null });
    if (act === "hide") return this.#hide(row);
    return this.#change(row, { snoozed_until: snoozeTime(act) }, text.isSnoozed, { snoozed_until: null });
  }

  #change(row, change, said, back) {
    const list = this.#list;
    const next = foreseen(row, change);
    const send = async (session) => {
      const { data } = await session.ask("PATCH", `/${row.id}`, { body: change });
      if (this.#busy === 1) this.#put(list, data);
    };
    this.#try(() => this.#swap(list, row, next), send, () => this.#swap(list, next, row));
    if (said) this.#toast(said, () => this.#change(next, back));
  }

  #hide(row) {
    const list = this.#list;
    const gone = { ...row, hidden: true };
    const send = (session) => session.ask("DELETE", `/${row.id}`);
    this.#try(() => this.#swap(list, row, gone), send, () => this.#swap(list, gone, row));
    this.#toast(text.isHidden);
  }

  #mute(row) {
    const path = threadPath(row);
    const on = () => this.#muted.add(path);
    const off = () => this.#muted.delete(path);
    const choose = (session, subscribed) => session.ask("PUT", path, { body: { subscribed } });
    const unmute = (session) => (this.#wasSubscribed.get(path) ? choose(session, true) : session.ask("DELETE", path));
    const mute = async (session) => {
      this.#wasSubscribed.set(path, (await session.ask("GET", path)).data.subscribed);
      await choose(session, false);
    };
    if (this.#muted.has(path)) return this.#try(off, unmute, on);
    this.#try(on, mute, off);
    this.#toast(text.isMuted, () => this.#muted.has(path) && this.#mute(row));
  }

  #readAll() {
    const list = this.#list;
    const { rows } = list;
    const unread = this.#unread;
    if (!rows.length) return;
    const before = rows.map((row) => row.last_event_at).reduce((a, b) => (new Date(a) > new Date(b) ? a : b));
    const apply = () => {
      list.rows = rows.map((row) => ({ ...row, unread: false })).filter(belongs[list.tab]);
      this.#count(0);
    };
    const send = async (session) => {
      let more = true;
      while (more) ({ more } = (await session.ask("POST", "/read-all", { body: { before } })).data);
      list.isStale = true;
    };
    this.#try(apply, send, () => ((list.rows = rows), this.#count(unread)));
  }

  /** Show a change at once, send it after those before it, and take it back if the server refuses. */
  async #try(apply, send, revert) {
    const session = this.#session;
    apply();
    this.#busy += 1;
    this.#render();
    try {
      await (this.#queue = this.#queue.catch(() => {}).then(() => send(session)));
    } catch (error) {
      if (session === this.#session && !session.signedOut) {
        revert();
        this.#toast(text.rolledBack(reasonOf(error)));
      }
    }
    this.#busy -= 1;
    if (!this.#busy) this.#settle();
    this.#render();
  }

  #settle() {
    if (this.#missed) this.#count(...this.#missed);
    this.#missed = null;
    if (this.#list.isStale) this.refresh();
  }

  #swap(list, from, to) {
    this.#put(list, to);
    this.#count(this.#unread + countsAs(to) - countsAs(from));
  }

  /** The row in its place by time, or out of the list if it is no longer one of these. */
  #put(list, row) {
    const rows = list.rows.filter((each) => each.id !== row.id);
    const at = rows.findIndex((each) => new Date(each.last_event_at) < new Date(row.last_event_at));
    if (belongs[list.tab](row)) rows.splice(at < 0 ? rows.length : at, 0, row);
    list.rows = rows;
  }

  async #loadMore() {
    const list = this.#list;
    if (list.isPaging) return;
    list.isPaging = true;
    try {
      const { data } = await this.#session.ask("GET", `?status=${list.tab}&limit=${PAGE_SIZE}&cursor=${encodeURIComponent(list.cursor)}`);
      const known = new Set(list.rows.map((row) => row.id));
      const more = data.data.filter((row) => !known.has(row.id));
      Object.assign(list, { rows: [...list.rows, ...more], cursor: data.next_cursor });
      this.#render();
      if (list === this.#list) this.#focusRow(more[0]?.id);
    } catch (error) {
      this.#toast(reasonOf(error));
    }
    list.isPaging = false;
  }

  // --- the menu of a row

  #openMenu(row, anchor, toSnooze) {
    const item = (act, name, label) =>
      h("button", { type: "button", role: "menuitem", tabindex: "-1", onclick: () => (this.#closeMenu(), this.#act(act, row)) }, icon(name), label);
    const isMuted = this.#muted.has(threadPath(row));
    const snoozes = Object.entries(text.snooze).map(([choice, label]) => item(choice, "clock", label));
    this.#menu.replaceChildren(
      item("read", row.unread ? "opened" : "mail", row.unread ? text.markRead : text.markUnread),
      item("save", "save", row.saved_at ? text.unsave : text.save),
      item("done", row.done_at ? "back" : "check", row.done_at ? text.undone : text.done),
      h("hr"),
      ...(isSnoozed(row) ? [item("unsnooze", "clock", text.unsnooze)] : snoozes),
      h("hr"),
      ...(row.thread ? [item("mute", isMuted ? "bell" : "mute", isMuted ? text.unmute : text.mute)] : []),
      item("hide", "hide", text.hide),
    );
    this.#menu.hidden = false;
    this.#menu.setAttribute("aria-label", text.more);
    anchor.setAttribute("aria-expanded", "true");
    const panel = this.#panel.getBoundingClientRect();
    const lowest = panel.height - this.#menu.offsetHeight - 10;
    this.#menu.style.top = `${Math.max(8, Math.min(anchor.getBoundingClientRect().bottom - panel.top + 2, lowest))}px`;
    this.#menu.style.insetInlineEnd = "14px";
    (toSnooze ? this.#menu.querySelector("hr + button") : this.#menu.firstChild).focus();
  }

  #closeMenu() {
    if (this.#menu.hidden) return;
    this.#menu.hidden = true;
    const anchor = this.#body.querySelector(".more[aria-expanded=true]");
    anchor?.setAttribute("aria-expanded", "false");
    anchor?.focus();
  }

  #pressedInMenu({ key }) {
    const items = [...this.#menu.querySelectorAll("button")];
    const at = items.indexOf(this.#root.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 }[key];
    if (to !== undefined) items[to % items.length].focus();
    if (key === "Escape" || key === "Tab") this.#closeMenu();
    return to !== undefined || key === "Escape" || key === "Tab";
  }

  // --- preferences

  async #showPreferences() {
    if (this.#view !== "preferences") this.#show("preferences");
    this.#body.replaceChildren(skeleton());
    let content;
    try {
      const { data } = await this.#session.ask("GET", "/preferences");
      const zones = h("datalist", { id: "zones" }, Intl.supportedValuesOf("timeZone").map((value) => h("option", { value })));
      const rules = data.data.filter((rule) => rule.notification_type == null);
      content = [...rules.map((rule) => this.#form(rule)), zones, button(text.shortcuts, () => this.#show("shortcuts"), "button load")];
    } catch (error) {
      content = [this.#state("sliders", [text.failed, reasonOf(error)], [text.retry, () => this.#showPreferences()])];
    }
    if (this.#view === "preferences") this.#body.replaceChildren(...content);
  }

  #form(rule) {
    const name = text.channels[rule.channel] ?? rule.channel;
    const toggle = h("input", { type: "checkbox", role: "switch", checked: rule.enabled });
    const zone = rule.updated_at ? rule.timezone : new Intl.DateTimeFormat().resolvedOptions().timeZone;
    const fields = [
      field(rule, "frequency_cap", text.cap, { type: "number", min: 0, inputmode: "numeric", placeholder: text.noCap }),
      field(rule, "timezone", text.zone, { list: "zones", value: zone, autocomplete: "off", spellcheck: "false" }),
      field(rule, "quiet_hours_start", text.quietFrom, { type: "time" }),
      field(rule, "quiet_hours_end", text.quietUntil, { type: "time" }),
    ];
    const save = h("button", { class: "button", part: "button" }, text.save);
    const limits = rule.channel !== "in_app" && h("details", {}, h("summary", {}, summaryOf(rule)), h("div", { class: "fields" }, fields), save);
    const form = h("form", { "aria-label": name, novalidate: true }, h("label", { class: "switch" }, h("span", {}, name), toggle), limits);
    form.addEventListener("submit", (event) => (event.preventDefault(), this.#saveRule(form, rule, { enabled: toggle.checked, ...valuesOf(form) })));
    toggle.addEventListener("change", async () => {
      if (!(await this.#saveRule(form, rule, { ...ruleBody(rule), enabled: toggle.checked }))) toggle.checked = rule.enabled;
    });
    return form;
  }

  /** Save the whole rule of a channel. What the server refuses is said at the field it is about. */
  async #saveRule(form, rule, body) {
    showErrors(form, []);
    try {
      const { data } = await this.#session.ask("PUT", `/preferences/${rule.channel}`, { body });
      Object.assign(rule, data);
      const summary = form.querySelector("summary");
      if (summary) summary.textContent = summaryOf(rule);
      this.#toast(text.saved);
      return true;
    } catch (error) {
      const errors = error.errors ?? [];
      const homeless = showErrors(form, errors);
      if (homeless || !errors.length) this.#toast(text.rolledBack(homeless || reasonOf(error)));
      return false;
    }
  }
}

const threadPath = ({ thread }) => thread && `/threads/${encodeURIComponent(thread.kind)}/${encodeURIComponent(thread.id)}`;

const button = (label, onclick, kind = "button") => h("button", { type: "button", class: kind, part: "button", onclick }, label);

function skeleton() {
  const lines = () => h("div", { class: "skeleton", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
  return h("div", {}, h("span", { class: "sr", role: "status" }, text.loading), lines(), lines(), lines(), lines());
}

const shortcutList = () =>
  h("dl", {}, text.keys.map(([keys, words]) => [h("dt", {}, keys.split(" ").map((key) => h("kbd", {}, key))), h("dd", {}, words)]));

// --- a channel's rule, as a form

function field(rule, name, label, attributes) {
  const error = `${rule.channel}-${name}-error`;
  const value = attributes.value ?? rule[name];
  return h("label", {}, label, h("input", { name, "aria-describedby": error, ...attributes, value }), h("p", { class: "error", id: error }));
}

const present = (entries) => Object.fromEntries(entries.filter(([, value]) => value !== "" && value != null));

const valuesOf = (form) =>
  present([...new FormData(form)].map(([name, value]) => [name, name === "frequency_cap" && value ? Number(value) : value]));

const ruleBody = (rule) =>
  present(["frequency_cap", "quiet_hours_start", "quiet_hours_end", "timezone"].map((name) => [name, rule.updated_at && rule[name]]));

function summaryOf(rule) {
  const hours = rule.quiet_hours_start && `${rule.quiet_hours_start}–${rule.quiet_hours_end}`;
  return [text.limits, rule.frequency_cap && `${text.cap}: ${rule.frequency_cap}`, hours].filter(Boolean).join(" · ");
}

/** Write each error under its field, and answer those that are about none. */
function showErrors(form, errors) {
  const inputs = [...form.querySelectorAll(".fields input")];
  const say = (some) => some.map((error) => error.message).join(" ");
  for (const input of inputs) {
    const own = errors.filter((error) => error.pointer === `/${input.name}`);
    input.ariaInvalid = own.length ? "true" : null;
    input.nextElementSibling.textContent = say(own);
  }
  form.querySelector("[aria-invalid]")?.focus();
  return say(errors.filter((error) => !inputs.some((input) => error.pointer === `/${input.name}`)));
}

customElements.define("tocsin-inbox", TocsinInbox);
