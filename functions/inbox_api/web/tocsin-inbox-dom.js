/** Nodes of <tocsin-inbox>. What strangers wrote becomes text, never markup. */

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

/** What the path says, as a picture that screen readers pass over. */
export function drawing(outline) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS(svg.namespaceURI, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", outline);
  svg.append(path);
  return svg;
}

export const BELL = "M6 9.5a6 6 0 0 1 12 0c0 5.5 2.5 7 2.5 7h-17S6 15 6 9.5M10 20a2.2 2.2 0 0 0 4 0";
