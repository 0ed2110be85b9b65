/** How <tocsin-inbox> gets its panel: once for all bells of a page, and again if it did not come. */

let coming = null;
let failures = 0;

/** The module of the panel. */
export function loadPanel() {
  coming ??= ask().catch((error) => {
    coming = null;
    throw error;
  });
  return coming;
}

/**
 * Browsers of before 2026 keep it in mind that a module did not come. Under another address, which their error names, they ask again;
 * if it was one of those that the panel imports, they need a reload.
 */
async function ask() {
  try {
    return await import("./tocsin-inbox-panel.js?v=a80aeca02d300e41");
  } catch (error) {
    const [url] = error.message.match(/https?:\S+$/) ?? [];
    failures += 1;
    if (!url || failures === 1) throw error;
    return import(/* webpackIgnore: true */ /* @vite-ignore */ `${url}${url.includes("?") ? "&" : "?"}again=${failures}`);
  }
}
