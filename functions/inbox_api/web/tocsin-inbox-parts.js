/** What the panel of <tocsin-inbox> is put together of: icons, buttons, placeholders; and strangers' words, which turn nothing around them about. */

import { BELL, drawing, h } from "./tocsin-inbox-dom.js?v=9850c52a7ae8f7a7";
import { plain } from "./tocsin-inbox-states.js?v=8b85c0c120a039a9";

const icons = {
  bell: BELL,
  mail: "M3.5 6h17v12h-17zM4 7l8 6 8-6",
  opened: "M3.5 10L12 4.5l8.5 5.5v9.5h-17zM4 10.5l8 5.5 8-5.5",
  check: "M5 12.5l4.5 4.5L19 7",
  checks: "M2 12.5L6.5 17 15 7.5M12.5 16l1 1L22 7.5",
  save: "M7 4h10v16l-5-4-5 4z",
  dots: "M5.5 12h.01M12 12h.01M18.5 12h.01",
  sliders: "M4 7.5h9M19 7.5h1M4 16.5h1M11 16.5h9M13 7.5a3 3 0 1 0 6 0 3 3 0 1 0-6 0M5 16.5a3 3 0 1 0 6 0 3 3 0 1 0-6 0",
  back: "M14.5 5.5L8 12l6.5 6.5",
  close: "M6.5 6.5l11 11M17.5 6.5l-11 11",
  clock: "M12 7.5V12l3 2M20.5 12a8.5 8.5 0 1 1-17 0 8.5 8.5 0 0 1 17 0",
  mute: "M6 9.5a6 6 0 0 1 12 0c0 5.5 2.5 7 2.5 7h-17S6 15 6 9.5M4 3.5l16 17",
  warning: "M12 4.5l8.5 15h-17zM12 10.5v4M12 17h.01",
  critical: "M8.3 3.5h7.4l4.8 4.8v7.4l-4.8 4.8H8.3l-4.8-4.8V8.3zM12 8v5M12 16h.01",
  lock: "M6 11h12v9H6zM8.5 11V7.5a3.5 3.5 0 0 1 7 0V11",
  whole: "M4 6h16M4 10.5h16M4 15h16M4 19.5h9",
  less: "M4 6h16M4 10.5h9",
  keys: "M3.5 6.5h17v11h-17zM7 10h.01M10.5 10h.01M14 10h.01M17.5 10h.01M8 14h8",
  hide: "M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7",
};

export const icon = (name) => drawing(icons[name]);

export const button = (label, onclick, kind = "button") => h("button", { type: "button", class: kind, part: "button", onclick }, label);

export const iconButton = (name, label, onclick, more = {}) =>
  h("button", { type: "button", class: "icon", "aria-label": label, title: label, onclick, ...more }, icon(name));

/** Make these the children of `parent`, moving nothing that is already in its place: focus and scrolling survive. */
export function place(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, at) => parent.childNodes[at] === node || parent.insertBefore(node, parent.childNodes[at] ?? null));
}

/** What a stranger wrote, in a direction of its own. */
export const theirs = (words, kind) => h("bdi", { class: kind }, plain(words));

export function skeleton(text) {
  const lines = () => h("div", { class: "skeleton", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
  return h("div", {}, h("span", { class: "sr", role: "status" }, text.loading), lines(), lines(), lines(), lines());
}
