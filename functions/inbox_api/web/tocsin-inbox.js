/**
 * <tocsin-inbox>: a bell with a badge, and the inbox behind it. No dependencies and no build step.
 * Here is the bell; the panel comes when somebody is about to open it. How to embed it: docs/inbox-component.md.
 */

import { Inbox, Refused, Sessions } from "./tocsin-inbox-core.js?v=a1b2ca10fb76aa60";
import { BELL, drawing, h } from "./tocsin-inbox-dom.js?v=9850c52a7ae8f7a7";
import { loadPanel } from "./tocsin-inbox-loader.js?v=affb0fd26860f4a5";
import { sheet } from "./tocsin-inbox-look.js?v=d80710a043b1fa1b";
import { titleOf } from "./tocsin-inbox-states.js?v=8b85c0c120a039a9";
import { pageTitle } from "./tocsin-inbox-title.js?v=3784005e09c1b070";
import { localeOf, text, withOwn, wordsFor } from "./tocsin-inbox-words.js?v=e69ae35b3df1c0f1";

export { text };

const HOME = new URL(import.meta.url).origin;

const sessions = new Sessions({ isHidden: () => document.hidden, isOnline: () => navigator.onLine });
for (const type of ["pointerdown", "pointermove", "keydown", "scroll"]) {
  addEventListener(type, () => sessions.moved(), { capture: true, passive: true });
}
for (const type of ["online", "offline"]) addEventListener(type, () => sessions.weather());
document.addEventListener("visibilitychange", () => sessions.looked());

export class TocsinInbox extends HTMLElement {
  static observedAttributes = ["api", "token", "label", "locale", "badge", "title-badge", "group", "tabs"];

  #root = this.attachShadow({ mode: "open" });
  #text = withOwn(text);
  #locale = "en";
  #token = null;
  #provider = null;
  #renderRow = null;
  #starting = false;
  #isOpen = false; // from when it is asked for, even if the panel has still to come
  #panel = null; // once it was opened
  #arrival = null; // the toast, once there was one

  constructor() {
    super();
    this.#dress(sheet);
    this.#bell.append(this.#badge);
    this.#root.append(this.#voice, this.#bell);
  }

  connectedCallback() {
    for (const name of ["token", "tokenProvider", "renderRow"]) this.#upgrade(name);
    this.#arrange();
    this.#translate();
    this.#start();
  }

  disconnectedCallback() {
    this.close();
    this.#arrival?.hide();
    this.#inbox.leave();
    pageTitle.tell(this, 0);
  }

  attributeChangedCallback(name, _, value) {
    if (name === "token") this.#token = value;
    if (!this.isConnected) return;
    if (name === "token" || name === "api") this.#start();
    else if (name === "locale") this.#translate();
    else this.#arrange();
  }

  get token() {
    return this.#token;
  }
  set token(value) {
    this.#token = value;
    this.#start();
  }
  /** An async function that answers a fresh user token, or nothing when the person is no longer signed in. */
  get tokenProvider() {
    return this.#provider;
  }
  set tokenProvider(value) {
    this.#provider = value;
    this.#start();
  }
  /** A function that makes of a row a node or a text, to be shown in the place of its title, message and facts; nothing: as always. */
  get renderRow() {
    return this.#renderRow;
  }
  set renderRow(value) {
    this.#renderRow = value;
    this.#arrange();
  }
  get unread() {
    return this.#inbox.unread;
  }
  get unseen() {
    return this.#inbox.unseen;
  }
  get isOpen() {
    return this.#isOpen;
  }

  /** If the panel has still to come, it is shown when it has. */
  open() {
    if (this.#isOpen || !this.isConnected) return;
    this.#isOpen = true;
    this.#arrival?.hide();
    this.#bell.setAttribute("aria-expanded", "true");
    document.addEventListener("pointerdown", this.#outside, true);
    if (this.#panel) this.#show();
    else this.#showWhenItCame();
  }

  close() {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    document.removeEventListener("pointerdown", this.#outside, true);
    this.#bell.setAttribute("aria-expanded", "false");
    if (this.#panel?.hide()) this.#bell.focus();
  }

  /** Load what is shown again, as many rows as there are; quietly, if there are any. */
  refresh() {
    return this.#inbox.refresh();
  }

  // --- the panel

  #show() {
    this.#panel.show();
    this.#fire("tocsin-open");
    if (!this.#inbox.list.isLoading) this.refresh();
  }

  async #showWhenItCame() {
    this.refresh(); // the rows come at the same time
    try {
      const { Panel } = await loadPanel();
      this.#panel ??= new Panel(this.#context);
    } catch (error) {
      if (!this.#isOpen) return;
      console.error("<tocsin-inbox>: the panel did not come. The next click asks for it again.", error);
      this.close();
      return this.#say(this.#reasonOf(error));
    }
    if (this.#isOpen && !this.#panel.isOpen) this.#show();
  }

  /** Who comes near the bell will open it. If this fails, the opening says so. */
  #fetchAhead() {
    loadPanel().catch(() => {});
  }

  #outside = (event) => event.composedPath().includes(this) || this.close();

  // --- the session

  #inbox = new Inbox({
    isOpen: () => this.#panel?.isOpen ?? false,
    explain: (error) => this.#reasonOf(error),
    changed: () => this.#panel?.render(),
    counted: (isNew) => this.#count(isNew),
    grew: (more) => this.#announce(more),
    arrived: (row) => this.#say(this.#text.arrived(titleOf(row))),
    forgot: () => this.#forget(),
    expired: () => this.#fire("tocsin-token-expired"),
    undone: (error) => this.#panel?.toast(this.#text.rolledBack(this.#reasonOf(error))),
  });

  #reasonOf(error) {
    if (error instanceof Refused) return error.message || this.#text.failed;
    return navigator.onLine ? this.#text.unreachable : this.#text.offline;
  }

  #upgrade(name) {
    if (!Object.hasOwn(this, name)) return;
    const value = this[name];
    delete this[name];
    this[name] = value;
  }

  /** Soon, and once for everything that is set together: the token must not go to an address that is about to change. */
  #start() {
    if (!this.#starting) queueMicrotask(() => this.#begin());
    this.#starting = true;
  }

  #begin() {
    this.#starting = false;
    if (!this.isConnected) return;
    const api = (this.getAttribute("api") || HOME).replace(/\/+$/, "");
    this.#inbox.use(sessions.of(api, this.#token, this.#provider));
  }

  #forget() {
    this.#arrival?.hide();
    this.#panel?.forget();
  }

  #fire(name, detail = {}, cancelable = false) {
    return this.dispatchEvent(new CustomEvent(name, { detail, cancelable, bubbles: true, composed: true }));
  }

  // --- how many

  /** In words. */
  get #howMany() {
    const { unread, unseen, capped } = this.#inbox;
    if (this.getAttribute("badge") === "unseen") return unseen && this.#text.unseen(unseen, capped);
    return unread && this.#text.unread(unread, capped);
  }

  #count(isNew) {
    const { unread, unseen, capped } = this.#inbox;
    const shown = this.getAttribute("badge") === "unseen" ? unseen : unread;
    this.#badge.textContent = shown > 99 ? "99+" : String(shown);
    this.#badge.hidden = !shown;
    this.#bell.setAttribute("aria-label", [this.#label, this.#howMany].filter(Boolean).join(", "));
    pageTitle.tell(this, this.hasAttribute("title-badge") && this.isConnected ? shown : 0);
    if (isNew) this.#fire("tocsin-unread", { unread, unseen, capped });
  }

  /** While it is closed: how many there are now, or with `toast` what came. */
  async #announce(more) {
    const row = this.hasAttribute("toast") && (await this.#newest().catch(() => null));
    if (this.#isOpen || !this.isConnected) return;
    if (row) this.#arrival.show(row, more - 1, this.#context);
    this.#say(row ? this.#text.arrived(titleOf(row)) : [this.#label, this.#howMany].filter(Boolean).join(", "));
  }

  async #newest() {
    const { ArrivalToast, sheets } = await import("./tocsin-inbox-arrival.js?v=451a6b5555e12fa4");
    this.#dress(...sheets);
    this.#arrival ??= new ArrivalToast(this.#root);
    return this.#inbox.newest();
  }

  /** The toast was pressed. */
  #select(event, row, url) {
    if (!this.#fire("tocsin-select", { row: structuredClone(row), url }, true)) event.preventDefault();
    if (!url) this.open();
    if (row.unread) this.#inbox.change(row, { read: true });
  }

  // --- what there is to see and to hear

  #bell = h(
    "button",
    {
      ...{ type: "button", class: "bell", part: "bell", "aria-haspopup": "dialog", "aria-expanded": "false" },
      onclick: () => (this.#isOpen ? this.close() : this.open()),
      onkeydown: (event) => event.key === "Escape" && this.#isOpen && (event.stopPropagation(), this.close()),
      onpointerenter: this.#fetchAhead,
      onfocus: this.#fetchAhead,
    },
    drawing(BELL),
  );
  #badge = h("span", { class: "badge", part: "badge", "aria-hidden": "true", hidden: true });
  #voice = h("span", { class: "sr", role: "status" });

  /** One voice outside the dialog and one inside: a screen reader may not hear what is behind a modal dialog. */
  #say(words) {
    if (this.#panel?.isOpen) this.#panel.say(words);
    else this.#voice.textContent = words;
  }

  #dress(...sheets) {
    for (const sheet of sheets) if (!this.#root.adoptedStyleSheets.includes(sheet)) this.#root.adoptedStyleSheets.push(sheet);
  }

  get #label() {
    return this.getAttribute("label") || this.#text.label;
  }

  async #translate() {
    this.#locale = localeOf(this);
    const locale = this.#locale;
    const words = await wordsFor(locale);
    if (locale !== this.#locale) return;
    this.#text = words;
    this.#arrange();
  }

  /** Everything that attributes, words and the page's own rows decide. */
  #arrange() {
    this.#panel?.arrange();
    this.#count(false);
  }

  /** What the panel and the toast know of the bell, and tell it. */
  #context = ((self) => ({
    element: self,
    root: self.#root,
    button: self.#bell,
    inbox: self.#inbox,
    get text() {
      return self.#text;
    },
    get locale() {
      return self.#locale;
    },
    get label() {
      return self.#label;
    },
    dress: (...sheets) => self.#dress(...sheets),
    fire: (...event) => self.#fire(...event),
    reasonOf: (error) => self.#reasonOf(error),
    select: (event, row, url) => self.#select(event, row, url),
  }))(this);
}

customElements.define("tocsin-inbox", TocsinInbox);
