/**
 * <tocsin-inbox>: a bell with a badge, and the inbox behind it. No dependencies and no build step.
 * What strangers wrote reaches the page as text, never as markup. How to embed it: docs/inbox-component.md.
 */

import { Inbox, Refused, Sessions, isSnoozed, snoozeTime } from "./tocsin-inbox-core.js?v=48434ad2c38afedc";
import { ago, full, icons, sheet, text } from "./tocsin-inbox-look.js?v=2f04ab8f25c9a55b";

export { text };

const TOAST_MS = 8_000;
const HOME = new URL(import.meta.url).origin;

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
  path.setAttribute("d", icons[name]);
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

function reasonOf(error) {
  if (error instanceof Refused) return error.message || text.failed;
  return navigator.onLine ? text.unreachable : text.offline;
}

const sessions = new Sessions({ isHidden: () => document.hidden, isOnline: () => navigator.onLine });
for (const type of ["pointerdown", "pointermove", "keydown", "scroll"]) {
  addEventListener(type, () => sessions.moved(), { capture: true, passive: true });
}
for (const type of ["online", "offline"]) addEventListener(type, () => sessions.weather());
document.addEventListener("visibilitychange", () => sessions.looked());

export class TocsinInbox extends HTMLElement {
  static observedAttributes = ["api", "token", "label"];

  #root = this.attachShadow({ mode: "open" });
  #token = null;
  #provider = null;
  #starting = false;
  #isOpen = false;
  #view = "list";
  #current = null; // the row that Tab and the keys act on
  #whole = null; // the row whose message is shown to its end
  #cache = new Map();
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
    this.#inbox.leave();
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
    return this.#inbox.unread;
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
  refresh() {
    return this.#inbox.refresh();
  }

  // --- the session

  #inbox = new Inbox({
    isOpen: () => this.#isOpen,
    explain: reasonOf,
    changed: () => this.#render(),
    counted: (isNew) => this.#count(isNew),
    grew: (unread, capped) => this.#say(`${this.#label}, ${text.unread(unread, capped)}`),
    arrived: (row) => this.#say(text.arrived(row.title || row.kind)),
    forgot: () => this.#forget(),
    expired: () => this.#fire("tocsin-token-expired"),
    undone: (error) => this.#toast(text.rolledBack(reasonOf(error))),
  });

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
    this.#inbox.use(sessions.of(api, this.#token, this.#provider));
  }

  #forget() {
    this.#cache.clear();
    if (this.#isOpen && this.#view !== "list") this.#show("list");
    this.#render();
  }

  #fire(name, detail = {}, cancelable = false) {
    return this.dispatchEvent(new CustomEvent(name, { detail, cancelable, bubbles: true, composed: true }));
  }

  #count(isNew) {
    const { unread, capped } = this.#inbox;
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
    this.#count(false);
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
      ? [iconButton("checks", text.markAllRead, () => this.#inbox.readAll()), iconButton("sliders", text.preferences, () => this.#showPreferences())]
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
    const { tab, state } = this.#inbox.list;
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
    return this.#root.getElementById(`tab-${this.#inbox.list.tab}`);
  }

  #content() {
    const { tab, rows, cursor, state, why } = this.#inbox.list;
    const retry = [text.retry, () => this.#inbox.retry()];
    if (this.#inbox.isSignedOut) return [this.#state("bell", text.signedOut)];
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
    return [row, !done_at, !saved_at, this.#inbox.isMuted(row), this.#whole === row.id];
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
      this.#inbox.isMuted(row) && chip(text.muted),
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
    this.#act(act, this.#inbox.list.rows.find((row) => row.id === this.#current), inRow.querySelector(".more"), key.toLowerCase() === "z");
    return true;
  }

  #nextTab(turn) {
    const names = Object.keys(text.tabs);
    this.#switch(names[(names.indexOf(this.#inbox.list.tab) + turn + names.length) % names.length]);
    this.#selectedTab.focus();
  }

  #switch(tab) {
    if (tab === this.#inbox.list.tab) return;
    this.#cache.clear();
    this.#inbox.switchTo(tab);
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
    const next = this.#inbox.change(row, change);
    if (said) this.#toast(said, () => this.#change(next, back));
  }

  #hide(row) {
    this.#inbox.hide(row);
    this.#toast(text.isHidden);
  }

  #mute(row) {
    this.#inbox.toggleMute(row);
    if (this.#inbox.isMuted(row)) this.#toast(text.isMuted, () => this.#inbox.isMuted(row) && this.#inbox.toggleMute(row));
  }

  async #loadMore() {
    try {
      const first = await this.#inbox.loadMore();
      this.#focusRow(first?.id);
    } catch (error) {
      this.#toast(reasonOf(error));
    }
  }

  // --- the menu of a row

  #openMenu(row, anchor, toSnooze) {
    const item = (act, name, label) =>
      h("button", { type: "button", role: "menuitem", tabindex: "-1", onclick: () => (this.#closeMenu(), this.#act(act, row)) }, icon(name), label);
    const isMuted = this.#inbox.isMuted(row);
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
      const { data } = await this.#inbox.ask("GET", "/preferences");
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
      const { data } = await this.#inbox.ask("PUT", `/preferences/${rule.channel}`, { body });
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
