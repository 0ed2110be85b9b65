// Where we are: `#/dead-letters?channel=email`. What filters a list stands in the address, so that a link can be sent to a colleague.
import { useEffect, useState } from "./view.js";

export function parse(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const parts = path.split("/").filter(Boolean).map(decoded);
  return { parts, page: parts[0] ?? "", query: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a page: `href(["users", id], {tab: "inbox"})`. What is empty is left out. */
export function href(parts, query = {}) {
  const path = [parts].flat().map((part) => encodeURIComponent(part)).join("/");
  const told = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = new URLSearchParams(told).toString();
  return `#/${path}${search ? `?${search}` : ""}`;
}

export function go(parts, query) {
  location.hash = href(parts, query);
}

/** Change what stands behind the question mark, in the place of the entry in the history unless told otherwise. */
export function setQuery(changes, { push = false } = {}) {
  const { parts, query } = parse(location.hash);
  const address = href(parts, { ...query, ...changes });
  history[push ? "pushState" : "replaceState"](null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const moved = () => setHash(location.hash);
    addEventListener("hashchange", moved);
    addEventListener("popstate", moved);
    return () => {
      removeEventListener("hashchange", moved);
      removeEventListener("popstate", moved);
    };
  }, []);
  return parse(hash);
}
