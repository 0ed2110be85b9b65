// A webhook's form: a new one, or one that there is.
import { patch, post } from "./api.js";
import { EVENTS } from "./hook-words.js";
import { go, href } from "./router.js";
import { showSecret } from "./secrets.js";
import { Card, Choices, TextField, Trouble, errorsOf, toast } from "./ui.js";
import { Kept, useDraft } from "./unsaved.js";
import { html, useState } from "./view.js";

const NEW = { url: "", description: "", events: ["notification.published", "notification.dead_lettered"], modes: ["live"], retry_count: 10, timeout_seconds: 10 };
const NAMES = Object.keys(NEW);
const asked = (hook) => Object.fromEntries(NAMES.map((name) => [name, hook[name]]));

export function HookForm({ hook, done }) {
  const before = hook ? asked(hook) : NEW;
  const form = useDraft(`webhook ${hook?.id ?? "new"}`, before);
  const { draft, change } = form;
  const [problem, setProblem] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const errors = errorsOf(problem, NAMES);
  const save = async (event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      const body = { ...draft, retry_count: Number(draft.retry_count), timeout_seconds: Number(draft.timeout_seconds) };
      const saved = hook ? await patch(["webhooks", hook.id], body) : await post(["webhooks"], body);
      form.drop();
      if (hook) {
        toast("The webhook is changed.", { undo: () => patch(["webhooks", hook.id], before).then(done) });
        done();
      } else {
        showSecret(`webhook ${saved.id}`, saved.secret);
        toast("The webhook is added.");
        go(["webhooks", saved.id]);
      }
    } catch (refused) {
      setProblem(refused);
      setBusy(false);
    }
  };
  const set = (name) => (value) => change({ [name]: value });
  return html`<${Card} title=${hook ? "Change it" : undefined}><form class="form" onSubmit=${save}><${Kept} of=${form} />
    <${TextField} label="Address" type="url" value=${draft.url} set=${set("url")} error=${errors.url} hint="https, with a public name; where it leads is checked again with every call" required maxlength="500" placeholder="https://example.com/hooks/tocsin" />
    <${TextField} label="What it is for (optional)" value=${draft.description} set=${set("description")} error=${errors.description} dir="auto" maxlength="200" />
    <${Choices} label="It hears when a notification is" options=${EVENTS} values=${draft.events} set=${set("events")} error=${errors.events} />
    <${Choices} label="Of notifications from" options=${[["live", "live keys"], ["test", "test keys"]]} values=${draft.modes} set=${set("modes")} error=${errors.modes} />
    <div class="form-row"><${TextField} label="Tries in all" type="number" min="1" max="10" value=${draft.retry_count} set=${set("retry_count")} error=${errors.retry_count} hint="1 to 10. After the first: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h later" />
      <${TextField} label="Seconds for one call" type="number" min="1" max="15" value=${draft.timeout_seconds} set=${set("timeout_seconds")} error=${errors.timeout_seconds} hint="1 to 15, to the last byte of the answer" /></div>
    ${problem && errors[""] && html`<${Trouble} error=${problem} />`}
    <div class="actions"><button type="submit" class="button primary" disabled=${isBusy || (hook && !form.isChanged)} aria-busy=${isBusy}>${hook ? "Save" : "Add the webhook"}</button>
      ${hook ? html`<button type="button" class="button ghost" onClick=${() => (form.drop(), done())}>Cancel</button>` : html`<a class="button ghost" href=${href(["webhooks"])}>Cancel</a>`}</div></form><//>`;
}
