// One value, read and edited; what somebody else writes meanwhile is seen, and never overwritten unasked.
import { number } from "./format.js";
import { isSame, readJson, written } from "./json-text.js";
import { useLoaded } from "./poll.js";
import { go, href } from "./router.js";
import { can } from "./session.js";
import { Action, Ago, ask, Card, Copy, Facts, Json, Loaded, Notice, PageHead, TextField, Time, toast, Trouble } from "./ui.js";
import { Kept, useDraft } from "./unsaved.js";
import { dropValue, readValue, writeValue } from "./value-store.js";
import { html, useEffect, useState } from "./view.js";

export function Value({ collection, name }) {
  const loaded = useLoaded((signal) => readValue(collection, name, signal), [collection, name], { seconds: 5 });
  const crumbs = [["Values", ["values"]], [collection, ["values", collection]]];
  const actions = loaded.data && html`<${Action} tone="danger" run=${() => drop(loaded.data)}>Delete it<//>`;
  return html`<${PageHead} title=${name} crumbs=${crumbs} actions=${actions}>
      ${loaded.data && html`Version ${number(loaded.data.version)}, changed <${Ago} at=${loaded.data.updated_at} />. Every write fires the triggers that wait for it.`}<//>
    <${Loaded} of=${loaded}>${(entry) => html`<${Editor} latest=${entry} refresh=${loaded.refresh} />
      <${Card} title="About it" actions=${can("manage") && html`<a class="button small" href=${href(["triggers"])}>See the triggers</a>`}><${Facts} rows=${[
        ["Collection", html`<${Copy} value=${entry.collection} />`],
        ["Key", html`<${Copy} value=${entry.key} />`],
        ["Version", number(entry.version)],
        ["Added", html`<${Time} at=${entry.created_at} />`],
        ["Changed", html`<${Time} at=${entry.updated_at} />`],
      ]} /><//>`}<//>`;
}

const begun = (entry) => ({ text: written(entry.value), base: entry });

/** `latest` is what there is now; the draft remembers the state in which it was begun. */
function Editor({ latest, refresh }) {
  const form = useDraft(`value ${latest.collection} ${latest.key}`, begun(latest));
  const { text, base } = form.draft;
  const [problem, setProblem] = useState(null);
  const read = readJson(text);
  const isChanged = Boolean(read.error) || !isSame(read.value, base.value);
  const isBehind = latest.tag !== base.tag;
  useEffect(() => {
    if (isBehind && !isChanged) form.restart(begun(latest));
  }, [latest.tag]);
  const save = async (tag, before) => {
    setProblem(null);
    try {
      const saved = await writeValue(base.collection, base.key, read.value, tag);
      const undo = before && (async () => (await writeValue(base.collection, base.key, before.value, saved.tag), refresh()));
      form.restart(begun(saved));
      toast(`It is saved as version ${number(saved.version)}.`, { undo });
    } catch (refused) {
      setProblem(refused);
    }
    await refresh();
  };
  const takeTheirs = () => {
    setProblem(null);
    form.restart(begun(latest));
  };
  return html`<${Card} title="The value"><div class="form"><${Kept} of=${form} />
    ${isBehind && isChanged && html`<${Rival} latest=${latest} base=${base} takeTheirs=${takeTheirs} writeMine=${() => save(latest.tag, latest)} mayWrite=${!read.error} />`}
    ${!isBehind && problem?.status === 412 && html`<${Notice} tone="warn" title="Somebody has deleted this value since you opened it" actions=${html`<${Action} small run=${() => save()}>Write mine anew<//>`}>Nothing of yours was saved.<//>`}
    <${TextField} label="JSON" rows=${Math.min(30, Math.max(6, text.split("\n").length + 1))} class="code" value=${text} set=${(next) => form.change({ text: next })} error=${read.error} hint="Saved only if nobody has written it since you opened it" />
    ${problem && problem.status !== 412 && html`<${Trouble} error=${problem} />`}
    <div class="actions"><${Action} tone="primary" run=${() => save(base.tag, base)} disabled=${!isChanged || Boolean(read.error) || isBehind}>Save<//>
      ${isChanged && html`<button type="button" class="button ghost" onClick=${takeTheirs}>Forget my changes</button>`}</div></div><//>`;
}

/** Somebody else has written it: theirs beside one's own, and which of them is to stay. */
function Rival({ latest, base, takeTheirs, writeMine, mayWrite }) {
  return html`<${Notice} tone="warn" title="Somebody else has written this value since you opened it">
    <div class="stack small-gap"><p>You began with version ${number(base.version)}; there is version ${number(latest.version)} now, written <${Ago} at=${latest.updated_at} />. Nothing of yours was saved. This is what they wrote:</p>
      <${Json} value=${latest.value} label="What they wrote" />
      <div class="actions"><button type="button" class="button small" onClick=${takeTheirs}>Take theirs, forget mine</button><${Action} small tone="danger" disabled=${!mayWrite} run=${writeMine}>Write mine over theirs<//></div></div><//>`;
}

const drop = (entry) =>
  ask({
    title: "Delete this value?",
    says: html`<p><code>${entry.collection}/${entry.key}</code>, version ${number(entry.version)}, is deleted if nobody writes it meanwhile, and the triggers that wait for that are fired.</p>`,
    verb: "Delete the value",
    run: async () => {
      await dropValue(entry.collection, entry.key, entry.tag);
      toast("The value is deleted.", {
        undo: async () => {
          await writeValue(entry.collection, entry.key, entry.value);
          go(["values", entry.collection, entry.key]);
        },
      });
      go(["values", entry.collection]);
    },
  });
