/** A number in the title of the page, for pages that want one. */

/** The page's title with a number before it, "(3) Orders": the highest of all bells that want one. The page may go on changing its title. */
export const pageTitle = {
  counts: new Map(),
  shown: null, // what we made of the title, and of which
  watcher: new MutationObserver(() => pageTitle.write()),

  tell(bell, count) {
    const isNew = (this.counts.get(bell) ?? 0) !== count;
    if (count) this.counts.set(bell, count);
    else this.counts.delete(bell);
    if (isNew) this.write();
  },

  write() {
    const count = Math.max(0, ...this.counts.values());
    const own = document.title === this.shown?.made ? this.shown.own : document.title;
    const made = count ? `(${count > 99 ? "99+" : count}) ${own}` : own;
    this.watcher.disconnect();
    this.shown = count ? { made, own } : null;
    if (document.title !== made) document.title = made;
    if (count) this.watcher.observe(document.head, { childList: true, characterData: true, subtree: true });
  },
};
