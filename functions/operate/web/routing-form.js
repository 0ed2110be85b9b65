// The form of a routing: reasons by channels, and somebody to try it on.
import { get, put, remove } from "./api.js";
import { go } from "./router.js";
import { inOrder, isEventType, named, OVERRIDES, REASONS, ROUTED_CHANNELS, telling, ticked, valueOf } from "./routing.js";
import { TITLES } from "./templates.js";
import { Card, Choices, errorsOf, Notice, Switch, TextField, toast } from "./ui.js";
import { Kept, useDraft } from "./unsaved.js";
import { html, useState } from "./view.js";

const NEW = { rules: { mention: ["in_app", "email"], author: ["in_app"], subscribed: ["in_app"], watching: ["in_app"] }, overrides: OVERRIDES, subscribe_actor: true };

/** `routing`: as the API shows it, or null for a new one. */
export function RoutingForm({ routing, initialType = "", done }) {
  const kept = useDraft(`routing ${routing?.event_type ?? ""}`, { eventType: routing?.event_type ?? initialType, ...valueOf(routing ?? NEW) });
  const { eventType, ...value } = kept.draft;
  const [state, setState] = useState({ isBusy: false, problem: null });
  const errors = errorsOf(state.problem, ["rules", "overrides", "subscribe_actor"]);
  const set = kept.change;
  const isWrong = eventType.trim() && !isEventType(eventType.trim());

  const save = async (event) => {
    event.preventDefault();
    setState({ isBusy: true, problem: null });
    const name = eventType.trim();
    try {
      if (!routing && (await isRouted(name))) throw Object.assign(new Error(`${name} is routed already. Open it to change it.`), { errors: [] });
      const saved = await put(["event-routing", name], value);
      toast(`The routing of ${name} is saved.`, {
        undo: async () => (await (routing ? put(["event-routing", name], valueOf(routing)) : remove(["event-routing", name])), routing ? done(saved) : go(["routing"])),
      });
      kept.restart(kept.draft);
      await done(saved);
      setState({ isBusy: false, problem: null });
    } catch (problem) {
      setState({ isBusy: false, problem });
    }
  };
  return html`<form class="stack" onSubmit=${save}><${Kept} of=${kept} />
    ${!routing && html`<${Card}><div class="narrow"><${TextField} label="Event type" value=${eventType} set=${(typed) => set({ eventType: typed })} maxlength="100" placeholder="comment.created" autocomplete="off"
      error=${isWrong ? "1 to 100 characters without a slash; a * may stand at its end only." : ""} hint="Exact (comment.created), or a beginning (comment.*). * alone matches all." /></div><//>`}
    <${Card} title="Who is told, and how" flush>
      <p class="card-note">Each person has one reason: the strongest of theirs that is named here. A reason that is not named tells nobody by itself, and a weaker one may. A reason that is named without a channel keeps those people from being told at all.</p>
      <${Matrix} value=${value} set=${set} />
      <div class="card-body stack">
        ${(errors.rules || errors.overrides) && html`<${Notice} tone="bad">${errors.rules ?? errors.overrides}<//>`}
        <${Switch} label="Who acts takes part from then on" on=${value.subscribe_actor} set=${(isOn) => set({ subscribe_actor: isOn })} hint="Whoever comments is told of what follows in the thread, until they mute it." />
        ${errors[""] && html`<${Notice} tone="bad" title="It is not saved">${errors[""]}<//>`}
        <div class="actions"><button type="submit" class="button primary" disabled=${state.isBusy || (routing && !kept.isChanged) || !eventType.trim() || isWrong || !Object.keys(value.rules).length} aria-busy=${state.isBusy}>Save</button>
          ${kept.isChanged && html`<button type="button" class="button" onClick=${kept.drop}>Discard the edits</button>`}
          <span class="mute">${!Object.keys(value.rules).length ? "Name one reason at least; to tell nobody, take the routing away." : routing && !kept.isChanged ? "Nothing is changed." : ""}</span></div></div><//>
    <${TryPerson} value=${value} /></form>`;
}

function Matrix({ value, set }) {
  const { rules, overrides } = value;
  const box = (label, isOn, change, disabled) => html`<input type="checkbox" aria-label=${label} checked=${isOn} disabled=${disabled} onChange=${(event) => change(event.currentTarget.checked)} />`;
  const override = (reason, isOn) => REASONS.map(([name]) => name).filter((name) => (name === reason ? isOn : overrides.includes(name)));
  return html`<div class="table-box" role="region" aria-label="Reasons by channels" tabindex="0"><table class="matrix boxes"><thead><tr><th scope="col">Reason, strongest first</th><th scope="col">Named</th>
      ${ROUTED_CHANNELS.map((channel) => html`<th key=${channel} scope="col">${TITLES[channel]}</th>`)}<th scope="col" title="Reaches people who muted the thread or ignore the scope">Even if muted</th></tr></thead>
    <tbody>${REASONS.map(([reason, title, who]) => html`<tr key=${reason} class=${reason in rules ? "" : "off"}>
      <td data-label="Reason"><div><strong>${title}</strong> <small class="mute">${reason}</small><div class="mute">${who}</div>${state(rules, reason)}</div></td>
      <td data-label="Named">${box(`${title} is named`, reason in rules, (isOn) => set({ rules: named(rules, reason, isOn) }))}</td>
      ${ROUTED_CHANNELS.map((channel) => html`<td key=${channel} data-label=${TITLES[channel]}>${box(`${title}: ${TITLES[channel]}`, Boolean(rules[reason]?.includes(channel)), (isOn) => set({ rules: ticked(rules, reason, channel, isOn) }))}</td>`)}
      <td data-label="Even if muted">${box(`${title}: even if muted`, overrides.includes(reason), (isOn) => set({ overrides: override(reason, isOn) }))}</td></tr>`)}</tbody></table></div>`;
}

const state = (rules, reason) => (reason in rules && !rules[reason].length ? html`<div class="warn-ink">Named without a channel: they hear nothing.</div>` : "");

/** Somebody with these reasons: what they get, before it is saved. */
function TryPerson({ value }) {
  const [reasons, setReasons] = useState(["comment", "watching"]);
  const told = telling(inOrder(value.rules), reasons);
  const titleOf = (reason) => REASONS.find(([name]) => name === reason)[1].toLowerCase();
  const answer = () => {
    if (!reasons.length) return "Nobody without a reason is told.";
    if (!told) return "They are not told: none of these reasons is named.";
    if (!told.channels.length) return `They are not told: “${titleOf(told.reason)}” is the strongest that is named, and it has no channel.`;
    return `They are told as “${titleOf(told.reason)}”, by ${told.channels.map((channel) => TITLES[channel]).join(", ")}. Their own preferences are looked at after that.`;
  };
  return html`<${Card} title="Somebody to try it on"><div class="stack"><${Choices} label="Their reasons" options=${REASONS.map(([name, title]) => [name, title])} values=${reasons} set=${setReasons} />
    <p role="status"><strong>${answer()}</strong></p></div><//>`;
}

async function isRouted(eventType) {
  return (await get(["event-routing"])).data.some((one) => one.event_type === eventType);
}
