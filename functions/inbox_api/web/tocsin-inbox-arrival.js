/** The toast of <tocsin-inbox>, for pages that want one: what came while it is closed. */

import { h } from "./tocsin-inbox-dom.js?v=9850c52a7ae8f7a7";
import { figure } from "./tocsin-inbox-figure.js?v=2bab827161876b2c";
import { sheetOf } from "./tocsin-inbox-look.js?v=d80710a043b1fa1b";
import { sheet as panelSheet } from "./tocsin-inbox-panel-look.js?v=3ce6413bf6c1b501";
import { iconButton, theirs } from "./tocsin-inbox-parts.js?v=8d14ffe8a03bab9e";
import { linkOf } from "./tocsin-inbox-rows.js?v=7121e2690692c5ec";
import { titleOf } from "./tocsin-inbox-states.js?v=8b85c0c120a039a9";

const SHOWN_MS = 8_000;

/** One row at the corner of the window, for a moment: longer while somebody is about to press it. */
export class ArrivalToast {
  node = h("div", { class: "arrival", part: "arrival", popover: "manual" });
  #timer = 0;

  constructor(home) {
    home.append(this.node);
  }

  /** `bell` has text, and is told select(event, row, url). `more` came with it. */
  show(row, more, bell) {
    const url = linkOf(row);
    const kind = url ? { href: url, rel: "noopener" } : { type: "button" };
    const onclick = (event) => (this.hide(), bell.select(event, row, url));
    const words = [theirs(titleOf(row), "title"), row.message && theirs(row.message, "message"), more > 0 && h("span", { class: "meta" }, bell.text.andMore(more))];
    this.node.replaceChildren(figure(row), h(url ? "a" : "button", { class: "open", ...kind, onclick }, words), iconButton("close", bell.text.dismiss, () => this.hide()));
    this.node.showPopover();
    this.#wait();
  }

  hide() {
    clearTimeout(this.#timer);
    if (this.node.matches(":popover-open")) this.node.hidePopover();
    this.node.replaceChildren();
  }

  #wait() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.node.matches(":hover, :focus-within") ? this.#wait() : this.hide()), SHOWN_MS);
  }
}

const sheet = sheetOf(`
.arrival { position: fixed; inset: auto; inset-block-end: 20px; inset-inline-end: 20px; padding-block: 13px; padding-inline: 66px 44px; inline-size: 360px; max-inline-size: calc(100vw - 40px); border: 1px solid var(--line); border-radius: var(--r); background: var(--bg); color: var(--fg);
  font: 14px/1.45 var(--tocsin-font, system-ui, sans-serif); text-align: start; box-shadow: 0 2px 6px #0f121a14, 0 16px 48px #0f121a33 }
.arrival .title { max-inline-size: none } .arrival > .icon { position: absolute; inset-block-start: 7px; inset-inline-end: 7px } .arrival .open::after { inset-inline-end: 42px } .arrival .open:focus-visible::after { inset-inline-end: 0 }
@media (max-width: 480px) { .arrival { inset-inline: 12px; inset-block: 12px auto; inline-size: auto; max-inline-size: none } }
@media (prefers-reduced-motion: no-preference) { .arrival:popover-open { animation: in .14s ease-out } }
.arrival .title { font-weight: 620; color: var(--fg) }
`);

export const sheets = [panelSheet, sheet];
