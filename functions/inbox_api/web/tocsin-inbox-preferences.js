/** The preferences of <tocsin-inbox>: on which channels one is told, how much and when not; and of which types. */

import { h } from "./tocsin-inbox-dom.js?v=9850c52a7ae8f7a7";
import { sheetOf } from "./tocsin-inbox-look.js?v=d80710a043b1fa1b";
import { button, icon, theirs } from "./tocsin-inbox-parts.js?v=8d14ffe8a03bab9e";
import { plain } from "./tocsin-inbox-states.js?v=8b85c0c120a039a9";

/** `bell` has text, ask(…), toast(words) and reasonOf(error). */
export class Preferences {
  #bell;
  #rules = [];
  #switches = []; // of types: {channel, type, input}

  constructor(bell) {
    this.#bell = bell;
  }

  /** All that is shown, as nodes. Throws what the server refused. */
  async load(showShortcuts) {
    const { text } = this.#bell;
    const { rules, channels, types } = await this.#ask();
    const whole = rules.filter((rule) => rule.notification_type == null);
    const zones = h("datalist", { id: "zones" }, Intl.supportedValuesOf("timeZone").map((value) => h("option", { value })));
    this.#switches = [];
    return [
      types.length && h("h3", {}, text.byChannel),
      ...whole.map((rule) => this.#form(rule, channels.find((each) => each.channel === rule.channel))),
      types.length && h("h3", {}, text.byType),
      ...types.map((type) => this.#type(type, channels)),
      zones,
      button(text.shortcuts, showShortcuts, "button load"),
    ].filter(Boolean);
  }

  async #ask() {
    const { data } = await this.#bell.ask("GET", "/preferences");
    this.#rules = data.data;
    return { rules: data.data, channels: data.channels ?? [], types: data.types ?? [] };
  }

  #nameOf(channel) {
    return this.#bell.text.channels[channel] ?? channel;
  }

  /** Why a channel does not reach this person, if it does not. */
  #obstacle(channel) {
    return channel && !channel.reachable && (this.#bell.text.unreachable_by[channel.reason] ?? this.#bell.text.unreachable_by.no_address);
  }

  #form(rule, channel) {
    const { text } = this.#bell;
    const name = this.#nameOf(rule.channel);
    const obstacle = this.#obstacle(channel);
    const why = obstacle && h("p", { class: "why", id: `${rule.channel}-why` }, obstacle);
    const toggle = h("input", { type: "checkbox", role: "switch", checked: rule.enabled && !why, disabled: Boolean(why), "aria-describedby": why && why.id });
    const zone = rule.updated_at ? rule.timezone : new Intl.DateTimeFormat().resolvedOptions().timeZone;
    const fields = [
      field(rule, "frequency_cap", text.cap, { type: "number", min: 0, inputmode: "numeric", placeholder: text.noCap }),
      field(rule, "timezone", text.zone, { list: "zones", value: zone, autocomplete: "off", spellcheck: "false" }),
      field(rule, "quiet_hours_start", text.quietFrom, { type: "time" }),
      field(rule, "quiet_hours_end", text.quietUntil, { type: "time" }),
    ];
    const save = h("button", { class: "button", part: "button" }, text.saveRule);
    const hasLimits = rule.channel !== "in_app" && !why;
    const limits = hasLimits && h("details", {}, h("summary", {}, this.#summary(rule)), h("div", { class: "fields" }, fields), save);
    const form = h("form", { class: why && "off", "aria-label": name, novalidate: true }, h("label", { class: "switch" }, h("span", {}, name), toggle), why, limits);
    form.addEventListener("submit", (event) => (event.preventDefault(), this.#save(form, rule, { enabled: toggle.checked, ...valuesOf(form) })));
    toggle.addEventListener("change", async () => {
      if (await this.#save(form, rule, { ...ruleBody(rule), enabled: toggle.checked })) this.#lookAgain();
      else toggle.checked = rule.enabled;
    });
    return form;
  }

  #summary(rule) {
    const { text } = this.#bell;
    const hours = rule.quiet_hours_start && `${rule.quiet_hours_start}–${rule.quiet_hours_end}`;
    return [text.limits, rule.frequency_cap && `${text.cap}: ${rule.frequency_cap}`, hours].filter(Boolean).join(" · ");
  }

  /** Save the whole rule of a channel. What the server refuses is said at the field it is about. */
  async #save(form, rule, body) {
    const { text } = this.#bell;
    showErrors(form, []);
    try {
      const { data } = await this.#bell.ask("PUT", `/preferences/${rule.channel}`, { body });
      Object.assign(rule, data);
      const summary = form.querySelector("summary");
      if (summary) summary.textContent = this.#summary(rule);
      this.#bell.toast(text.saved);
      return true;
    } catch (error) {
      const errors = error.errors ?? [];
      const homeless = showErrors(form, errors);
      if (homeless || !errors.length) this.#bell.toast(text.rolledBack(homeless || this.#bell.reasonOf(error)));
      return false;
    }
  }

  #type(type, channels) {
    const { text } = this.#bell;
    const name = plain(type.title || type.name);
    const id = `type-${this.#switches.length}`;
    const why = type.locked && h("p", { class: "why", id }, icon("lock"), text.locked);
    const choices = type.channels.map(({ channel, enabled }) => {
      const obstacle = this.#obstacle(channels.find((each) => each.channel === channel));
      const input = h("input", { type: "checkbox", checked: enabled && !obstacle, disabled: Boolean(why || obstacle), "aria-describedby": why && id });
      input.addEventListener("change", () => this.#choose(type.name, channel, input));
      if (!obstacle) this.#switches.push({ channel, type: type.name, input });
      return h("label", { class: "choice", title: obstacle || null }, input, this.#nameOf(channel), obstacle && h("span", { class: "sr" }, ` ${obstacle}`));
    });
    const more = type.description && h("p", { class: "about" }, theirs(type.description));
    return h("div", { class: "type", part: "type", role: "group", "aria-label": name }, theirs(name, "name"), more, h("div", { class: "choices" }, choices), why);
  }

  /** Save the rule of a type on a channel, with what else it says. */
  async #choose(type, channel, input) {
    const rule = this.#rules.find((each) => each.channel === channel && each.notification_type === type);
    const body = { ...(rule && ruleBody(rule)), enabled: input.checked };
    try {
      await this.#bell.ask("PUT", `/preferences/${channel}?type=${encodeURIComponent(type)}`, { body });
      this.#bell.toast(this.#bell.text.saved);
    } catch (error) {
      input.checked = !input.checked;
      this.#bell.toast(this.#bell.text.rolledBack(this.#bell.reasonOf(error)));
    }
  }

  /** A channel's switch counts for types that have none of their own. */
  async #lookAgain() {
    if (!this.#switches.length) return;
    const { types } = await this.#ask().catch(() => ({ types: [] }));
    for (const { channel, type, input } of this.#switches) {
      const now = types.find((each) => each.name === type)?.channels.find((each) => each.channel === channel);
      if (now) input.checked = now.enabled;
    }
  }
}

// --- a channel's rule, as a form

function field(rule, name, label, attributes) {
  const error = `${rule.channel}-${name}-error`;
  const value = attributes.value ?? rule[name];
  return h("label", {}, label, h("input", { name, "aria-describedby": error, ...attributes, value }), h("p", { class: "error", id: error }));
}

const present = (entries) => Object.fromEntries(entries.filter(([, value]) => value !== "" && value != null));

const valuesOf = (form) =>
  present([...new FormData(form)].map(([name, value]) => [name, name === "frequency_cap" && value ? Number(value) : value]));

const ruleBody = (rule) =>
  present(["frequency_cap", "quiet_hours_start", "quiet_hours_end", "timezone"].map((name) => [name, rule.updated_at && rule[name]]));

/** Write each error under its field, and answer those that are about none. */
function showErrors(form, errors) {
  const inputs = [...form.querySelectorAll(".fields input")];
  const say = (some) => some.map((error) => error.message).join(" ");
  for (const input of inputs) {
    const own = errors.filter((error) => error.pointer === `/${input.name}`);
    input.ariaInvalid = own.length ? "true" : null;
    input.nextElementSibling.textContent = say(own);
  }
  form.querySelector("[aria-invalid]")?.focus();
  return say(errors.filter((error) => !inputs.some((input) => error.pointer === `/${input.name}`)));
}

export const sheet = sheetOf(`
.switch { display: flex; align-items: center; gap: 10px; font-weight: 600; cursor: pointer } .switch span { flex: 1 }
.switch input { appearance: none; position: relative; inline-size: 36px; block-size: 21px; border-radius: 11px; border: 1px solid transparent; background: light-dark(#aab0bc, #4a505e); cursor: pointer }
.switch input::before { content: ""; position: absolute; inset-block-start: 2px; inset-inline-start: 2px; inline-size: 15px; block-size: 15px; border-radius: 50%; background: #fff }
.switch input:checked { background: var(--accent) } .switch input:checked::before { inset-inline-start: 17px; background: var(--bg) }
.off .switch span, .type .choice:has(:disabled) { color: var(--muted) } .switch :disabled { opacity: .5; filter: grayscale(1) } .switch:has(:disabled), .choice:has(:disabled) { cursor: default }
.why, .about { color: var(--muted); font-size: 12.5px; margin-block-start: 4px } .why svg { inline-size: 14px; block-size: 14px; vertical-align: -2px; margin-inline-end: 5px }
.type { padding: 12px 18px; border-block-end: 1px solid var(--line); overflow-wrap: anywhere } .name { font-weight: 600 } .choices { display: flex; flex-wrap: wrap; gap: 6px 18px; margin-block-start: 8px }
.type .choice { gap: 7px; cursor: pointer } .type input { inline-size: 16px; block-size: 16px; margin: 0; accent-color: var(--accent) }
details { margin-block-start: 6px } summary { color: var(--muted); font-size: 13px; cursor: pointer; border-radius: 5px; inline-size: fit-content }
@media (pointer: coarse) { .switch, .type .choice { min-block-size: 44px } }
@media (prefers-reduced-motion: no-preference) { .switch input::before { transition: inset-inline-start .12s } }
@media (forced-colors: active) { .switch input { border-color: CanvasText } .switch input:checked { forced-color-adjust: none; background: Highlight } }
`);
