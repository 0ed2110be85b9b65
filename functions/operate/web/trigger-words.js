// Triggers in words: what fires one, what it runs, and how often that is tried. Pure.
import { many, span } from "./format.js";
import { kindWords } from "./letters.js";

export const OPS = [["insert", "is new"], ["update", "is changed"], ["delete", "is deleted"]];
export const HANDLERS = [["intent", "sends a notification"], ["webhook", "calls an endpoint"], ["lambda", "invokes a function"]];
export const SOURCES = ["plan", "deliver", "fanout", "webhook", "trigger"].map((kind) => [kind, kindWords(kind)]);
export const BACKOFFS = [["exponential", "twice as long each time"], ["linear", "longer by the same each time"], ["constant", "always the same"]];

/** What fires it, as a sentence. */
export function firedBy(trigger) {
  if (trigger.kind === "kv") {
    const ops = trigger.ops.length ? trigger.ops : OPS.map(([op]) => op);
    const happens = listed(ops.map((op) => Object.fromEntries(OPS)[op]), "or");
    return `A value ${happens} in ${collectionWords(trigger.collection_glob)}.`;
  }
  if (trigger.kind !== "dead_letter") return trigger.kind;
  const work = trigger.source_filter ? ` of the kind “${kindWords(trigger.source_filter)}”` : "";
  const whose = [trigger.trigger_id_filter && "of one trigger", trigger.script_id_filter && "of one handler"].filter(Boolean);
  return `Work${work}${whose.length ? ` ${whose.join(", ")}` : ""} becomes a dead letter.`;
}

function collectionWords(glob) {
  if (glob === "*") return "any collection";
  return glob.endsWith("*") ? `a collection that begins with ${glob.slice(0, -1)}` : `the collection ${glob}`;
}

const listed = (words, and) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${and} ${words.at(-1)}`);

/** What runs, as a sentence. */
export function runs({ handler }) {
  switch (handler.kind) {
    case "intent":
      return `Sends a notification of the type ${handler.intent?.type ?? "?"}.`;
    case "webhook":
      return `Calls ${handler.url}.`;
    case "lambda":
      return `Invokes ${handler.function_arn}.`;
    default:
      return handler.kind;
  }
}

const HOUR = 3600;

/** The pauses between the tries, in seconds, as the service makes them (each up to a fifth shorter or longer). */
export function pauses({ max_attempts: most, backoff, base_ms: base }) {
  const steps = { exponential: (tried) => 2 ** Math.min(tried - 1, 30), linear: (tried) => tried, constant: () => 1 };
  return Array.from({ length: Math.max(0, most - 1) }, (_, index) => Math.min(HOUR, (base / 1000) * steps[backoff](index + 1)));
}

const FEW = 5;

export function retryWords(retry) {
  const waits = pauses(retry);
  if (!waits.length) return "It is tried once; if that fails, it is a dead letter.";
  const told = waits.slice(0, FEW).map((wait) => span(wait));
  const list = waits.length > FEW ? `${told.join(", ")} and so on` : listed(told, "and");
  const all = waits.reduce((sum, wait) => sum + wait, 0);
  return `It is tried up to ${many(retry.max_attempts, "time")}: at once, then after ${list}, about ${span(all)} in all. Then it is a dead letter.`;
}

export const EXAMPLES = {
  kv: {
    type: "stock.changed",
    audience: { kind: "users", user_ids: ["ada"] },
    channels: ["in_app"],
    payload: { title: "{{ event.key }}: {{ event.value.left }} left", message: "After an {{ event.op }} in {{ event.collection }}." },
  },
  dead_letter: {
    type: "ops.dead_letter",
    audience: { kind: "users", user_ids: ["ada"] },
    channels: ["in_app"],
    payload: { title: "Gave up: {{ event.source_kind }}", message: "{{ event.failure_message }}" },
  },
};

/** The form of a trigger as the API takes it; `intent` is what its text says. */
export function bodyOf(draft, intent) {
  const retry = chosen({ max_attempts: Number(draft.max_attempts), backoff: draft.backoff, base_ms: Math.round(Number(draft.base_seconds) * 1000) });
  const fired = draft.kind === "kv" ? { collection_glob: draft.collection_glob, ops: draft.ops } : chosen({ source_filter: draft.source_filter, trigger_id_filter: draft.trigger_id_filter, script_id_filter: draft.script_id_filter });
  return { kind: draft.kind, name: draft.name, enabled: draft.enabled, retry, ...fired, handler: handlerOf(draft, intent) };
}

function handlerOf(draft, intent) {
  if (draft.handler_id) return { id: draft.handler_id };
  return { kind: draft.handler, ...configOf(draft, intent) };
}

export function configOf(draft, intent) {
  return { intent: { intent }, webhook: { url: draft.url, timeout_seconds: Number(draft.timeout_seconds) }, lambda: { function_arn: draft.function_arn } }[draft.handler];
}

/** What of a trigger that there is was changed, as the API takes it. Null takes a filter away. */
export function changesOf(trigger, draft, intent) {
  const wanted = bodyOf({ ...draft, handler_id: "" }, intent);
  const before = bodyOf(draftOf(trigger), trigger.handler.intent);
  const changes = {};
  const names = ["name", "enabled", "retry", ...(trigger.kind === "kv" ? ["collection_glob", "ops"] : [])];
  for (const name of names) if (JSON.stringify(wanted[name]) !== JSON.stringify(before[name])) changes[name] = wanted[name];
  if (trigger.kind === "dead_letter") {
    for (const name of ["source_filter", "trigger_id_filter", "script_id_filter"]) if ((draft[name] || null) !== (trigger[name] ?? null)) changes[name] = draft[name] || null;
  }
  const { kind, ...handler } = wanted.handler;
  const { kind: _, ...handlerBefore } = before.handler;
  if (JSON.stringify(handler) !== JSON.stringify(handlerBefore)) changes.handler = handler;
  return changes;
}

/** What was left empty is as the installation has it, or any. */
const chosen = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value));

/** What the form begins with, of a trigger that there is or of none. */
export function draftOf(trigger) {
  const { handler, retry } = trigger ?? { handler: { kind: "intent" }, retry: { max_attempts: "", backoff: "", base_ms: null } };
  return {
    kind: trigger?.kind ?? "kv", name: trigger?.name ?? "", enabled: trigger?.enabled ?? true,
    collection_glob: trigger?.collection_glob ?? "", ops: trigger?.ops ?? [],
    source_filter: trigger?.source_filter ?? "", trigger_id_filter: trigger?.trigger_id_filter ?? "", script_id_filter: trigger?.script_id_filter ?? "",
    handler: handler.kind, handler_id: "", url: handler.url ?? "", timeout_seconds: handler.timeout_seconds ?? 10, function_arn: handler.function_arn ?? "",
    intent: handler.intent ? JSON.stringify(handler.intent, null, 2) : "",
    max_attempts: retry.max_attempts, backoff: retry.backoff, base_seconds: retry.base_ms === null ? "" : retry.base_ms / 1000,
  };
}
