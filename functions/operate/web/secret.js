// A secret that is shown once: copied, then gone.
import { Copy, dialog, Notice } from "./ui.js";
import { html } from "./view.js";

export const showOnce = (title, secret, about) =>
  dialog({
    title,
    stays: true,
    body: ({ close }) => html`<div class="stack"><${Notice} tone="warn" title="Copy it now">It is shown this once and kept nowhere in clear.<//>
      <div class="secret"><${Copy} value=${secret} /></div>${about && html`<p class="mute">${about}</p>`}
      <div class="dialog-actions"><button type="button" class="button primary" onClick=${() => close()}>I have it</button></div></div>`,
  });
