// A message as its recipient sees it: an email in a frame without an origin, an SMS, a push, a row of the inbox.
import { Icon } from "./icons.js";
import { html, useEffect, useRef, useState } from "./view.js";

const FRAME = new URL("preview.html", import.meta.url).href;

/** `message`: {channel, subject, html, text}; or these by themselves. */
export function MessagePreview({ message: told, ...parts }) {
  const message = told ?? parts;
  const shown = { email: Email, sms: Sms, push: Push, in_app: InApp }[message.channel] ?? Sms;
  return html`<${shown} message=${message} />`;
}

function Email({ message }) {
  const [isDark, setDark] = useState(false);
  const [width, setWidth] = useState("wide");
  const [part, setPart] = useState("html");
  const isText = part === "text" || !message.html;
  return html`<div class="message">
    <div class="row">
      <${Pick} label="Part" value=${isText ? "text" : "html"} set=${setPart} options=${[["html", "HTML"], ["text", "Plain text"]]} />
      <${Pick} label="Colours" value=${isDark ? "dark" : "light"} set=${(chosen) => setDark(chosen === "dark")} options=${[["light", "Light"], ["dark", "Dark"]]} />
      <${Pick} label="Width" value=${width} set=${setWidth} options=${[["wide", "Wide"], ["phone", "Phone"]]} />
    </div>
    <div class=${`preview-frame mail${isDark ? " dark" : ""}${width === "phone" ? " phone" : ""}`}>
      <div class="mail-head"><strong dir="auto">${message.subject || "(no subject)"}</strong></div>
      ${isText ? html`<pre class="mail-text" dir="auto" tabindex="0" aria-label="Plain text">${message.text}</pre>` : html`<${Framed} source=${message.html} isDark=${isDark} />`}
    </div></div>`;
}

/** The page in the frame has no origin, so nothing it holds can reach the console; it says how tall it is. */
function Framed({ source, isDark }) {
  const frame = useRef(null);
  const [height, setHeight] = useState(320);
  const told = useRef({});
  told.current = { html: source, dark: isDark };
  const tell = () => frame.current?.contentWindow?.postMessage(told.current, "*");
  useEffect(() => {
    const hear = (event) => {
      if (event.source !== frame.current?.contentWindow) return;
      if (event.data?.ready) tell();
      if (typeof event.data?.height === "number") setHeight(Math.min(4000, Math.max(120, event.data.height)));
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, []);
  useEffect(tell, [source, isDark]);
  return html`<iframe ref=${frame} src=${FRAME} sandbox="allow-scripts" title="The email" style=${{ height: `${height}px` }}></iframe>`;
}

function Sms({ message }) {
  return html`<div class="phone-card"><p class="bubble" dir="auto">${message.text}</p></div>`;
}

function Push({ message }) {
  return html`<div class="phone-card"><div class="push"><span class="push-icon"><${Icon} name="bell" /></span>
    <div class="grow"><div class="row"><strong class="grow" dir="auto">${message.subject}</strong><small>now</small></div><p dir="auto">${message.text}</p></div></div></div>`;
}

function InApp({ message }) {
  return html`<div class="phone-card plain"><div class="push"><span class="dot" aria-hidden="true"></span>
    <div class="grow"><strong dir="auto">${message.subject}</strong><p dir="auto">${message.text}</p><small>just now</small></div></div></div>`;
}

function Pick({ label, value, set, options }) {
  return html`<div class="pick" role="group" aria-label=${label}>${options.map(
    ([each, title]) => html`<button key=${each} type="button" aria-pressed=${each === value} onClick=${() => set(each)}>${title}</button>`
  )}</div>`;
}
