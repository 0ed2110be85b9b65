// One malformed intent: what came in, as text that can be repaired; accepted after all, or put aside.
import { get, post } from "./api.js";
import { number } from "./format.js";
import { isSame, readJson } from "./json-text.js";
import { adviceOn, codeWords, isFragment, standing, textOf, withoutEnvelope } from "./malformed-words.js";
import { useLoaded } from "./poll.js";
import { href } from "./router.js";
import { can, current } from "./session.js";
import { Action, Ago, ask, Badge, Card, Copy, Facts, Json, Loaded, Notice, PageHead, TextField, Time, toast, Trouble } from "./ui.js";
import { Kept, useDraft } from "./unsaved.js";
import { html, useState } from "./view.js";

export function MalformedIntent({ id }) {
  const loaded = useLoaded((signal) => get(["malformed-intents", id], {}, { signal }), [id]);
  const row = loaded.data;
  return html`<${PageHead} title=${row ? `${row.type || "A message"} ${codeWords(row.failure_code)}` : "Malformed intent"} crumbs=${[["Malformed intents", ["malformed"]]]}>
      ${row && html`<${Badge} tone=${standing(row).tone}>${standing(row).word}<//> Came <${Ago} at=${row.recorded_at} /> from <bdi>${row.producer}</bdi>.`}<//>
    <${Loaded} of=${loaded}>${(one) => html`<${What} row=${one} />
      ${one.resolution ? html`<${Card} title="What came in"><${Json} value=${one.raw_fields} label="What came in" /><//>` : html`<${Repair} row=${one} refresh=${loaded.refresh} />`}`}<//>`;
}

function What({ row }) {
  return html`${row.resolution && html`<${Notice} tone="good" title=${row.resolution === "accepted" ? "It was accepted" : "It was put aside"}
      actions=${row.notification_id && can("read") && html`<a class="button small" href=${href(["notifications", row.notification_id])}>Open the notification</a>`}>
      <${Time} at=${row.resolved_at} />${row.resolved_by && html` by <code>key:${row.resolved_by}</code>`}. ${row.resolution_reason && html`<q dir="auto">${row.resolution_reason}</q>`}<//>`}
    <${Card} title="What is wrong"><${Facts} rows=${[
      ["Reason", html`<span dir="auto">${row.failure_message}</span>`],
      ["Code", html`<${Copy} value=${row.failure_code} />`],
      ["To do", row.resolution ? undefined : adviceOn(row.failure_code)],
      ["Producer", html`<bdi>${row.producer}</bdi>`],
      ["Idempotency key", html`<${Copy} value=${row.idempotency_key} />`],
      ["Message", html`<${Copy} value=${row.id} />`],
      ["Came", html`<${Time} at=${row.recorded_at} />`],
    ]} /><//>`;
}

function Repair({ row, refresh }) {
  const original = textOf(row.raw_fields);
  const form = useDraft(`malformed ${row.id}`, { text: original });
  const [problem, setProblem] = useState(null);
  const isCut = isFragment(row.raw_fields);
  const read = readJson(form.draft.text);
  const isAsItCame = !isCut && !read.error && isSame(read.value, readJson(original).value);
  const isLive = current().me.key.mode === "live";
  const accept = async () => {
    setProblem(null);
    try {
      const done = await post(["malformed-intents", row.id, "accept"], isAsItCame ? undefined : withoutEnvelope(read.value));
      form.drop();
      toast(done.notification_id ? "It is accepted and takes its course." : "It is accepted.");
      refresh();
    } catch (refused) {
      setProblem(refused);
    }
  };
  const putAside = async () => {
    if (await setAside(row)) {
      form.drop();
      refresh();
    }
  };
  return html`<${Card} title="What came in"><div class="form"><${Kept} of=${form} />
    ${isCut && row.raw_fields.length > row.raw_fields.beginning.length && html`<${Notice} tone="warn">Only the first ${number(row.raw_fields.beginning.length)} of ${number(row.raw_fields.length)} characters were kept. Complete the intent before you accept it.<//>`}
    <${TextField} label="The intent, which you can repair" rows=${Math.min(28, Math.max(10, form.draft.text.split("\n").length + 1))} class="code" dir="ltr" value=${form.draft.text} set=${(text) => form.change({ text })} error=${read.error}
      hint=${html`It stays the message of <bdi>${row.producer}</bdi>, with its own idempotency key unless you write an <code>idempotency_key</code> here.`} />
    ${problem && html`<${Trouble} error=${problem} />`}
    ${!isLive && html`<${Notice} tone="warn">This came in live. Your key is a test key, so it cannot accept it: sign in with a live one.<//>`}
    <div class="actions">${isLive && html`<${Action} tone="primary" icon="check" run=${accept} disabled=${Boolean(read.error)}>${isAsItCame ? "Accept it as it came" : "Accept the repaired intent"}<//>`}
      <${Action} run=${putAside}>Put it aside<//>
      ${form.isChanged && html`<button type="button" class="button ghost" onClick=${() => (form.drop(), setProblem(null))}>As it came again</button>`}</div></div><//>`;
}

const setAside = (row) =>
  ask({
    title: "Put this message aside?",
    says: html`<p>It counts as resolved, and nothing is sent. This cannot be taken back; retention forgets it later.</p>`,
    verb: "Put it aside",
    reason: true,
    run: async (reason) => {
      const done = await post(["malformed-intents", row.id, "resolve"], { reason });
      toast("It is put aside.");
      return done;
    },
  });
