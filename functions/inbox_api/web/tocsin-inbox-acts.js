/** What a person does in the panel of <tocsin-inbox>: to a row, to all of them, and the menus that offer it. */

import { askForTime } from "./tocsin-inbox-menus.js?v=a99686c57bf437f4";
import { isSnoozed } from "./tocsin-inbox-states.js?v=8b85c0c120a039a9";
import { snoozeTime } from "./tocsin-inbox-times.js?v=e531df2d6023c0f3";

/** What is done is read: taken back, it is what it was. */
const notDone = (row) => (row.unread ? { done: false, read: false } : { done: false });

export class Acts {
  #panel;

  constructor(panel) {
    this.#panel = panel;
  }

  get #inbox() {
    return this.#panel.inbox;
  }
  get #text() {
    return this.#panel.text;
  }

  select(event, row, url) {
    if (!this.#panel.bell.fire("tocsin-select", { row: structuredClone(row), url }, true)) event.preventDefault();
    if (!url) this.#panel.list.toggleWhole(row);
    if (row.unread) this.#change(row, { read: true });
    else this.#panel.render();
  }

  follow(event, row, action) {
    if (!this.#panel.bell.fire("tocsin-action", { row: structuredClone(row), action: { ...action } }, true)) event.preventDefault();
    if (row.unread) this.#change(row, { read: true });
  }

  act(act, row, anchor, toSnooze) {
    const text = this.#text;
    if (act === "more") return this.#openMenu(row, anchor, toSnooze);
    if (act === "whole") return this.#panel.list.toggleWhole(row), this.#panel.render();
    if (act === "mute") return row.thread && this.#mute(row);
    if (act === "read") return this.#change(row, { read: row.unread });
    if (act === "save") return this.#change(row, { saved: !row.saved_at });
    if (act === "done") return this.#change(row, { done: !row.done_at }, !row.done_at && text.isDone, notDone(row));
    if (act === "unsnooze") return this.#change(row, { snoozed_until: null });
    if (act === "time") return askForTime(this.#panel.node, text, (until) => this.#snooze(row, until));
    if (act === "hide") return this.#hide(row);
    return this.#snooze(row, snoozeTime(act));
  }

  #change(row, change, said, back) {
    const next = this.#inbox.change(row, change);
    if (said) this.#panel.toast(said, () => this.#change(next, back));
  }

  #snooze(row, until) {
    this.#change(row, { snoozed_until: until }, this.#text.isSnoozed, { snoozed_until: null });
  }

  #hide(row) {
    this.#inbox.hide(row);
    this.#panel.toast(this.#text.isHidden);
  }

  #mute(row) {
    this.#inbox.toggleMute(row);
    if (this.#inbox.isMuted(row)) this.#panel.toast(this.#text.isMuted, () => this.#inbox.isMuted(row) && this.#inbox.toggleMute(row));
  }

  #allDone(status) {
    const gone = this.#inbox.doneAll(status);
    const bringBack = () => gone.forEach((row) => this.#inbox.change(row, notDone(row)));
    this.#panel.toast(this.#text.areDone, gone.length > 0 && bringBack);
  }

  // --- menus

  #openMenu(row, anchor, toSnooze) {
    const text = this.#text;
    const item = (act, name, label) => [name, label, () => this.act(act, row)];
    const isMuted = this.#inbox.isMuted(row);
    const isWhole = this.#panel.list.whole === row.id;
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
    this.#panel.menu.open(anchor, text.more, [...first, ...rest], toSnooze ? first.length : 0);
  }

  openListMenu(anchor) {
    const text = this.#text;
    this.#panel.menu.open(anchor, text.more, [
      ["checks", text.readDone, () => this.#allDone("read")],
      ["check", text.allDone, () => this.#allDone("all")],
      null,
      ["keys", text.shortcuts, () => this.#panel.turnTo("shortcuts")],
    ]);
  }
}
