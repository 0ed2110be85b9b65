// Following one notification until it is finished: asked again and again, with a limit, and what is waited for is said.
import { make } from "./calls.js";
import { asking, letters } from "./intents.js";

const EVERY = 700;
const LATER = 2000; // after a minute nobody looks that closely
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Ask until everything is there or `seconds` are over, and tell `show({one, mail, error, isOver, isLate})` each time.
 * A stack that does not answer for a moment is asked again: only the limit ends it. Returns what stops it.
 */
export function follow(notificationId, who, { seconds, show }) {
  let isStopped = false;
  (async () => {
    const since = Date.now();
    let until = since + seconds * 1000;
    let seen = { one: null, mail: [] };
    while (!isStopped) {
      try {
        const [one, box] = await Promise.all([make(asking(notificationId)), make(letters(who))]);
        seen = { one: one.body, mail: box.body.data.filter((letter) => sentBy(one.body, letter)) };
      } catch (error) {
        seen = { ...seen, error };
        if (error.status === 404) until = 0;
      }
      if (isStopped) return;
      const isOver = isThere(seen);
      const isLate = !isOver && Date.now() > until;
      show({ ...seen, isOver, isLate });
      if (isOver || isLate) return;
      await pause(Date.now() - since < 60_000 ? EVERY : LATER);
    }
  })();
  return () => (isStopped = true);
}

const sentBy = (one, letter) => one.routes.some((route) => route.provider_message_id === letter.message_id);

/** Finished, and each message that a provider took is in the mailbox. */
function isThere({ one, mail, error }) {
  if (error || !one || !["finished", "dead_letter"].includes(one.status)) return false;
  return one.routes.filter((route) => route.status === "published" && route.channel !== "in_app").length === mail.length;
}

/** What is still to come, in words: "the email and the SMS". */
export function waitsFor({ one, mail = [] }) {
  if (!one || !one.routes.length) return "the first worker, who plans it";
  const names = { email: "the email", sms: "the SMS", in_app: "the row in the inbox" };
  const isIn = (route) => route.status === "published" && (route.channel === "in_app" || mail.some((letter) => letter.message_id === route.provider_message_id));
  return one.routes.filter((route) => !isIn(route)).map((route) => names[route.channel] ?? route.channel).join(" and ");
}
