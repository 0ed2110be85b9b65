// What changes between two versions of the words, part by part.
import { countsOf, diffLines, folded } from "./diff.js";
import { many } from "./format.js";
import { differing } from "./templates.js";
import { html, useMemo, useState } from "./view.js";

const SIGNS = { same: " ", gone: "−", added: "+" };
const SAID = { gone: "Gone: ", added: "Added: " };

export function WordsDiff({ before, after }) {
  const parts = differing(before, after);
  if (!parts.length) return html`<p class="mute">The words are the same.</p>`;
  return html`<div class="stack">${parts.map((one) => html`<${PartDiff} key=${one.part} ...${one} />`)}</div>`;
}

function PartDiff({ title, before, after }) {
  const [isWhole, setWhole] = useState(false);
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const counts = countsOf(lines);
  const shown = isWhole ? lines : folded(lines);
  return html`<section><h3>${title} <span class="mute">${[counts.gone && many(counts.gone, "line gone", "lines gone"), counts.added && many(counts.added, "line added", "lines added")].filter(Boolean).join(", ")}</span></h3>
    <div class="diff" tabindex="0" role="group" aria-label=${`What changes in the ${title.toLowerCase()}`} dir="auto">${shown.map((line, place) =>
      line.kind === "fold"
        ? html`<div class="fold" key=${place}><button type="button" onClick=${() => setWhole(true)}>${many(line.count, "line")} unchanged</button></div>`
        : html`<div key=${place} class=${line.kind}><span aria-hidden="true">${SIGNS[line.kind]} </span>${SAID[line.kind] && html`<span class="hidden">${SAID[line.kind]}</span>`}${line.text}</div>`
    )}</div></section>`;
}
