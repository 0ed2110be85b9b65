// A message as its reader sees it: in light or dark, wide or as on a phone. HTML is shown in a frame that has no origin and loads nothing.
import { many } from "./format.js";
import { channelTitle } from "./reasons.js";
import { Tabs } from "./ui.js";
import { html, useEffect, useRef, useState } from "./view.js";

const FRAME = new URL("preview.html", import.meta.url).href;
const LEAST_HEIGHT = 320;
const MOST_HEIGHT = 4000;

/**
 * `channel`, `subject`, `html`, `text`, and where there is one `url` (push) and `sms` (its parts). What is not HTML is drawn as its channel shows it.
 * `label` names the frame for those who cannot see it.
 */
export function MessagePreview({ channel = "email", subject, html: body, text, url, sms, label = "The message" }) {
  const [isDark, setDark] = useState(false);
  const [isPhone, setPhone] = useState(false);
  const [view, setView] = useState("html");
  const shown = body && view === "html" ? "html" : "text";
  return html`<div class="message-preview">
    <div class="row preview-switches">
      ${body && html`<${Tabs} label="Which part" tabs=${[["html", "HTML"], ["text", "Text"]]} current=${shown} choose=${setView} />`}
      <div class="grow"></div>
      <${Toggle} label="Colours" options=${[["Light", false], ["Dark", true]]} value=${isDark} set=${setDark} />
      ${channel === "email" && html`<${Toggle} label="Width" options=${[["Wide", false], ["Phone", true]]} value=${isPhone} set=${setPhone} />`}
    </div>
    <div class=${`preview-frame${isDark ? " dark" : ""}${isPhone || channel === "sms" || channel === "push" ? " phone" : ""}`}>
      ${channel === "email" && html`<div class="preview-subject" dir="auto">${subject || html`<span class="mute">no subject</span>`}</div>`}
      ${shown === "html" ? html`<${Frame} body=${body} isDark=${isDark} label=${label} />` : html`<${Plain} channel=${channel} subject=${subject} text=${text} url=${url} />`}
    </div>
    ${sms && html`<p class="mute">${smsWords(sms)}</p>`}</div>`;
}

function Toggle({ label, options, value, set }) {
  return html`<div class="toggle" role="group" aria-label=${label}>${options.map(
    ([title, each]) => html`<button key=${title} type="button" aria-pressed=${value === each} onClick=${() => set(each)}>${title}</button>`
  )}</div>`;
}

/** The frame says when it is ready and how high its page is; only what comes from it is believed. */
function Frame({ body, isDark, label }) {
  const frame = useRef(null);
  const wanted = useRef(null);
  const [height, setHeight] = useState(LEAST_HEIGHT);
  wanted.current = { html: body, dark: isDark };
  const show = () => frame.current?.contentWindow?.postMessage(wanted.current, "*");
  useEffect(() => {
    const hear = (event) => {
      if (event.source !== frame.current?.contentWindow) return;
      if (event.data?.ready) show();
      if (Number.isFinite(event.data?.height)) setHeight(Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, event.data.height)));
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, []);
  useEffect(show, [body, isDark]);
  return html`<iframe ref=${frame} src=${FRAME} title=${label} sandbox="allow-scripts" referrerpolicy="no-referrer" style=${{ height: `${height}px` }}></iframe>`;
}

function Plain({ channel, subject, text, url }) {
  if (channel === "email") return html`<pre class="preview-text" dir="auto" tabindex="0" aria-label="The text part">${text}</pre>`;
  if (channel === "sms") return html`<div class="preview-bubble" dir="auto">${text}</div>`;
  return html`<div class="preview-note" aria-label=${channelTitle(channel)}><strong dir="auto">${subject}</strong>
    ${text && html`<div dir="auto">${text}</div>`}${url && html`<div class="mute">${url}</div>`}</div>`;
}

const smsWords = ({ parts, units, encoding }) => `It goes out as ${many(parts, "part")}: ${many(units, "unit")} of ${encoding}.`;
