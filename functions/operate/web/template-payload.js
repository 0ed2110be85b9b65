// What a preview is filled with: a payload that is written here, or that of a notification that was sent.
import { get } from "./api.js";
import { localTime } from "./format.js";
import { readJson } from "./json-text.js";
import { useLoaded } from "./poll.js";
import { href } from "./router.js";
import { sampleFor } from "./sample.js";
import { can } from "./session.js";
import { Card, Json, SelectField, TextField } from "./ui.js";
import { html, useState } from "./view.js";

const ID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const MOST = 15;

/** The state of it: as long as nobody wrote a payload, the sample follows the words. */
export function useFilling(words) {
  const [state, setState] = useState({ from: "written", text: null, id: "" });
  const text = state.text ?? JSON.stringify(sampleFor(words), null, 2);
  return { ...state, text, isSample: state.text === null, set: (changes) => setState((old) => ({ ...old, ...changes })), ...asked(state, text) };
}

/** What the API is asked with (`body`), or why it cannot be asked (`wrong`). */
function asked({ from, id }, text) {
  if (from === "recorded") {
    if (!id.trim()) return { body: null };
    return ID.test(id.trim()) ? { body: { notification_id: id.trim() } } : { body: null, wrong: "That is no notification's id." };
  }
  const { value: payload, error } = readJson(text);
  if (error) return { body: null, wrong: error };
  if (payload === null || typeof payload !== "object" || Array.isArray(payload)) return { body: null, wrong: "A payload is an object: {…}." };
  return { body: { payload } };
}

export function PayloadPicker({ name, using, filling, error, missing, shown, sample }) {
  const { from, text, isSample, set } = filling;
  const add = () => {
    const made = sample();
    set({ text: JSON.stringify({ ...JSON.parse(text), ...Object.fromEntries(missing.map((each) => [each, made[each]])) }, null, 2) });
  };
  return html`<${Card} title="Filled with"><div class="stack">
    ${can("read") && html`<${SelectField} label="Payload" value=${from} set=${(chosen) => set({ from: chosen })}
      options=${[["written", "Written here"], ["recorded", "Of a notification that was sent"]]} />`}
    ${from === "written"
      ? html`<${TextField} label="JSON" rows=${8} class="code" value=${text} set=${(typed) => set({ text: typed })} error=${filling.wrong ?? error}
            hint=${isSample ? "A sample, made from the names that the words use. Write over it as you like." : ""} />
          <div class="actions">${missing.length > 0 && !filling.wrong && html`<button type="button" class="button small" onClick=${add}>Add what is missing</button>`}
            ${!isSample && html`<button type="button" class="button small ghost" onClick=${() => set({ text: null })}>Make a sample again</button>`}</div>`
      : html`<${Recorded} name=${name} using=${using} filling=${filling} error=${error} />
          ${shown && html`<div><h3>Its payload, secrets masked</h3><${Json} value=${shown} label="payload" /></div>
            <div class="actions"><button type="button" class="button small" onClick=${() => set({ from: "written", text: JSON.stringify(shown, null, 2) })}>Edit a copy of it</button></div>`}`}
  </div><//>`;
}

function Recorded({ name, using, filling, error }) {
  const { id, set, wrong } = filling;
  const types = using.map((type) => type.name);
  const found = useLoaded((signal) => lately(name, types, signal), [name, types.join()]);
  const rows = found.data ?? [];
  return html`<${SelectField} label="Lately sent with this template" value=${rows.some((row) => row.notification_id === id) ? id : ""} set=${(chosen) => set({ id: chosen })}
      options=${[["", choice(found, rows)], ...rows.map((row) => [row.notification_id, `${row.type}, ${localTime(row.accepted_at)}, ${row.notification_id.slice(-8)}`])]} />
    <${TextField} label="Or a notification's id" value=${id} set=${(typed) => set({ id: typed })} error=${wrong ?? error} placeholder="01890a5d-ac96-774b-bcce-b302099a8057" class="code"
      hint=${id && !wrong ? html`<a href=${href(["notifications", id.trim()])}>Open it</a>` : ""} />`;
}

const choice = (found, rows) => {
  if (found.error) return "They cannot be listed";
  if (found.isLoading && !found.data) return "Looking…";
  return rows.length ? "Choose one" : "None that is still kept";
};

/** The newest of the types that use it, and those among the newest of all that named it. */
async function lately(name, types, signal) {
  const lists = await Promise.all([
    get(["notifications"], { limit: 200 }, { signal }).then((page) => page.data.filter((row) => row.template === name || types.includes(row.type))),
    ...types.slice(0, 5).map((type) => get(["notifications"], { type, limit: MOST }, { signal }).then((page) => page.data)),
  ]);
  const byId = new Map(lists.flat().map((row) => [row.notification_id, row]));
  return [...byId.values()].sort((one, other) => Date.parse(other.accepted_at) - Date.parse(one.accepted_at)).slice(0, MOST);
}
