/** The menus of <tocsin-inbox>, and the small dialog that asks until when. */

import { h } from "./tocsin-inbox-dom.js?v=9850c52a7ae8f7a7";
import { icon } from "./tocsin-inbox-parts.js?v=8d14ffe8a03bab9e";
import { chosenTime, snoozeTime } from "./tocsin-inbox-times.js?v=e531df2d6023c0f3";

/** One menu for all of a panel: it opens beside the button that it belongs to, and gives the focus back to it. */
export class Menu {
  node = h("div", { class: "menu", part: "menu", role: "menu", hidden: true });
  #anchor = null;

  get isOpen() {
    return !this.node.hidden;
  }

  /** `items` are [icon, label, run], or null for a line; `first` is the one to begin with. */
  open(anchor, label, items, first = 0) {
    const item = ([name, words, run]) =>
      h("button", { type: "button", role: "menuitem", tabindex: "-1", onclick: () => (this.close(), run()) }, icon(name), words);
    this.close();
    this.#anchor = anchor;
    this.node.replaceChildren(...items.map((each) => (each ? item(each) : h("hr"))));
    this.node.hidden = false;
    this.node.ariaLabel = label;
    anchor.ariaExpanded = "true";
    const panel = this.node.parentNode.getBoundingClientRect();
    const lowest = panel.height - this.node.offsetHeight - 10;
    this.node.style.top = `${Math.max(8, Math.min(anchor.getBoundingClientRect().bottom - panel.top + 2, lowest))}px`;
    this.node.children[first].focus();
  }

  close() {
    if (!this.isOpen) return;
    this.node.hidden = true;
    this.#anchor.ariaExpanded = "false";
    this.#anchor.focus();
  }

  /** Whether the key was for the menu. */
  pressed({ key }) {
    const items = [...this.node.querySelectorAll("button")];
    const at = items.indexOf(this.node.getRootNode().activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 }[key];
    if (to !== undefined) items[to % items.length].focus();
    if (key === "Escape" || key === "Tab") this.close();
    return to !== undefined || key === "Escape" || key === "Tab";
  }
}

/** What a field for local times takes: the same moment, written without a zone. */
const local = (iso) => new Date(new Date(iso) - new Date(iso).getTimezoneOffset() * 60e3).toISOString().slice(0, 16);

/** Ask until when, in a dialog inside `home`; `then` is told the moment, unless it is given up. */
export function askForTime(home, text, then) {
  const input = h("input", { id: "until", type: "datetime-local", value: local(snoozeTime("tomorrow")), min: local(new Date()), "aria-describedby": "until-error" });
  const error = h("p", { class: "error", id: "until-error", role: "alert" });
  const cancel = h("button", { type: "button", class: "button", onclick: () => dialog.close() }, text.cancel);
  const form = h("form", { novalidate: true, onsubmit: choose }, h("label", { class: "fields" }, text.snoozeUntil, input), error, h("div", { class: "choice" }, cancel, h("button", { class: "button primary" }, text.snoozeIt)));
  const dialog = h("dialog", { part: "dialog", "aria-label": text.snoozeUntil, onclose: () => dialog.remove() }, form);

  function choose(event) {
    event.preventDefault();
    const time = chosenTime(input.value);
    input.ariaInvalid = time ? null : "true";
    error.textContent = time ? "" : text.snoozeWrong;
    if (!time) return input.focus();
    dialog.close();
    then(time);
  }

  home.append(dialog);
  dialog.showModal();
}
