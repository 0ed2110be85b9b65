/** How the panel of <tocsin-inbox> looks; its toast builds on it. */

import { sheetOf } from "./tocsin-inbox-look.js?v=d80710a043b1fa1b";

export const sheet = sheetOf(`
.panel { position: fixed; inset: auto; margin: 0; padding: 0; inline-size: var(--tocsin-width, 430px); max-inline-size: calc(100vw - 16px); min-block-size: min(440px, 60vh);
  flex-direction: column; overflow: hidden; border: 1px solid var(--line); border-radius: var(--r); background: var(--bg); color: var(--fg);
  font: 14px/1.45 var(--tocsin-font, system-ui, sans-serif); text-align: left; box-shadow: 0 2px 6px #0f121a14, 0 16px 48px #0f121a33 }
.panel:popover-open { display: flex }
.panel:focus { outline: none } .panel:dir(rtl) { text-align: right } h3 { unicode-bidi: plaintext }
.head { display: flex; align-items: center; gap: 2px; padding-block: 12px 8px; padding-inline: 18px 10px }
.head .icon:first-child { margin-inline: -8px 4px } .head h2, ::slotted([slot=header]) { flex: 1; min-inline-size: 0 } .head h2 { font-size: 16px; font-weight: 650; letter-spacing: -.01em }
.icon { display: inline-grid; place-items: center; border-radius: 9px; inline-size: 32px; block-size: 32px; color: var(--muted) }
.icon:hover, .icon[aria-expanded=true] { background: color-mix(in srgb, currentColor 12%, transparent); color: var(--fg) }
.more svg, .dots svg { stroke-width: 3 } .icon.on svg { fill: currentColor; color: var(--accent) }
.head, .tabs { flex: none }
.tabs { display: flex; gap: 2px; padding: 0 12px; border-block-end: 1px solid var(--line); overflow-x: auto; scrollbar-width: none }
.tab { padding: 7px 8px 9px; color: var(--muted); font-weight: 500; white-space: nowrap; border-block-end: 2px solid transparent; outline-offset: -3px }
.tab:hover { color: var(--fg) } .tab[aria-selected=true] { color: var(--fg); border-color: var(--accent) }
.body { flex: 1; overflow-y: auto; scrollbar-width: thin; scrollbar-color: var(--line) transparent; overscroll-behavior: contain; min-block-size: 0 }
.body h3 { position: sticky; inset-block-start: 0; z-index: 2; padding: 10px 18px 6px; background: var(--bg); color: var(--muted); font-size: 12px; font-weight: 600; overflow-wrap: anywhere }
ul { list-style: none; padding: 0 }
.row { position: relative; min-block-size: 61px; padding-block: 12px; padding-inline: 64px 18px; border-block-end: 1px solid var(--line) }
.row:hover, .row:focus-within { background: var(--soft) }
.row.own { padding-inline-start: 22px; min-block-size: 0 }
.is-warning, .is-critical { --tone: var(--warn); box-shadow: inset 3px 0 var(--tone) } .is-critical { --tone: var(--bad) } .row:dir(rtl):is(.is-warning, .is-critical) { box-shadow: inset -3px 0 var(--tone) }
.dot { position: absolute; inset-inline-start: 7px; inset-block-start: 26px; inline-size: 8px; block-size: 8px; border-radius: 50%; background: var(--accent) }
.open { display: block; scroll-margin-block: 44px 16px; inline-size: 100%; text-align: inherit; color: inherit; text-decoration: none; outline: none; min-inline-size: 0; overflow-wrap: anywhere }
.open::after { content: ""; position: absolute; inset: 0 } .open:focus-visible::after { outline: 2px solid var(--accent); outline-offset: -3px; border-radius: 8px }
.figure { position: absolute; inset-inline-start: 20px; inset-block-start: 13px; display: grid; place-items: center; inline-size: 34px; block-size: 34px; border-radius: 50%; overflow: hidden; background: var(--soft); color: var(--tone, var(--muted)); font: 600 12.5px/1 var(--tocsin-font, system-ui, sans-serif) }
.figure.person { background: oklch(.5 .11 var(--hue)); color: #fff } .figure.emoji { background: none; font-size: 22px } .row:hover .figure:not(.person) { background-color: color-mix(in srgb, var(--muted) 14%, transparent) }
.figure img { position: absolute; inset: 0; inline-size: 100%; block-size: 100%; object-fit: cover } .figure.own { border-radius: 9px; background: none }
.title { font-weight: 500; color: var(--muted); max-inline-size: calc(100% - 84px) } .is-unread .title { font-weight: 620; color: var(--fg) }
.title, .message { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; text-align: start } .whole :is(.title, .message) { display: block; white-space: pre-line }
:dir(ltr) > slot > :is(.title, .message):dir(rtl), .open:dir(ltr) :is(.title, .message):dir(rtl) { text-align: end } .open:dir(rtl) :is(.title, .message):dir(ltr) { text-align: end }
.message { color: var(--muted); margin-block-start: 1px }
time { position: absolute; inset-block-start: 12px; inset-inline-end: 18px; color: var(--muted); font-size: 12px; line-height: 20px; white-space: nowrap }
.meta { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; margin-block-start: 6px; color: var(--muted); font-size: 12px; overflow-wrap: anywhere }
.meta:empty { display: none } .fact { margin-inline-end: -4px } .fact:not(:last-child)::after { content: " ·" }
.chip { padding: 1px 7px; border-radius: 6px; border: 1px solid transparent; background: color-mix(in srgb, var(--fg) 7%, transparent); color: var(--fg) }
.chip svg { inline-size: 12px; block-size: 12px; vertical-align: -2px; margin-inline-end: 4px; stroke-width: 2.2 } .chip:is(.warning, .critical) { background: color-mix(in srgb, var(--tone) 13%, transparent); color: var(--tone); font-weight: 600 }
.chip.you { background: color-mix(in srgb, var(--accent) 14%, transparent); color: color-mix(in srgb, var(--accent) 75%, var(--fg)) }
.actions { position: relative; z-index: 1; display: flex; flex-wrap: wrap; gap: 8px; margin-block-start: 9px; inline-size: fit-content } .actions:empty { display: none } .actions a { text-decoration: none; font-size: 13px; padding: 4px 12px; overflow-wrap: anywhere }
.acts { position: absolute; z-index: 1; inset-block-start: 8px; inset-inline-end: 12px; display: flex; border-radius: 9px; background: var(--soft); opacity: 0; pointer-events: none }
.row:hover .acts, .row:focus-within .acts, .acts:has([aria-expanded=true]) { opacity: 1; pointer-events: auto }
.acts .icon { inline-size: 30px; block-size: 26px }
.menu { position: absolute; z-index: 5; inset-inline-end: 14px; min-inline-size: 230px; max-inline-size: calc(100% - 28px); max-block-size: calc(100% - 16px); overflow-y: auto; padding: 5px; border: 1px solid var(--line); border-radius: 11px; background: var(--bg); box-shadow: 0 8px 28px #0f121a40 }
.menu button { display: flex; align-items: center; gap: 10px; inline-size: 100%; padding: 6px 9px; border-radius: 7px; text-align: start }
.menu svg { color: var(--muted) } .menu button:hover, .menu button:focus { background: var(--soft); outline-offset: -2px }
.menu hr { border: 0; border-block-start: 1px solid var(--line); margin: 5px }
.state { display: grid; justify-items: center; gap: 4px; padding: 64px 32px; text-align: center; color: var(--muted) }
.state svg { inline-size: 34px; block-size: 34px; margin-block-end: 8px; stroke-width: 1.3 } .state strong { color: var(--fg); font-weight: 600 }
.button { padding: 6px 14px; border: 1px solid var(--line); border-radius: 9px; font-weight: 550; background: var(--bg) } .button:hover { background: var(--soft) } .button.secondary, .button { color: var(--fg) } .button.primary { background: var(--accent); border-color: transparent; color: var(--tocsin-accent-text, light-dark(#fff, #17191f)) } .button.primary:hover { background: color-mix(in srgb, var(--accent) 88%, var(--fg)) }
.state .button { margin-block-start: 12px } .load { display: block; margin: 12px auto 16px }
.note { display: flex; align-items: center; gap: 10px; padding: 8px 18px; background: var(--soft); font-size: 13px } .note span { flex: 1 }
.toast { position: absolute; z-index: 4; inset-inline: 12px; inset-block-end: 12px; border-radius: 10px; background: light-dark(#22262f, #eceef3); color: light-dark(#fff, #17191f); font-size: 13px }
.toast > div { display: flex; align-items: center; gap: 12px; padding: 9px 14px } .toast span { flex: 1; overflow-wrap: anywhere }
.toast button { font-weight: 650; text-decoration: underline; text-underline-offset: 3px } .toast :focus-visible { outline-color: currentColor }
dialog { margin: auto; padding: 0; inline-size: 320px; max-inline-size: calc(100vw - 32px); border: 1px solid var(--line); border-radius: var(--r); background: var(--bg); color: var(--fg); box-shadow: 0 16px 48px #0f121a59 } dialog::backdrop { background: #0f121a59 }
dialog label { grid-template-columns: 1fr !important; gap: 0 !important; margin: 0 !important; font-weight: 600 } dialog form { border: 0 } dialog .choice { justify-content: end; gap: 8px; margin-block-start: 14px } .choice { display: flex; align-items: center }
.skeleton { padding-block: 14px; padding-inline: 64px 18px; border-block-end: 1px solid var(--line) }
.skeleton i { display: block; block-size: 10px; border-radius: 5px; background: var(--soft); margin-block: 5px; inline-size: 88% } .skeleton i:first-child { inline-size: 54% }
form { padding: 14px 18px; border-block-end: 1px solid var(--line) }
.fields { display: grid; grid-template-columns: 1fr 1fr; gap: 10px 12px; margin-block: 12px; align-items: start }
.fields label { display: block; font-size: 12px; color: var(--muted) }
.fields input { display: block; inline-size: 100%; min-inline-size: 0; block-size: 34px; margin-block-start: 3px; padding: 0 9px; border: 1px solid light-dark(#c3c8d2, #464c59); border-radius: 8px; background: var(--bg); color: var(--fg); font-size: 14px }
.fields input[aria-invalid] { border-color: var(--bad) } .error { color: var(--bad); font-size: 12px; margin-block-start: 3px }
dl { display: grid; grid-template-columns: auto 1fr; gap: 9px 16px; padding: 16px 18px; align-items: center }
kbd { font: 600 12px/1 ui-monospace, monospace; padding: 3px 6px; margin-inline-end: 4px; border: 1px solid var(--line); border-block-end-width: 2px; border-radius: 6px; background: var(--soft) }
@media (pointer: coarse) { .icon, .tab, .button, .menu button, .toast button { min-block-size: 44px; min-inline-size: 44px } .acts .icon:not(.more) { display: none }
  .acts { opacity: 1; pointer-events: auto; background: none; inset-block-start: 2px; inset-inline-end: 6px } time { inset-inline-end: 50px } .title { max-inline-size: calc(100% - 112px) } .fields input { block-size: 44px; font-size: 16px } .actions a { min-block-size: 44px } .actions a { display: inline-flex; align-items: center } }
@media (max-width: 480px) { .panel { inset: auto 0 0 0 !important; inline-size: 100vw; max-inline-size: none; block-size: 92dvh; max-block-size: 92dvh !important; border-radius: var(--r) var(--r) 0 0; border-inline: 0 }
  .panel::backdrop { background: #0f121a73 } }
@media (prefers-reduced-motion: no-preference) { .panel:popover-open { animation: in .14s ease-out } @keyframes in { from { opacity: 0; translate: 0 -6px } }
  .skeleton i { animation: pulse 1.4s ease-in-out infinite alternate } @keyframes pulse { to { opacity: .45 } } .acts { transition: opacity .1s } }
@media (forced-colors: active) { .dot { forced-color-adjust: none; background: Highlight; color: HighlightText } .chip, .button.primary { border-color: CanvasText } .tab { border-color: Canvas } .tab[aria-selected=true] { border-color: Highlight } }
`);
