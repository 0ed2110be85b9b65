/** The short way to write an intent (`to`, `title`, `message`, `url`) becomes the API's own. */

/** What is written in the API's own way stays as it is. */
export function intentOf({ to, title, message, url, payload, ...intent }) {
  if (to !== undefined && intent.audience !== undefined) throw new TypeError("An intent has `to` or `audience`, not both.");
  const words = Object.fromEntries(Object.entries({ title, message, url }).filter(([, value]) => value !== undefined));
  return {
    ...intent,
    ...(to !== undefined && { audience: audienceOf(to) }),
    payload: { ...payload, ...words },
  };
}

/** Ids and people are users; an email or phone without an id is an address; what has a `kind` is an audience already. */
export function audienceOf(to) {
  if (typeof to === "string") return { kind: "users", user_ids: [to] };
  if (Array.isArray(to)) return { kind: "users", user_ids: to };
  if (typeof to?.kind === "string") return to;
  if (typeof to?.id === "string") return { kind: "users", user_ids: [to] };
  if (to?.email || to?.phone) return { kind: "address", ...to };
  throw new TypeError("`to` is a user's id, {id, email, …}, a list of them, {email} or {phone}, or an audience with its `kind`.");
}
