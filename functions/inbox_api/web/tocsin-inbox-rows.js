/** A row of <tocsin-inbox>: what happened, who did it, why one hears of it, and what one can do about it. */

import { h } from "./tocsin-inbox-dom.js?v=9850c52a7ae8f7a7";
import { figure, safeUrl } from "./tocsin-inbox-figure.js?v=2bab827161876b2c";
import { icon, iconButton, theirs } from "./tocsin-inbox-parts.js?v=8d14ffe8a03bab9e";
import { isSnoozed, plain, titleOf } from "./tocsin-inbox-states.js?v=8b85c0c120a039a9";
import { ago, full } from "./tocsin-inbox-times.js?v=e531df2d6023c0f3";

export const linkOf = (row) => safeUrl(row.url ?? row.summary?.url);
const isSerious = ({ severity }) => severity === "warning" || severity === "critical";

/** `panel` has text, locale, isGrouped and isMuted(row); its `acts` are told what a person does, its `list` where the focus is. */
export function rowNode(row, panel, { isWhole, isOwn }) {
  const { text } = panel;
  const url = linkOf(row);
  const states = [row.unread && "unread", isSerious(row) && row.severity].filter(Boolean);
  const kind = url ? { href: url, rel: "noopener" } : { type: "button" };
  const onclick = (event) => panel.acts.select(event, row, url);
  return h(
    "li",
    {
      class: ["row", ...states.map((state) => `is-${state}`), isWhole && "whole", isOwn && "own"].filter(Boolean).join(" "),
      part: ["row", ...states.map((state) => `row-${state}`)].join(" "),
      "data-id": row.id,
      onfocusin: () => panel.list.rove(row.id),
    },
    row.unread && h("span", { class: "dot", part: "dot" }),
    !isOwn && figure(row),
    h(url ? "a" : "button", { class: "open", ...kind, onclick }, [
      row.unread && h("span", { class: "sr" }, `${text.isUnread} `),
      isSerious(row) && h("span", { class: "sr" }, `${text.severity[row.severity]}. `),
      // What the page has for this row takes the place of these.
      h("slot", { name: `row-${row.id}` }, theirs(titleOf(row), "title"), " ", row.message && theirs(row.message, "message")),
    ]),
    h("time", { datetime: row.last_event_at, title: full(row.last_event_at, panel.locale) }),
    !isOwn && h("div", { class: "meta" }, facts(row, panel)),
    h("div", { class: "actions" }, actions(row, panel)),
    h("div", { class: "acts" }, buttons(row, panel)),
  );
}

function facts(row, panel) {
  const { text } = panel;
  const chip = (words, kind = "", sign) => words && h("span", { class: `chip ${kind}`, part: "chip" }, sign && icon(sign), words);
  const isPersonal = ["mention", "review_requested", "assign"].includes(row.reason);
  const updates = row.event_count > 1 && text.updates(row.event_count);
  // A screen reader was told in the row's name.
  const severity = isSerious(row) && chip(text.severity[row.severity], row.severity, row.severity);
  if (severity) severity.ariaHidden = "true";
  return [
    severity,
    chip(text.reasons[row.reason], isPersonal ? "you" : ""),
    row.for_everyone && chip(text.everyone),
    panel.isMuted(row) && chip(text.muted),
    isSnoozed(row) && chip(text.until(full(row.snoozed_until, panel.locale))),
    ...[row.actor?.name, row.thread && `${row.thread.kind} ${row.thread.id}`, !panel.isGrouped && row.scope, updates]
      .filter(Boolean)
      .map((words) => h("span", { class: "fact" }, theirs(words))),
  ];
}

/** At most two, and only those that lead somewhere safe. */
function actions(row, panel) {
  const usable = (row.actions ?? []).filter(({ label, url }) => label && safeUrl(url)).slice(0, 2);
  return usable.map((action, at) => {
    const rank = at ? "secondary" : "primary";
    const onclick = (event) => panel.acts.follow(event, row, action);
    return h("a", { class: `button ${rank}`, part: `action action-${rank}`, href: safeUrl(action.url), rel: "noopener", onclick }, theirs(action.label));
  });
}

function buttons(row, panel) {
  const { text } = panel;
  const one = (act, name, label, more = {}) =>
    iconButton(name, label, (event) => panel.acts.act(act, row, event.currentTarget), { "aria-label": `${label}: ${titleOf(row)}`, "data-act": act, ...more });
  return [
    one("read", row.unread ? "opened" : "mail", row.unread ? text.markRead : text.markUnread),
    one("save", "save", row.saved_at ? text.unsave : text.save, { class: row.saved_at ? "icon on" : "icon" }),
    one("done", row.done_at ? "back" : "check", row.done_at ? text.undone : text.done),
    one("more", "dots", text.more, { class: "icon more", "aria-haspopup": "menu", "aria-expanded": "false" }),
  ];
}

/** What a page's `<template slot="row">` makes of a row: each `data-field` gets its text, an image its address. Nothing else comes in. */
export function filled(template, row, locale) {
  const node = template.content.firstElementChild?.cloneNode(true);
  const known = { ...row, title: titleOf(row), time: ago(row.last_event_at, locale) };
  for (const each of node ? [node, ...node.querySelectorAll("[data-field]")] : []) {
    const value = each.dataset.field?.split(".").reduce((part, name) => part?.[name], known);
    if (each.localName === "img") each.toggleAttribute("src", false), safeUrl(value) && (each.src = safeUrl(value));
    else if (each.dataset.field) each.textContent = typeof value === "object" ? "" : plain(value);
  }
  return node;
}
