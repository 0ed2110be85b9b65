// A form in a dialog: its fields keep what was typed when the API refuses, and say what is wrong where it is wrong.
import { dialog, errorsOf, Trouble } from "./ui.js";
import { html, useState } from "./view.js";

/** `fields({values, set, errors})` draws it; `save(values)` calls the API. Resolves with what that gave, or undefined. */
export const form = ({ title, initial, names, fields, save, verb = "Save", wide }) =>
  dialog({ title, wide, body: ({ close }) => html`<${Form} initial=${initial} names=${names} fields=${fields} save=${save} verb=${verb} close=${close} />` });

function Form({ initial, names, fields, save, verb, close }) {
  const [values, setValues] = useState(initial);
  const [problem, setProblem] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const errors = errorsOf(problem, names);
  const set = (name) => (value) => setValues((old) => ({ ...old, [name]: value }));
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      close((await save(values)) ?? true);
    } catch (refused) {
      setProblem(refused);
      setBusy(false);
    }
  };
  return html`<form class="form" onSubmit=${submit}>${fields({ values, set, errors })}
    ${problem && errors[""] && html`<${Trouble} error=${problem} />`}
    <div class="dialog-actions"><button type="button" class="button" onClick=${() => close()}>Cancel</button>
      <button type="submit" class="button primary" disabled=${isBusy} aria-busy=${isBusy}>${verb}</button></div></form>`;
}

/** "" is nothing; digits are a number. */
export const numberOrNull = (text) => (text === "" || text === null || text === undefined ? null : Number(text));
