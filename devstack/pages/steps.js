// The steps as they stand: what is done, what is waited for, what was called. Nothing here acts.
import { callBox, el, fill, notice } from "./elements.js";
import { waitsFor } from "./following.js";
import { attempts, due, messages, story } from "./telling.js";

const step = (name) => document.getElementById(name);

/** `page` is `{where, progress, live, errors}`; `acts.lookAgain(name)` goes on with a notification that was given up on. */
export function render(page, acts) {
  const { progress } = page;
  for (const [name, draw] of Object.entries(STEPS)) {
    const drawn = draw(page, acts);
    const node = step(name);
    node.classList.toggle("done", Boolean(drawn.isDone));
    node.classList.toggle("later", Boolean(drawn.isLater));
    const button = node.querySelector(".act button");
    if (button) button.disabled = Boolean(drawn.isLater || drawn.isIdle);
    say(node.querySelector(".status"), drawn.says ?? "");
    fill(node.querySelector(".shown"), [drawn.key, page.errors[name]], () => [page.errors[name] && notice(page.errors[name]), drawn.make?.()].flat());
  }
  step("again").hidden = !progress.first;
}

/** Told only when it changes, for those who hear the page. */
function say(node, words) {
  if (node.textContent !== words) node.textContent = words;
}

export function countDown() {
  for (const node of document.querySelectorAll("[data-due]")) node.textContent = due(node.dataset.due);
}

/** Only the last answer is unfolded: it is the one to look at. */
const boxes = (calls, where) => calls.map((made) => callBox(made, where, { isLong: made !== calls.at(-1) }));
const consoleLink = (where, id) => el("a", { href: `${where.elsewhere}/console#/notifications/${id}` }, "Open this notification in the console");
const emailOf = (seen) => seen?.one?.routes.find(({ channel }) => channel === "email");

const STEPS = {
  send({ progress: { first, who }, where }) {
    if (!first) return {};
    return {
      isDone: true,
      says: `Accepted: ${who.id} is being told. From here on nothing can lose it.`,
      key: first.id,
      make: () => [terminal(where), ...boxes(first.calls, where)],
    };
  },

  see({ progress: { first, who }, live: { first: seen }, where }, acts) {
    if (!first) return { isLater: true };
    if (!seen?.one) return silent(seen, "first", where, acts);
    return {
      isDone: seen.isOver,
      says: seen.isOver ? "Everything has arrived." : seen.isLate ? "" : `Waiting for ${waitsFor(seen)} …`,
      key: [first.id, seen.one.routes, seen.mail.length, seen.isLate, seen.error?.message],
      make: () => [messages(seen.one, seen.mail, who), el("p", {}, consoleLink(where, first.id)), stalled(seen, "first", where, acts)],
    };
  },

  why({ progress: { first, why }, live: { why: made }, where }) {
    if (!first) return { isLater: true };
    if (!why || !made) return {};
    return { isDone: true, key: [made.body.timeline], make: () => [story(made.body), callBox(made, where, { isLong: true })] };
  },

  break({ progress: { first, fault, second, mended }, where }) {
    if (!first) return { isLater: true };
    const isIdle = Boolean(second && !mended);
    const says = second ? "The provider is broken for this person, and a second notification is accepted." : fault ? "The provider is broken." : "";
    return { isDone: Boolean(second), isIdle, says: mended ? "" : says, key: [fault, second?.id], make: () => boxes([...(fault ?? []), ...(second?.calls ?? [])], where) };
  },

  retry({ progress: { second, mended, who }, live: { second: seen }, where }, acts) {
    if (!second) return { isLater: true };
    const email = emailOf(seen);
    if (!email) return { isIdle: Boolean(mended), ...silent(seen, "second", where, acts) };
    const isIn = email.status === "published";
    return {
      isDone: isIn,
      isIdle: Boolean(mended),
      says: outcome(email, mended),
      key: [email, mended, seen.mail.length, seen.isLate, seen.error?.message],
      make: () => [
        attempts(email),
        email.reason.startsWith("lane_") && el("p", {}, "After five failures in a row the circuit breaker rests the lane. ", el("a", { href: `${where.elsewhere}/console#/` }, "The console can open it at once"), "."),
        email.status === "dead_letter" && el("p", {}, "It can be replayed: ", consoleLink(where, second.id), "."),
        isIn ? messages(seen.one, seen.mail, who) : el("p", { class: "mute" }, `The SMS and the inbox did not wait: ${others(seen.one)}.`),
        el("p", {}, consoleLink(where, second.id)),
        stalled(seen, "second", where, acts),
        ...boxes(mended ?? [], where),
      ],
    };
  },
};

function outcome(email, mended) {
  const count = email.attempts.length;
  if (email.status === "published") return count > 1 ? `Delivered, at attempt ${count}.` : "Delivered.";
  if (email.status === "dead_letter") return `Given up after ${count} attempts, and kept as a dead letter.`;
  if (!mended) return count ? "The provider refuses it, and it will be tried again." : "The first attempt is about to be made.";
  return mended.length ? "Mended. The next attempt will get through." : "The fault is gone: the stack was started again, or somebody mended it.";
}

const others = ({ routes }) => (routes.every(({ channel, status }) => channel === "email" || status === "published") ? "both are there" : "they are on their way");

/** Before anything is known of its routes. */
function silent(seen, name, where, acts) {
  const awaited = seen?.one ? waitsFor(seen) : "the stack to answer";
  return { says: seen?.isLate ? "" : `Waiting for ${awaited} …`, key: [awaited, seen?.isLate, seen?.error?.message], make: () => stalled(seen, name, where, acts) };
}

/** What to do when the stack is slow or silent. */
function stalled(seen, name, where, acts) {
  if (seen?.error && !seen.isLate) return notice({ message: `${seen.error.message} Asking again …` }, "warn");
  if (!seen?.isLate) return null;
  const again = el("button", { type: "button", class: "button small", "data-name": `again ${name}`, onClick: () => acts.lookAgain(name) }, "Look again");
  const logs = where.devJson.replace(/dev\.json$/, "logs");
  const box = notice({ message: `Still waiting for ${waitsFor(seen)}. Nothing is lost: the queue is slow, or a function fails, and its log in ${logs} says why.` }, "warn");
  box.append(again);
  return box;
}

function terminal({ devJson }) {
  const line = `export TOCSIN_KEY=$(python3 -c 'import json; print(json.load(open("${devJson}"))["api_key"])')`;
  return el("details", { "data-name": "terminal" }, el("summary", {}, "To make these calls yourself, set the key in your terminal"), el("pre", { tabindex: "0", "aria-label": "Setting the key" }, line));
}
