/** The panel of <tocsin-inbox>, loaded when somebody is about to open it: its frame, its views, and where it stands. */

import { Acts } from "./tocsin-inbox-acts.js?v=bb057b826dfdb1c1";
import { h } from "./tocsin-inbox-dom.js?v=9850c52a7ae8f7a7";
import { pressed } from "./tocsin-inbox-keys.js?v=a2e90a7203991e7b";
import { List } from "./tocsin-inbox-list.js?v=525a3049dac4bef2";
import { Menu } from "./tocsin-inbox-menus.js?v=a99686c57bf437f4";
import { sheet } from "./tocsin-inbox-panel-look.js?v=3ce6413bf6c1b501";
import { iconButton, skeleton } from "./tocsin-inbox-parts.js?v=8d14ffe8a03bab9e";
import { tabsFor } from "./tocsin-inbox-tabs.js?v=6b916860160a0033";
// What these import in turn: named here, the browser asks for all of it at once.
import "./tocsin-inbox-figure.js?v=2bab827161876b2c";
import "./tocsin-inbox-rows.js?v=7121e2690692c5ec";
import "./tocsin-inbox-times.js?v=e531df2d6023c0f3";

const TOAST_MS = 8_000;

/** `bell` has element, root, button, inbox, text, locale and label, and is told dress(sheet), fire(name, detail, cancelable). */
export class Panel {
  isOpen = false;
  view = "list";
  tabs = [];
  #ticker = 0;
  #toastTimer = 0;

  constructor(bell) {
    this.bell = bell;
    this.inbox = bell.inbox;
    this.menu = new Menu();
    this.acts = new Acts(this);
    this.list = new List(this);
    this.node.append(this.#head, this.#tabList, this.list.node, this.#toastBox, this.menu.node, this.#voice);
    this.node.addEventListener("keydown", (event) => pressed(this, event));
    this.node.addEventListener("pointerdown", (event) => this.menu.node.contains(event.target) || this.menu.close());
    bell.dress(sheet);
    bell.root.append(this.node);
    bell.button.setAttribute("aria-controls", this.node.id);
    this.arrange();
  }

  node = h("div", { id: "panel", class: "panel", part: "panel", popover: "manual", role: "dialog", "aria-modal": "true", tabindex: "-1" });
  #head = h("div", { class: "head", part: "header" });
  #tabList = h("div", { class: "tabs", part: "tabs", role: "tablist" });
  #toastBox = h("div", { class: "toast", part: "toast", role: "status" });
  #voice = h("span", { class: "sr", role: "status" });

  show() {
    this.isOpen = true;
    this.node.showPopover();
    for (const type of ["resize", "scroll"]) addEventListener(type, this.#position, true);
    this.#ticker = setInterval(() => this.list.tick(), 30e3);
    this.turnTo("list");
  }

  /** Answers whether the focus was in it. */
  hide() {
    if (!this.isOpen) return false;
    const hadFocus = this.node.contains(this.bell.root.activeElement);
    this.menu.close();
    this.node.querySelector("dialog")?.close();
    this.isOpen = false;
    if (this.node.matches(":popover-open")) this.node.hidePopover(); // taken out of the page, it is closed already
    for (const type of ["resize", "scroll"]) removeEventListener(type, this.#position, true);
    clearInterval(this.#ticker);
    this.#hideToast();
    return hadFocus;
  }

  close() {
    this.bell.element.close();
  }

  /** Everything that attributes, words and the page's own rows decide. */
  arrange() {
    const { element, label } = this.bell;
    this.tabs = tabsFor(element.getAttribute("tabs"), this.text.tabs);
    const { id, kinds } = this.inbox.list.tab;
    const same = this.tabs.find((tab) => tab.id === id && String(tab.kinds) === String(kinds));
    if (!same) this.inbox.switchTo(this.tabs[0]);
    this.#tabList.replaceChildren(...this.tabs.map((tab) => this.#tab(tab)));
    for (const node of [this.node, this.#tabList]) node.setAttribute("aria-label", label);
    this.list.clear();
    if (!this.isOpen) return;
    if (this.view === "list") this.turnTo("list");
    if (!same) this.inbox.refresh();
  }

  /** Nothing of what was shown is left. */
  forget() {
    this.list.clear();
    if (this.isOpen && this.view !== "list") this.turnTo("list");
    this.render();
  }

  // --- what the parts of it know and tell

  get text() {
    return this.bell.text;
  }
  get locale() {
    return this.bell.locale;
  }
  get isGrouped() {
    return this.bell.element.getAttribute("group") === "scope";
  }
  ask(...request) {
    return this.inbox.ask(...request);
  }
  reasonOf(error) {
    return this.bell.reasonOf(error);
  }
  isMuted(row) {
    return this.inbox.isMuted(row);
  }
  say(words) {
    this.#voice.textContent = words;
  }

  toast(words, undo) {
    clearTimeout(this.#toastTimer);
    const button = undo && h("button", { type: "button", onclick: () => (this.#hideToast(), undo()) }, this.text.undo);
    this.#toastBox.replaceChildren(h("div", {}, h("span", {}, words), button));
    // Not while somebody is about to press its button.
    const hide = () => (this.#toastBox.matches(":hover, :focus-within") ? wait() : this.#hideToast());
    const wait = () => (this.#toastTimer = setTimeout(hide, TOAST_MS));
    wait();
  }

  #hideToast() {
    if (this.#toastBox.contains(this.bell.root.activeElement)) this.list.focusRow(this.list.current) || this.node.focus();
    this.#toastBox.replaceChildren();
  }

  // --- tabs

  #tab(tab) {
    const aria = { id: `tab-${tab.id}`, role: "tab", "aria-controls": "body" };
    return h("button", { type: "button", class: "tab", part: "tab", ...aria, onclick: () => this.#switch(tab) }, tab.label);
  }

  get selectedTab() {
    return this.bell.root.getElementById(`tab-${this.inbox.list.tab.id}`);
  }

  nextTab(turn) {
    const at = this.tabs.findIndex((tab) => tab.id === this.inbox.list.tab.id);
    this.#switch(this.tabs[(at + turn + this.tabs.length) % this.tabs.length]);
    this.selectedTab.focus();
  }

  #switch(tab) {
    if (tab.id === this.inbox.list.tab.id) return;
    this.list.clear();
    this.inbox.switchTo(tab);
    this.render();
    this.list.node.scrollTop = 0;
    this.inbox.refresh();
  }

  // --- views

  /** To "list", "shortcuts" or "preferences". */
  turnTo(view) {
    const isList = view === "list";
    const wasInList = this.list.current; // the first time, the focus goes to the tab whether the rows are there or not
    this.view = view;
    this.#tabList.hidden = !isList;
    this.list.node.role = isList ? "tabpanel" : null;
    this.#head.replaceChildren(...this.#heading(view));
    this.list.node.replaceChildren(...(view === "shortcuts" ? [this.#shortcuts()] : []));
    this.render();
    this.#position();
    if (isList) (wasInList && this.list.focusRow(this.list.current)) || this.selectedTab.focus();
    else this.#head.firstChild.focus();
  }

  #heading(view) {
    const { text } = this;
    const close = iconButton("close", text.close, () => this.close());
    if (view !== "list") return [iconButton("back", text.back, () => this.turnTo("list")), h("h2", {}, text[view]), close];
    const menu = { class: "icon dots for-all", "aria-haspopup": "menu", "aria-expanded": "false" };
    return [
      // A page may have its own header in the place of our title.
      h("slot", { name: "header" }, h("h2", {}, this.bell.label)),
      iconButton("checks", text.markAllRead, () => this.inbox.readAll(), { class: "icon for-all" }),
      iconButton("dots", text.more, (event) => this.acts.openListMenu(event.currentTarget), menu),
      iconButton("sliders", text.preferences, () => this.#showPreferences()),
      close,
    ];
  }

  render() {
    if (!this.isOpen || this.view !== "list") return;
    const { tab } = this.inbox.list;
    const spot = this.list.spot();
    for (const each of this.#tabList.children) {
      const isSelected = each.id === `tab-${tab.id}`;
      each.setAttribute("aria-selected", isSelected);
      each.tabIndex = isSelected ? 0 : -1;
    }
    // Elsewhere, all is more than what is shown.
    const isAll = ["all", "unread"].includes(tab.status) && !tab.kinds.length;
    for (const each of this.#head.querySelectorAll(".for-all")) each.hidden = !isAll || (tab.status === "unread" && each.matches(".dots"));
    this.list.render();
    this.#position();
    if (spot && !this.bell.root.activeElement) this.list.focusSpot(spot) || this.selectedTab.focus();
  }

  #shortcuts() {
    return h("dl", {}, this.text.keys.map(([keys, words]) => [h("dt", {}, keys.split(" ").map((key) => h("kbd", {}, key))), h("dd", {}, words)]));
  }

  async #showPreferences() {
    if (this.view !== "preferences") this.turnTo("preferences");
    this.list.node.replaceChildren(skeleton(this.text));
    let content;
    try {
      const { Preferences, sheet } = await import("./tocsin-inbox-preferences.js?v=5984d789ad0bcab8");
      this.bell.dress(sheet);
      content = await new Preferences(this).load(() => this.turnTo("shortcuts"));
    } catch (error) {
      content = [this.list.state("sliders", [this.text.failed, this.reasonOf(error)], [this.text.retry, () => this.#showPreferences()])];
    }
    if (this.view === "preferences") this.list.node.replaceChildren(...content);
  }

  /** Beside the bell and inside the window: on the side that `placement` names, unless the other has more room. */
  #position = () => {
    const { element, button } = this.bell;
    const { style, offsetWidth } = this.node;
    const bell = button.getBoundingClientRect();
    const [side, align] = (element.getAttribute("placement") || "bottom-end").split("-");
    const room = { bottom: innerHeight - bell.bottom - 14, top: bell.top - 14 };
    const other = side === "top" ? "bottom" : "top";
    const isBelow = (room[side] < 360 && room[other] > room[side] ? other : side) !== "top";
    const isRightAligned = (align !== "start") === (getComputedStyle(element).direction === "ltr");
    const left = isRightAligned ? bell.right - offsetWidth : bell.left;
    style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - offsetWidth - 8))}px`;
    style.top = isBelow ? `${bell.bottom + 6}px` : "auto";
    style.bottom = isBelow ? "auto" : `${innerHeight - bell.top + 6}px`;
    style.maxHeight = `${Math.min(680, isBelow ? room.bottom : room.top)}px`;
  };
}
