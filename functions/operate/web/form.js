// A form in a dialog: its fields keep what was typed when the API refuses, and say what is wrong where it is wrong.
import { dialog, errorsOf, Notice, Trouble } from "./ui.js";
import { html, useState } from "./view.js";

/** `fields({values, set, errors})` draws it; `save(values)` calls the API. Resolves with what that gave, or undefined. */
export const form = ({ title, initial, names, fields, save, verb = "Save", wide }) =>
  dialog({ title, wide, body: (tools) => html`<${Form} initial=${initial} names=${names} fields=${fields} save=${save} verb=${verb} ...${tools} />` });

function Form({ initial, names, fields, save, verb, close, guard }) {
  const [values, setValues] = useState(initial);
  const [problem, setProblem] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const [isWarned, setWarned] = useState(false);
  const errors = errorsOf(problem, names);
  const set = (name) => (value) => setValues((old) => ({ ...old, [name]: value }));
  guard(() => {
    if (isBusy) return false;
    if (isWarned || JSON.stringify(values) === JSON.stringify(initial)) return true;
    setWarned(true);
    return false;
  });
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
    ${isWarned && html`<${Notice} tone="warn" title="What you typed is not saved">Cancel, or Escape once more, throws it away.<//>`}
    <div class="dialog-actions"><button type="button" class="button" disabled=${isBusy} onClick=${() => close()}>Cancel</button>
      <button type="submit" class="button primary" disabled=${isBusy} aria-busy=${isBusy}>${verb}</button></div></form>`;
}

/** "" is nothing; digits are a number. */
export const numberOrNull = (text) => (text === "" || text === null || text === undefined ? null : Number(text));
