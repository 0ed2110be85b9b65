// Signing in: a key, and the name under which acts stand in the audit log.
import { get, Problem } from "./api.js";
import { signIn } from "./session.js";
import { TextField } from "./ui.js";
import { html, useState } from "./view.js";

const LOCAL_HOSTS = ["127.0.0.1", "localhost", "[::1]"];

/** On this machine's own stack nobody has to look for a key. Elsewhere nothing is asked. */
export async function signInLocally() {
  if (!LOCAL_HOSTS.includes(location.hostname)) return;
  try {
    const answer = await fetch(new URL("/_local/session", location.href), { headers: { "Tocsin-Local": "console" }, cache: "no-store" });
    if (!answer.ok) return;
    const { key, person } = await answer.json();
    signIn(key, await get(["me"], {}, { key, person }), person);
  } catch {
    // then by hand
  }
}

export function SignIn({ why, person: known }) {
  const [key, setKey] = useState("");
  const [person, setPerson] = useState(known);
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  const enter = async (event) => {
    event.preventDefault();
    const presented = key.trim();
    if (!presented.startsWith("tcn_")) return setError("An API key begins with tcn_. Whoever runs this installation makes one: scope operate shows what is wrong, read finds notifications, manage edits templates.");
    setBusy(true);
    try {
      signIn(presented, await get(["me"], {}, { key: presented, person: person.trim() }), person.trim());
    } catch (refused) {
      setError(refused instanceof Problem && refused.status === 401 ? "This key is not accepted: it is mistyped, revoked, or has expired." : refused.message);
      setBusy(false);
    }
  };
  return html`<main class="alone"><form class="card sign-in" onSubmit=${enter}>
    <h1>Tocsin console</h1>
    ${why && html`<p class="notice info" role="status">${why}</p>`}
    <${TextField} label="Your name" value=${person} set=${setPerson} maxlength="100" autocomplete="name" required hint="Stands beside everything you change in the audit log." />
    <${TextField} label="API key" value=${key} set=${setKey} type="password" autocomplete="off" spellcheck=${false} required error=${error}
      hint="Kept in this tab's memory only; gone when you close or reload it, or after 30 idle minutes." />
    <button type="submit" class="button primary" disabled=${isBusy || !key || !person.trim()} aria-busy=${isBusy}>Sign in</button>
  </form></main>`;
}
