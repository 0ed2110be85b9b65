/** The tabs of <tocsin-inbox>: those that a page wishes for, or the usual ones. No DOM. */

import { isStatus } from "./tocsin-inbox-states.js?v=8b85c0c120a039a9";

/**
 * The tabs that a page wishes for: `All|Orders=order.*,invoice.*|Saved=@saved`, or JSON: [{"label", "kinds"?, "status"?}].
 * Null if they cannot be understood.
 */
export function parseTabs(wish) {
  try {
    const wished = wish.trim().startsWith("[") ? JSON.parse(wish) : wish.split("|").map(compactTab);
    return wished.length && wished.length <= 10 ? wished.map(ownTab) : null;
  } catch {
    return null;
  }
}

function compactTab(wish) {
  const [, label, what] = wish.match(/^([^=]*)(?:=(.*))?$/);
  if (what === undefined) return { label };
  return what.trim().startsWith("@") ? { label, status: what.trim().slice(1) } : { label, kinds: what.split(",") };
}

function ownTab({ label, kinds = [], status = "all" }, at) {
  const tab = { id: `own-${at}`, label: label.trim(), status, kinds: kinds.map((kind) => kind.trim()) };
  const isGood = tab.label && tab.label.length <= 40 && isStatus(status) && kinds.length <= 10;
  if (!isGood || !tab.kinds.every((kind) => /^[^\s,*]+\*?$/.test(kind))) throw new TypeError(label);
  return tab;
}

/** What the attribute says; if that is nothing, or cannot be understood, a tab for each state that there are words for. */
export function tabsFor(wish, words) {
  const own = wish ? parseTabs(wish) : null;
  if (wish && !own) console.warn(`<tocsin-inbox tabs="${wish}"> cannot be understood: write All|Orders=order.*,invoice.*|Saved=@saved`);
  return own ?? Object.entries(words).map(([status, label]) => ({ id: status, label, status, kinds: [] }));
}
