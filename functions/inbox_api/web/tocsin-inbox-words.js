/** The words of <tocsin-inbox>: English here, other languages when they are wanted. */

const english = {
  label: "Notifications",
  unread: (n, capped) => `${n}${capped ? " or more" : ""} unread`,
  unseen: (n, capped) => `${n}${capped ? " or more" : ""} new`,
  tabs: { all: "Inbox", unread: "Unread", saved: "Saved", snoozed: "Snoozed", done: "Done" },
  empty: {
    all: ["All caught up", "New notifications will show up here by themselves."],
    unread: ["Nothing unread", "You have seen everything."],
    saved: ["Nothing saved", "Save what you want to come back to."],
    snoozed: ["Nothing snoozed", "What you snooze waits here until its time."],
    done: ["Nothing done yet", "What you finish is kept here."],
  },
  reasons: {
    mention: "mentioned you",
    review_requested: "review requested",
    assign: "assigned to you",
    author: "you started this",
    comment: "you commented",
    subscribed: "subscribed",
    watching: "watching",
  },
  severity: { warning: "Warning", critical: "Critical" },
  channels: { email: "Email", sms: "Text message", push: "Push", in_app: "In this inbox" },
  unreachable_by: {
    no_address: "We have no address of yours for this.",
    no_device: "No device of yours is registered.",
    suppressed: "Messages to this address came back or were refused, so none are sent.",
  },
  isUnread: "Unread.",
  everyone: "for everyone",
  muted: "muted",
  updates: (n) => `${n} updates`,
  until: (when) => `until ${when}`,
  noScope: "Other",
  markRead: "Mark as read",
  markUnread: "Mark as unread",
  markAllRead: "Mark all as read",
  allDone: "Mark all as done",
  readDone: "Mark what is read as done",
  save: "Save",
  unsave: "Remove from saved",
  done: "Done",
  undone: "Move to inbox",
  more: "More actions",
  showWhole: "Show all of it",
  showLess: "Show less",
  snooze: { hour: "Snooze for 1 hour", tomorrow: "Snooze until tomorrow, 9:00", monday: "Snooze until Monday, 9:00", time: "Snooze until…" },
  snoozeUntil: "Snooze until",
  snoozeWrong: "Choose a time from now on, within a year.",
  snoozeIt: "Snooze",
  cancel: "Cancel",
  unsnooze: "Stop snoozing",
  mute: "Mute this thread",
  unmute: "Unmute this thread",
  hide: "Hide",
  undo: "Undo",
  isDone: "Done.",
  areDone: "All of them are under Done now.",
  isSnoozed: "Snoozed.",
  isMuted: "Thread muted.",
  isHidden: "Hidden.",
  loading: "Loading…",
  loadMore: "Load more",
  retry: "Try again",
  failed: "This did not work",
  unreachable: "The server cannot be reached.",
  rolledBack: (why) => `Not changed. ${why}`,
  offline: "You are offline.",
  signedOut: ["Signed out", "Sign in again to see your notifications."],
  arrived: (title) => `New notification: ${title}`,
  andMore: (n) => `and ${n} more`,
  dismiss: "Dismiss",
  preferences: "Preferences",
  byChannel: "How you are told",
  byType: "What you are told",
  locked: "This matters to your safety or your account and cannot be switched off here.",
  back: "Back to the inbox",
  close: "Close",
  cap: "At most per day",
  noCap: "No limit",
  quietFrom: "Quiet from",
  quietUntil: "Quiet until",
  zone: "Time zone",
  saveRule: "Save",
  limits: "Limits and quiet hours",
  saved: "Saved.",
  shortcuts: "Keyboard shortcuts",
  keys: [
    ["↑ ↓", "Previous, next"],
    ["Home End", "First, last"],
    ["Enter", "Open"],
    ["r", "Read or unread"],
    ["d", "Done"],
    ["s", "Save"],
    ["z", "Snooze"],
    ["m", "Mute the thread"],
    ["e", "Show all of it"],
    ["?", "This list"],
    ["Esc", "Close"],
  ],
};

/** A page may put its own words in the place of any, in every language: `Object.assign(text, {done: "Finished"})`. */
export const text = { locale: "", ...english };

const LANGUAGES = {
  de: () => import("./tocsin-inbox-de.js?v=9c6bb7650cf05cdf"),
  fr: () => import("./tocsin-inbox-fr.js?v=06a5d0697ed11bd8"),
  es: () => import("./tocsin-inbox-es.js?v=4f06345393da5124"),
};

export const languageOf = (locale) => locale.split("-")[0].toLowerCase();

/** What the element says, else the page's words, the page's language, the browser's. Where we have no words for it, English. */
export function localeOf(element) {
  const page = element.closest("[lang]")?.lang || document.documentElement.lang || navigator.language;
  const asked = element.getAttribute("locale") || text.locale;
  const locale = (asked || page).replaceAll("_", "-");
  try {
    const [known] = Intl.getCanonicalLocales(locale);
    if (known && (asked || languageOf(known) === "en" || LANGUAGES[languageOf(known)])) return known;
  } catch {}
  return "en";
}

/** All words for a locale. A language that does not come stays English. */
export async function wordsFor(locale) {
  const { words } = (await LANGUAGES[languageOf(locale)]?.().catch(() => null)) ?? { words: english };
  return withOwn({ ...english, ...words });
}

/** Words with those that the page put in their place. */
export const withOwn = (words) => ({ ...words, ...Object.fromEntries(Object.entries(text).filter(([name, own]) => own !== english[name])) });
