/** The list in the panel of <tocsin-inbox>: its rows in their groups, what stands there when there are none, and the focus among them. */

import { h } from "./tocsin-inbox-dom.js?v=9850c52a7ae8f7a7";
import { button, icon, place, skeleton } from "./tocsin-inbox-parts.js?v=8d14ffe8a03bab9e";
import { filled, rowNode } from "./tocsin-inbox-rows.js?v=7121e2690692c5ec";
import { plain } from "./tocsin-inbox-states.js?v=8b85c0c120a039a9";
import { ago } from "./tocsin-inbox-times.js?v=e531df2d6023c0f3";

export class List {
  current = null; // the row that Tab and the keys act on
  whole = null; // the row that is shown to its end
  node = h("div", { class: "body", part: "body", id: "body" });
  #panel;
  #cache = new Map();
  #own = new Map(); // rows as the page shows them
  // Who comes near the end of the list gets the next page; the button stays, for keys and for where scrolling is not seen.
  #end = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && this.#loadMore(false), { root: this.node, rootMargin: "240px" });

  constructor(panel) {
    this.#panel = panel;
  }

  render() {
    const { tab, state } = this.#panel.inbox.list;
    this.node.setAttribute("aria-labelledby", `tab-${tab.id}`);
    this.node.setAttribute("aria-busy", state === "loading");
    place(this.node, this.#content());
    this.#watchEnd();
    this.tick();
    this.rove(this.current);
  }

  /** Make every node anew when it is next shown. */
  clear() {
    this.#cache.clear();
  }

  tick() {
    for (const time of this.node.querySelectorAll("time")) time.textContent = ago(time.dateTime, this.#panel.locale);
  }

  toggleWhole(row) {
    this.whole = this.whole === row.id ? null : row.id;
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

  #content() {
    const { inbox, text } = this.#panel;
    const { tab, rows, cursor, state, why } = inbox.list;
    const retry = [text.retry, () => inbox.retry()];
    this.#placeOwnRows(rows);
    if (inbox.isSignedOut) return [this.state("bell", text.signedOut)];
    if (state === "loading") return [this.#keep("loading", 0, () => skeleton(text))];
    if (state === "error") return [this.state("bell", [text.failed, why], retry)];
    if (!rows.length) return [this.state("check", text.empty[tab.status])];
    const trouble = navigator.onLine ? why : text.offline;
    return [
      ...(trouble ? [this.#keep("note", trouble, () => h("div", { class: "note", role: "status" }, h("span", {}, trouble), button(...retry)))] : []),
      ...(this.#panel.isGrouped ? this.#groups(rows) : [this.#group("rows", this.#panel.bell.label, "", rows)]),
      ...(cursor ? [this.#keep("load", 0, () => button(text.loadMore, () => this.#loadMore(true), "button load"))] : []),
    ];
  }

  state(name, words, action) {
    const [title, more] = words;
    return this.#keep("state", [name, words], () =>
      h("div", { class: "state", part: "state" }, icon(name), h("strong", {}, title), h("p", {}, more), action && button(...action)),
    );
  }

  /** Rows under a heading for each scope; the scope with the newest row comes first. */
  #groups(rows) {
    const scopes = [...new Set(rows.map((row) => row.scope ?? ""))];
    return scopes.map((scope) => {
      const name = plain(scope) || (scopes.length > 1 ? this.#panel.text.noScope : "");
      return this.#group(`scope ${scope}`, name || this.#panel.bell.label, name, rows.filter((row) => (row.scope ?? "") === scope));
    });
  }

  #group(key, label, heading, rows) {
    const group = this.#keep(key, [label, heading], () =>
      h("div", { role: "group", "aria-label": label }, heading && h("h3", { part: "group" }, heading), h("ul", { role: "list" })),
    );
    place(group.lastChild, rows.map((row) => this.#keep(row.id, this.#shown(row), () => this.#row(row))));
    return group;
  }

  /** All that a person can see of a row. If only more exact times come back from the server, a button that is just being pressed stays. */
  #shown({ read_at, done_at, saved_at, seen, ...row }) {
    return [row, !done_at, !saved_at, this.#panel.isMuted(row), this.whole === row.id, this.#own.has(row.id)];
  }

  #row(row) {
    return rowNode(row, this.#panel, { isWhole: this.whole === row.id, isOwn: this.#own.has(row.id) });
  }

  // --- rows as the page shows them: in its own tree, where its styles are

  #placeOwnRows(rows) {
    const { element } = this.#panel.bell;
    const template = element.querySelector(":scope > template[slot=row]");
    const wanted = new Set(rows.map((row) => row.id));
    for (const [id, { node }] of this.#own) if (!wanted.has(id) || !(element.renderRow || template)) node.remove(), this.#own.delete(id);
    if (element.renderRow || template) for (const row of rows) this.#placeOwnRow(row, element, template);
  }

  #placeOwnRow(row, element, template) {
    const stamp = JSON.stringify(row);
    const by = element.renderRow ?? template;
    const before = this.#own.get(row.id);
    if (before?.stamp === stamp && before.by === by) return;
    const made = element.renderRow ? element.renderRow(structuredClone(row)) : filled(template, row, this.#panel.locale);
    const node = typeof made === "string" ? h("span", {}, made) : made;
    before?.node.remove();
    this.#own.delete(row.id);
    if (!(node instanceof Element)) return;
    node.slot = `row-${row.id}`;
    element.append(node);
    this.#own.set(row.id, { stamp, node, by });
  }

  // --- moving about

  get rowNodes() {
    return [...this.node.querySelectorAll(".row")];
  }

  /** Where the focus is in the list: the row, its place, and which of its buttons. */
  spot() {
    const focused = this.#panel.bell.root.activeElement;
    const row = focused?.closest(".row");
    return row && { id: row.dataset.id, at: this.rowNodes.indexOf(row), act: focused.dataset.act };
  }

  focusSpot({ id, act, at }) {
    return this.focusRow(id, act) || this.focusAt(at);
  }

  focusRow(id, act) {
    const row = this.rowNodes.find((node) => node.dataset.id === id);
    (row?.querySelector(`[data-act="${act}"]`) ?? row?.querySelector(".open"))?.focus();
    return row;
  }

  focusAt(index) {
    const rows = this.rowNodes;
    return this.focusRow(rows[Math.max(0, Math.min(index, rows.length - 1))]?.dataset.id);
  }

  /** Only one row, and its buttons, can be reached by Tab. */
  rove(id) {
    const rows = this.rowNodes;
    const current = rows.find((node) => node.dataset.id === id) ?? rows[0];
    this.current = current?.dataset.id;
    for (const row of rows) for (const node of row.querySelectorAll("a, button")) node.tabIndex = row === current ? 0 : -1;
  }

  // --- the next page

  #watchEnd() {
    const end = this.node.querySelector(".load");
    if (end === this.#end.watched) return;
    this.#end.disconnect();
    this.#end.watched = end;
    if (end) this.#end.observe(end);
  }

  /** Asked for by a key or a press, the focus goes to what came; a page that did not come is asked for by the button alone. */
  async #loadMore(wasPressed) {
    try {
      const first = await this.#panel.inbox.loadMore();
      if (wasPressed) this.focusRow(first?.id);
      this.#end.watched = null; // look again: the end may still be in sight
      this.#watchEnd();
    } catch (error) {
      this.#end.disconnect();
      if (wasPressed) this.#panel.toast(this.#panel.reasonOf(error));
    }
  }
}
