// How far somebody got, kept in this browser: a reload goes on where it was. There is no secret in it.
const KEY = "tocsin-start";

export function load() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

export function save(progress) {
  try {
    localStorage.setItem(KEY, JSON.stringify(progress));
  } catch {
    // without storage a reload begins again
  }
}

/** Somebody new, whom nobody else writes to. */
export function somebody() {
  const word = Array.from(crypto.getRandomValues(new Uint8Array(3)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const digits = String(crypto.getRandomValues(new Uint16Array(1))[0] % 100).padStart(2, "0");
  return { id: `newcomer-${word}`, email: `newcomer-${word}@example.com`, phone: `+141555501${digits}` };
}
