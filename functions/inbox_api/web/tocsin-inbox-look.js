/** How the bell of <tocsin-inbox> looks, and what its panel builds on. */

/** Rules as a sheet that shadow trees adopt: no policy of a page has anything against those. */
export function sheetOf(rules) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules);
  return sheet;
}

export const sheet = sheetOf(`
:host { display: inline-block; position: relative; --accent: var(--tocsin-accent, light-dark(#3056d3, #8ea9ff));
  --bg: var(--tocsin-background, light-dark(#fff, #17191f)); --fg: var(--tocsin-text, light-dark(#1b1e25, #e9ebf0));
  --muted: var(--tocsin-muted, light-dark(#5c6370, #9ca3b2)); --line: var(--tocsin-line, light-dark(#e7e9ee, #2b2f39));
  --soft: var(--tocsin-surface, light-dark(#f4f5f8, #22262f)); --bad: light-dark(#b3261e, #ffa199); --warn: light-dark(#8a5300, #f5bd5c); --r: var(--tocsin-radius, 14px) }
:host([hidden]), [hidden] { display: none !important }
:host([theme=light]) { color-scheme: light } :host([theme=dark]) { color-scheme: dark } :host([theme=auto]) { color-scheme: light dark }
* { box-sizing: border-box; margin: 0 }
button, input, dialog { font: inherit; color: inherit; letter-spacing: inherit }
button { border: 0; background: none; padding: 0; cursor: pointer }
svg { inline-size: 18px; block-size: 18px; fill: none; stroke: currentColor; stroke-width: 1.7; stroke-linecap: round; stroke-linejoin: round; flex: none }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px }
.sr { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.bell { display: inline-grid; place-items: center; border-radius: 9px; position: relative; inline-size: var(--tocsin-bell-size, 40px); block-size: var(--tocsin-bell-size, 40px) }
.bell svg { inline-size: 55%; block-size: 55% }
.bell:hover, .bell[aria-expanded=true] { background: color-mix(in srgb, currentColor 9%, transparent) }
.badge { position: absolute; inset-block-start: 1px; inset-inline-end: 0; min-inline-size: 18px; padding: 0 5px; border-radius: 9px; border: 1px solid transparent;
  background: var(--tocsin-badge, #c62f3b); color: var(--tocsin-badge-text, #fff); font: 650 11px/16px var(--tocsin-font, system-ui, sans-serif); text-align: center; font-variant-numeric: tabular-nums }
@media (pointer: coarse) { .bell { min-block-size: 44px; min-inline-size: 44px } }
@media (forced-colors: active) { .badge { forced-color-adjust: none; background: Highlight; color: HighlightText; border-color: CanvasText } }
`);
