/** Nodes of <tocsin-inbox>. What strangers wrote becomes text, never markup, and turns nothing around it about. */

import { plain } from "./tocsin-inbox-core.js?v=a14590c2384d010c";
import { icons } from "./tocsin-inbox-look.js?v=21c6d102c1ac95a0";

/** An element with attributes, `on…` listeners and children; strings become text nodes, nothing becomes markup. */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(2).filter((child) => child != null && child !== false && child !== ""));
  return node;
}

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS(svg.namespaceURI, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", icons[name]);
  svg.append(path);
  return svg;
}

export const button = (label, onclick, kind = "button") => h("button", { type: "button", class: kind, part: "button", onclick }, label);

export const iconButton = (name, label, onclick, more = {}) =>
  h("button", { type: "button", class: "icon", "aria-label": label, title: label, onclick, ...more }, icon(name));

/** What a stranger wrote, in a direction of its own. */
export const theirs = (words, kind) => h("bdi", { class: kind }, plain(words));

/** Make these the children of `parent`, moving nothing that is already in its place: focus and scrolling survive. */
export function place(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, at) => parent.childNodes[at] === node || parent.insertBefore(node, parent.childNodes[at] ?? null));
}

/** Only http and https become links; anything else strangers send (javascript:, data:) stays text. */
export function safeUrl(value) {
  try {
    const url = new URL(value, document.baseURI);
    return typeof value === "string" && /^https?:$/.test(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

const broken = new Set(); // pictures that did not come or that the page's policy refuses: not asked for again

/** A picture that gives way to what is behind it when it does not come; nothing, if this is no address of one. */
function picture(url) {
  if (!/^https?:\/\//i.test(url ?? "") || broken.has(url)) return null;
  const onerror = ({ target }) => (broken.add(url), target.remove());
  return h("img", { onerror, alt: "", loading: "lazy", decoding: "async", referrerpolicy: "no-referrer", src: url });
}

/** What stands before a row: its icon, else who did it, else how serious it is. */
export function figure({ icon: sign, actor, severity }) {
  const image = picture(sign);
  if (sign && !image && !/^https?:/i.test(sign)) return h("span", { class: "figure emoji", part: "icon", "aria-hidden": "true" }, plain(sign));
  const behind = actor ? initials(actor.name || actor.id) : icon(severity === "warning" || severity === "critical" ? severity : "bell");
  const kind = actor ? "figure person" : `figure ${severity ?? ""}`;
  const node = h("span", { class: image ? `${kind} own` : kind, part: "avatar", "aria-hidden": "true" }, behind, image ?? (actor && picture(actor.avatar_url)));
  if (actor) node.style.setProperty("--hue", hue(actor.id));
  return node;
}

/** The first letters of the first and the last word. */
function initials(name) {
  const letters = plain(name).split(/\s+/).map((word) => word.match(/[\p{L}\p{N}]/u)?.[0]).filter(Boolean);
  return [letters[0] ?? "?", letters.length > 1 && letters.at(-1)].filter(Boolean).join("").toLocaleUpperCase();
}

/** Neighbours are far apart: 137° is the golden angle. */
const hue = (id) => ([...String(id)].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 3600, 7) * 137) % 360;

export function skeleton(text) {
  const lines = () => h("div", { class: "skeleton", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
  return h("div", {}, h("span", { class: "sr", role: "status" }, text.loading), lines(), lines(), lines(), lines());
}
