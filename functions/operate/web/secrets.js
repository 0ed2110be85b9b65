// A secret that the API shows once: it stands on the page until somebody says that it is kept, and is in no storage.
import { CopyButton, Notice } from "./ui.js";
import { html, useState } from "./view.js";

const shown = new Map();
export const showSecret = (place, secret) => shown.set(place, secret);

export function Secret({ place, children }) {
  const [, setTurn] = useState(0);
  const secret = shown.get(place);
  if (!secret) return null;
  const hide = () => {
    shown.delete(place);
    setTurn((turn) => turn + 1);
  };
  return html`<${Notice} tone="warn" title="Keep this secret now: it is shown this once" actions=${html`<button type="button" class="button small" onClick=${hide}>I have kept it</button>`}>
    <div class="stack small-gap"><div class="secret"><code>${secret}</code><${CopyButton} text=${secret} label="Copy the secret" /></div><div>${children}</div></div><//>`;
}
