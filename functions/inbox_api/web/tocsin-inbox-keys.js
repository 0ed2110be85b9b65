/** The keys of the panel of <tocsin-inbox>: letters act on a row, arrows move, and Tab goes round inside. */

const TYPED_INTO = "input:not([type=checkbox]), textarea, select, [contenteditable]";
const STOPS = "a, button, input, summary, select, textarea, [tabindex]";
const LETTERS = { r: "read", d: "done", s: "save", m: "mute", z: "more", e: "whole" };

export function pressed(panel, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("dialog")) return event.key === "Escape" && event.stopPropagation();
  const isTyping = event.target.matches(TYPED_INTO);
  const isHandled = panel.menu.isOpen
    ? panel.menu.pressed(event)
    : anywhere(panel, event, isTyping) || (!isTyping && panel.view === "list" && inList(panel, event));
  if (isHandled) event.preventDefault();
  if (isHandled || event.key === "Escape") event.stopPropagation();
}

function anywhere(panel, { key, shiftKey, target }, isTyping) {
  if (key === "Escape") return panel.view === "list" ? panel.close() : panel.turnTo("list"), true;
  if (key === "?" && !isTyping) return panel.turnTo(panel.view === "shortcuts" ? "list" : "shortcuts"), true;
  if (key !== "Tab") return false;
  const within = (node) => [node, ...node.querySelectorAll(STOPS)].filter((each) => each.matches(STOPS));
  const slotted = (node) => (node.localName === "slot" ? node.assignedElements().flatMap(within) : node);
  const stops = [...panel.node.querySelectorAll(`${STOPS}, .head slot`)].flatMap(slotted).filter((node) => node.tabIndex >= 0 && node.checkVisibility());
  const [edge, other] = shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
  return target === edge || target === panel.node ? (other.focus(), true) : false;
}

function inList(panel, { key, target }) {
  const { list } = panel;
  const inRow = target.closest(".row");
  const rows = list.rowNodes;
  const at = rows.findIndex((node) => node.dataset.id === list.current);
  const step = { ArrowDown: inRow ? at + 1 : at, ArrowUp: inRow ? at - 1 : at, Home: 0, End: rows.length - 1 }[key];
  if (step !== undefined) return list.focusAt(step), true;
  const turn = { ArrowRight: 1, ArrowLeft: -1 }[key] * (getComputedStyle(panel.bell.element).direction === "rtl" ? -1 : 1);
  if (turn && target.matches(".tab")) return panel.nextTab(turn), true;
  const act = LETTERS[key.toLowerCase()];
  if (!act || !inRow) return false;
  panel.acts.act(act, panel.inbox.list.rows.find((row) => row.id === list.current), inRow.querySelector(".more"), key.toLowerCase() === "z");
  return true;
}
