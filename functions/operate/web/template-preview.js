// What a draft makes of a payload, asked for while one types. What was good last stays until there is something better.
import { post } from "./api.js";
import { many } from "./format.js";
import { MessagePreview } from "./message-preview.js";
import { TITLES } from "./templates.js";
import { Card, errorsOf, Notice, Sketch } from "./ui.js";
import { html, useEffect, useState } from "./view.js";

const WAIT = 350;
const PREHEADER = 140; // about what mail programs show of it
const FIELDS = ["subject", "body", "text", "layout", "variables", "payload", "notification_id", "locale", "channel"];
const WORDS = ["subject", "body", "text", "layout", "variables", "locale"]; // whose faults keep it from being published, whatever the payload
const PART = /^It cannot be rendered: the (subject|body|text)\b/;

/** `{message, recorded, errors, missing, problem, hasFaults, isBusy}` of the words with what `filling` has. */
export function useDraftPreview(words, filling) {
  const [state, setState] = useState({ made: null, of: undefined, problem: null, isBusy: true });
  const asked = filling.body && words.body.trim() ? JSON.stringify({ ...words, ...filling.body }) : null;
  useEffect(() => {
    if (!asked) {
      setState((old) => ({ ...old, problem: null, isBusy: false }));
      return undefined;
    }
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      setState((old) => ({ ...old, isBusy: true }));
      try {
        const made = await post(["templates", "preview"], JSON.parse(asked), { signal: abort.signal });
        setState({ made, of: JSON.parse(asked).notification_id, problem: null, isBusy: false });
      } catch (problem) {
        if (problem.name !== "AbortError") setState((old) => ({ ...old, problem, isBusy: false }));
      }
    }, WAIT);
    return () => (clearTimeout(timer), abort.abort());
  }, [asked]);
  const { made, of, problem, isBusy } = state;
  const errors = faultsOf(problem);
  return {
    message: made && { channel: words.channel, subject: made.subject, html: made.html, text: made.text },
    sms: made?.sms,
    recorded: of && of === filling.body?.notification_id ? made.payload : null,
    errors,
    problem,
    missing: missingIn(problem),
    hasFaults: WORDS.some((field) => errorsOf(problem, WORDS)[field]),
    isBusy,
    isEmpty: !words.body.trim(),
  };
}

const missingIn = (problem) => (problem?.type?.endsWith("missing-variables") ? problem.errors.map((each) => each.pointer.replace("/payload/", "")) : []);

/** At its field, whatever names one; a fault of rendering names the part in its sentence. */
function faultsOf(problem) {
  const errors = errorsOf(problem, FIELDS);
  const missing = missingIn(problem);
  if (missing.length) errors.payload = `The template requires ${missing.join(", ")}.`;
  if (errors.notification_id || problem?.status === 404) errors.payload = errors.notification_id ?? problem.message;
  const [, part] = PART.exec(errors[""] ?? "") ?? [];
  if (part) errors[part] = errors[""];
  return errors;
}

export function PreviewPane({ preview, channel }) {
  const { message, problem, errors, isBusy, isEmpty } = preview;
  const about = html`<span class=${`spinner${isBusy ? " on" : ""}`} aria-hidden="true"></span>`;
  return html`<${Card} title="Preview" actions=${about}><div class="stack" aria-live="polite" aria-busy=${isBusy}>
    ${problem && html`<${Notice} tone="warn" title=${message ? "This is what it made before" : "Nothing to show yet"}>${errors[""] ?? "See the marked fields."}<//>`}
    ${!message && !problem && (isEmpty || !isBusy ? html`<p class="mute">Write the ${channel === "email" ? "body" : "text"}, and what it makes of the payload is shown here.</p>` : html`<${Sketch} />`)}
    ${message && html`<div class=${`stack${problem ? " stale" : ""}`}>${channel === "email" && html`<${MailLine} message=${message} />`}
      <${MessagePreview} ...${message} label=${`What the ${TITLES[channel]} template makes`} /></div>`}
    ${message && channel === "sms" && preview.sms && html`<${SmsParts} sms=${preview.sms} />`}
  </div><//>`;
}

/** As it stands in a list of mails: the subject, and the preheader beside it. */
function MailLine({ message }) {
  const preheader = (message.text ?? "").replace(/\s+/g, " ").trim().slice(0, PREHEADER);
  return html`<div class="mail-line" aria-label="In a list of mails"><strong dir="auto">${message.subject}</strong> <span class="mute" dir="auto">${preheader}</span></div>`;
}

const ROOM = { "GSM-7": [160, 153], "UCS-2": [70, 67] };

function SmsParts({ sms }) {
  const [alone, chained] = ROOM[sms.encoding] ?? ROOM["GSM-7"];
  const room = sms.parts === 1 ? alone : sms.parts * chained;
  return html`<p class="mute"><strong>${many(sms.units, "character")}</strong> of ${room}, <strong>${many(sms.parts, "part")}</strong> (${sms.encoding === "GSM-7"
    ? "the plain SMS alphabet, 160 to a part" : "with characters beyond the plain SMS alphabet, so only 70 fit a part"}). Each part is paid for.</p>`;
}
