/**
 * <tocsin-inbox>: a bell with a badge, and the inbox behind it. No dependencies and no build step.
 * What strangers wrote reaches the page as text, never as markup. How to embed it: docs/inbox-component.md.
 */

import { Inbox, Refused, Sessions, isSnoozed, parseTabs, plain, snoozeTime } from "./tocsin-inbox-core.js?v=a14590c2384d010c";
import { button, h, icon, iconButton, place, skeleton } from "./tocsin-inbox-dom.js?v=5dde619452e09032";
import { sheet } from "./tocsin-inbox-look.js?v=21c6d102c1ac95a0";
import { Menu, askForTime } from "./tocsin-inbox-menus.js?v=e127bfe4f5d499e5";
import { filled, rowNode, titleOf } from "./tocsin-inbox-rows.js?v=d2c92edf53c09e5d";
import { pageTitle } from "./tocsin-inbox-title.js?v=3784005e09c1b070";
import { ago, localeOf, text, withOwn, wordsFor } from "./tocsin-inbox-words.js?v=93c093c7731aecee";

export { text };

const TOAST_MS = 8_000;
const HOME = new URL(import.meta.url).origin;
const TYPED_INTO = "input:not([type=checkbox]), textarea, select, [contenteditable]";
const STOPS = "a, button, input, summary, select, textarea, [tabindex]";

/** What is done is read: taken back, it is what it was. */
const notDone = (row) => (row.unread ? { done: false, read: false } : { done: false });

const sessions = new Sessions({ isHidden: () => document.hidden, isOnline: () => navigator.onLine });
for (const type of ["pointerdown", "pointermove", "keydown", "scroll"]) {
  addEventListener(type, () => sessions.moved(), { capture: true, passive: true });
}
for (const type of ["online", "offline"]) addEventListener(type, () => sessions.weather());
document.addEventListener("visibilitychange", () => sessions.looked());

export class TocsinInbox extends HTMLElement {
  static observedAttributes = ["api", "token", "label", "locale", "badge", "title-badge", "group", "tabs"];

  #root = this.attachShadow({ mode: "open" });
  #text = withOwn(text);
  #locale = "en";
  #token = null;
  #provider = null;
  #renderRow = null;
  #starting = false;
  #isOpen = false;
  #view = "list";
  #tabs = [];
  #current = null; // the row that Tab and the keys act on
  #whole = null; // the row that is shown to its end
  #cache = new Map();
  #ticker = 0;
  #toastTimer = 0;

  constructor() {
    super();
    this.#dress(sheet);
    this.#root.append(...this.#shell());
  }

  connectedCallback() {
    for (const name of ["token", "tokenProvider", "renderRow"]) this.#upgrade(name);
    this.#arrange();
    this.#translate();
    this.#start();
  }

  disconnectedCallback() {
    this.close();
    this.#arrival?.hide();
    this.#inbox.leave();
    pageTitle.tell(this, 0);
  }

  attributeChangedCallback(name, _, value) {
    if (name === "token") this.#token = value;
    if (!this.isConnected) return;
    if (name === "token" || name === "api") this.#start();
    else if (name === "locale") this.#translate();
    else this.#arrange();
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
  /** A function that makes of a row a node or a text, to be shown in the place of its title, message and facts; nothing: as always. */
  get renderRow() {
    return this.#renderRow;
  }
  set renderRow(value) {
    this.#renderRow = value;
    this.#arrange();
  }
  get unread() {
    return this.#inbox.unread;
  }
  get unseen() {
    return this.#inbox.unseen;
  }
  get isOpen() {
    return this.#isOpen;
  }

  open() {
    if (this.#isOpen || !this.isConnected) return;
    this.#isOpen = true;
    this.#arrival?.hide();
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
    this.#menu.close();
    this.#panel.querySelector("dialog")?.close();
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
    explain: (error) => this.#reasonOf(error),
    changed: () => this.#render(),
    counted: (isNew) => this.#count(isNew),
    grew: (more) => this.#announce(more),
    arrived: (row) => this.#say(this.#text.arrived(titleOf(row))),
    forgot: () => this.#forget(),
    expired: () => this.#fire("tocsin-token-expired"),
    undone: (error) => this.#toast(this.#text.rolledBack(this.#reasonOf(error))),
  });

  #reasonOf(error) {
    if (error instanceof Refused) return error.message || this.#text.failed;
    return navigator.onLine ? this.#text.unreachable : this.#text.offline;
  }

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
    this.#arrival?.hide();
    if (this.#isOpen && this.#view !== "list") this.#show("list");
    this.#render();
  }

  #fire(name, detail = {}, cancelable = false) {
    return this.dispatchEvent(new CustomEvent(name, { detail, cancelable, bubbles: true, composed: true }));
  }

  /** How many, in words. */
  get #howMany() {
    const { unread, unseen, capped } = this.#inbox;
    if (this.getAttribute("badge") === "unseen") return unseen && this.#text.unseen(unseen, capped);
    return unread && this.#text.unread(unread, capped);
  }

  #count(isNew) {
    const { unread, unseen, capped } = this.#inbox;
    const shown = this.getAttribute("badge") === "unseen" ? unseen : unread;
    this.#badge.textContent = shown > 99 ? "99+" : String(shown);
    this.#badge.hidden = !shown;
    this.#bell.setAttribute("aria-label", [this.#label, this.#howMany].filter(Boolean).join(", "));
    pageTitle.tell(this, this.hasAttribute("title-badge") && this.isConnected ? shown : 0);
    if (isNew) this.#fire("tocsin-unread", { unread, unseen, capped });
  }

  /** While it is closed: how many there are now, or with `toast` what came. */
  async #announce(more) {
    const row = this.hasAttribute("toast") && (await this.#newest().catch(() => null));
    if (this.#isOpen || !this.isConnected) return;
    if (row) this.#arrival.show(row, more - 1, this.#context);
    this.#say(row ? this.#text.arrived(titleOf(row)) : [this.#label, this.#howMany].filter(Boolean).join(", "));
  }

  async #newest() {
    const { ArrivalToast, sheet } = await import("./tocsin-inbox-arrival.js?v=5b6848b34ffe23e7");
    this.#dress(sheet);
    this.#arrival ??= new ArrivalToast(this.#root);
    return this.#inbox.newest();
  }

  // --- the frame

  #bell = h(
    "button",
    { type: "button", class: "bell", part: "bell", "aria-haspopup": "dialog", "aria-expanded": "false", "aria-controls": "panel" },
    icon("bell"),
  );
  #badge = h("span", { class: "badge", part: "badge", "aria-hidden": "true", hidden: true });
  #head = h("div", { class: "head", part: "header" });
  #tabList = h("div", { class: "tabs", part: "tabs", role: "tablist" });
  #body = h("div", { class: "body", part: "body", id: "body" });
  #toastBox = h("div", { class: "toast", part: "toast", role: "status" });
  #menu = new Menu();
  #arrival = null; // the toast, once there was one
  #panel = h(
    "div",
    { id: "panel", class: "panel", part: "panel", popover: "manual", role: "dialog", "aria-modal": "true", tabindex: "-1" },
    ...[this.#head, this.#tabList, this.#body, this.#toastBox, this.#menu.node],
  );
  // One voice outside the dialog and one inside: a screen reader may not hear what is behind a modal dialog.
  #voices = [this.#root, this.#panel].map((home) => home.appendChild(h("span", { class: "sr", role: "status" })));
  // Who comes near the end of the list gets the next page; the button stays, for keys and for where scrolling is not seen.
  #end = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && this.#loadMore(false), { root: this.#body, rootMargin: "240px" });

  /** What the views know and tell. */
  #context = ((bell) => ({
    get text() {
      return bell.#text;
    },
    get locale() {
      return bell.#locale;
    },
    get isGrouped() {
      return bell.#isGrouped;
    },
    isMuted: (row) => this.#inbox.isMuted(row),
    select: (event, row, url) => this.#select(event, row, url),
    follow: (event, row, action) => this.#follow(event, row, action),
    act: (name, row, anchor) => this.#act(name, row, anchor),
    rove: (id) => this.#rove(id),
    ask: (...request) => this.#inbox.ask(...request),
    toast: (words) => this.#toast(words),
    reasonOf: (error) => this.#reasonOf(error),
  }))(this);

  #shell() {
    this.#bell.append(this.#badge);
    this.#bell.addEventListener("click", () => (this.#isOpen ? this.close() : this.open()));
    this.#panel.addEventListener("keydown", (event) => this.#pressed(event));
    this.#panel.addEventListener("pointerdown", (event) => this.#menu.node.contains(event.target) || this.#menu.close());
    return [this.#bell, this.#panel];
  }

  #dress(sheet) {
    if (!this.#root.adoptedStyleSheets.includes(sheet)) this.#root.adoptedStyleSheets.push(sheet);
  }

  get #label() {
    return this.getAttribute("label") || this.#text.label;
  }

  get #isGrouped() {
    return this.getAttribute("group") === "scope";
  }

  async #translate() {
    this.#locale = localeOf(this);
    const locale = this.#locale;
    const words = await wordsFor(locale);
    if (locale !== this.#locale) return;
    this.#text = words;
    this.#arrange();
  }

  /** Everything that attributes, words and the page's own rows decide. */
  #arrange() {
    const wish = this.getAttribute("tabs");
    const own = wish ? parseTabs(wish) : null;
    if (wish && !own) console.warn(`<tocsin-inbox tabs="${wish}"> cannot be understood: write All|Orders=order.*,invoice.*|Saved=@saved`);
    this.#tabs = own ?? Object.entries(this.#text.tabs).map(([status, label]) => ({ id: status, label, status, kinds: [] }));
    const { id, kinds } = this.#inbox.list.tab;
    const same = this.#tabs.find((tab) => tab.id === id && String(tab.kinds) === String(kinds));
    if (!same) this.#inbox.switchTo(this.#tabs[0]);
    this.#tabList.replaceChildren(...this.#tabs.map((tab) => this.#tab(tab)));
    this.#panel.setAttribute("aria-label", this.#label);
    this.#tabList.setAttribute("aria-label", this.#label);
    this.#cache.clear();
    this.#count(false);
    if (!this.#isOpen) return;
    if (this.#view === "list") this.#show("list");
    if (!same) this.refresh();
  }

  #tab(tab) {
    const aria = { id: `tab-${tab.id}`, role: "tab", "aria-controls": "body" };
    return h("button", { type: "button", class: "tab", part: "tab", ...aria, onclick: () => this.#switch(tab) }, tab.label);
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
    const button = undo && h("button", { type: "button", onclick: () => (this.#hideToast(), undo()) }, this.#text.undo);
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
    const text = this.#text;
    const isList = view === "list";
    const buttons = isList
      ? [
          iconButton("checks", text.markAllRead, () => this.#inbox.readAll(), { class: "icon for-all" }),
          iconButton("dots", text.more, (event) => this.#openListMenu(event.currentTarget), { class: "icon dots for-all", "aria-haspopup": "menu", "aria-expanded": "false" }),
          iconButton("sliders", text.preferences, () => this.#showPreferences()),
        ]
      : [];
    this.#view = view;
    this.#tabList.hidden = !isList;
    this.#body.role = isList ? "tabpanel" : null;
    this.#head.replaceChildren(
      ...(isList ? [] : [iconButton("back", text.back, () => this.#show("list"))]),
      // A page may have its own header in the place of our title.
      isList ? h("slot", { name: "header" }, h("h2", {}, this.#label)) : h("h2", {}, text[view]),
      ...[...buttons, iconButton("close", text.close, () => this.close())],
    );
    this.#body.replaceChildren(...(view === "shortcuts" ? [this.#shortcuts()] : []));
    this.#render();
    this.#position();
    if (isList) this.#focusRow(this.#current) || this.#selectedTab.focus();
    else this.#head.firstChild.focus();
  }

  #shortcuts() {
    return h("dl", {}, this.#text.keys.map(([keys, words]) => [h("dt", {}, keys.split(" ").map((key) => h("kbd", {}, key))), h("dd", {}, words)]));
  }

  #render() {
    if (!this.#isOpen || this.#view !== "list") return;
    const { tab, state } = this.#inbox.list;
    const spot = this.#spot();
    for (const each of this.#tabList.children) {
      const isSelected = each.id === `tab-${tab.id}`;
      each.setAttribute("aria-selected", isSelected);
      each.tabIndex = isSelected ? 0 : -1;
    }
    this.#body.setAttribute("aria-labelledby", `tab-${tab.id}`);
    this.#body.setAttribute("aria-busy", state === "loading");
    // Elsewhere, all is more than what is shown.
    const isAll = ["all", "unread"].includes(tab.status) && !tab.kinds.length;
    for (const each of this.#head.querySelectorAll(".for-all")) each.hidden = !isAll || (tab.status === "unread" && each.matches(".dots"));
    place(this.#body, this.#content());
    this.#watchEnd();
    this.#tick();
    this.#rove(this.#current);
    this.#position();
    if (spot && !this.#root.activeElement) this.#focusRow(spot.id, spot.act) || this.#focusAt(spot.at) || this.#selectedTab.focus();
  }

  #tick() {
    for (const time of this.#body.querySelectorAll("time")) time.textContent = ago(time.dateTime, this.#locale);
  }

  get #selectedTab() {
    return this.#root.getElementById(`tab-${this.#inbox.list.tab.id}`);
  }

  #content() {
    const { tab, rows, cursor, state, why } = this.#inbox.list;
    const text = this.#text;
    const retry = [text.retry, () => this.#inbox.retry()];
    this.#placeOwnRows(rows);
    if (this.#inbox.isSignedOut) return [this.#state("bell", text.signedOut)];
    if (state === "loading") return [this.#keep("loading", 0, () => skeleton(text))];
    if (state === "error") return [this.#state("bell", [text.failed, why], retry)];
    if (!rows.length) return [this.#state("check", text.empty[tab.status])];
    const trouble = navigator.onLine ? why : text.offline;
    return [
      ...(trouble ? [this.#keep("note", trouble, () => h("div", { class: "note", role: "status" }, h("span", {}, trouble), button(...retry)))] : []),
      ...(this.#isGrouped ? this.#groups(rows) : [this.#list("rows", this.#label, "", rows)]),
      ...(cursor ? [this.#keep("load", 0, () => button(text.loadMore, () => this.#loadMore(true), "button load"))] : []),
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
      const name = plain(scope) || (scopes.length > 1 ? this.#text.noScope : "");
      return this.#list(`scope ${scope}`, name || this.#label, name, rows.filter((row) => (row.scope ?? "") === scope));
    });
  }

  #list(key, label, heading, rows) {
    const group = this.#keep(key, [label, heading], () =>
      h("div", { role: "group", "aria-label": label }, heading && h("h3", { part: "group" }, heading), h("ul", { role: "list" })),
    );
    place(group.lastChild, rows.map((row) => this.#keep(row.id, this.#shown(row), () => this.#row(row))));
    return group;
  }

  /** All that a person can see of a row. If only more exact times come back from the server, a button that is just being pressed stays. */
  #shown({ read_at, done_at, saved_at, seen, ...row }) {
    return [row, !done_at, !saved_at, this.#inbox.isMuted(row), this.#whole === row.id, this.#own.has(row.id)];
  }

  #row(row) {
    return rowNode(row, this.#context, { isWhole: this.#whole === row.id, isOwn: this.#own.has(row.id) });
  }

  // --- rows as the page shows them: in its own tree, where its styles are

  #own = new Map();

  #placeOwnRows(rows) {
    const template = this.querySelector(":scope > template[slot=row]");
    const wanted = new Set(rows.map((row) => row.id));
    for (const [id, { node }] of this.#own) if (!wanted.has(id) || !(this.#renderRow || template)) node.remove(), this.#own.delete(id);
    if (this.#renderRow || template) for (const row of rows) this.#placeOwnRow(row, template);
  }

  #placeOwnRow(row, template) {
    const stamp = JSON.stringify(row);
    const before = this.#own.get(row.id);
    if (before?.stamp === stamp && before.by === (this.#renderRow ?? template)) return;
    const made = this.#renderRow ? this.#renderRow(structuredClone(row)) : filled(template, row, this.#locale);
    const node = typeof made === "string" ? h("span", {}, made) : made;
    before?.node.remove();
    this.#own.delete(row.id);
    if (!(node instanceof Element)) return;
    node.slot = `row-${row.id}`;
    this.append(node);
    this.#own.set(row.id, { stamp, node, by: this.#renderRow ?? template });
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
    if (event.target.closest("dialog")) return event.key === "Escape" && event.stopPropagation();
    const isTyping = event.target.matches(TYPED_INTO);
    const isHandled = this.#menu.isOpen
      ? this.#menu.pressed(event)
      : this.#pressedAnywhere(event, isTyping) || (!isTyping && this.#view === "list" && this.#pressedInList(event));
    if (isHandled) event.preventDefault();
    if (isHandled || event.key === "Escape") event.stopPropagation();
  }

  #pressedAnywhere({ key, shiftKey, target }, isTyping) {
    if (key === "Escape") return this.#view === "list" ? (this.close(), true) : (this.#show("list"), true);
    if (key === "?" && !isTyping) return this.#show(this.#view === "shortcuts" ? "list" : "shortcuts"), true;
    if (key !== "Tab") return false;
    const within = (node) => [node, ...node.querySelectorAll(STOPS)].filter((each) => each.matches(STOPS));
    const slotted = (node) => (node.localName === "slot" ? node.assignedElements().flatMap(within) : node);
    const stops = [...this.#panel.querySelectorAll(`${STOPS}, .head slot`)].flatMap(slotted).filter((node) => node.tabIndex >= 0 && node.checkVisibility());
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
    const act = { r: "read", d: "done", s: "save", m: "mute", z: "more", e: "whole" }[key.toLowerCase()];
    if (!act || !inRow) return false;
    this.#act(act, this.#inbox.list.rows.find((row) => row.id === this.#current), inRow.querySelector(".more"), key.toLowerCase() === "z");
    return true;
  }

  #nextTab(turn) {
    const at = this.#tabs.findIndex((tab) => tab.id === this.#inbox.list.tab.id);
    this.#switch(this.#tabs[(at + turn + this.#tabs.length) % this.#tabs.length]);
    this.#selectedTab.focus();
  }

  #switch(tab) {
    if (tab.id === this.#inbox.list.tab.id) return;
    this.#cache.clear();
    this.#inbox.switchTo(tab);
    this.#render();
    this.#body.scrollTop = 0;
    this.refresh();
  }

  // --- what a person does

  #select(event, row, url) {
    if (!this.#fire("tocsin-select", { row: structuredClone(row), url }, true)) event.preventDefault();
    if (!url && !this.#isOpen) this.open(); // it was the toast
    else if (!url) this.#whole = this.#whole === row.id ? null : row.id;
    if (row.unread) this.#change(row, { read: true });
    else this.#render();
  }

  #follow(event, row, action) {
    if (!this.#fire("tocsin-action", { row: structuredClone(row), action: { ...action } }, true)) event.preventDefault();
    if (row.unread) this.#change(row, { read: true });
  }

  #act(act, row, anchor, toSnooze) {
    const text = this.#text;
    if (act === "more") return this.#openMenu(row, anchor, toSnooze);
    if (act === "whole") return (this.#whole = this.#whole === row.id ? null : row.id), this.#render();
    if (act === "mute") return row.thread && this.#mute(row);
    if (act === "read") return this.#change(row, { read: row.unread });
    if (act === "save") return this.#change(row, { saved: !row.saved_at });
    if (act === "done") return this.#change(row, { done: !row.done_at }, !row.done_at && text.isDone, notDone(row));
    if (act === "unsnooze") return this.#change(row, { snoozed_until: null });
    if (act === "time") return askForTime(this.#panel, text, (until) => this.#snooze(row, until));
    if (act === "hide") return this.#hide(row);
    return this.#snooze(row, snoozeTime(act));
  }

  #change(row, change, said, back) {
    const next = this.#inbox.change(row, change);
    if (said) this.#toast(said, () => this.#change(next, back));
  }

  #snooze(row, until) {
    this.#change(row, { snoozed_until: until }, this.#text.isSnoozed, { snoozed_until: null });
  }

  #hide(row) {
    this.#inbox.hide(row);
    this.#toast(this.#text.isHidden);
  }

  #mute(row) {
    this.#inbox.toggleMute(row);
    if (this.#inbox.isMuted(row)) this.#toast(this.#text.isMuted, () => this.#inbox.isMuted(row) && this.#inbox.toggleMute(row));
  }

  #allDone(status) {
    const gone = this.#inbox.doneAll(status);
    const bringBack = () => gone.forEach((row) => this.#inbox.change(row, notDone(row)));
    this.#toast(this.#text.areDone, gone.length > 0 && bringBack);
  }

  // --- the next page

  #watchEnd() {
    const end = this.#body.querySelector(".load");
    if (end === this.#end.watched) return;
    this.#end.disconnect();
    this.#end.watched = end;
    if (end) this.#end.observe(end);
  }

  /** Asked for by a key or a press, the focus goes to what came; a page that did not come is asked for by the button alone. */
  async #loadMore(wasPressed) {
    try {
      const first = await this.#inbox.loadMore();
      if (wasPressed) this.#focusRow(first?.id);
      this.#end.watched = null; // look again: the end may still be in sight
      this.#watchEnd();
    } catch (error) {
      this.#end.disconnect();
      if (wasPressed) this.#toast(this.#reasonOf(error));
    }
  }

  // --- menus

  #openMenu(row, anchor, toSnooze) {
    const text = this.#text;
    const item = (act, name, label) => [name, label, () => this.#act(act, row)];
    const isMuted = this.#inbox.isMuted(row);
    const isWhole = this.#whole === row.id;
    const isCut = [...anchor.closest(".row").querySelectorAll(".title, .message")].some((node) => node.scrollHeight > node.clientHeight + 2);
    const first = [
      item("read", row.unread ? "opened" : "mail", row.unread ? text.markRead : text.markUnread),
      item("save", "save", row.saved_at ? text.unsave : text.save),
      item("done", row.done_at ? "back" : "check", row.done_at ? text.undone : text.done),
      ...(isCut || isWhole ? [item("whole", isWhole ? "less" : "whole", isWhole ? text.showLess : text.showWhole)] : []),
      null,
    ];
    const snoozes = Object.entries(text.snooze).map(([choice, label]) => item(choice, "clock", label));
    const rest = [
      ...(isSnoozed(row) ? [item("unsnooze", "clock", text.unsnooze)] : snoozes),
      null,
      ...(row.thread ? [item("mute", isMuted ? "bell" : "mute", isMuted ? text.unmute : text.mute)] : []),
      item("hide", "hide", text.hide),
    ];
    this.#menu.open(anchor, text.more, [...first, ...rest], toSnooze ? first.length : 0);
  }

  #openListMenu(anchor) {
    const text = this.#text;
    this.#menu.open(anchor, text.more, [
      ["checks", text.readDone, () => this.#allDone("read")],
      ["check", text.allDone, () => this.#allDone("all")],
      null,
      ["keys", text.shortcuts, () => this.#show("shortcuts")],
    ]);
  }

  async #showPreferences() {
    if (this.#view !== "preferences") this.#show("preferences");
    this.#body.replaceChildren(skeleton(this.#text));
    let content;
    try {
      const { Preferences, sheet } = await import("./tocsin-inbox-preferences.js?v=26d755ed99149506");
      this.#dress(sheet);
      content = await new Preferences(this.#context).load(() => this.#show("shortcuts"));
    } catch (error) {
      content = [this.#state("sliders", [this.#text.failed, this.#reasonOf(error)], [this.#text.retry, () => this.#showPreferences()])];
    }
    if (this.#view === "preferences") this.#body.replaceChildren(...content);
  }
}

customElements.define("tocsin-inbox", TocsinInbox);
