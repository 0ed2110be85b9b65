// What was typed and not saved stays while the tab is open: whoever leaves a form and comes back finds it as it was.
import { current } from "./session.js";
import { html, useState } from "./view.js";

const kept = new Map();
const keyOf = (place) => `${current().me?.tenant.id} ${place}`;

addEventListener("beforeunload", (event) => {
  if (kept.size) event.preventDefault();
});

/** `{draft, change(changes), isChanged, wasKept, drop(), restart(next)}` of a form at this place; `initial` is what it begins with. */
export function useDraft(place, initial) {
  const [base, setBase] = useState(initial);
  const [wasKept, setWasKept] = useState(() => kept.has(keyOf(place)));
  const [draft, setDraft] = useState(() => kept.get(keyOf(place)) ?? initial);
  const change = (changes) =>
    setDraft((old) => {
      const next = { ...old, ...changes };
      if (isSame(next, base)) kept.delete(keyOf(place));
      else kept.set(keyOf(place), next);
      return next;
    });
  const restart = (next) => {
    kept.delete(keyOf(place));
    setWasKept(false);
    setBase(next);
    setDraft(next);
  };
  return { draft, change, restart, drop: () => restart(base), wasKept, isChanged: !isSame(draft, base) };
}

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Says that these are words of an earlier visit, and takes them away on demand. */
export function Kept({ of }) {
  if (!of.wasKept) return null;
  return html`<p class="row mute" role="status"><span>What you typed before is here again, not saved yet.</span>
    <button type="button" class="button small" onClick=${of.drop}>Begin anew</button></p>`;
}
