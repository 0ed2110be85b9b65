// The timeline of a notification as sentences, for all routes or for one.
import { localTime } from "./format.js";
import { channelTitle, person } from "./reasons.js";
import { gathered, tellStep } from "./sentences.js";
import { Card, Empty, Time } from "./ui.js";
import { html, useMemo, useState } from "./view.js";

const SHOWN = 120;

export function Story({ one, chosen, choose }) {
  const [isWhole, setWhole] = useState(false);
  const byId = useMemo(() => new Map(one.routes.map((route) => [route.route_id, route])), [one.routes]);
  const isKnown = byId.has(chosen);
  const steps = gathered(one.timeline.filter((step) => !isKnown || !step.route_id || step.route_id === chosen));
  const shown = isWhole ? steps : steps.slice(-SHOWN);
  const actions = one.routes.length > 1 && html`<label class="filter"><span class="hidden">Show the story of</span>
    <select value=${isKnown ? chosen : ""} onChange=${(event) => choose(event.currentTarget.value)}>
      <option value="" selected=${!isKnown}>All routes</option>
      ${one.routes.map((route) => html`<option key=${route.route_id} value=${route.route_id} selected=${route.route_id === chosen}>${channelTitle(route.channel)} to ${person(route.recipient)}</option>`)}</select></label>`;
  return html`<${Card} title="What happened" id="story" actions=${actions}>
    ${!steps.length && html`<${Empty} title="Nothing happened yet." />`}
    ${shown.length < steps.length && html`<p><button type="button" class="button small" onClick=${() => setWhole(true)}>Show the ${steps.length - shown.length} steps before these</button></p>`}
    <ol class="story">${shown.map((step, index) => html`<${Step} key=${`${step.at} ${step.what} ${step.route_id} ${index}`} step=${step} before=${shown[index - 1]} routeOf=${(id) => byId.get(id)} />`)}</ol><//>`;
}

/** The time and the reason are written where they change; the words of the service itself are on hover. */
function Step({ step, before, routeOf }) {
  const told = tellStep(step, routeOf);
  const isSame = before && localTime(before.at) === localTime(step.at);
  const isSaid = before && before.route_id === step.route_id && tellStep(before, routeOf).why === told.why;
  return html`<li class=${told.tone === "mute" ? "" : told.tone}>${isSame ? html`<time datetime=${step.at}><span class="hidden">${localTime(step.at)}</span></time>` : html`<${Time} at=${step.at} />`}
    <span class="dot" aria-hidden="true"></span>
    <div title=${told.code} dir="auto"><div>${told.says}</div>${told.why && !isSaid && html`<div class="why">${told.why}</div>`}</div></li>`;
}
