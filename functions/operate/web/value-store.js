// Values by their ETags: what a rival has written in between is never overwritten unasked.
import { get, put, remove } from "./api.js";

/** The entry, with the `tag` of this very state. */
export async function readValue(collection, key, signal) {
  let tag;
  const entry = await get(["kv", collection, key], {}, { signal, heard: (headers) => (tag = headers.get("etag")) });
  return { ...entry, tag };
}

/** Write only if the state is still the one that `tag` names; without a tag, only if there is none. Gives the new tag. */
export async function writeValue(collection, key, value, tag) {
  let next;
  const headers = tag ? { "If-Match": tag } : { "If-None-Match": "*" };
  const entry = await put(["kv", collection, key], value, { headers, heard: (answered) => (next = answered.get("etag")) });
  return { ...entry, value, tag: next };
}

export const dropValue = (collection, key, tag) => remove(["kv", collection, key], {}, { headers: { "If-Match": tag } });
