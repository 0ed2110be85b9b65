// The console: who is signed in, the frame around every page, and which page it is.
import { Icon } from "./icons.js";
import { GROUPS, isOffered, load, loadAhead, PAGES } from "./pages.js";
import { go, href, useRoute } from "./router.js";
import * as session from "./session.js";
import { SignIn, signInLocally } from "./sign-in.js";
import { Dialogs, dialog, leaveDialog, Notice, Sketch, Toasts, Trouble } from "./ui.js";
import { html, render, useEffect, useRef, useState } from "./view.js";

let hasOpened = false; // the first page is the one that was asked for
const WIDE = matchMedia("(min-width: 900px)");

function App() {
  const [who, setWho] = useState(session.current());
  const [isTrying, setTrying] = useState(true);
  useEffect(() => session.listen(setWho), []);
  useEffect(() => {
    const { stop } = session.watchIdleness();
    signInLocally().finally(() => setTrying(false));
    return stop;
  }, []);
  useEffect(() => {
    if (!who.key) leaveDialog();
  }, [who.key]);
  if (isTrying && !who.key) return html`<main class="alone"><${Sketch} /></main>`;
  return html`${who.key ? html`<${Frame} who=${who} />` : html`<${SignIn} why=${who.why} person=${who.person} />`}
    <${Toasts} /><${Dialogs} />`;
}

function Frame({ who }) {
  const route = useRoute();
  useEffect(() => {
    const timer = setTimeout(() => loadAhead().catch(() => {}), 2_000);
    return () => clearTimeout(timer);
  }, []);
  const [isOpen, setOpen] = useState(false);
  const page = PAGES.find((each) => each.name === route.page);
  useEffect(() => setOpen(false), [location.hash]);
  useShortcuts();
  return html`<a class="skip" href="#page-title" onClick=${skip}>Skip to the page</a>
    <header class="top">
      <button type="button" class="bare menu-button" aria-label="Menu" aria-expanded=${isOpen} aria-controls="menu" onClick=${() => setOpen(!isOpen)}><${Icon} name="menu" /></button>
      <a class="brand" href="#/" aria-label="Tocsin, what is happening now"><${Bell} /><span>Tocsin</span></a>
      <span class="tenant" title="Whose notifications these are">${who.me.tenant.name}</span>
      ${who.me.key.mode === "test" && html`<span class="badge warn">test</span>`}
      <${SearchBox} />
      <${ThemeButton} />
      <${Account} who=${who} />
    </header>
    <nav id="menu" class=${isOpen ? "open" : ""} aria-label="Pages" onClick=${(event) => event.target.closest("a") && setOpen(false)}><${Menu} current=${route.page} /></nav>
    ${isOpen && !WIDE.matches && html`<div class="veil" onClick=${() => setOpen(false)}></div>`}
    <main id="main">
      ${who.isEnding && html`<${Notice} tone="warn">You will be signed out in a minute unless you touch something.<//>`}
      <${Page} key=${route.page} page=${page} route=${route} />
    </main>`;
}

function skip(event) {
  event.preventDefault();
  document.querySelector("#page-title")?.focus();
}

const Bell = () => html`<svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#0e5c63" />
  <path d="M16 6a1.6 1.6 0 0 1 1.6 1.6v.7c3 .7 5 3.3 5 6.6v3.7l1.900 3.200c.3.6-.1 1.300-.8 1.300H8.300c-.7 0-1.100-.7-.8-1.300l1.900-3.200v-3.700c0-3.300 2-5.900 5-6.600v-.7A1.600 1.600 0 0 1 16 6zM13.400 24.600h5.200a2.600 2.600 0 0 1-5.200 0z" fill="#f6d58e" /></svg>`;

function Menu({ current }) {
  return GROUPS.map((group) => {
    const pages = PAGES.filter((page) => page.group === group && isOffered(page));
    if (!pages.length) return null;
    return html`<div class="menu-group" key=${group}><h2>${group}</h2><ul>${pages.map(
      (page) => html`<li key=${page.name}><a href=${href(page.name ? [page.name] : [])} aria-current=${page.name === current ? "page" : undefined}>
        <${Icon} name=${page.icon} /><span>${page.title}</span></a></li>`
    )}</ul></div>`;
  });
}

function Page({ page, route }) {
  const [drawn, setDrawn] = useState({});
  const opened = useRef(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!page || !isOffered(page)) return;
    load(page).then(
      (component) => setDrawn({ component }),
      (error) => setDrawn({ error })
    );
  }, [page, turn]);
  // Whoever cannot see the page hears where they are; not on the first page, which they opened themselves.
  const place = route.parts.join("/");
  useEffect(() => {
    if (!drawn.component) return;
    if (hasOpened && opened.current !== place) {
      requestAnimationFrame(() => document.querySelector("#page-title")?.focus({ preventScroll: true }));
      scrollTo(0, 0);
    }
    hasOpened = true;
    opened.current = place;
  }, [place, drawn.component]);
  if (!page) return html`<h1 id="page-title" tabindex="-1">No such page</h1><p>There is nothing at this address. <a href="#/">What is happening now?</a></p>`;
  if (!isOffered(page)) {
    return html`<h1 id="page-title" tabindex="-1">${page.title}</h1><${Notice} tone="warn" title="Your key cannot open this page">
      It needs the scope <code>${page.scope}</code>${page.installation ? " and must be the installation's own" : ""}.<//>`;
  }
  if (drawn.error) return html`<${Trouble} error=${drawn.error} retry=${() => (setDrawn({}), setTurn(turn + 1))} />`; // a reload would sign them out
  return drawn.component ? html`<${drawn.component} route=${route} />` : html`<${Sketch} />`;
}

function SearchBox() {
  const route = useRoute();
  const asked = route.page === "search" ? (route.query.q ?? "") : "";
  const [text, setText] = useState(asked);
  useEffect(() => setText(asked), [asked]);
  if (!session.can("read")) return html`<div class="grow"></div>`;
  const find = (event) => {
    event.preventDefault();
    if (text.trim()) go(["search"], { q: text.trim() });
  };
  return html`<form class="search" role="search" aria-label="Search everything" onSubmit=${find}><${Icon} name="search" />
    <input id="search" type="search" value=${text} maxlength="255" placeholder="Why did she not get it? User, address, any id" aria-label="Search by user, address, notification id, idempotency key or message id"
      onInput=${(event) => setText(event.currentTarget.value)} /><kbd aria-hidden="true">/</kbd></form>`;
}

function ThemeButton() {
  const [isDark, setDark] = useState(() => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark");
  const change = () => {
    const theme = isDark ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("tocsin-theme", theme);
    } catch {
      // until the page is left
    }
    setDark(!isDark);
    dispatchEvent(new Event("themechange"));
  };
  return html`<button type="button" class="bare" aria-label=${isDark ? "Light colours" : "Dark colours"} title=${isDark ? "Light colours" : "Dark colours"} onClick=${change}>
    <${Icon} name=${isDark ? "sun" : "moon"} /></button>`;
}

function Account({ who }) {
  const show = () =>
    dialog({
      title: "Signed in",
      body: ({ close }) => html`<dl class="facts">
        <div><dt>Person</dt><dd>${who.person || html`<span class="mute">not given</span>`}</dd></div>
        <div><dt>Key</dt><dd>${who.me.key.name} (${who.me.key.mode})</dd></div>
        <div><dt>Tenant</dt><dd>${who.me.tenant.name}</dd></div>
        <div><dt>May</dt><dd>${who.me.key.scopes.join(", ")}</dd></div></dl>
        <p class="mute">The key is kept in this tab's memory only. It is gone when you sign out, close or reload the page.</p>
        <div class="dialog-actions"><button type="button" class="button" onClick=${() => close()}>Stay</button>
          <button type="button" class="button primary" onClick=${() => (close(), session.signOut("You signed out."))}><${Icon} name="out" />Sign out</button></div>`,
    });
  return html`<button type="button" class="account" onClick=${show} aria-label=${`Signed in as ${who.person || who.me.key.name}: account`}>
    <span class="initials" aria-hidden="true">${initials(who.person || who.me.key.name)}</span></button>`;
}

const initials = (name) =>
  name.split(/\s+/).filter(Boolean).slice(0, 2).map((part) => [...part][0].toUpperCase()).join("");

/** `/` searches, `g` and a letter opens a page, `?` says so. */
function useShortcuts() {
  useEffect(() => {
    let isGoing = false;
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select, dialog, [contenteditable]")) return;
      const page = isGoing && PAGES.find((each) => each.keys === event.key && isOffered(each));
      isGoing = event.key === "g" && !isGoing;
      if (page) go(page.name ? [page.name] : []);
      else if (event.key === "/") {
        event.preventDefault();
        document.querySelector("#search")?.focus();
      } else if (event.key === "?") showShortcuts();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function showShortcuts() {
  const rows = [["/", "Search"], ...PAGES.filter((page) => page.keys && isOffered(page)).map((page) => [`g ${page.keys}`, page.title]), ["?", "This list"]];
  dialog({
    title: "Keyboard",
    body: () => html`<dl class="facts">${rows.map(([keys, title]) => html`<div key=${keys}><dt>${keys.split(" ").map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${title}</dd></div>`)}</dl>`,
  });
}

render(html`<${App} />`, document.querySelector("#app"));
