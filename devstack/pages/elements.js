// Elements: made, filled again only where they changed, and the two that every step has: what was called, and what went wrong.
import { asCurl } from "./calls.js";

/** An element with attributes and children; `onClick` and the like listen. Text stays text. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2).toLowerCase(), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Put this into the node, unless the same is there already: what somebody reads, selects or has unfolded is left alone. */
export function fill(node, key, make) {
  const said = JSON.stringify(key);
  if (node.dataset.shows === said) return;
  const open = new Set([...node.querySelectorAll("details[open]")].map((one) => one.dataset.name));
  const focused = node.contains(document.activeElement) ? document.activeElement.dataset.name : null;
  node.dataset.shows = said;
  node.replaceChildren(...[make()].flat().filter(Boolean));
  for (const one of node.querySelectorAll("details")) if (open.has(one.dataset.name)) one.open = true;
  if (focused) node.querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
}

/** What was called, to be copied, and what was answered. `made` is `{call, status, body}`. */
export function callBox(made, where, { isLong = false } = {}) {
  const curl = asCurl(made.call, where);
  const name = `${made.call.method} ${made.call.path}`;
  return el("div", { class: "called" },
    el("div", { class: "called-head" }, el("code", {}, name), copyButton(curl, `Copy as curl: ${name}`, `copy ${name}`)),
    el("pre", { tabindex: "0", "aria-label": `${name} as curl` }, curl),
    el("details", { "data-name": `answer ${name}`, open: !isLong },
      el("summary", {}, `The answer: ${made.status}`),
      el("pre", { tabindex: "0", "aria-label": `The answer to ${name}` }, JSON.stringify(made.body, null, 2))));
}

function copyButton(text, label, name) {
  const button = el("button", { type: "button", class: "button small", "aria-label": label, "data-name": name, onClick: copy }, "Copy");
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select it by hand";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  }
  return button;
}

/** A refusal in words. */
export function notice(error, tone = "bad") {
  const more = error.more ?? [];
  return el("div", { class: `notice ${tone}`, role: tone === "bad" ? "alert" : "status" },
    el("div", {}, el("p", {}, error.message), more.length > 0 && el("ul", {}, more.map((one) => el("li", {}, one)))));
}
