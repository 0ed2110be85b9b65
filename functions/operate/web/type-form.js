// The form of a notification type: each field with what it does, and what all of it comes to.
import { all, get, put, remove } from "./api.js";
import { span } from "./format.js";
import { useLoaded } from "./poll.js";
import { go, href } from "./router.js";
import { CHANNELS, grouped, TITLES } from "./templates.js";
import { bodyOf, formOf, meaning, PRIORITIES, valueOf } from "./types.js";
import { Card, Choices, errorsOf, Notice, SelectField, Switch, TextField, toast } from "./ui.js";
import { Kept, useDraft } from "./unsaved.js";
import { html, useState } from "./view.js";

const FIELDS = ["title", "description", "channels", "template", "priority", "ambiguous_policy", "transactional", "expires_after_seconds", "over_sending/limit", "over_sending/window_seconds", "over_sending"];
const seconds = (text) => (/^\d+$/.test(text.trim()) ? `That is ${span(Number(text))}.` : "");

/** `type`: as the API shows it, or null for a new one. `done(saved)` when it is kept. */
export function TypeForm({ type, initialName = "", done }) {
  const kept = useDraft(`type ${type?.name ?? ""}`, { name: type?.name ?? initialName, ...formOf(type ?? {}) });
  const { name, ...form } = kept.draft;
  const [state, setState] = useState({ isBusy: false, problem: null });
  const templates = useLoaded((signal) => all(["templates"], {}, { signal }), []);
  const set = (field) => (value) => kept.change({ [field]: value });
  const body = bodyOf(form);
  const errors = errorsOf(state.problem, FIELDS);

  const save = async (event) => {
    event.preventDefault();
    setState({ isBusy: true, problem: null });
    try {
      const before = type ?? (await known(name.trim()));
      if (!type && before) throw Object.assign(new Error(`There is a type ${before.name} already. Open it to change it.`), { errors: [] });
      const saved = await put(["notification-types", name.trim()], body);
      toast(`The type ${saved.name} is saved.`, { undo: async () => (await wayBack(saved.name, type), type ? done(saved) : go(["types"])) });
      kept.restart(kept.draft);
      await done(saved);
      setState({ isBusy: false, problem: null });
    } catch (problem) {
      setState({ isBusy: false, problem });
    }
  };
  return html`<form class="split" onSubmit=${save}>
    <${Card} title="What it means"><div class="stack"><${Kept} of=${kept} />
      ${!type && html`<${TextField} label="Name" value=${name} set=${set("name")} maxlength="100" placeholder="parcel.sent" autocomplete="off" hint="What intents and events call it. Names that begin with auth. are guarded against floods." />`}
      <${TextField} label="Title" value=${form.title} set=${set("title")} maxlength="100" placeholder="Deliveries" autocomplete="off" error=${errors.title}
        hint="What people read instead of the name, where they choose what they want to hear of." />
      <${TextField} label="Description" value=${form.description} set=${set("description")} maxlength="200" autocomplete="off" error=${errors.description} hint="A sentence beneath it, for them." />
      <${Choices} label="Channels" options=${CHANNELS.map((each) => [each, TITLES[each]])} values=${form.channels} set=${set("channels")} error=${errors.channels}
        hint="Used when the intent names none. None ticked: those that its template has. Events take theirs from the routing." />
      <${TemplateField} value=${form.template} set=${set("template")} error=${errors.template} rows=${templates.data} />
      <${SelectField} label="Priority" value=${form.priority} set=${set("priority")} options=${PRIORITIES.map((each) => [each])} error=${errors.priority} hint="Which goes first when many wait. Used when the intent says none." />
      <${Switch} label="Transactional" on=${form.transactional} set=${set("transactional")}
        hint="On: what somebody needs, such as a receipt or a code. Off: what they can do without; its emails get one-click unsubscribe." />
      <${TextField} label="Expires after (seconds)" value=${form.expires_after_seconds} set=${set("expires_after_seconds")} inputmode="numeric" error=${errors.expires_after_seconds}
        hint=${seconds(form.expires_after_seconds) || "What is still not sent by then is skipped. Counted from its send time; 60 to 31,536,000, or empty for never."} />
      <${SelectField} label="When a provider's answer is lost" value=${form.ambiguous_policy} set=${set("ambiguous_policy")} error=${errors.ambiguous_policy}
        options=${[["", "as usual: retry email and push, hold SMS"], ["retry", "retry: send it again, perhaps twice"], ["hold", "hold: a person decides"]]}
        hint="It may have arrived or not, and no later event tells. Hold what must not come twice, such as a payment." />
      <fieldset class="choices"><legend>At most so many to one address</legend><div class="pair">
        <${TextField} label="Messages" value=${form.limit} set=${set("limit")} inputmode="numeric" placeholder=${form.window_seconds ? "" : "no limit"} error=${errors["over_sending/limit"]} />
        <${TextField} label="in any (seconds)" value=${form.window_seconds} set=${set("window_seconds")} inputmode="numeric" hint=${seconds(form.window_seconds)} error=${errors["over_sending/window_seconds"]} /></div>
        <div class="field-more">${errors.over_sending ? html`<span class="error">${errors.over_sending}</span>` : "Over-sending guard: 1 to 10,000 in 60 to 86,400 seconds, for email and SMS. Types that begin with auth. have 5 an hour even without."}</div></fieldset>
      ${errors[""] && html`<${Notice} tone="bad" title="It is not saved">${errors[""]}<//>`}
      <div class="actions"><button type="submit" class="button primary" disabled=${state.isBusy || !name.trim() || (type && !kept.isChanged)} aria-busy=${state.isBusy}>Save</button>
        ${kept.isChanged && html`<button type="button" class="button" onClick=${kept.drop}>Discard the edits</button>`}
        ${type && !kept.isChanged && html`<span class="mute">Nothing is changed.</span>`}</div>
    </div><//>
    <${Card} title="In words"><ul class="sentences">${meaning(name, body).map((sentence) => html`<li key=${sentence}>${sentence}</li>`)}</ul>
      ${form.template && html`<p><a href=${href(["templates", form.template])}>Look at the template</a></p>`}<//></form>`;
}

function TemplateField({ value, set, error, rows }) {
  const names = grouped(rows ?? []).map((one) => one.name).sort();
  const isUnknown = rows && value && !names.includes(value);
  return html`<${SelectField} label="Template" value=${value} set=${set} error=${error}
    options=${[["", "none"], ...(isUnknown || (!rows && value) ? [[value, isUnknown ? `${value} (not in use)` : value]] : []), ...names.map((name) => [name])]}
    hint=${isUnknown ? "There is no active template of this name: intents of this type are refused." : "The words, when the intent names no template."} />`;
}

async function known(name) {
  try {
    return await get(["notification-types", name]);
  } catch (problem) {
    if (problem.status === 404) return null;
    throw problem;
  }
}

const wayBack = (name, type) => (type ? put(["notification-types", name], valueOf(type)) : remove(["notification-types", name]));
