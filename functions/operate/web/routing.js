// Who is told of an event, and how: the rules of docs/events.md. Pure.

/** Strongest first: a person has one reason, the strongest of theirs that the rules name. */
export const REASONS = [
  ["mention", "Mentioned", "named in the event's mentions"],
  ["review_requested", "Asked to review", "named in its reviewers"],
  ["assign", "Assigned", "named in its assignees"],
  ["author", "Author", "named as its author, or was once, of this thread"],
  ["comment", "Took part", "first took part in this thread by acting"],
  ["subscribed", "Subscribed", "subscribed to the thread, by their own word or because they were named in it"],
  ["watching", "Watching", "watches the scope at the level all"],
];
export const OVERRIDES = ["mention", "review_requested"];

/** The routing that an event of this type gets: the exact one, else the longest beginning; undefined when nothing matches. */
export function matching(routings, eventType) {
  const begins = (one) => one.event_type.endsWith("*") && eventType.startsWith(one.event_type.slice(0, -1));
  return (
    routings.find((one) => one.event_type === eventType) ??
    routings.filter(begins).sort((one, other) => other.event_type.length - one.event_type.length)[0]
  );
}

/** `{reason, channels}` by which somebody with these reasons is told; undefined when no rule names one of them. */
export function telling(rules, reasons) {
  const reason = REASONS.map(([name]) => name).find((name) => reasons.includes(name) && name in rules);
  return reason && { reason, channels: rules[reason] };
}

/** The rules with one box ticked or not. A ticked channel names its reason; the last one unticked leaves it named, and silent. */
export function ticked(rules, reason, channel, isOn) {
  const others = (rules[reason] ?? []).filter((one) => one !== channel);
  return inOrder({ ...rules, [reason]: isOn ? [...others, channel] : others });
}

/** The rules with a reason named or not. */
export function named(rules, reason, isNamed) {
  const { [reason]: its, ...others } = rules;
  return isNamed ? inOrder({ ...others, [reason]: its ?? [] }) : others;
}

const CHANNELS = ["in_app", "email", "push", "sms"];
export { CHANNELS as ROUTED_CHANNELS };

/** Always written the same way, so that two of them can be compared as text. */
export const inOrder = (rules) =>
  Object.fromEntries(REASONS.filter(([name]) => name in rules).map(([name]) => [name, CHANNELS.filter((channel) => rules[name].includes(channel))]));

export const isEventType = (text) => text.length >= 1 && text.length <= 100 && !text.slice(0, -1).includes("*") && !text.includes("/");

export const valueOf = (routing) => ({ rules: inOrder(routing.rules), overrides: REASONS.map(([name]) => name).filter((name) => routing.overrides.includes(name)), subscribe_actor: routing.subscribe_actor });
