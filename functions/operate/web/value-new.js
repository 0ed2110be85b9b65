// A new value: it never overwrites one that there is.
import { readJson } from "./json-text.js";
import { go, href } from "./router.js";
import { Card, Notice, PageHead, TextField, toast, Trouble } from "./ui.js";
import { Kept, useDraft } from "./unsaved.js";
import { dropValue, writeValue } from "./value-store.js";
import { html, useState } from "./view.js";

const NAMES = "letters, digits and . _ : ~ @ -";

export function NewValue({ collection = "" }) {
  const form = useDraft(`value new ${collection}`, { collection, key: "", text: "{\n  \n}" });
  const { draft, change } = form;
  const [problem, setProblem] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const read = readJson(draft.text);
  const save = async (event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      const made = await writeValue(draft.collection, draft.key, read.value);
      form.drop();
      toast("The value is added.", { undo: async () => (await dropValue(made.collection, made.key, made.tag), go(["values", made.collection])) });
      go(["values", made.collection, made.key]);
    } catch (refused) {
      setProblem(refused);
      setBusy(false);
    }
  };
  const set = (name) => (value) => change({ [name]: value });
  const crumbs = [["Values", ["values"]], ...(collection ? [[collection, ["values", collection]]] : [])];
  return html`<${PageHead} title="Add a value" crumbs=${crumbs}>Writing it fires the triggers that wait for new values of its collection.<//>
    <${Card}><form class="form" onSubmit=${save}><${Kept} of=${form} />
      <div class="form-row"><${TextField} label="Collection" value=${draft.collection} set=${set("collection")} required maxlength="100" hint=${`Up to 100 ${NAMES}`} />
        <${TextField} label="Key" value=${draft.key} set=${set("key")} required maxlength="200" hint=${`Up to 200 ${NAMES}`} /></div>
      <${TextField} label="Value" rows="10" class="code" value=${draft.text} set=${set("text")} error=${read.error} hint="Any JSON of up to 64 KiB: an object, a list, a text in quotes, a number, true, false or null" />
      ${problem && (problem.status === 412
        ? html`<${Notice} tone="warn" title="This key is there already" actions=${html`<a class="button small" href=${href(["values", draft.collection, draft.key])}>Open it</a>`}>Nothing was changed. Choose another key, or change the value that there is.<//>`
        : html`<${Trouble} error=${problem} />`)}
      <div class="actions"><button type="submit" class="button primary" disabled=${isBusy || Boolean(read.error)} aria-busy=${isBusy}>Add the value</button><a class="button ghost" href=${href(collection ? ["values", collection] : ["values"])}>Cancel</a></div></form><//>`;
}
