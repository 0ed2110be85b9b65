"""The one stylesheet of the pages that people reach from a mail. Pure."""

_BOTH = """
:root { color-scheme: light dark; --page: #f3f4f6; --card: #ffffff; --line: #d9dde3; --edge: #7b8594; --ink: #1b212b;
  --soft: #535e6e;
  --good: #e3f4e8; --on-good: #14532d; --bad: #fde8e8; --on-bad: #9b1c1c }
@media (prefers-color-scheme: dark) {
  :root { --page: #11151b; --card: #1b2029; --line: #343c49; --edge: #8591a3; --ink: #e9edf2; --soft: #a9b4c3;
    --good: #16311f; --on-good: #9be3b3; --bad: #421c1f; --on-bad: #ffb4b0 }
}
* { box-sizing: border-box }
html { background: var(--page); color: var(--ink); font: 17px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans",
  sans-serif;
  -webkit-text-size-adjust: 100%; border-top: 6px solid var(--brand); min-height: 100% }
body { margin: 0; padding: 0 16px 48px; overflow-wrap: anywhere }
.brand { max-width: 32rem; min-height: 96px; margin: 0 auto; padding: 20px 4px; display: flex; align-items: center;
  font-size: 1.15rem;
  font-weight: 650 }
.brand img { height: 56px; max-width: 100%; object-fit: contain; object-position: left center }
@media (prefers-color-scheme: dark) { .brand img { background: #fff; padding: 6px 10px; border-radius: 8px } }
main { max-width: 32rem; margin: 0 auto; padding: 32px; background: var(--card); border: 1px solid var(--line);
  border-radius: 14px }
.wide, .wide + main { max-width: 44rem }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 12px; letter-spacing: -.01em; outline: none }
h2 { font-size: 1.15rem; margin: 0 0 4px }
p { margin: 0 0 16px }
.soft, .hint { color: var(--soft) }
.hint { font-size: .9rem; margin: 0 0 12px }
dl { margin: 0 0 24px; padding: 14px 18px; border: 1px solid var(--line); border-radius: 10px; display: grid; gap: 10px 18px;
  grid-template-columns: minmax(5.5rem, auto) minmax(0, 1fr) }
dt { color: var(--soft) } dd { margin: 0; font-weight: 600 }
a { color: var(--accent); text-underline-offset: 3px }
button, .button { font: inherit; font-weight: 600; min-height: 48px; padding: 10px 26px; border: 1px solid color-mix(in
  srgb, var(--ink) 30%, transparent);
  border-radius: 10px; background: var(--brand); color: var(--on-brand); cursor: pointer }
button:hover { box-shadow: inset 0 0 0 99px rgb(128 128 128 / 14%) }
button.plain { background: none; color: var(--ink); border-color: var(--edge) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: 4px }
h1:focus-visible, .notice:focus-visible { outline: none }
.after { margin: 24px 0 0; padding-top: 20px; border-top: 1px solid var(--line) }
.after p { margin: 0 0 12px } .after form + p { margin-top: 20px } .after > :last-child { margin-bottom: 0 }
.notice { margin: 0 0 24px; padding: 12px 16px; border-radius: 10px; background: var(--good); color: var(--on-good);
  font-weight: 600 }
.notice.bad { background: var(--bad); color: var(--on-bad) } .notice.bad a { color: inherit } .notice ul { margin: 4px 0 0;
  padding-left: 20px; font-weight: 400 }
"""

_FORM = """
section { margin: 28px 0 0; padding: 24px 0 0; border-top: 1px solid var(--line) }
.rows { list-style: none; margin: 0; padding: 0 }
.rows > li { display: flex; flex-wrap: wrap; gap: 8px 20px; padding: 12px 0; align-items: center; justify-content:
  space-between }
.rows > li + li { border-top: 1px solid var(--line) }
.what { flex: 1 1 15rem; min-width: 0 } .what strong { display: block; font-weight: 600 }
.what span { display: block; color: var(--soft); font-size: .9rem }
.ways { display: flex; flex-wrap: wrap; gap: 8px; flex-basis: 100% }
.way { display: inline-flex; align-items: center; gap: 9px; min-height: 44px; padding: 6px 14px 6px 12px; border: 1px solid
  var(--edge); border-radius: 10px; cursor: pointer }
.way:has(:checked) { border-color: var(--accent); background: color-mix(in srgb, var(--accent) 9%, transparent) }
.way:has(:disabled) { border-style: dashed; border-color: var(--line); color: var(--soft); cursor: not-allowed; background:
  none }
input[type=checkbox] { width: 20px; height: 20px; margin: 0; flex: none; accent-color: var(--accent); cursor: inherit }
.switch { display: flex; align-items: center; gap: 12px; min-height: 44px; font-weight: 600; cursor: pointer }
.switch:has(:disabled) { color: var(--soft); cursor: not-allowed }
.switch input { appearance: none; width: 44px; height: 26px; border: 1px solid var(--edge); border-radius: 13px; background:
  var(--page); position: relative }
.switch input::before { content: ""; position: absolute; top: 3px; inset-inline-start: 3px; width: 18px; height: 18px;
  border-radius: 50%; background: var(--edge) }
.switch input:checked { background: var(--accent); border-color: var(--accent) }
.switch input:checked::before { inset-inline-start: 21px; background: var(--card) }
.switch input:disabled { opacity: .5 }
.field { display: flex; flex-direction: column; gap: 4px; min-width: 0 } .field label, .label { font-size: .9rem; color:
  var(--soft) }
.fields { display: flex; flex-wrap: wrap; gap: 12px 16px; align-items: flex-start } .fields .zone { flex: 1 1 15rem }
.field.cap { flex: 0 1 auto; max-width: 100%; flex-direction: row; align-items: center; gap: 10px; flex-wrap: wrap }
input:not([type=checkbox]), select { font: inherit; color: var(--ink); background: var(--card); min-height: 44px; padding:
  8px 12px; border: 1px solid var(--edge); border-radius: 8px; max-width: 100% }
input[inputmode] { width: 8.5rem } input[type=time] { min-width: 8rem } select { width: 100% }
input:disabled { opacity: .55 } ::placeholder { color: var(--soft); opacity: 1 }
[aria-invalid=true] { border: 2px solid var(--on-bad) !important }
.error { color: var(--on-bad); font-size: .9rem; font-weight: 600; margin: 4px 0 0; flex-basis: 100% }
.save { position: sticky; bottom: 0; margin: 28px -32px -32px; padding: 16px 32px; background: var(--card); border-top: 1px
  solid var(--line); border-radius: 0 0 14px 14px }
@media (max-width: 480px) {
  body { padding: 0 0 32px } .brand { padding: 16px 20px; min-height: 88px } main { padding: 24px 20px; border-width: 1px 0;
    border-radius: 0 }
  dl { grid-template-columns: minmax(0, 1fr); gap: 0 } dd + dt { margin-top: 10px } form > button, .save button { width:
    100% }
  .save { margin: 24px -20px -24px; padding: 12px 20px; border-radius: 0 } .what { flex-basis: 100% }
}
@media (prefers-contrast: more) { :root { --line: var(--edge); --soft: var(--ink) } }
"""

STYLE = " ".join((_BOTH + _FORM).split())
