/** What stands before a row of <tocsin-inbox>, and which addresses of strangers are used at all. */

import { h } from "./tocsin-inbox-dom.js?v=9850c52a7ae8f7a7";
import { icon } from "./tocsin-inbox-parts.js?v=8d14ffe8a03bab9e";
import { plain } from "./tocsin-inbox-states.js?v=8b85c0c120a039a9";

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
