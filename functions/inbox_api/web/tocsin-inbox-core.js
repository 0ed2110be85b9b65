/** What <tocsin-inbox> knows and does: rows, the count, and changes that are shown before they are made. No DOM, and no words. */

import { arrivals, belongs, countsAs, foreseen, newest } from "./tocsin-inbox-states.js?v=8b85c0c120a039a9";

export { Refused, Sessions } from "./tocsin-inbox-session.js?v=4f7713c69ae42a3b";

const PAGE_SIZE = 25;
const MOST_ROWS = 200; // that the server gives at once

const emptyList = (tab) => ({ tab, rows: [], cursor: null, state: "loading", why: "" });
const standardTab = (status) => ({ id: status, status, kinds: [] });
const threadPath = ({ thread }) => thread && `/threads/${encodeURIComponent(thread.kind)}/${encodeURIComponent(thread.id)}`;

/**
 * The rows of a tab and the count. `view` answers isOpen() and explain(error), and is told changed(), counted(isNew), forgot(),
 * expired(), undone(error), arrived(row), and grew(howMany) while it is closed.
 */
export class Inbox {
  list = emptyList(standardTab("all"));
  unread = 0;
  unseen = 0; // of the unread ones
  capped = false;
  #view;
  #session = null;
  #known = false; // whether the count was ever told
  #muted = new Set(); // the paths of threads that were muted here
  #wasSubscribed = new Map(); // and what they were before
  #queue = Promise.resolve();
  #busy = 0;
  #missed = null; // a count that came while a change was on its way

  constructor(view) {
    this.#view = view;
  }

  /** Nothing of what one person saw is left for the next. */
  use(session) {
    if (session === this.#session) return;
    this.leave();
    this.#session = session;
    this.#known = false;
    this.#muted.clear();
    this.#count({ unread: 0, unseen: 0 });
    this.#forget();
    if (!session.signedOut) session.join(this.#listener);
    if (this.#view.isOpen()) this.refresh();
  }

  leave() {
    this.#session?.leave(this.#listener);
    this.#session = null;
  }

  get isSignedOut() {
    return this.#session?.signedOut ?? false;
  }

  ask(...request) {
    return this.#session.ask(...request);
  }

  #listener = {
    news: (news) => {
      const more = this.#known ? news.unread - this.unread : 0;
      this.#known = true;
      if (this.#busy) this.#missed = news;
      else this.#count(news);
      if (this.#view.isOpen()) this.refresh();
      else if (more > 0) this.#view.grew(more);
    },
    expired: () => {
      this.#count({ unread: 0, unseen: 0 });
      this.#forget();
      this.#view.expired();
    },
    weather: () => {
      this.#view.changed();
      if (this.#view.isOpen() && this.list.why && this.#session.isOnline) this.refresh();
    },
  };

  #forget() {
    this.list = emptyList(this.list.tab);
    this.#missed = null;
    this.#view.forgot();
  }

  #count({ unread, unseen = 0, capped = false }) {
    const before = [this.unread, this.unseen];
    Object.assign(this, { unread: Math.max(0, unread), unseen: Math.max(0, unseen), capped });
    this.#view.counted(before[0] !== this.unread || before[1] !== this.unseen);
  }

  /** `tab` is {id, status, kinds}, or the name of a status. */
  switchTo(tab) {
    this.list = emptyList(typeof tab === "string" ? standardTab(tab) : tab);
  }

  #page({ tab: { status, kinds } }, limit, cursor) {
    const more = [cursor && `&cursor=${encodeURIComponent(cursor)}`, kinds.length && `&kind=${encodeURIComponent(kinds)}`];
    return this.ask("GET", `?status=${status}&limit=${limit}${more.filter(Boolean).join("")}`);
  }

  /** The newest row that is unread. */
  async newest() {
    return (await this.#page({ tab: standardTab("unread") }, 1)).data.data[0];
  }

  /** Load what is shown again, as many rows as there are; quietly, if there are any. */
  async refresh() {
    const { list } = this;
    if (!this.#session || this.#session.signedOut) return;
    list.isStale = true;
    if (this.#busy || list.isLoading) return; // who is at work comes back here
    Object.assign(list, { isLoading: true, isStale: false });
    try {
      const { data } = await this.#page(list, Math.min(MOST_ROWS, Math.max(PAGE_SIZE, list.rows.length)));
      if (this.#busy) list.isStale = true;
      else this.#take(list, data);
    } catch (error) {
      Object.assign(list, { state: list.rows.length ? "ready" : "error", why: this.#view.explain(error) });
    }
    list.isLoading = false;
    if (list !== this.list) return;
    this.#view.changed();
    if (list.isStale && !this.#busy) this.refresh();
  }

  #take(list, { data, next_cursor: cursor }) {
    const [first] = list.state === "ready" ? arrivals(list.rows, data) : [];
    const known = new Set(data.map((row) => row.id));
    // Who has scrolled farther than this answer reaches keeps the rows below.
    const last = cursor && list.rows.length > data.length ? list.rows.findIndex((row) => row.id === data.at(-1).id) : -1;
    const below = last < 0 ? [] : list.rows.slice(last + 1).filter((row) => !known.has(row.id));
    Object.assign(list, { rows: [...data, ...below], cursor: below.length ? list.cursor : cursor, state: "ready", why: "" });
    if (list !== this.list) return;
    if (first) this.#view.arrived(first);
    if (this.#view.isOpen()) this.#see();
  }

  /** Who opened the bell has seen what is there. If that cannot be told now, the next opening tells it. */
  #see() {
    if (!this.unseen) return;
    this.#count({ ...this, unseen: 0 });
    this.ask("POST", "/seen", { body: {} }).catch(() => {});
  }

  retry() {
    this.#session.wake(true);
    this.refresh();
  }

  /** Answers the first row of the next page, if it is still shown. */
  async loadMore() {
    const { list } = this;
    if (list.isPaging || !list.cursor) return;
    list.isPaging = true;
    try {
      const { data } = await this.#page(list, PAGE_SIZE, list.cursor);
      const known = new Set(list.rows.map((row) => row.id));
      const more = data.data.filter((row) => !known.has(row.id));
      Object.assign(list, { rows: [...list.rows, ...more], cursor: data.next_cursor });
      this.#view.changed();
      if (list === this.list) return more[0];
    } finally {
      list.isPaging = false;
    }
  }

  /** Answers the row as it is shown from now on. */
  change(row, change) {
    const { list } = this;
    const next = foreseen(row, change);
    const send = async (session) => {
      const { data } = await session.ask("PATCH", `/${row.id}`, { body: change });
      if (this.#busy === 1) this.#put(list, data);
    };
    this.#try(() => this.#swap(list, row, next), send, () => this.#swap(list, next, row));
    return next;
  }

  hide(row) {
    const { list } = this;
    const gone = { ...row, hidden: true };
    const send = (session) => session.ask("DELETE", `/${row.id}`);
    this.#try(() => this.#swap(list, row, gone), send, () => this.#swap(list, gone, row));
  }

  isMuted(row) {
    return this.#muted.has(threadPath(row));
  }

  toggleMute(row) {
    const path = threadPath(row);
    const on = () => this.#muted.add(path);
    const off = () => this.#muted.delete(path);
    const choose = (session, subscribed) => session.ask("PUT", path, { body: { subscribed } });
    const unmute = (session) => (this.#wasSubscribed.get(path) ? choose(session, true) : session.ask("DELETE", path));
    const mute = async (session) => {
      this.#wasSubscribed.set(path, (await session.ask("GET", path)).data.subscribed);
      await choose(session, false);
    };
    if (this.#muted.has(path)) this.#try(off, unmute, on);
    else this.#try(on, mute, off);
  }

  readAll() {
    const read = (row) => ({ ...row, unread: false });
    if (this.list.rows.length) this.#all("/read-all", {}, (rows) => rows.map(read), { unread: 0, unseen: 0 });
  }

  /** All, or only what is `read`. Answers what left if every row of it is known, so that it can be brought back. */
  doneAll(status) {
    const { rows, cursor } = this.list;
    const leaves = (row) => status === "all" || !row.unread;
    const gone = rows.filter(leaves).map((row) => foreseen(row, { done: true }));
    if (!rows.length) return [];
    const count = status === "all" ? { unread: 0, unseen: 0 } : this;
    this.#all("/done-all", { status }, (rows) => rows.filter((row) => !leaves(row)), count);
    return cursor ? [] : gone;
  }

  /** Change every row up to the newest one that is shown, as often as the server has more of them. */
  #all(path, body, changed, count) {
    const { list, unread, unseen, capped } = this;
    const { rows } = list;
    const apply = () => {
      list.rows = changed(rows).filter(belongs[list.tab.status]);
      this.#count(count);
    };
    const send = async (session) => {
      let more = true;
      while (more) ({ more } = (await session.ask("POST", path, { body: { ...body, before: newest(rows) } })).data);
      list.isStale = true;
    };
    this.#try(apply, send, () => ((list.rows = rows), this.#count({ unread, unseen, capped })));
  }

  /** Show a change at once, send it after those before it, and take it back if the server refuses. */
  async #try(apply, send, revert) {
    const session = this.#session;
    apply();
    this.#busy += 1;
    this.#view.changed();
    try {
      await (this.#queue = this.#queue.catch(() => {}).then(() => send(session)));
    } catch (error) {
      if (session === this.#session && !session.signedOut) {
        revert();
        this.#view.undone(error);
      }
    }
    this.#busy -= 1;
    if (!this.#busy) this.#settle();
    this.#view.changed();
  }

  #settle() {
    if (this.#missed) this.#count(this.#missed);
    this.#missed = null;
    if (this.list.isStale) this.refresh();
  }

  #swap(list, from, to) {
    this.#put(list, to);
    const change = countsAs(to) - countsAs(from);
    const unseen = this.unseen + (this.#view.isOpen() ? 0 : change); // open, all is seen
    this.#count({ unread: this.unread + change, unseen, capped: this.capped });
  }

  /** The row in its place by time, or out of the list if it is no longer one of these. */
  #put(list, row) {
    const rows = list.rows.filter((each) => each.id !== row.id);
    const at = rows.findIndex((each) => new Date(each.last_event_at) < new Date(row.last_event_at));
    if (belongs[list.tab.status](row)) rows.splice(at < 0 ? rows.length : at, 0, row);
    list.rows = rows;
  }
}
